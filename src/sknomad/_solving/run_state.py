"""One run of `solve`: the best bounds so far, how an iterate is judged, and when a proof is worth its price."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._certificate.bounds import (
    as_spectral,
    eigenvalues_are_cheap,
    estimate_upper_bound,
    feasible_value,
    make_feasible,
    upper_bound,
)
from .._certificate.solution import Certificate, Iterate, Solution, Status
from .._numerics.arrays import Array
from .._points.forms import DensePoint, MixedPoint, SpectralPoint
from .._program.problem import KMeansSDP

# Judging costs about as much as a step: early and often at first, then after every 15 % more iterations with bounds.
FIRST_LOOK, LOOK_EVERY, LOOK_GROWTH = 10, 10, 1.15
REPAIR_STEPS, REPAIR_GAIN, REPAIR_GROWTH = 15, 10, 1.3
# Up to this many points every look also tries the cheapest repair, for a smooth history.
SMALL = 500
# Beyond these sizes a repair, which needs several n x n arrays, or a proof that is not the last, costs too much.
LARGEST_FOR_REPAIR = 20_000
LARGEST_FOR_INTERIM_PROOFS = 5000
# Beyond this size even a look at the bound costs as much as many steps: fewer looks, and the first one later.
LARGE, LOOK_EVERY_LARGE = 20_000, 25
# There a proof is tried when the estimated gap is this share of the tolerance, so that it succeeds at once.
CAUTION = 0.9


@dataclass(frozen=True)
class Progress:
    """What a callback sees after every iteration; bounds are the best proven so far.

    Examples
    --------
    >>> Progress(iteration=10, seconds=0.1, lower=99.0, upper=100.0, tol=1e-3).gap
    0.01
    """

    iteration: int  # steps taken
    seconds: float  # since the start
    lower: float  # value of the best feasible point
    upper: float  # best bound on every feasible value
    tol: float  # the gap to reach

    @property
    def gap(self) -> float:
        """Certified relative gap so far."""
        return Certificate(self.lower, self.upper).gap


@dataclass
class Run:
    """The state of one call of `solve`: best bounds, best point, history."""

    problem: KMeansSDP
    tol: float
    grade: str
    lower: float = -math.inf
    upper: float = math.inf  # proven
    screen: float = math.inf  # the cheapest available idea of it: tells when a proof is worth its price
    vectors: Array = None  # leading eigenvectors from the last screening, to start the next
    point: MixedPoint | None = None
    iterate: Iterate | None = None
    iteration: int = 0
    next_look: int = FIRST_LOOK  # iteration at which to judge
    first_multiplier: int | None = None  # iteration that brought the first one
    next_repair: int = 0  # iteration before which no repair is tried again
    started: float = field(default_factory=time.perf_counter)
    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def certificate(self) -> Certificate:
        return Certificate(self.lower, self.upper, self.grade)

    def look_is_due(self) -> bool:
        """Whether to judge the current iterate; if so, the next look is planned."""
        assert self.iterate is not None
        every = LOOK_EVERY
        if self.iterate.N is not None:
            every = LOOK_EVERY_LARGE if self.problem.n > LARGE else LOOK_EVERY
            if self.first_multiplier is None:
                self.first_multiplier, self.next_look = self.iteration, self.iteration - 1 + every
        if self.iteration < self.next_look and not self.iterate.is_milestone:
            return False
        done = self.iteration - (self.first_multiplier or 0)
        self.next_look = self.iteration + max(every, math.ceil(done * (LOOK_GROWTH - 1)))
        return True

    def judge(self, *, thorough: bool = False) -> bool:
        """Bound the optimum from the current iterate; True once the gap is proven to be within `tol`."""
        if self.iterate is None:
            return False
        point, N = self.iterate.point, self.iterate.N
        if N is not None or self.problem.is_trivial:
            self._improve_upper(N, thorough=thorough)
        self._improve_lower(point, thorough=thorough)
        goal = self.tol if self.problem.n <= LARGEST_FOR_INTERIM_PROOFS else CAUTION * self.tol
        if N is not None and self.upper > self.screen and self._screened_gap <= goal:
            self._prove(N)
        self._record()
        return self.is_done

    @property
    def is_done(self) -> bool:
        """Whether the gap is known and within `tol`."""
        return math.isfinite(self.certificate.gap) and self.certificate.gap <= self.tol

    def _improve_upper(self, N: Any, *, thorough: bool) -> None:
        if eigenvalues_are_cheap(self.problem, N):
            self.screen = min(self.screen, upper_bound(self.problem, N))
            if self.grade == "eigen":
                self.upper = self.screen
        else:
            self.grade = "verified"  # beyond this size the stronger proof is also the cheaper one
            value, self.vectors = estimate_upper_bound(self.problem, N, self._suggested_vectors())
            self.screen = min(self.screen, value)
        if self.grade == "verified" and (thorough or self._proof_is_due):
            self._prove(N)

    def _suggested_vectors(self) -> Array:
        """Where to look for leading eigenvectors of ``D + N``: the last ones, or those of ``Q``, which they tend to."""
        point = self.iterate.point if self.iterate is not None else None
        if self.vectors is None and isinstance(point, SpectralPoint):
            return point.U[:, -math.ceil(self.problem.K) :]
        return self.vectors

    @property
    def _proof_is_due(self) -> bool:
        """Whether a new proof would at least halve what is unproven; the largest problems wait for the last one."""
        if self.problem.n > LARGEST_FOR_INTERIM_PROOFS:
            return False
        if not math.isfinite(self.upper):
            return True
        return self.upper - self.screen > max(self.screen - self.lower, self.tol * abs(self.screen))

    def _prove(self, N: Any) -> None:
        proven = upper_bound(self.problem, N, grade="verified", start=self.vectors)
        self.upper = min(self.upper, proven)

    def finish(self, status: Status) -> Status:
        """A last look at the last iterate: thorough, unless somebody is waiting for the run to end."""
        if status is not Status.CERTIFIED:
            in_a_hurry = status in (Status.INTERRUPTED, Status.MAX_SECONDS)
            if not (in_a_hurry and self.point is not None):
                self.judge(thorough=not in_a_hurry)
            elif math.isinf(self.upper) and math.isfinite(self.screen) and self.problem.n <= LARGE:
                assert self.iterate is not None
                self._prove(self.iterate.N)  # a run that is cut short still owes one proof of what it has seen
            if self.is_done:
                status = Status.CERTIFIED
        if self.point is None:
            self.point = interior_point(self.problem)
            self.lower = feasible_value(self.problem, self.point)
        return status

    def solution(self, status: Status) -> Solution:
        assert self.point is not None
        return Solution(
            problem=self.problem,
            point=self.point,
            certificate=self.certificate,
            status=status,
            iterate=self.iterate or Iterate(self.point),
            trace=_columns(self.rows),
            n_iter=self.iteration,
            seconds=self.seconds,
        )

    @property
    def progress(self) -> Progress:
        return Progress(self.iteration, self.seconds, self.lower, self.upper, self.tol)

    @property
    def _screened_gap(self) -> float:
        """The gap that the screening suggests; an estimate may fall below what is feasible."""
        return Certificate(self.lower, max(self.screen, self.lower)).gap

    def _improve_lower(self, point: Any, *, thorough: bool) -> None:
        """Make `point` feasible: at little cost first, with alternating projections where that may close the gap."""
        if isinstance(point, DensePoint) and not self.problem.is_trivial:
            point = as_spectral(self.problem, point)  # one decomposition now serves every look at the point
            if point is None:
                return
        if not isinstance(point, SpectralPoint):
            self._offer(point, steps=REPAIR_STEPS)
            return
        if self.problem.n > LARGEST_FOR_REPAIR and self.point is not None:
            return
        if self.point is None or self.problem.n <= SMALL:
            self._offer(point, steps=0)
        if self._screened_gap > self.tol and (thorough or self._is_promising(point)):
            self._offer(point, steps=REPAIR_STEPS)
            self.next_repair = math.ceil(self.iteration * REPAIR_GROWTH)

    def _offer(self, point: Any, *, steps: int) -> None:
        feasible = make_feasible(self.problem, point, steps=steps)
        if feasible is not None and (value := feasible_value(self.problem, feasible)) > self.lower:
            self.lower, self.point = value, feasible

    def _is_promising(self, point: SpectralPoint) -> bool:
        """Whether repair can be expected to close the gap.

        Mixing alone tells how infeasible the point is; projections have been seen to win back nine tenths or more of
        what it costs. Where the lower bound is not what keeps the gap open, waiting for the upper one is cheaper.
        """
        if not math.isfinite(self.screen) or self.iteration < self.next_repair:
            return False
        value = point.value(self.problem.gram)
        if self.screen - value > max(self.tol * abs(self.screen), (self.screen - self.lower) / 20):
            return False
        mixed = make_feasible(self.problem, point, steps=0)
        if mixed is None:
            return False
        expected = value - (value - feasible_value(self.problem, mixed)) / REPAIR_GAIN
        return expected - self.lower > (self.screen - self.lower) / 4

    def _record(self) -> None:
        assert self.iterate is not None
        own = {"iteration": float(self.iteration), "seconds": self.seconds, "lower": self.lower, "upper": self.upper}
        row = {**self.iterate.residuals, **own}
        self.rows.append(row)


def interior_point(problem: KMeansSDP) -> MixedPoint:
    identity, mean = problem.interior_weights
    return MixedPoint(DensePoint(np.eye(problem.n)), identity=identity, mean=mean, u=problem.direction)


def _columns(rows: list[dict[str, float]]) -> dict[str, Array]:
    """Rows as equal-length columns; what a row lacks is NaN."""
    names = dict.fromkeys(["iteration", "seconds", "lower", "upper"])
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}
    columns["iteration"] = columns["iteration"].astype(int)
    return columns
