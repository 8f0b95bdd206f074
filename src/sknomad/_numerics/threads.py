"""The threads of the linear algebra libraries, limited for a while, and how many processes joblib takes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

from .shared_context import SharedContext
from .sizes import ONE_THREAD
from .validation import check_integer

Item = TypeVar("Item")
Result = TypeVar("Result")


def limited_threads(n_threads: object) -> AbstractContextManager[object]:
    """A context with at most `n_threads` BLAS and OpenMP threads; leaving it, also by an error, restores the number."""
    if n_threads is None:
        return nullcontext()
    context: AbstractContextManager[object] = threadpool_limits(limits=check_integer(n_threads, "n_threads", 1))
    return context


def suitable_threads(n: int) -> AbstractContextManager[object]:
    """A context for work on n x n arrays, or on rows of length n: one BLAS thread where more do not pay.

    Threads that wait for each other spin, so that many small products take ten times as long beside another process.

    Examples
    --------
    >>> with suitable_threads(100):
    ...     threads_now()
    1
    """
    return nullcontext() if n > ONE_THREAD else _ONE_THREAD


@cache
def _controller() -> ThreadpoolController:
    """The libraries that are loaded, looked for once: that takes longer than a small solve."""
    return ThreadpoolController()


def _take_one_thread() -> Callable[[], object]:
    restore: Callable[[], object] = _controller().limit(limits=1, user_api="blas").restore_original_limits
    return restore


_ONE_THREAD = SharedContext(_take_one_thread)


def threads_now() -> int:
    """How many threads BLAS may use at the moment, by the machine, the environment and `limited_threads`; at least 1.

    Examples
    --------
    >>> with limited_threads(1):
    ...     threads_now()
    1
    """
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


def side_by_side(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """``function(item)`` for every item, in their order, on as many threads of this process as BLAS may use.

    Each call has one BLAS thread, so that results have the same bits however many there are. Items are taken one by
    one, by the caller's thread, and never many more than are being worked on.

    Examples
    --------
    >>> list(side_by_side(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    count = threads_now()
    with _ONE_THREAD:
        if count == 1:
            yield from map(function, items)
            return
        pending: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(count) as pool:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > count:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()


def count_of_jobs(n_jobs: object) -> int:
    """How many processes joblib takes `n_jobs` for: None is one, -1 all cores, -2 all but one.

    Examples
    --------
    >>> count_of_jobs(None), count_of_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    count = check_integer(n_jobs, "n_jobs", -(2**15))
    if count == 0:
        raise ValueError("n_jobs must be a number of processes, -1 for all cores or None, got 0.")
    return count if count > 0 else max(1, usable_cores() + 1 + count)


def usable_cores() -> int:
    """Cores that this process may run on, where the system tells; else all there are.

    Examples
    --------
    >>> 1 <= usable_cores() <= (os.cpu_count() or 1)
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
