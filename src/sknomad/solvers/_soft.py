"""Soft assignments: the factored solver, any number of points, feasible at every step.

With a nonnegative ``V`` (n x r) whose rows sum to one, ``Q = V diag(V'1)^-1 V'`` satisfies every constraint but
``tr Q = K``. For a multiplier ``lam`` of that one, rows are updated in closed form, as Lloyd's algorithm updates
labels, see `_soft_updates`. Fixed points are the KKT points of the problem. With weights all sums over points are
weighted, and nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.cluster import kmeans_plusplus

from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Array, Device, choose_device, itemsize, like, namespace, to_numpy
from .._numerics.fixed_vector import FixedVector
from .._numerics.validation import check_integer, check_real
from .._numerics.weighted_simplex import weighted_rows_by_newton
from .._points.forms import FactorPoint, SoftPoint
from .._points.mixed import MixedPoint
from .._program.data_rows import Rows, rows_of
from .._program.problem import KMeansSDP
from ._cells_at_points import cells_at_points
from ._diffuse_cells import without_diffuse_cells
from ._soft_updates import (
    Assignments,
    SoftState,
    natural_multiplier,
    settle_trace,
    split_cells,
    sweep,
    value_and_trace,
)

# First rank as a multiple of K when "auto"; it doubles while that pays.
FIRST_RANK = 4
# n x r arrays alive at the worst moment of a sweep.
ARRAYS_OF_A_SWEEP = 8.5
# Points that k-means++ looks at for each cell; more change nothing but the time.
SAMPLE_PER_CELL, SMALLEST_SAMPLE = 20, 10_000
# Iterates without improvement before a stop: the value may dip while the multiplier settles.
PATIENCE = 2
# Gains that are remembered, the last ones.
MOST_GAINS = 32
# Diffuse cells are looked for in the first iterates of each rank, as long as so many gains are known: they form early.
GAINS_TO_THIN = 4
# Keeps values of zero from dividing.
TINY = 1e-300


class Course(NamedTuple):
    """How the value rose at one number of cells."""

    best: float = -math.inf
    stalled: int = 0  # iterates since it last improved
    gains: tuple[float, ...] = ()  # of the iterates after the first, as shares of the value

    def after(self, value: float, improvement: float) -> Course:
        """The course with one more iterate."""
        stalled = self.stalled + 1 if value - self.best <= improvement * abs(value) else 0
        is_first = self.best == -math.inf
        gains = () if is_first else (*self.gains[1 - MOST_GAINS :], (value - self.best) / max(abs(value), TINY))
        return Course(max(self.best, value), stalled, gains)


@saved
@dataclass(frozen=True)
class SoftAssignment:
    """Factored solver on soft assignments of points to cells: feasible at every step, no n x n array.

    It solves a restriction of the program (to completely positive ``Q`` of bounded rank), non-convex but in practice
    within 1e-4 or so of the optimum, and carries no upper bound of its own. Memory and time per step are O(n r) and
    O(n d r).

    Parameters
    ----------
    rank : int, "auto" or "points", default="auto"
        Number of cells ``r``. "auto" begins with four times K and doubles while the value still rises. "points", or as
        many as there are, begins with a cell at every point, which needs nothing random: n x n numbers.
    improvement : float, default=1e-6
        Stop (or double the rank) when ten sweeps raise the value by less than this share.
    max_growth : int, default=2
        How often "auto" may double the rank.
    halving : int or None, default=None
        Stop when the gain of so many iterates is more than half that of as many before them: where progress is that
        slow, another solver closes the gap sooner. None never does.
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

    rank: int | str = "auto"
    improvement: float = 1e-6
    max_growth: int = 2
    halving: int | None = None
    sweeps: int = 10
    random_state: int = 0
    device: Device = "auto"
    matrix_free: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rank not in ("auto", "points"):
            check_integer(self.rank, "rank", 1)
        check_real(self.improvement, "improvement", 0, 1, "a real number in [0, 1]")
        check_integer(self.max_growth, "max_growth", 0)
        if self.halving is not None:
            check_integer(self.halving, "halving", 1)
        check_integer(self.sweeps, "sweeps", 1)
        check_integer(self.random_state, "random_state", 0)

    def first_rank(self, problem: KMeansSDP) -> int:
        """The number of cells to begin with."""
        if self.rank == "points":
            return problem.n
        if self.rank != "auto":
            return min(int(self.rank), problem.n)
        return min(max(math.ceil(FIRST_RANK * problem.K), 8), problem.n)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data: assignments, scores and the thresholds' work, at the largest rank."""
        template = choose_device(self.device, problem.n)
        rank = min(self.first_rank(problem) * 2**self._most_growth, problem.n)
        return int(ARRAYS_OF_A_SWEEP * problem.n * rank * itemsize(template))

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per `sweeps` row updates, until neither they nor a larger rank raise the value."""
        template = choose_device(self.device, problem.n)
        rows, fixed = rows_of(problem.gram, template), problem.fixed.like(template)
        current = self._first_assignments(problem, rows, template, start)
        done = _state_of(start, problem) or SoftState(current.lam)
        growth_left = self._most_growth if done.growth_left is None else done.growth_left
        course = Course(done.best, done.stalled, done.gains)
        while True:
            while not self._rank_is_spent(course):
                current = settle_trace(problem, rows, sweep(problem, rows, current, self.sweeps - 1))
                if len(course.gains) < GAINS_TO_THIN:
                    current = without_diffuse_cells(problem, rows, current, self.sweeps - 1)
                value, trace = value_and_trace(problem, rows.sums(current.V))
                course = course.after(value, self.improvement)
                rank = current.V.shape[1]
                growth_left = 0 if self._is_slow(course) or 2 * rank > problem.n else growth_left
                yield Iterate(
                    SoftPoint(current.V, fixed),
                    residuals={"trace_residual": abs(trace - problem.K) / problem.K, "rank": float(rank)},
                    is_milestone=growth_left == 0 and self._rank_is_spent(course),
                    state=SoftState(current.lam, current.thresholds, *course, growth_left),
                )
            if growth_left == 0:
                return
            growth_left -= 1
            generator = np.random.default_rng([self.random_state, growth_left])
            current = current._replace(V=split_cells(rows, current.V, generator))
            course = Course()

    def _rank_is_spent(self, course: Course) -> bool:
        """Whether this number of cells has given what it can, or gives it too slowly."""
        return course.stalled >= PATIENCE or self._is_slow(course)

    def _is_slow(self, course: Course) -> bool:
        """Whether gains take more than `halving` iterates to fall to one half."""
        window = self.halving
        if window is None or len(course.gains) < 2 * window:
            return False
        return sum(course.gains[-window:]) > 0.5 * sum(course.gains[-2 * window : -window])

    @property
    def _most_growth(self) -> int:
        """How often the rank may double."""
        return self.max_growth if self.rank == "auto" else 0

    def _first_assignments(self, problem: KMeansSDP, rows: Rows, template: Array, start: Iterate | None) -> Assignments:
        """Continue from soft assignments, or begin with cells at all points or spread by k-means++."""
        if start is not None and (V := _assignments_of(start, problem.fixed)) is not None:
            V, done = like(V, template), _state_of(start, problem)
            if done is None:
                return Assignments(V, natural_multiplier(problem, V.shape[1]), None)
            return Assignments(V, done.lam, None if done.thresholds is None else like(done.thresholds, template))
        rank = self.first_rank(problem)
        if rank == problem.n:  # nothing to choose, and a start that nothing is random in ends higher
            return cells_at_points(problem, rows, template)
        centroids = like(_spread_centroids(rows, rank, self.random_state).T, template)
        lam = 0.1 * natural_multiplier(problem, rank)
        sizes = namespace(centroids).full_like(centroids[0, :], rows.total / rank)
        scores = 2 * rows.scores(centroids) - namespace(centroids).sum(centroids**2, axis=0)
        V, thresholds = weighted_rows_by_newton(scores, sizes / (2 * lam), None)
        return Assignments(V, lam, thresholds)


def _state_of(start: Iterate | None, problem: KMeansSDP) -> SoftState | None:
    """What an iterate of soft assignments says beside its point; None for any other."""
    if start is None or not isinstance(start.state, SoftState):
        return None
    start.state.check(problem)
    return start.state


def _assignments_of(start: Iterate, fixed: FixedVector) -> Array | None:
    point = start.point.base if isinstance(start.point, MixedPoint) else start.point
    if isinstance(point, SoftPoint):
        return point.V
    return point.as_soft(fixed).V if isinstance(point, FactorPoint) else None


def _spread_centroids(rows: Rows, rank: int, seed: int) -> Array:
    """k-means++ centroids of a sample of the rows, (rank, d)."""
    n_sample = min(rows.n, max(SAMPLE_PER_CELL * rank, SMALLEST_SAMPLE))
    generator = np.random.default_rng(seed)
    indices = np.arange(rows.n) if n_sample == rows.n else np.sort(generator.choice(rows.n, n_sample, replace=False))
    X = rows.take(indices)
    if n_sample == rows.n:  # in the order of their coordinates, so that the order they come in does not matter
        order = np.lexsort(X.T[::-1])
        indices, X = indices[order], X[order]
    weights = None if rows.weights is None else np.asarray(to_numpy(rows.weights), dtype=np.float64)[indices]
    return kmeans_plusplus(X, rank, sample_weight=weights, random_state=seed)[0]
