"""Tables that are read a block of rows at a time: arrays, memory maps, sparse matrices, files that can be sliced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from .arrays import Array, Data, Table, is_sparse, row_slices
from .exact_input import check_exact
from .threads import side_by_side
from .validation import check_table

# Numbers in one block: small beside the data, large enough for fast products. The size decides in which order sums are
# taken, so it depends on the width of the table alone.
BLOCK_ENTRIES, MOST_BLOCK_ROWS = 2**21, 2**15
# Kinds of numbers that float64 holds as they are, whatever they are.
ALWAYS_EXACT = ("float16", "float32", "float64", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")

Result = TypeVar("Result", covariant=True)


class Blocks(Protocol):
    """Rows that functions are sent to, block by block, wherever the blocks are."""

    n: int  # rows
    d: int  # columns

    def each(self, function: Callable[..., Result], *shared: object, along: Array | None = None) -> Iterator[Result]:
        """``function(block, *shared)`` for every block in order; with `along` its entries of the rows come second."""
        ...

    def take(self, indices: Array) -> Table:
        """Some rows, in float64."""
        ...

    def promise(self, members: list[Array]) -> Sequence[Any]:
        """The rows of each of many sets, to be had when they are needed."""
        ...


class RowBlocks:
    """A table with at least two rows, read in blocks of a fixed size and never converted as a whole.

    Parameters
    ----------
    X : array-like, sparse matrix, or anything with a shape of two numbers, a dtype and slices of rows
    name : str, default="X"
        What messages call it.

    Examples
    --------
    >>> blocks = RowBlocks(np.arange(6.0).reshape(3, 2))
    >>> blocks.n, blocks.d, [float(total) for total in blocks.each(np.sum)]
    (3, 2, [15.0])
    """

    def __init__(self, X: Data, name: str = "X"):
        given: Any = X
        # Lists, data frames and sparse matrices are small or compact: they are converted once.
        is_lazy = hasattr(given, "dtype") and len(getattr(given, "shape", ())) == 2 and not is_sparse(given)
        self.table: Any = given if is_lazy else check_table(X, name)
        if self.table.dtype.kind not in "fiub" or self.table.shape[0] < 2 or self.table.shape[1] < 1:
            check_table(X, name)
            raise ValueError(f"{name} must be a table of real numbers, got {self.table.dtype}.")
        self.n, self.d, self.name = int(self.table.shape[0]), int(self.table.shape[1]), name
        self.slices = row_slices(self.n, block_rows(self.d))

    def each(self, function: Callable[..., Result], *shared: object, along: Array | None = None) -> Iterator[Result]:
        """``function(block, *shared)`` for every block in order; with `along` its entries of the rows come second."""
        return side_by_side(lambda given: function(*given, *shared), self._read(along))

    def _read(self, along: Array | None) -> Iterator[tuple[Array, ...]]:
        for number, rows in enumerate(self.slices):
            block = self._dense(self.table[rows])
            check_block(block, self.name, number, len(self.slices), rows.start)
            yield (block,) if along is None else (block, along[rows])

    def take(self, indices: Array) -> Table:
        """Some rows, in float64: a matrix as the table is one, dense or sparse. `indices` must rise."""
        if is_sparse(self.table) or isinstance(self.table, np.ndarray):
            rows: Table = cast("Array", self.table)[indices]
            return rows.astype(np.float64)
        # Files read whole slices faster than single rows.
        found = np.searchsorted(indices, [0, *(part.stop for part in self.slices)])
        parts = [
            np.asarray(self.table[rows], dtype=np.float64)[indices[start:stop] - rows.start]
            for rows, start, stop in zip(self.slices, found[:-1], found[1:], strict=True)
            if stop > start
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.d))

    def promise(self, members: list[Array]) -> Sequence[Table]:
        """The rows of each of many sets, read when they are asked for."""
        return _Promised(self, members)

    def _dense(self, rows: Table) -> Array:
        dense = np.asarray(rows.toarray() if is_sparse(rows) else rows)
        block = np.asarray(dense, dtype=np.float64)
        if dense.dtype.name not in ALWAYS_EXACT:
            check_exact(dense, block, self.name)
        return block


class _Promised(Sequence[Table]):
    """Sets of rows that are read when they are asked for."""

    def __init__(self, blocks: RowBlocks, members: list[Array]):
        self.blocks, self.members = blocks, members

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, number: Any) -> Any:
        return self.blocks.take(self.members[number])


def block_rows(d: int) -> int:
    """Rows of one block of a table with `d` columns."""
    return max(1, min(MOST_BLOCK_ROWS, BLOCK_ENTRIES // d))


def check_block(block: Array, name: str, number: int, count: int, first_row: int) -> None:
    """Refuse NaN and infinity, naming the block and the first place."""
    wrong = ~np.isfinite(block)
    if not wrong.any():
        return
    row, column = np.argwhere(wrong)[0]
    raise ValueError(
        f"{name} must be finite, got {int(wrong.sum())} values that are NaN or infinite in block {number} of {count}, "
        f"the first at row {first_row + int(row)}, column {int(column)}. Impute or drop them."
    )
