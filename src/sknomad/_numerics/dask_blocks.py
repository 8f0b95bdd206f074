"""Rows in Dask's chunks: the same functions are sent to them, on whichever scheduler is in charge.

Nothing is kept on a worker that could not be made again from the collection itself, so a worker that is lost costs
its tasks and no more. Results come back in the order of the chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from .arrays import Array
from .exact_input import check_exact
from .freed_memory import kept_memory
from .row_blocks import ALWAYS_EXACT, check_block
from .threads import limited_threads

# Parts whose rows are gathered together: one task for each would be too many.
PARTS_TOGETHER = 16
# How often a task is tried where a worker fails.
RETRIES = 3

Result = TypeVar("Result")


def is_dask(X: object) -> bool:
    """Whether `X` is one of Dask's collections; asked without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


class DaskBlocks:
    """A Dask array, or a data frame of numbers, as blocks of rows.

    Parameters
    ----------
    X : dask array of shape (n, d) or dask data frame
        In chunks of known sizes, each with all columns.
    name : str, default="X"
        What messages call it.
    """

    def __init__(self, X: Any, name: str = "X"):
        import dask

        self.array, self.name = row_chunks(X, name), name
        self.n, self.d = (int(size) for size in self.array.shape)
        self.ends = np.cumsum(self.array.chunks[0]).tolist()
        self.starts = [0, *self.ends[:-1]]
        self.chunks = list(self.array.to_delayed().ravel())
        self._delayed, self._compute, self._persist = dask.delayed, dask.compute, dask.persist
        check_workers()

    def each(self, function: Callable[..., Result], *shared: object, along: Array | None = None) -> Iterator[Result]:
        """``function(block, *shared)`` for every chunk in order; with `along` its entries of the rows come second."""
        send, count = self._delayed(_on_block, pure=False), len(self.chunks)
        tasks = []
        for number, (chunk, start, end) in enumerate(zip(self.chunks, self.starts, self.ends, strict=True)):
            beside = None if along is None else along[start:end]
            tasks.append(send(chunk, (self.name, number, count, start), function, beside, shared))
        yield from self._compute(*tasks)

    def take(self, indices: Array) -> Array:
        """Some rows, in float64. `indices` must rise."""
        send = self._delayed(_rows_of, pure=False)
        found = np.searchsorted(indices, [0, *self.ends])
        pieces = [
            send(chunk, indices[first:last] - start)
            for chunk, start, first, last in zip(self.chunks, self.starts, found[:-1], found[1:], strict=True)
            if last > first
        ]
        return np.concatenate(self._compute(*pieces)) if pieces else np.empty((0, self.d))

    def promise(self, members: list[Array]) -> list[Any]:
        """The rows of each of many sets, as promises: one shuffle, in which a set's rows stay in their order."""
        groups = [members[first : first + PARTS_TOGETHER] for first in range(0, len(members), PARTS_TOGETHER)]
        split, join = self._delayed(_split, nout=len(groups), pure=False), self._delayed(_join, pure=False)
        pick = self._delayed(_pick, pure=False)
        pieces = [
            split(chunk, [[_within(part, start, end) for part in group] for group in groups])
            for chunk, start, end in zip(self.chunks, self.starts, self.ends, strict=True)
        ]
        joined = [join([piece[number] for piece in pieces]) for number in range(len(groups))]
        picked = [pick(joined[part // PARTS_TOGETHER], part % PARTS_TOGETHER) for part in range(len(members))]
        return list(self._persist(*picked))

    def per_row(self, function: Callable[..., Array], *shared: object, width: int | None, dtype: type) -> Any:
        """A Dask array of what `function` makes of each block: (n,), or (n, width), in the chunks of the rows."""
        import dask.array as da

        chunks = (self.array.chunks[0],) if width is None else (self.array.chunks[0], (width,))
        meta: Array = np.empty((0,) if width is None else (0, width), dtype=dtype)
        options = {"drop_axis": 1} if width is None else {}
        return da.map_blocks(_plain, self.array, function, shared, chunks=chunks, dtype=dtype, meta=meta, **options)


def row_chunks(X: Any, name: str) -> Any:
    """`X` as a Dask array of real numbers in row chunks of known size."""
    array = X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X
    if getattr(array, "ndim", 0) != 2 or array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a table of real numbers, got {array!r}.")
    if any(math.isnan(size) for size in array.shape):
        raise ValueError(
            f"{name} must have chunks of known sizes, got unknown ones. Call {name}.compute_chunk_sizes() first."
        )
    if len(array.chunks[1]) != 1:
        raise ValueError(
            f"{name} must have all columns in each chunk, got chunks of {', '.join(map(str, array.chunks[1][:5]))} "
            f"columns. Pass {name}.rechunk({{1: -1}})."
        )
    if array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(f"{name} must have at least 2 rows and 1 column, got shape {array.shape}.")
    empty = [number for number, size in enumerate(array.chunks[0]) if size == 0]
    if empty:
        raise ValueError(
            f"{name} must have rows in every chunk, got none in chunk {empty[0]} of {len(array.chunks[0])}. "
            f"Pass {name}.rechunk({{0: 'auto'}})."
        )
    return array


def ambient_client() -> Any | None:
    """The client of a cluster that is in charge; None for the schedulers of one process."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


def check_workers() -> None:
    """Refuse a cluster with a worker that cannot import this library, before any work is sent there."""
    client = ambient_client()
    if client is None:
        return
    found = client.run(_can_import, on_error="return")
    for worker, answer in found.items():
        if answer is not True:
            raise ImportError(
                f"every Dask worker must have sknomad installed, got {worker} without it ({answer}). "
                "Install the same version there."
            )


def _can_import() -> bool | str:
    from importlib import import_module

    try:
        import_module("sknomad")
    except ImportError as error:
        return str(error)
    return True


def _on_block(
    chunk: Any, place: tuple[str, int, int, int], function: Callable[..., Result], along: Any, shared: tuple[Any, ...]
) -> Result:
    name, number, count, start = place
    block = np.asarray(chunk, dtype=np.float64)
    if np.asarray(chunk).dtype.name not in ALWAYS_EXACT:
        check_exact(chunk, block, name)
    check_block(block, name, number, count, start)
    with kept_memory, limited_threads(1):  # sums then have the same order on every machine
        return function(block, *shared) if along is None else function(block, along, *shared)


def _plain(chunk: Any, function: Callable[..., Array], shared: tuple[Any, ...]) -> Array:
    with kept_memory, limited_threads(1):
        return function(np.asarray(chunk, dtype=np.float64), *shared)


def _rows_of(chunk: Any, indices: Array) -> Array:
    return np.asarray(chunk)[indices].astype(np.float64)


def _within(points: Array, start: int, end: int) -> Array:
    first, last = np.searchsorted(points, [start, end])
    return points[first:last] - start


def _split(chunk: Any, groups: list[list[Array]]) -> tuple[list[Array], ...]:
    return tuple([_rows_of(chunk, points) for points in group] for group in groups)


def _join(pieces: list[list[Array]]) -> list[Array]:
    return [np.concatenate(rows) for rows in zip(*pieces, strict=True)]


def _pick(joined: list[Array], number: int) -> Array:
    return joined[number]
