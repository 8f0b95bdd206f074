"""Soft assignments: the factored solver, any number of points, feasible at every step.

With a nonnegative ``V`` (n x r) whose rows sum to one, ``Q = V diag(V'1)^-1 V'`` satisfies every constraint but
``tr Q = K``. For a multiplier ``lam`` of that one, rows are updated in closed form, as Lloyd's algorithm updates
labels: row i maximises ``sum_j v_j (2 x_i.m_j - |m_j|^2 + lam c_j) - lam v_j^2 / s_j`` over the simplex, where ``m_j``
are the cells' centroids, ``s_j`` their sizes and ``c_j = |v_j|^2 / s_j^2``. Fixed points are the KKT points of the
problem. With weights all sums over points are weighted, and nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.cluster import kmeans_plusplus

from .._certificate.solution import Iterate
from .._files.records import saved
from .._numerics.arrays import Array, choose_device, itemsize, like, namespace, to_numpy
from .._numerics.fixed_vector import direction_like
from .._numerics.validation import check_integer, check_real
from .._points.forms import FactorPoint, MixedPoint, SoftPoint
from .._program.data_rows import Rows, Sums, rows_of
from .._program.problem import KMeansSDP

# First rank as a multiple of K when "auto"; it doubles while that pays.
FIRST_RANK = 4
# n x r arrays alive at the worst moment of a sweep.
ARRAYS_OF_A_SWEEP = 8.5
# Cells of fewer points than this are empty; with weights, of less than this many mean weights.
SMALLEST_CELL = 1e-6
# Points that k-means++ looks at for each cell; more change nothing but the time.
SAMPLE_PER_CELL, SMALLEST_SAMPLE = 20, 10_000
# Iterates without improvement before a stop: the value may dip while the multiplier settles.
PATIENCE = 2
# The multiplier stays within this factor of its natural size, for traces that cannot be reached.
MULTIPLIER_RANGE = 1e10
# How far below K the trace may end, relative, and the updates spent on getting there.
TRACE_TOLERANCE, SECANT_STEPS = 1e-6, 6
# Newton steps for the threshold of each row; warm-started, three usually suffice.
NEWTON_STEPS = 12


class _State(NamedTuple):
    V: Array  # (n, r) soft assignments
    lam: float  # multiplier of the trace
    thresholds: Array  # (n,) of the last row updates: a warm start for the next


@saved
@dataclass(frozen=True)
class SoftAssignment:
    """Factored solver on soft assignments of points to cells: feasible at every step, no n x n array.

    It solves a restriction of the program (to completely positive ``Q`` of bounded rank), non-convex but in practice
    within 1e-4 or so of the optimum, and carries no upper bound of its own. Memory and time per step are O(n r) and
    O(n d r).

    Parameters
    ----------
    rank : int or "auto", default="auto"
        Number of cells ``r``. "auto" begins with four times K and doubles while the value still rises.
    improvement : float, default=1e-6
        Stop (or double the rank) when ten sweeps raise the value by less than this share.
    max_growth : int, default=2
        How often "auto" may double the rank.
    sweeps : int, default=10
        Row updates per iterate.
    random_state : int, default=0
        Seed of the k-means++ start and of the splits.
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where to compute; an array stands for its library, device and precision.

    Examples
    --------
    >>> import itertools
    >>> from sknomad import Gram, KMeansSDP, certify
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> *_, last = itertools.islice(SoftAssignment(rank=2).iterates(problem), 5)
    >>> round(certify(problem, last).lower, 6)
    100.0
    """

    rank: Any = "auto"
    improvement: float = 1e-6
    max_growth: int = 2
    sweeps: int = 10
    random_state: int = 0
    device: Any = "auto"
    matrix_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rank != "auto":
            check_integer(self.rank, "rank", 1)
        check_real(self.improvement, "improvement", 0, 1, "a real number in [0, 1]")
        check_integer(self.max_growth, "max_growth", 0)
        check_integer(self.sweeps, "sweeps", 1)
        check_integer(self.random_state, "random_state", 0)

    def first_rank(self, problem: KMeansSDP) -> int:
        """The number of cells to begin with."""
        if self.rank != "auto":
            return min(int(self.rank), problem.n)
        return min(max(math.ceil(FIRST_RANK * problem.K), 8), problem.n)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data: assignments, scores and the thresholds' work, at the largest rank."""
        model = choose_device(self.device, problem.n)
        rank = min(self.first_rank(problem) * (2**self.max_growth if self.rank == "auto" else 1), problem.n)
        return int(ARRAYS_OF_A_SWEEP * problem.n * rank * itemsize(model))

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per `sweeps` row updates, until neither they nor a larger rank raise the value."""
        model = choose_device(self.device, problem.n)
        rows, u = rows_of(problem.gram, model), direction_like(problem.direction, model)
        state = self._initial_state(problem, rows, model, start)
        done = {} if start is None else start.extra
        growth_left = int(done.get("growth_left", self.max_growth if self.rank == "auto" else 0))
        best, stalled = float(done.get("best", -math.inf)), int(done.get("stalled", 0))
        while True:
            while stalled < PATIENCE:
                state = _settle_trace(problem, rows, _sweep(problem, rows, state, self.sweeps - 1))
                value, trace = _value(problem, rows.sums(state.V))
                stalled = stalled + 1 if value - best <= self.improvement * abs(value) else 0
                best = max(best, value)
                progress = {"best": best, "stalled": stalled, "growth_left": growth_left}
                yield Iterate(
                    SoftPoint(state.V, u),
                    residuals={"trace_residual": abs(trace - problem.K) / problem.K, "rank": float(state.V.shape[1])},
                    extra={"lam": state.lam, "thresholds": state.thresholds, **progress},
                )
            if growth_left == 0 or 2 * state.V.shape[1] > problem.n:
                return
            growth_left -= 1
            generator = np.random.default_rng([self.random_state, growth_left])
            state = state._replace(V=_split_cells(rows, state.V, generator))
            best, stalled = -math.inf, 0

    def _initial_state(self, problem: KMeansSDP, rows: Rows, model: Array, start: Iterate | None) -> _State:
        """Continue from soft assignments, or spread cells by k-means++."""
        if start is not None and (V := _assignments_of(start, problem.direction)) is not None:
            V, thresholds = like(V, model), start.extra.get("thresholds")
            lam = float(start.extra.get("lam", _natural_multiplier(problem, V.shape[1])))
            return _State(V, lam, None if thresholds is None else like(thresholds, model))
        rank = self.first_rank(problem)
        centroids = like(_spread_centroids(rows, rank, self.random_state).T, model)
        lam = 0.1 * _natural_multiplier(problem, rank)
        sizes = namespace(centroids).full_like(centroids[0, :], rows.total / rank)
        scores = 2 * rows.scores(centroids) - namespace(centroids).sum(centroids**2, axis=0)
        V, thresholds = project_rows(scores, sizes / (2 * lam), None)
        return _State(V, lam, thresholds)


def _natural_multiplier(problem: KMeansSDP, rank: int) -> float:
    """A multiplier that weighs one point's spread against one point's share of a cell."""
    return max(problem.gram.trace, problem.gram.norm) / rank


def _assignments_of(start: Iterate, u: Array) -> Array:
    point = start.point.base if isinstance(start.point, MixedPoint) else start.point
    if isinstance(point, SoftPoint):
        return point.V
    return point.as_soft(u).V if isinstance(point, FactorPoint) else None


def _spread_centroids(rows: Rows, rank: int, seed: int) -> Array:
    """k-means++ centroids of a sample of the rows, (rank, d)."""
    n_sample = min(rows.n, max(SAMPLE_PER_CELL * rank, SMALLEST_SAMPLE))
    generator = np.random.default_rng(seed)
    indices = np.arange(rows.n) if n_sample == rows.n else np.sort(generator.choice(rows.n, n_sample, replace=False))
    weights = None if rows.weights is None else np.asarray(to_numpy(rows.weights), dtype=np.float64)[indices]
    return kmeans_plusplus(rows.take(indices), rank, sample_weight=weights, random_state=seed)[0]


def _sweep(problem: KMeansSDP, rows: Rows, state: _State, count: int) -> _State:
    """`count` closed-form updates of all rows, the multiplier following the trace."""
    natural = _natural_multiplier(problem, state.V.shape[1])
    V, lam, thresholds = state
    for _ in range(count):
        V = _without_empty_cells(rows, V)
        sums = rows.sums(V)
        # A larger multiplier makes assignments softer, and the trace with them smaller.
        lam = lam * float(namespace(V).sum(sums.squares / sums.sizes)) / problem.K
        lam = min(max(lam, natural / MULTIPLIER_RANGE), natural * MULTIPLIER_RANGE)
        V, thresholds = project_rows(row_scores(rows, sums, lam), sums.sizes / (2 * lam), thresholds)
    return _State(_without_empty_cells(rows, V), lam, thresholds)


def _settle_trace(problem: KMeansSDP, rows: Rows, state: _State) -> _State:
    """One more update, with the multiplier for which the trace ends just below K.

    Mixing with the identity, which mends a trace that is too small, costs far less value than mixing with ``J``,
    which mends one that is too large. The trace falls as the multiplier grows, so a few secant steps find it.
    """
    xp = namespace(state.V)
    sums = rows.sums(state.V)
    gains, costs = row_scores(rows, sums, 0.0), sums.squares / sums.sizes**2

    def update(log_lam: float, thresholds: Array) -> tuple[_State, float]:
        lam = math.exp(log_lam)
        V, thresholds = project_rows(gains + lam * costs, sums.sizes / (2 * lam), thresholds)
        trace = float(xp.sum(rows.sums_of_squares(V) / xp.clip(rows.sizes(V), min=_smallest_cell(rows))))
        return _State(V, lam, thresholds), math.log(trace / aim)

    aim = problem.K * (1 - TRACE_TOLERANCE / 2)
    x = math.log(state.lam)
    candidate, excess = update(x, state.thresholds)
    slope = -1.0
    for _ in range(SECANT_STEPS):
        if abs(excess) <= TRACE_TOLERANCE / 2:
            break
        step = max(min(-excess / slope, 1.0), -1.0)
        candidate, new_excess = update(x + step, candidate.thresholds)
        slope = min((new_excess - excess) / step, -0.05) if step else slope
        x, excess = x + step, new_excess
    return candidate._replace(V=_without_empty_cells(rows, candidate.V))


def row_scores(rows: Rows, sums: Sums, lam: float) -> Array:
    """``2 x_i.m_j - |m_j|^2 + lam c_j``: what point i gains per unit of cell j."""
    xp = namespace(sums.sizes)
    centroids = sums.products / sums.sizes
    offset = lam * sums.squares / sums.sizes**2 - xp.sum(centroids * centroids, axis=0)
    return 2 * rows.scores(centroids) + offset


def project_rows(scores: Array, weights: Array, thresholds: Array) -> tuple[Array, Array]:
    """Rows ``v_j = weights_j max(scores_j - t, 0)`` with ``t`` such that each sums to one, and the thresholds ``t``.

    Newton's method on a convex decreasing piecewise linear function: from any start the first step lands left of the
    root and the rest increase to it, a finite number of pieces.
    """
    xp = namespace(scores)
    if thresholds is None:
        thresholds = (scores @ weights - 1) / xp.sum(weights)
    else:
        largest = xp.max(scores, axis=1)
        thresholds = xp.where(thresholds < largest, thresholds, largest - 1 / xp.sum(weights))
    tolerance = 8 * float(xp.finfo(scores.dtype).eps)
    for _ in range(NEWTON_STEPS):
        excess = xp.clip(scores - thresholds[:, None], min=0.0)
        surplus = excess @ weights - 1
        if float(xp.max(xp.abs(surplus))) <= tolerance:
            break
        slope = xp.astype(excess > 0, scores.dtype) @ weights
        thresholds = thresholds + surplus / xp.where(slope > 0, slope, xp.sum(weights))
    V = xp.clip(scores - thresholds[:, None], min=0.0) * weights
    total = xp.sum(V, axis=1)
    if bool(xp.any(total == 0)):  # weights so large that the threshold is rounded to the largest score: a hard row
        best = xp.astype(scores == xp.max(scores, axis=1)[:, None], scores.dtype)
        V = xp.where((total > 0)[:, None], V, best)
        total = xp.sum(V, axis=1)
    return V / total[:, None], thresholds


def _smallest_cell(rows: Rows) -> float:
    return SMALLEST_CELL * rows.total / rows.n


def _without_empty_cells(rows: Rows, V: Array) -> Array:
    xp = namespace(V)
    occupied = rows.sizes(V) > _smallest_cell(rows)
    if bool(xp.all(occupied)):
        return V
    V = xp.take(V, xp.nonzero(occupied)[0], axis=1)
    return V / xp.sum(V, axis=1)[:, None]


def _split_cells(rows: Rows, V: Array, generator: np.random.Generator) -> Array:
    """Every cell as two, leaning to either side of it along a random direction; about the same ``Q``."""
    xp = namespace(V)
    sums = rows.sums(V)
    directions = like(generator.standard_normal(tuple(sums.products.shape)), V)
    position = rows.scores(directions)
    position = position - xp.sum(directions * sums.products, axis=0) / sums.sizes
    lean = 0.5 + 0.15 * xp.sign(position)
    return xp.concat([V * lean, V * (1 - lean)], axis=1)


def _value(problem: KMeansSDP, sums: Sums) -> tuple[float, float]:
    """Value after exact trace repair, and the trace before it."""
    xp = namespace(sums.sizes)
    value = float(xp.sum(xp.sum(sums.products * sums.products, axis=0) / sums.sizes))
    trace = float(xp.sum(sums.squares / sums.sizes))
    n, K = problem.n, problem.K
    if trace > K:
        return value * (K - 1) / (trace - 1), trace
    theta = (K - trace) / (n - trace)
    return (1 - theta) * value + theta * problem.gram.trace, trace
