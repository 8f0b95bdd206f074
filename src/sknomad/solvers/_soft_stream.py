"""Soft assignments without the assignments: a row of ``V`` is a function of that row and of a few sums over all rows.

For cells with centroids ``m_j``, sizes ``s_j``, squared norms ``q_j = |v_j|^2`` and the trace multiplier ``lam``, row i
of ``V`` maximises ``sum_j v_j (2 x_i.m_j - |m_j|^2 + lam q_j/s_j^2) - lam v_j^2/s_j`` over the simplex. So ``V`` is
never stored: a block of rows and the `Cells` give the block's share of the next sums, wherever the block is (in memory,
on disk, on another machine), and the shares are added in the order of the blocks. Scores may be taken about any origin:
a move of all points changes those of a row by one number, which the simplex does not see.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from .._files.records import saved
from .._numerics.arrays import Array, row_slices
from .._numerics.validation import check_numbers, check_real
from .._numerics.weighted_simplex import weighted_rows_by_newton
from .._points.mixed import shares_for_trace
from .._program.data_rows import Sums

# Cells of fewer points than this are empty.
SMALLEST_CELL = 1e-6
# Factor by which one sweep may change the multiplier: from a poor start the trace may be far from K.
LARGEST_STEP = 4.0
# Assignments that are computed together: as many as a processor keeps at hand between the passes over them.
ENTRIES_TOGETHER = 2**17


@saved
@dataclass(frozen=True)
class Cells:
    """All that a row of the soft assignments depends on beside the row itself."""

    centroids: Array  # (d, r), relative to `origin`
    sizes: Array  # (r,), V'1
    squares: Array  # (r,), squared norms of the columns of V
    lam: float  # multiplier of the trace
    origin: Array  # (d,), subtracted from every row

    def __post_init__(self) -> None:
        d, r = check_numbers(self.centroids, "centroids", (None, None), finite=True).shape
        check_numbers(self.origin, "origin", (d,), finite=True)
        check_real(self.lam, "lam", 0, math.inf, "a number >= 0")
        for name in ("sizes", "squares"):
            if not np.all(check_numbers(vars(self)[name], f"{name} of cells", (r,), finite=True) >= 0):
                raise ValueError(f"{name} of cells must not be negative, got others.")

    @classmethod
    def of(cls, sums: Sums, lam: float, origin: Array) -> Cells:
        """The cells whose sums over rows about `origin` these are."""
        return cls(sums.products / sums.sizes, sums.sizes, sums.squares, lam, origin)

    @property
    def sums(self) -> Sums:
        """The three sums over rows about the origin that cells are made of."""
        return Sums(self.centroids * self.sizes, self.sizes, self.squares)

    @property
    def trace(self) -> float:
        """The trace of ``Q`` before it is mended."""
        return float(np.sum(self.squares / self.sizes))

    def scaled(self, factor: float) -> Cells:
        """The cells of data of which these are a sample, or a fair part: all sums times `factor`."""
        return replace(self, sizes=self.sizes * factor, squares=self.squares * factor, lam=self.lam * factor)

    def only(self, kept: Array) -> Cells:
        """Some of the cells."""
        return replace(self, centroids=self.centroids[:, kept], sizes=self.sizes[kept], squares=self.squares[kept])


def assignments(block: Array, cells: Cells) -> Array:
    """The rows of ``V`` for some rows of the data, (rows, r)."""
    return np.concatenate([_assigned(rows, cells) for rows in _rows_together(block, cells)])


def _rows_together(block: Array, cells: Cells) -> list[Array]:
    """Rows in pieces whose assignments are computed together."""
    size = max(1, ENTRIES_TOGETHER // len(cells.sizes))
    return [block[rows] for rows in row_slices(len(block), size)]


def _assigned(block: Array, cells: Cells) -> Array:
    rows = np.asarray(block, dtype=np.float64) - cells.origin
    costs = cells.lam * cells.squares / cells.sizes**2 - np.sum(cells.centroids**2, axis=0)
    scores, weights = 2 * (rows @ cells.centroids) + costs, cells.sizes / (2 * cells.lam)
    best = np.argmax(scores, axis=1)
    # Left of every threshold, and as far right as one cell alone can tell.
    thresholds = scores[np.arange(len(rows)), best] - 1 / weights[best]
    return weighted_rows_by_newton(scores, weights, thresholds)[0]


def row_multipliers(block: Array, V: Array, cells: Cells) -> Array:
    """Multipliers of ``sum_j v_ij = 1``, one per row: what the dual of the dense solver starts from."""
    rows = np.asarray(block, dtype=np.float64) - cells.origin
    gains = 2 * (rows @ cells.centroids) - np.sum(cells.centroids**2, axis=0)
    costs = cells.lam * (2 * V / cells.sizes - cells.squares / cells.sizes**2)
    return np.sum(V * (gains - costs), axis=1)


def sums_of(rows: Array, V: Array) -> Sums:
    """The three sums over rows with these assignments."""
    return Sums(rows.T @ V, V.sum(axis=0), np.sum(V * V, axis=0))


def sweep(block: Array, cells: Cells) -> Sums:
    """The share of one block of rows in the sums of the next step."""
    pieces = _rows_together(np.asarray(block, dtype=np.float64), cells)
    return add_in_order(sums_of(rows - cells.origin, _assigned(rows, cells)) for rows in pieces)


def add_in_order(shares: Iterable[Sums]) -> Sums:
    """The sum of all blocks' shares, one after the other: the same bits wherever they were computed."""
    total: Sums | None = None
    for share in shares:
        total = share if total is None else Sums(*(a + b for a, b in zip(total, share, strict=True)))
    assert total is not None
    return total


def next_cells(cells: Cells, sums: Sums, K: float) -> Cells:
    """The cells after a sweep: without empty ones, the multiplier following the trace as in `SoftAssignment`."""
    occupied = sums.sizes > SMALLEST_CELL
    further = Cells.of(
        Sums(sums.products[:, occupied], sums.sizes[occupied], sums.squares[occupied]), cells.lam, cells.origin
    )
    return replace(further, lam=cells.lam * min(max(further.trace / K, 1 / LARGEST_STEP), LARGEST_STEP))


def value_of(sums: Sums, n: int, K: float, total_spread: float) -> float:
    """``<D, Q>`` of the assignments that `sums` belong to, after exact repair of the trace.

    ``D`` is centred, and the mean of all points follows from the sums: rows of ``V`` sum to one.
    """
    mean = sums.products.sum(axis=1) / sums.sizes.sum()
    occupied = sums.sizes > 0
    about = sums.products[:, occupied] / sums.sizes[occupied] - mean[:, None]
    value = float(np.sum(np.sum(about**2, axis=0) * sums.sizes[occupied]))
    trace = float(np.sum(sums.squares[occupied] / sums.sizes[occupied]))
    identity, mean_share = shares_for_trace(trace, K, n)
    return (1 - identity - mean_share) * value + identity * total_spread
