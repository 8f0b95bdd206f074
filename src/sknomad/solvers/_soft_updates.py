"""The closed-form updates of soft assignments: rows, the multiplier of the trace, and cells that split or vanish.

For a multiplier ``lam`` of the trace row i maximises ``sum_j v_j (2 x_i.m_j - |m_j|^2 + lam c_j) - lam v_j^2 / s_j``
over the simplex, where ``m_j`` are the cells' centroids, ``s_j`` their sizes and ``c_j = |v_j|^2 / s_j^2``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._files.records import saved
from .._numerics.arrays import Array, like, namespace
from .._numerics.validation import check_count, check_moderate, check_real
from .._numerics.weighted_simplex import weighted_rows_by_newton
from .._points.mixed import shares_for_trace
from .._program.data_rows import Rows, Sums
from .._program.problem import KMeansSDP

# Cells of fewer points than this are empty; with weights, of less than this many mean weights.
SMALLEST_CELL = 1e-6
# The multiplier stays within this factor of its natural size, for traces that cannot be reached.
MULTIPLIER_RANGE = 1e10
# Multipliers and thresholds that are not within this factor of the size of the data are none.
STATE_RANGE = 1e30
# How far below K the trace may end, relative, and the updates spent on getting there.
TRACE_TOLERANCE, SECANT_STEPS = 1e-6, 6


class Assignments(NamedTuple):
    """Soft assignments and what the next update starts from."""

    V: Array  # (n, r)
    lam: float  # multiplier of the trace
    thresholds: Array | None  # (n,) of the last row updates: a warm start for the next


@saved
@dataclass(frozen=True)
class SoftState:
    """What `SoftAssignment` knows beside its point; of soft assignments from elsewhere the multiplier is enough."""

    lam: float  # multiplier of the trace
    thresholds: Array | None = None  # (n,) of the last row updates
    best: float = -math.inf  # value reached at this rank
    stalled: int = 0  # iterates since it last improved
    gains: tuple[float, ...] = ()  # of the last iterates at this rank
    growth_left: int | None = None  # how often the rank may still double; None leaves it to the settings

    def check(self, problem: KMeansSDP) -> None:
        """Refuse what no sweep over the points of `problem` can have left: a file may hold anything."""
        self.check_multiplier(problem)
        size = natural_multiplier(problem, 1) or 1.0
        if self.thresholds is not None:
            check_moderate(self.thresholds, "the thresholds of soft assignments", (problem.n,), size * STATE_RANGE)
        check_real(self.best, "the best value of soft assignments", -math.inf, math.inf, "a real number")
        check_count(self.stalled, "the iterates of soft assignments without improvement")
        if not isinstance(self.gains, tuple):
            raise TypeError(f"the gains of soft assignments must be a tuple, got {type(self.gains).__name__}.")
        for gain in self.gains:
            check_real(gain, "a gain of soft assignments", -math.inf, math.inf, "a real number")
        if self.growth_left is not None:
            check_count(self.growth_left, "the growth left to soft assignments")

    def check_multiplier(self, problem: KMeansSDP) -> None:
        """The same for what others read; extreme weights may leave thresholds beyond all range, which nobody needs."""
        size = natural_multiplier(problem, 1) or 1.0
        rule = "a positive real number of the size of the data"
        check_real(self.lam, "the multiplier of soft assignments", size / STATE_RANGE, size * STATE_RANGE, rule)


def natural_multiplier(problem: KMeansSDP, rank: int) -> float:
    """A multiplier that weighs one point's spread against one point's share of a cell."""
    return max(problem.gram.trace, problem.gram.norm) / rank


def sweep(problem: KMeansSDP, rows: Rows, state: Assignments, count: int) -> Assignments:
    """`count` closed-form updates of all rows, the multiplier following the trace."""
    natural = natural_multiplier(problem, state.V.shape[1])
    V, lam, thresholds = state
    for _ in range(count):
        V = _without_empty_cells(rows, V)
        sums = rows.sums(V)
        # A larger multiplier makes assignments softer, and the trace with them smaller.
        lam = lam * float(namespace(V).sum(sums.squares / sums.sizes)) / problem.K
        lam = min(max(lam, natural / MULTIPLIER_RANGE), natural * MULTIPLIER_RANGE)
        V, thresholds = weighted_rows_by_newton(row_scores(rows, sums, lam), sums.sizes / (2 * lam), thresholds)
    return Assignments(_without_empty_cells(rows, V), lam, thresholds)


class Cells(NamedTuple):
    """What an update of the rows depends on beside the multiplier."""

    gains: Array  # (n, r) ``2 x_i.m_j - |m_j|^2``
    costs: Array  # (r,) what a unit of each cell adds to the trace, ``c_j``
    sizes: Array  # (r,)


def settle_trace(problem: KMeansSDP, rows: Rows, state: Assignments) -> Assignments:
    """One more update, with the multiplier for which the trace ends just below K."""
    sums = rows.sums(state.V)
    cells = Cells(row_scores(rows, sums, 0.0), sums.squares / sums.sizes**2, sums.sizes)
    return settle_trace_of(problem, rows, cells, state.lam, state.thresholds)


def settle_trace_of(
    problem: KMeansSDP, rows: Rows, cells: Cells, lam: float, thresholds: Array | None = None
) -> Assignments:
    """Assignments to given cells, with the multiplier, sought from `lam` on, for which the trace ends just below K.

    Mixing with the identity, which mends a trace that is too small, costs far less value than mixing with ``J``,
    which mends one that is too large. The trace falls as the multiplier grows, so a few secant steps find it.
    """
    xp = namespace(cells.gains)

    def update(log_lam: float, thresholds: Array | None) -> tuple[Assignments, float]:
        lam = math.exp(log_lam)
        V, thresholds = weighted_rows_by_newton(cells.gains + lam * cells.costs, cells.sizes / (2 * lam), thresholds)
        trace = float(xp.sum(rows.sums_of_squares(V) / xp.clip(rows.sizes(V), min=_smallest_cell(rows))))
        return Assignments(V, lam, thresholds), math.log(trace / aim)

    aim = problem.K * (1 - TRACE_TOLERANCE / 2)
    x = math.log(lam)
    candidate, excess = update(x, thresholds)
    slope = -1.0
    for _ in range(SECANT_STEPS):
        if abs(excess) <= TRACE_TOLERANCE / 2:
            break
        step = max(min(-excess / slope, 1.0), -1.0)
        candidate, new_excess = update(x + step, candidate.thresholds)
        slope = min((new_excess - excess) / step, -0.05) if step else slope
        x, excess = x + step, new_excess
    return candidate._replace(V=_without_empty_cells(rows, candidate.V))


def value_and_trace(problem: KMeansSDP, sums: Sums) -> tuple[float, float]:
    """Value after exact trace repair, and the trace before it."""
    xp = namespace(sums.sizes)
    value = float(xp.sum(xp.sum(sums.products * sums.products, axis=0) / sums.sizes))
    trace = float(xp.sum(sums.squares / sums.sizes))
    identity, mean = shares_for_trace(trace, problem.K, problem.n)
    return (1 - identity - mean) * value + identity * problem.gram.trace, trace


def row_scores(rows: Rows, sums: Sums, lam: float) -> Array:
    """``2 x_i.m_j - |m_j|^2 + lam c_j``: what point i gains per unit of cell j."""
    xp = namespace(sums.sizes)
    centroids = sums.products / sums.sizes
    offset = lam * sums.squares / sums.sizes**2 - xp.sum(centroids * centroids, axis=0)
    return 2 * rows.scores(centroids) + offset


def _smallest_cell(rows: Rows) -> float:
    return SMALLEST_CELL * rows.total / rows.n


def _without_empty_cells(rows: Rows, V: Array) -> Array:
    """`V` without them; a point that has lost all its cells, so light that they were empty, is shared by the others."""
    xp = namespace(V)
    occupied = rows.sizes(V) > _smallest_cell(rows)
    if bool(xp.all(occupied)):
        return V
    V = xp.take(V, xp.nonzero(occupied)[0], axis=1)
    left = xp.sum(V, axis=1)[:, None]
    return xp.where(left > 0, V / xp.where(left > 0, left, 1.0), 1.0 / V.shape[1])


def split_cells(rows: Rows, V: Array, generator: np.random.Generator) -> Array:
    """Every cell as two, leaning to either side of it along a random direction; about the same ``Q``."""
    xp = namespace(V)
    sums = rows.sums(V)
    directions = like(generator.standard_normal(tuple(sums.products.shape)), V)
    position = rows.scores(directions)
    position = position - xp.sum(directions * sums.products, axis=0) / sums.sizes
    lean = 0.5 + 0.15 * xp.sign(position)
    return xp.concat([V * lean, V * (1 - lean)], axis=1)
