"""Rows about their mean, block by block: those of a Gram matrix, or whatever can be sliced, without a second copy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.arrays import Array, gamma, is_array, is_numpy_array, is_sparse, row_slices, to_numpy
from .._program.centring import CentringError, Frame, centring_error
from .._program.float_range import LARGEST_SIZE, SMALLEST_SIZE, warn_of_scale
from .._program.gram import Gram

# Rows of one block: enough for fast products, few enough that sums over a block lose next to nothing.
BLOCK_ROWS = 4096
# The matrices of landmarks are as wide as these and the columns of the data together: more columns would take over.
MOST_COLUMNS = 1000
# Whole numbers up to this are float64 numbers.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True)
class Rows(ABC):
    """Centred rows in float64, always in the same blocks."""

    n: int  # number of rows
    d: int  # number of columns
    squares: float  # |X|_F^2, as computed
    centring: CentringError  # how far centring can have moved values

    @abstractmethod
    def blocks(self) -> Iterator[Array]:
        """The centred rows, block by block, always the same blocks."""

    @property
    def depth(self) -> int:
        """Roundings of a sum over all rows."""
        return _depth(self.n)

    def sample(self, size: int, seed: int) -> Array:
        """So many of the centred rows, drawn without repetition; all of them, in their order, where there are no more.

        A table on a disk is read block by block here too: single rows out of order would take far longer.
        """
        if size >= self.n:
            return np.concatenate(list(self.blocks()))
        chosen = np.sort(np.random.default_rng(seed).choice(self.n, size, replace=False))
        parts = []
        for block, rows in zip(row_slices(self.n, BLOCK_ROWS), self.blocks(), strict=True):
            inside = chosen[np.searchsorted(chosen, block.start) : np.searchsorted(chosen, block.stop)]
            parts.append(rows[inside - block.start])
        return np.concatenate(parts)


@dataclass(frozen=True)
class GramRows(Rows):
    """The rows that a Gram matrix holds, ``D = X X'`` with a dense centred ``X``, without weights."""

    X: Array  # (n, d)

    @classmethod
    def of(cls, gram: Gram) -> GramRows:
        """Those of a `gram` for which `has_rows` is true."""
        X = gram.factor
        assert X is not None
        squares = sum(float(np.sum(rows * rows)) for rows in _blocks_of(X))
        n, d = X.shape
        return cls(n, d, squares, CentringError(gram.centring_error, gram.value_error), X)

    def blocks(self) -> Iterator[Array]:
        """Slices of the rows."""
        return _blocks_of(self.X)


def has_rows(gram: Gram) -> bool:
    """Whether a Gram matrix is that of dense rows without weights."""
    return gram.factor is not None and gram.roots is None


def what_landmarks_need(gram: Gram) -> str | None:
    """What a Gram matrix must be for a bound by landmarks, and how to come by it; None where it is that already.

    Examples
    --------
    >>> what_landmarks_need(Gram.from_kernel(np.eye(2)))
    'the rows of the data instead of a kernel: pass those'
    >>> what_landmarks_need(Gram.from_data([[0.0], [1.0]]))
    """
    if gram.kernel is not None:
        return "the rows of the data instead of a kernel: pass those"
    if gram.roots is not None:
        return "no weights, nor equal points merged into weights: pass all points to solve_by_landmarks"
    if gram.sparse is not None:
        return f"a dense table of at most {MOST_COLUMNS} columns: pass coordinates of TruncatedSVD"
    if gram.table.shape[1] > MOST_COLUMNS:
        return f"at most {MOST_COLUMNS} columns, got {gram.table.shape[1]}: pass coordinates of PCA"
    return None


def _blocks_of(X: Array) -> Iterator[Array]:
    return (X[block] for block in row_slices(len(X), BLOCK_ROWS))


@dataclass(frozen=True)
class CentredRows(Rows):
    """The rows of a table about their mean, in float64, one block after the other."""

    source: Any  # (n, d): a NumPy array, a memory map, or whatever gives rows for a slice
    frame: Frame  # what is done to a row
    largest: float  # entry of X - x_0, absolute

    @classmethod
    def of(cls, X: Any) -> CentredRows:
        """Read a table three times: for its range, for its mean, and for its size about that mean."""
        source = _sliceable(X)
        n, d = map(int, source.shape)
        origin = _block(source, slice(0, 1))[0]
        first, largest = _range(source, origin)
        second = 0 if largest == 0 or SMALLEST_SIZE <= largest <= LARGEST_SIZE else math.frexp(largest)[1]
        if first + second:
            warn_of_scale("X", first + second)
        uncentred = Frame(first, np.ldexp(origin, -first), second, np.zeros(d))
        total, spread = np.zeros(d), 0.0
        for rows in _placed(source, uncentred):
            total += rows.sum(axis=0)
            spread += float(np.sum(rows * rows))
        frame = Frame(first, uncentred.origin, second, total / n)
        squares = sum(float(np.sum(rows * rows)) for rows in _placed(source, frame))
        slack = 1 + gamma(2 * _depth(n) + d)
        centring = centring_error(math.sqrt(squares) * slack, math.sqrt(spread) * slack, n, is_weighted=False)
        return cls(n, d, squares, centring, source, frame, math.ldexp(largest, -second))

    def blocks(self) -> Iterator[Array]:
        """The centred rows, read and placed."""
        return _placed(self.source, self.frame)

    def unplace(self, rows: Array) -> Array:
        """Centred rows in the units of the source, up to rounding."""
        frame = self.frame
        return np.ldexp(np.ldexp(rows + frame.mean, frame.second) + frame.origin, frame.first)


def _depth(n: int) -> int:
    """Roundings of a sum over n rows: those within a block, then those of the blocks' sums."""
    return min(n, BLOCK_ROWS) + math.ceil(n / BLOCK_ROWS) + 4


def read_rows(X: Any, d: int) -> Array:
    """A table of `d` columns, all of it, in float64."""
    source = _sliceable(X, least=1)
    if source.shape[1] != d:
        raise ValueError(f"X must have {d} columns as the points that were solved for, got {source.shape[1]}.")
    return _block(source, slice(0, source.shape[0]))


def _sliceable(X: Any, least: int = 2) -> Any:
    """`X` if it is a dense table of real numbers whose rows can be sliced; tables of other kinds are converted."""
    if is_sparse(X):
        raise TypeError("X must be a dense table, got a sparse matrix. Pass X.toarray(), or use NOMAD(solver='soft').")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    elif is_array(X) and not is_numpy_array(X):
        X = to_numpy(X)
    elif not (hasattr(X, "shape") and hasattr(X, "dtype")):
        X = np.asarray(X)
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X must be an array without a mask, got a masked array. Impute or drop what is masked.")
    if len(X.shape) != 2 or X.shape[0] < least or X.shape[1] < 1:
        raise ValueError(f"X must be a table of at least {least} rows and 1 column, got shape {tuple(X.shape)}.")
    dtype = np.dtype(X.dtype)
    if dtype.kind not in "fiub" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise TypeError(f"X must hold real numbers that float64 can hold, got {dtype}. Convert it to float64.")
    return X


def _block(source: Any, block: slice) -> Array:
    """Rows of the source in float64, refused where they are not finite or were rounded."""
    given = np.asarray(source[block])
    rows = given.astype(np.float64)
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"X must hold finite numbers, got {rows[row, column]} at row {block.start + row}, column {column}. "
            "Impute or drop such rows."
        )
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and float(np.abs(rows).max()) > LARGEST_WHOLE:
        raise ValueError("X must hold whole numbers up to 2**53, got larger ones. Subtract a common offset first.")
    return rows


def _range(source: Any, origin: Array) -> tuple[int, float]:
    """By which power of two to divide so that differences to the origin are numbers, and the largest of them then."""
    for exponent in (0, 1):
        largest = 0.0
        for block in row_slices(source.shape[0], BLOCK_ROWS):
            with np.errstate(over="ignore"):
                moved = np.ldexp(_block(source, block), -exponent) - np.ldexp(origin, -exponent)
            largest = max(largest, float(np.abs(moved).max()))
        if math.isfinite(largest):
            break
    return exponent, largest


def _placed(source: Any, frame: Frame) -> Iterator[Array]:
    for block in row_slices(source.shape[0], BLOCK_ROWS):
        yield np.asarray(frame.place(_block(source, block)))
