"""Cells: soft assignments of which nothing is kept but three sums and a multiplier.

A row of the soft assignments ``V`` is a function of that point and of the cells, see `_soft_updates`: whoever has the
cells can find it again, so ``V`` itself is never held. One pass over the points turns cells into better ones and tells
the value of the feasible ``Q = V diag(V'1)^-1 V'`` they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from .._files.records import saved
from .._numerics.arrays import UNIT_ROUNDOFF, Array
from .._numerics.validation import check_numbers, check_real
from .._numerics.weighted_simplex import weighted_rows_by_newton
from .._points.forms import SoftPoint
from .._points.mixed import shares_for_trace
from .._program.data_rows import Sums
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.loop import Limits
from .._solving.rough import rough_iterate
from ..solvers import SoftAssignment
from ..solvers._soft_updates import SoftState

# Cells of less than this share of the mean cell are dropped.
SMALLEST_SHARE = 1e-9
# Shortfall of the trace that is aimed at: mending a trace that is too small costs far less than one too large.
TRACE_AIM, TRACE_TOLERANCE = 1 - 1e-4, 1e-5
# Secant steps towards it, on a sample, and the least slope they believe in.
SECANT_STEPS, STEEPEST = 8, -0.05
# Most steps, of ten sweeps each, on a sample.
MOST_STEPS = 100


@saved
@dataclass(frozen=True)
class CellSums:
    """What every row of soft assignments is a function of."""

    products: Array  # X'V, (d, r)
    sizes: Array  # V'1, (r,)
    squares: Array  # squared column norms of V, (r,)
    lam: float  # multiplier of the trace

    def __post_init__(self) -> None:
        r = len(check_numbers(self.sizes, "sizes of cells", (None,)))
        check_numbers(self.squares, "squares of cells", (r,))
        check_numbers(self.products, "products of cells", (None, r))
        check_real(self.lam, "the multiplier of cells", 0, math.inf, "a number >= 0")

    @property
    def centroids(self) -> Array:
        """Means of the cells, (r, d)."""
        return (self.products / self.sizes).T

    @property
    def trace(self) -> float:
        """``tr Q``."""
        return float(np.sum(self.squares / self.sizes))

    @property
    def value(self) -> float:
        """``<D, Q>``."""
        return float(np.sum(self.products * self.products / self.sizes))

    def assign(self, rows: Array) -> Array:
        """Rows of ``V``: nonnegative, of sum one."""
        centroids = self.products / self.sizes
        scores = 2 * (rows @ centroids) - np.sum(centroids * centroids, axis=0)
        scores = scores + self.lam * self.squares / self.sizes**2
        weights = self.sizes / (2 * self.lam)
        best = np.argmax(scores, axis=1)
        # Left of every threshold, and as far right as one cell alone can tell.
        thresholds = scores[np.arange(len(rows)), best] - 1 / weights[best]
        return weighted_rows_by_newton(scores, weights, thresholds)[0]

    def row_multipliers(self, rows: Array, V: Array) -> Array:
        """Multipliers of ``sum_j v_ij = 1``, one per row: what the dual of the dense solver starts from."""
        centroids = self.products / self.sizes
        gains = 2 * (rows @ centroids) - np.sum(centroids * centroids, axis=0)
        costs = self.lam * (2 * V / self.sizes - self.squares / self.sizes**2)
        return np.sum(V * (gains - costs), axis=1)

    def sums(self, rows: Array) -> Sums:
        """What some rows contribute to the next cells."""
        V = self.assign(rows)
        return Sums(rows.T @ V, V.sum(axis=0), np.sum(V * V, axis=0))

    def after(self, blocks: Iterable[Array]) -> CellSums:
        """The cells after one pass over all rows, in which the multiplier is the same."""
        d, r = self.products.shape
        products, sizes, squares = np.zeros((d, r)), np.zeros(r), np.zeros(r)
        for rows in blocks:
            part = self.sums(rows)
            products += part.products
            sizes += part.sizes
            squares += part.squares
        return replace(self, products=products, sizes=sizes, squares=squares)

    def without_empty(self, share: float = SMALLEST_SHARE) -> CellSums:
        """The same without cells that hold nothing, or no more than this share of a mean one."""
        kept = self.sizes > share * self.sizes.mean()
        return replace(self, products=self.products[:, kept], sizes=self.sizes[kept], squares=self.squares[kept])

    def with_trace(self, K: float, sample: Array) -> CellSums:
        """The same with the multiplier for which rows like those of the sample will have a trace just below ``K``.

        A larger multiplier makes rows softer and the trace smaller; secant steps in logarithms find it.
        """
        aim, position, slope = math.log(K * TRACE_AIM), math.log(self.lam), -1.0
        excess = math.log(self._trace_of(sample, position)) - aim
        for _ in range(SECANT_STEPS):
            if abs(excess) <= TRACE_TOLERANCE:
                break
            step = max(min(-excess / slope, 1.0), -1.0)
            further = math.log(self._trace_of(sample, position + step)) - aim
            slope = min((further - excess) / step, STEEPEST)
            position, excess = position + step, further
        return replace(self, lam=math.exp(position))

    def _trace_of(self, rows: Array, log_lam: float) -> float:
        """The trace that the rows alone would have."""
        _, sizes, squares = replace(self, lam=math.exp(log_lam)).sums(rows)
        return float(np.sum(squares[sizes > 0] / sizes[sizes > 0]))

    def times(self, factor: float) -> CellSums:
        """The cells of so many times as many points."""
        return CellSums(self.products * factor, self.sizes * factor, self.squares * factor, self.lam * factor)

    def feasible_value(self, n: int, K: float, trace_D: float) -> float:
        """Value after the exact repair of the trace with ``I`` or ``J``, as computed."""
        identity, mean = shares_for_trace(self.trace, K, n)
        return (1 - identity - mean) * self.value + identity * trace_D


def rounding_of_value(r: int, K: float, trace_D: float, depth: int) -> float:
    """Bound on how far `Cells.feasible_value` can be above the value of an exactly feasible point.

    Sums over rows have `depth` roundings. A column of ``X'V`` is off by ``g |X|_F |v_j|``, so that the value, at most
    ``tr D``, is off by ``2 g sqrt(K) tr D``; sizes and squares are off by the share ``g``; that rows of ``V`` sum to
    one but for ``r`` roundings is as much again. A trace that is off by ``g K`` moves the shares of ``I`` and ``J`` by
    so little that the value loses at most ``g K |D|``. The factor 8 covers all of them.
    """
    return 8 * (depth + r + 16) * UNIT_ROUNDOFF * (math.sqrt(K) + K) * trace_D


def cells_of_sample(sample: Array, K: float, seed: int, max_growth: int = 1) -> CellSums:
    """Cells that are right for a sample of the points, from the solver for points in memory."""
    solver = SoftAssignment(random_state=seed, device="cpu", max_growth=max_growth)
    problem = KMeansSDP(Gram.from_data(sample), K)
    if problem.is_trivial:
        return one_cell(sample)
    iterate, _ = rough_iterate(problem, solver, Limits(MOST_STEPS, math.inf))
    assert isinstance(iterate.point, SoftPoint)
    assert isinstance(iterate.state, SoftState)
    V = iterate.point.V
    return CellSums(sample.T @ V, V.sum(axis=0), np.sum(V * V, axis=0), iterate.state.lam).without_empty()


def one_cell(rows: Array) -> CellSums:
    """All rows in one cell, where there is nothing to tell them apart by."""
    size = np.full(1, float(len(rows)))
    return CellSums(rows.sum(axis=0)[:, None], size, size, 1.0)
