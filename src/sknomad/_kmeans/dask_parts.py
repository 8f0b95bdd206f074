"""Parts on a Dask cluster: rows are shuffled once, every part is a task, and results come as they are done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._numerics.arrays import Array
from .._numerics.dask_blocks import RETRIES, ambient_client
from .._numerics.freed_memory import kept_memory
from .._numerics.threads import limited_threads
from .part_solve import PartBound, PartTask, solve_part

# Tasks that wait for each thread of the cluster, so that none is idle while the client thinks.
TASKS_PER_THREAD = 2
# Stands in a task for rows that come apart from it.
NO_ROWS: Array = np.empty((0, 0))


class ClusterError(RuntimeError):
    """The cluster is gone; the message says what was finished."""


def solve_rows(number: int, rows: Any, task: PartTask) -> tuple[int, PartBound]:
    """Solve a part whose rows have arrived."""
    with kept_memory, limited_threads(1):
        return number, solve_part(task._replace(rows=rows))


def threads_of_cluster() -> int:
    """How many tasks run at a time."""
    client = ambient_client()
    return sum(client.nthreads().values()) if client is not None else os.cpu_count() or 1


def run_on_dask(tasks: Iterator[tuple[int, PartTask]]) -> Iterator[tuple[int, PartBound]]:
    """Send tasks whose rows are promises to the scheduler in charge; yields numbers and results as they end."""
    client = ambient_client()
    yield from _run_here(tasks) if client is None else _run_there(tasks, client)


def _run_here(tasks: Iterator[tuple[int, PartTask]]) -> Iterator[tuple[int, PartBound]]:
    """On the scheduler of this process: some at a time."""
    import dask

    send = dask.delayed(solve_rows, pure=False)
    while batch := list(islice(tasks, threads_of_cluster())):
        yield from dask.compute(*(send(number, task.rows, task._replace(rows=NO_ROWS)) for number, task in batch))


def _run_there(tasks: Iterator[tuple[int, PartTask]], client: Any) -> Iterator[tuple[int, PartBound]]:
    """On a cluster; a task that fails with its worker is tried again elsewhere."""
    import dask
    from distributed import as_completed

    send = dask.delayed(solve_rows, pure=False)

    def submitted(count: int) -> list[Any]:
        return [
            client.compute(send(number, task.rows, task._replace(rows=NO_ROWS)), retries=RETRIES)
            for number, task in islice(tasks, count)
        ]

    done, waiting = 0, as_completed(submitted(TASKS_PER_THREAD * threads_of_cluster()))
    try:
        for future in waiting:
            yield future.result()
            done += 1
            for following in submitted(1):
                waiting.add(following)
    except _lost() as error:
        raise ClusterError(
            f"the Dask cluster must stay up until the end, got {type(error).__name__} after {done} finished parts. "
            "Start it again; with the same checkpoint folder the finished parts are kept."
        ) from error


def _lost() -> tuple[type[BaseException], ...]:
    """What comes of a scheduler that is gone, or of workers that die again and again."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, client
    from distributed.comm import CommClosedError

    # Not every version has both of these.
    others = [vars(client)[name] for name in ("FutureCancelledError", "ClosedClientError") if name in vars(client)]
    return KilledWorker, CancelledError, CommClosedError, OSError, TimeoutError, *others
