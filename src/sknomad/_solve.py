"""`solve`: the one loop that runs any solver, has it judged, and stops when the proof is tight enough."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._arrays import Array
from ._certify import GRADES, feasible_value, make_feasible, upper_bound
from ._points import DensePoint, MixedPoint, SpectralPoint
from ._problem import KMeansSDP
from ._solution import Certificate, Iterate, Solution, Status
from ._validation import check_choice, check_integer, check_real
from .solvers import resolve

# Judging costs about as much as a step: early and often at first, then after every 15 % more iterations.
FIRST_LOOK, LOOK_EVERY, LOOK_GROWTH = 10, 10, 1.15
REPAIR_STEPS = 15


@dataclass(frozen=True)
class Progress:
    """What a callback sees after every iteration; bounds are the best proven so far."""

    iteration: int
    seconds: float
    lower: float
    upper: float
    tol: float

    @property
    def gap(self) -> float:
        """Certified relative gap so far."""
        return Certificate(self.lower, self.upper).gap


def solve(
    problem: KMeansSDP,
    solver: Any = "auto",
    *,
    tol: float = 1e-3,
    max_iter: int = 5000,
    max_seconds: float | None = None,
    start: Iterate | None = None,
    callback: Callable[[Progress], Any] | None = None,
    grade: str = "eigen",
) -> Solution:
    """Solve `problem` until its certified relative gap is at most `tol`.

    Parameters
    ----------
    problem : KMeansSDP
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or an object with an ``iterates(problem, start)`` generator.
    tol : float, default=1e-3
        Relative gap ``(upper - lower)/|upper|`` between proven bounds at which to stop.
    max_iter : int, default=5000
        Most solver steps.
    max_seconds : float, optional
        Most wall-clock seconds, checked between steps.
    start : Iterate, optional
        Where to begin, for instance ``solution.iterate`` of an earlier run.
    callback : callable, optional
        Called with a `Progress` after every step; returning True ends the run.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof demanded of the upper bound, see `certify`.

    Returns
    -------
    Solution
        Also after Ctrl-C, a limit or a callback's stop: then with the best feasible point and bounds so far,
        and, for limits, a `ConvergenceWarning`.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> solution = solve(KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2))
    >>> solution.is_certified, solution.Q.round(2)[0].tolist()
    (True, [0.5, 0.5, 0.0, 0.0])
    """
    _check_arguments(problem, tol, max_iter, max_seconds, start, callback, grade)
    run = _Run(problem, tol, grade)
    steps = resolve(solver, problem).iterates(problem, start) if not problem.is_trivial else _one_step(problem)
    try:
        status = _loop(run, steps, max_iter, math.inf if max_seconds is None else max_seconds, callback)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    status = run.finish(status)
    _warn_unless_certified(status, run)
    return run.solution(status)


@dataclass
class _Run:
    """The state of one call of `solve`: best bounds, best point, history."""

    problem: KMeansSDP
    tol: float
    grade: str
    lower: float = -math.inf
    upper: float = math.inf  # of the grade asked for
    screen: float = math.inf  # of grade "eigen": tells when the stronger proof is worth its price
    point: MixedPoint | None = None
    iterate: Iterate | None = None
    iteration: int = 0
    started: float = field(default_factory=time.perf_counter)
    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def certificate(self) -> Certificate:
        return Certificate(self.lower, self.upper, self.grade)

    def judge(self, *, thorough: bool = False) -> bool:
        """Bound the optimum from the current iterate; True once the gap is proven to be within `tol`."""
        if self.iterate is None:
            return False
        point, N = self.iterate.point, self.iterate.multiplier
        self.screen = min(self.screen, upper_bound(self.problem, N))
        self._improve_lower(point, steps=0)
        if self._screened_gap > self.tol and (thorough or self._is_promising(point)):
            self._improve_lower(point, steps=REPAIR_STEPS)
        if self.grade == "eigen":
            self.upper = self.screen
        elif thorough or self._screened_gap <= self.tol:
            self.upper = min(self.upper, upper_bound(self.problem, N, grade=self.grade))
        self._record()
        return self.certificate.gap <= self.tol

    def finish(self, status: Status) -> Status:
        """A last look at the last iterate: thorough, unless somebody is waiting for the run to end."""
        if status is not Status.CERTIFIED:
            in_a_hurry = status in (Status.INTERRUPTED, Status.MAX_SECONDS)
            if not (in_a_hurry and self.point is not None) and self.judge(thorough=not in_a_hurry):
                status = Status.CERTIFIED
        if self.point is None:
            self.point = _interior_point(self.problem)
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
        return Certificate(self.lower, self.screen).gap

    def _improve_lower(self, point: Any, *, steps: int) -> None:
        feasible = make_feasible(self.problem, point, steps=steps)
        if feasible is not None and (value := feasible_value(self.problem, feasible)) > self.lower:
            self.lower, self.point = value, feasible

    def _is_promising(self, point: Any) -> bool:
        """Whether the point's own value, feasible or not, is within `tol` of the bound: repair may close the gap."""
        if not isinstance(point, SpectralPoint) or not math.isfinite(self.screen):
            return False
        return self.screen - point.value(self.problem.gram) <= self.tol * abs(self.screen)

    def _record(self) -> None:
        assert self.iterate is not None
        bounds = {"lower": self.lower, "upper": self.upper}
        row = {
            "iteration": float(self.iteration),
            "seconds": self.seconds,
            **bounds,
            **self.iterate.residuals,
        }
        self.rows.append(row)


def _loop(
    run: _Run,
    steps: Iterator[Iterate],
    max_iter: int,
    max_seconds: float,
    callback: Callable[[Progress], Any] | None,
) -> Status:
    next_look = FIRST_LOOK
    for iterate in steps:
        run.iterate = iterate
        run.iteration += 1
        if run.iteration >= next_look:
            if run.judge():
                return Status.CERTIFIED
            next_look = max(run.iteration + LOOK_EVERY, math.ceil(run.iteration * LOOK_GROWTH))
        if callback is not None and callback(run.progress):
            return Status.STOPPED
        if run.iteration >= max_iter:
            return Status.MAX_ITER
        if run.seconds >= max_seconds:
            return Status.MAX_SECONDS
    return Status.EXHAUSTED


def _one_step(problem: KMeansSDP) -> Iterator[Iterate]:
    """The only step of a problem whose solution is known without a solver."""
    yield Iterate(_interior_point(problem))


def _interior_point(problem: KMeansSDP) -> MixedPoint:
    identity, mean = problem.interior_weights
    return MixedPoint(DensePoint(np.eye(problem.n)), identity=identity, mean=mean)


def _columns(rows: list[dict[str, float]]) -> dict[str, Array]:
    """Rows as equal-length columns; what a row lacks is NaN."""
    names = dict.fromkeys(["iteration", "seconds", "lower", "upper"])
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}
    columns["iteration"] = columns["iteration"].astype(int)
    return columns


def _check_arguments(
    problem: Any, tol: Any, max_iter: Any, max_seconds: Any, start: Any, callback: Any, grade: Any
) -> None:
    if not isinstance(problem, KMeansSDP):
        raise TypeError(
            f"problem must be a KMeansSDP, got {type(problem).__name__}. Make one with KMeansSDP(Gram.from_data(X), K)."
        )
    check_real(tol, "tol", 0, math.inf, "a real number >= 0")
    check_integer(max_iter, "max_iter", 1)
    if max_seconds is not None:
        check_real(max_seconds, "max_seconds", 0, math.inf, "a number of seconds >= 0 or None")
    if start is not None and not isinstance(start, Iterate):
        raise TypeError(f"start must be an Iterate or None, got {type(start).__name__}. Pass solution.iterate.")
    if start is not None and start.point.n != problem.n:
        raise ValueError(f"start must have {problem.n} rows as the problem has, got {start.point.n}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    check_choice(grade, "grade", GRADES)


def _warn_unless_certified(status: Status, run: _Run) -> None:
    if status in (Status.CERTIFIED, Status.STOPPED, Status.INTERRUPTED):
        return
    proof, what = (
        run.certificate,
        {Status.MAX_ITER: "max_iter", Status.MAX_SECONDS: "max_seconds"}.get(status),
    )
    ended = f"reached {what}" if what else "the solver ended"
    warnings.warn(
        f"{ended} after {run.iteration} iterations with certified gap {proof.gap:.1e} > tol={run.tol:.1e}. "
        f"The bounds stand: {proof.lower:.6g} <= optimum <= {proof.upper:.6g}. Raise {what or 'the limits'} or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
