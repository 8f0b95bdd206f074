"""Rows about their mean, read block by block: whatever can be sliced will do, and no second copy of it is made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.arrays import Array, gamma, is_array, is_numpy_array, is_sparse, row_slices, to_numpy
from .._program.centring import Frame, centring_error
from .._program.float_range import LARGEST_SIZE, SMALLEST_SIZE, power_of_two, warn_of_scale

# Rows of one block: enough for fast products, few enough that sums over a block lose next to nothing.
BLOCK_ROWS = 4096
# Whole numbers up to this are float64 numbers.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True)
class CentredRows:
    """The rows of a table about their mean, in float64, one block after the other."""

    source: Any  # (n, d): a NumPy array, a memory map, or whatever gives rows for a slice
    frame: Frame  # what is done to a row
    squares: float  # |X|_F^2 of the centred rows, as computed
    spread: float  # |X - x_0|_F
    largest: float  # entry of X - x_0, absolute

    @classmethod
    def of(cls, X: Any) -> CentredRows:
        """Read a table three times: for its range, for its mean, and for its size about that mean."""
        source = _sliceable(X)
        origin = _block(source, slice(0, 1))[0]
        first, largest = _range(source, origin)
        second = 0 if largest == 0 or SMALLEST_SIZE <= largest <= LARGEST_SIZE else math.frexp(largest)[1]
        if first + second:
            warn_of_scale("X", first + second)
        uncentred = Frame(first, np.ldexp(origin, -first), second, np.zeros(len(origin)))
        total, spread = np.zeros(len(origin)), 0.0
        for rows in _placed(source, uncentred):
            total += rows.sum(axis=0)
            spread += float(np.sum(rows * rows))
        frame = Frame(first, uncentred.origin, second, total / source.shape[0])
        squares = sum(float(np.sum(rows * rows)) for rows in _placed(source, frame))
        return cls(source, frame, squares, math.sqrt(spread), math.ldexp(largest, -second))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.source.shape[0])

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.source.shape[1])

    @property
    def unit(self) -> float:
        """Values are in multiples of this; 1 except for extreme scales."""
        return power_of_two(2 * (self.frame.first + self.frame.second))

    @property
    def depth(self) -> int:
        """Roundings of a sum over all rows: those within a block, then those of the blocks' sums."""
        return min(self.n, BLOCK_ROWS) + math.ceil(self.n / BLOCK_ROWS) + 4

    @property
    def off_mean_error(self) -> float:
        """Bound on how far centring in float64 can have moved any ``<D, Q - J>``."""
        return self._centring_error(0)

    @property
    def value_error(self) -> float:
        """Bound on how far centring in float64 can have moved any value ``<D, Q>``, an error of the mean included."""
        return self._centring_error(1)

    def _centring_error(self, which: int) -> float:
        rounding = 1 + gamma(2 * self.depth + self.d)
        norm, spread = math.sqrt(self.squares) * rounding, self.spread * rounding
        return centring_error(norm, spread, self.n, is_weighted=False)[which]

    def blocks(self) -> Iterator[Array]:
        """The centred rows, block by block, always the same blocks."""
        return _placed(self.source, self.frame)

    def unplace(self, rows: Array) -> Array:
        """Centred rows in the units of the source, up to rounding."""
        frame = self.frame
        return np.ldexp(np.ldexp(rows + frame.mean, frame.second) + frame.origin, frame.first)

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
