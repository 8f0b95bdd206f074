"""`solve`: the one loop that runs any solver, has it judged, and stops when the proof is tight enough."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .._certificate.iterate import Iterate
from .._certificate.upper import GRADES
from .._numerics.validation import check_choice, check_integer, check_real
from .._points.mixed import interior_point
from .._program.problem import KMeansSDP
from ..solvers import resolve
from .checkpoint import Checkpoint, save_checkpoint
from .memory_check import check_memory
from .run_state import Progress, Run
from .solution import Solution, Status

# Least time between two checkpoints.
CHECKPOINT_SECONDS = 20.0


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
    run = Run(problem, tol, grade, iterate=start)
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


class _Keeper:
    """Writes and reads the checkpoint of a run."""

    NUMBERS = (
        "lower", "upper", "screen", "grade", "iteration", "next_look", "first_multiplier", "next_repair", "rows",
    )  # fmt: skip

    def __init__(self, path: Path, solver: Any):
        self.path, self.solver = path, solver
        self.wait = CHECKPOINT_SECONDS
        self.saved = time.perf_counter()

    def restore(self, run: Run) -> None:
        if not self.path.exists():
            return
        state = Checkpoint(self.path, run.problem, self.solver)
        for name in self.NUMBERS:
            setattr(run, name, state.numbers[name])
        run.started -= state.numbers["seconds"]
        run.iterate, run.point, run.vectors = state.iterate, state.point, state.arrays.get("vectors")

    def save_if_due(self, run: Run) -> None:
        if time.perf_counter() - self.saved >= self.wait:
            self.save(run)

    def save(self, run: Run) -> None:
        if run.iterate is None:
            return
        began = time.perf_counter()
        numbers = {name: getattr(run, name) for name in self.NUMBERS} | {"seconds": run.seconds}
        save_checkpoint(self.path, run.problem, self.solver, run.iterate, numbers, {"vectors": run.vectors}, run.point)
        self.saved = time.perf_counter()
        # Never more than a tenth of the time goes into writing.
        self.wait = max(CHECKPOINT_SECONDS, 10 * (self.saved - began))


def _loop(
    run: Run,
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
        if run.look_is_due():
            if run.judge(thorough=iterate.is_milestone):
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
    yield Iterate(interior_point(problem))


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
    if start is not None and not start.point.is_finite():
        raise ValueError("start must have finite entries, got NaN or inf. Start without it.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    check_choice(grade, "grade", GRADES)


def _warn_unless_certified(status: Status, run: Run) -> None:
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
