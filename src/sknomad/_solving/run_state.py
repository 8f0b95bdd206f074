"""`Run`: one run of a solver, with its clock, the best bounds and points so far, and its history."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate, NegativePart
from .._certificate.lower import feasible_value
from .._landmark.multiplier import LandmarkMultiplier
from .._numerics.arrays import Array, namespace
from .._points.mixed import MixedPoint, interior_point
from .._program.problem import KMeansSDP
from ..solvers._admm_state import ADMMState
from .solution import Solution, Status


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
    tol: float  # the gap to reach; infinite where nothing is to be proven, as in the search for K
    K: float = math.nan  # trace of the program that is being solved

    @property
    def gap(self) -> float:
        """Certified relative gap so far."""
        return Certificate(self.lower, self.upper).gap


@dataclass
class Run:
    """The state of one run; what a judge finds out is entered here."""

    problem: KMeansSDP
    tol: float
    grade: str
    lower: float = -math.inf
    upper: float = math.inf  # proven
    upper_from: int = -1  # steps after which it was, where the iterate of that step proves it
    point: MixedPoint | None = None  # feasible, of value `lower`
    iterate: Iterate | None = None  # the solver's last step
    iteration: int = 0
    seconds_before: float = 0.0  # of the same run before it was interrupted
    rows: list[dict[str, float]] = field(default_factory=list)  # history, one row per look
    keeps_multiplier: bool = False  # whether `multiplier` is kept, another n x n array
    multiplier: Array | None = None  # that of `upper`
    landmarks: LandmarkMultiplier | None = None  # that of `upper`, where no dense one fits
    left_out: float = math.nan  # share of the data that landmarks leave out, where they were tried
    started: float = field(default_factory=lambda: time.perf_counter(), init=False)

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.started

    @property
    def certificate(self) -> Certificate:
        return Certificate(self.lower, self.upper, self.grade)

    @property
    def progress(self) -> Progress:
        return Progress(self.iteration, self.seconds, self.lower, self.upper, self.tol, self.problem.K)

    @property
    def is_done(self) -> bool:
        """Whether the gap is known and within `tol`."""
        return math.isfinite(self.certificate.gap) and self.certificate.gap <= self.tol

    @property
    def may_end(self) -> bool:
        """Whether nothing more is wanted."""
        return self.is_done

    def enter_upper(self, upper: float, multiplier: Array | None = None) -> None:
        """A bound, kept with its multiplier where that is asked for, if the best: the current iterate's, or another."""
        if upper >= self.upper:
            return
        self.upper, self.upper_from = upper, self.iteration if multiplier is None else -1
        if self.keeps_multiplier and self.iterate is not None:
            N = self._judged_multiplier() if multiplier is None else multiplier
            # A copy: the solver may write the next multiplier into the same array.
            self.multiplier = None if N is None else namespace(N).asarray(N, copy=True)

    def _judged_multiplier(self) -> Array | None:
        """The current iterate's, as the judge read it: with all rounding, only the lower triangle of a state."""
        assert self.iterate is not None
        N = self.iterate.multiplier
        if N is None or self.grade != "verified" or not isinstance(self.iterate.N, NegativePart):
            return N
        xp = namespace(N)
        return xp.tril(N) + xp.tril(N, k=-1).T

    def demand_verified(self) -> None:
        """From now on bounds are proven with all rounding; one that was not is none of that grade, and is dropped."""
        if self.grade != "verified":
            self.grade, self.upper, self.multiplier = "verified", math.inf, None

    def enter_point(self, point: MixedPoint) -> None:
        """A feasible point, kept if it is the best."""
        value = feasible_value(self.problem, point)
        if value > self.lower:
            self.lower, self.point = value, point

    def record(self) -> None:
        """A row of the history."""
        residuals = {} if self.iterate is None else self.iterate.residuals
        own = {"iteration": float(self.iteration), "seconds": self.seconds, "lower": self.lower, "upper": self.upper}
        self.rows.append({**residuals, **own})

    def solution(self, status: Status) -> Solution:
        """What the run has found; where it has no feasible point, the one that is always known."""
        if self.point is None:
            self.point = interior_point(self.problem)
            self.lower = feasible_value(self.problem, self.point)
        return Solution(
            problem=self.problem,
            point=self.point,
            certificate=self.certificate,
            status=status,
            iterate=self._iterate_with(self.point),
            trace=columns_of(self.rows),
            n_iter=self.iteration,
            seconds=self.seconds,
            landmarks=self.landmarks,
        )

    def _iterate_with(self, best: MixedPoint) -> Iterate:
        """The last step; ADMM goes on from its state alone, so that whoever begins there may know what proves most."""
        if self.iterate is None:
            return Iterate(best)
        if not isinstance(self.iterate.state, ADMMState):
            return self.iterate
        is_last = self.multiplier is None or self.upper_from == self.iteration
        return replace(self.iterate, Q=best, N=self.iterate.N if is_last else self.multiplier)


def columns_of(rows: list[dict[str, float]]) -> dict[str, Array]:
    """Rows as equal-length columns; what a row lacks is NaN."""
    names = dict.fromkeys(["iteration", "seconds", "lower", "upper"])
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}
    columns["iteration"] = columns["iteration"].astype(int)
    return columns


def rows_of_columns(columns: Mapping[str, Array]) -> list[dict[str, float]]:
    """What `columns_of` made columns of; numbers that a row lacked are NaN in it.

    Examples
    --------
    >>> rows_of_columns(columns_of([{"iteration": 1.0, "seconds": 0.5, "lower": 2.0, "upper": 3.0}]))
    [{'iteration': 1.0, 'seconds': 0.5, 'lower': 2.0, 'upper': 3.0}]
    """
    names = list(columns)
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns.values(), strict=True)]
