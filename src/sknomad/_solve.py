"""`solve`: the one loop that runs any solver, has it judged, and stops when the proof is tight enough."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._arrays import Array
from ._certify import (
    GRADES,
    eigenvalues_are_cheap,
    estimate_upper_bound,
    feasible_value,
    is_finite,
    make_feasible,
    upper_bound,
)
from ._checkpoint import Checkpoint, save_checkpoint
from ._memory import check_memory
from ._points import DensePoint, MixedPoint, SpectralPoint
from ._problem import KMeansSDP
from ._solution import Certificate, Iterate, Solution, Status
from ._validation import check_choice, check_integer, check_real
from .solvers import resolve

# Judging costs about as much as a step: early and often at first, then after every 15 % more iterations.
FIRST_LOOK, LOOK_EVERY, LOOK_GROWTH = 10, 10, 1.15
# Least time between two checkpoints.
CHECKPOINT_SECONDS = 20.0
REPAIR_STEPS, REPAIR_GAIN, REPAIR_GROWTH = 15, 10, 1.3
# Up to this many points every look also tries the cheapest repair, for a smooth history.
SMALL = 500
# Beyond these sizes a repair, which needs several n x n arrays, or a proof that is not the last, costs too much.
LARGEST_FOR_REPAIR = 20_000
LARGEST_FOR_INTERIM_PROOFS = 20_000
# There a proof is tried when the estimated gap is this share of the tolerance, so that it succeeds at once.
CAUTION = 0.9


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
    checkpoint: str | os.PathLike[str] | None = None,
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
        Strength of proof demanded of the upper bound, see `certify`. Beyond a few thousand points the verified one
        is also the cheaper, and is what you get.
    checkpoint : path, optional
        File that keeps the state of the run. It is renewed now and then and at the end; where it exists, the run
        goes on from it exactly as if it had never stopped. A damaged file, or one of another problem, is refused.

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
    solver = resolve(solver, problem, tol)
    check_memory(problem, solver)
    run = _Run(problem, tol, grade, iterate=start)
    keeper = None if checkpoint is None else _Keeper(Path(checkpoint), solver)
    if keeper is not None:
        keeper.restore(run)
    steps = solver.iterates(problem, run.iterate) if not problem.is_trivial else _one_step(problem)
    try:
        status = _loop(run, steps, max_iter, math.inf if max_seconds is None else max_seconds, callback, keeper)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if keeper is not None:
        keeper.save(run)
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
    upper: float = math.inf  # proven
    screen: float = math.inf  # the cheapest available idea of it: tells when a proof is worth its price
    vectors: Array = None  # leading eigenvectors from the last screening, to start the next
    point: MixedPoint | None = None
    iterate: Iterate | None = None
    iteration: int = 0
    next_look: int = FIRST_LOOK  # iteration at which to judge
    next_repair: int = 0  # iteration before which no repair is tried again
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
            value, self.vectors = estimate_upper_bound(self.problem, N, self.vectors)
            self.screen = min(self.screen, value)
        if self.grade == "verified" and (thorough or self._proof_is_due):
            self._prove(N)

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
        """The gap that the screening suggests; an estimate may fall below what is feasible."""
        return Certificate(self.lower, max(self.screen, self.lower)).gap

    def _improve_lower(self, point: Any, *, thorough: bool) -> None:
        """Make `point` feasible: at little cost first, with alternating projections where that may close the gap."""
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
        if self.screen - value > self.tol * abs(self.screen):
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


class _Keeper:
    """Writes and reads the checkpoint of a run."""

    NUMBERS = ("lower", "upper", "screen", "grade", "iteration", "next_look", "next_repair", "rows")

    def __init__(self, path: Path, solver: Any):
        self.path, self.solver = path, solver
        self.wait = CHECKPOINT_SECONDS
        self.saved = time.perf_counter()

    def restore(self, run: _Run) -> None:
        if not self.path.exists():
            return
        state = Checkpoint(self.path, run.problem, self.solver)
        for name in self.NUMBERS:
            setattr(run, name, state.numbers[name])
        run.started -= state.numbers["seconds"]
        run.iterate, run.point, run.vectors = state.iterate, state.point, state.arrays.get("vectors")

    def save_if_due(self, run: _Run) -> None:
        if time.perf_counter() - self.saved >= self.wait:
            self.save(run)

    def save(self, run: _Run) -> None:
        if run.iterate is None:
            return
        began = time.perf_counter()
        numbers = {name: getattr(run, name) for name in self.NUMBERS} | {"seconds": run.seconds}
        save_checkpoint(self.path, run.problem, self.solver, run.iterate, numbers, {"vectors": run.vectors}, run.point)
        self.saved = time.perf_counter()
        # Never more than a tenth of the time goes into writing.
        self.wait = max(CHECKPOINT_SECONDS, 10 * (self.saved - began))


def _loop(
    run: _Run,
    steps: Iterator[Iterate],
    max_iter: int,
    max_seconds: float,
    callback: Callable[[Progress], Any] | None,
    keeper: _Keeper | None,
) -> Status:
    if run.iterate is not None and (run.judge() if not run.rows else run.is_done):  # a start may be the answer
        return Status.CERTIFIED
    for iterate in steps:
        run.iterate = iterate
        run.iteration += 1
        if run.iteration >= run.next_look:
            run.next_look = max(run.iteration + LOOK_EVERY, math.ceil(run.iteration * LOOK_GROWTH))
            if run.judge():
                return Status.CERTIFIED
            if keeper is not None:
                keeper.save_if_due(run)
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
    if start is not None and not is_finite(start):
        raise ValueError("start must have finite entries, got NaN or inf. Start without it.")
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
    if proof.upper == math.inf:
        warnings.warn(
            f"{ended} after {run.iteration} iterations without an upper bound: {proof.lower:.6g} <= optimum <= inf. "
            'One needs solver="admm" or "auto", and memory for dense n x n arrays.',
            ConvergenceWarning,
            stacklevel=3,
        )
        return
    warnings.warn(
        f"{ended} after {run.iteration} iterations with certified gap {proof.gap:.1e} > tol={run.tol:.1e}. "
        f"The bounds stand: {proof.lower:.6g} <= optimum <= {proof.upper:.6g}. Raise {what or 'the limits'} or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
