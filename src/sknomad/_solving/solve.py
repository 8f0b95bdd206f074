"""`solve`: the one loop that runs any solver, has it judged, and stops when the proof is tight enough."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._certificate.iterate import Iterate
from .._certificate.upper import GRADES
from .._numerics.ieee import check_arithmetic
from .._numerics.threads import suitable_threads
from .._numerics.validation import check_choice, check_integer, check_real
from .._points.mixed import interior_point
from .._program.problem import KMeansSDP
from ..solvers import Auto, Solver, resolve
from .advice import for_a_bound, for_a_smaller_gap, how_it_ended
from .checkpoint import CheckpointFile
from .judging import ProgramJudge
from .loop import Callback, Limits, take_steps
from .memory_check import check_memory
from .past_dense import bound_by_landmarks, lacks_memory_alone
from .run_state import Run
from .smoothness import SmoothRun
from .solution import Solution, Status
from .starting import usable_start

# Points up to which a checkpoint holds the multiplier of the best bound beside the last one, and up to which every run
# keeps it: whoever starts from a solution then begins with its bounds.
KEEPS_MULTIPLIER_UP_TO, ALWAYS_KEEPS_MULTIPLIER_UP_TO = 2000, 500


def solve(
    problem: KMeansSDP,
    solver: str | Solver = "auto",
    *,
    tol: float = 1e-3,
    max_iter: int = 5000,
    max_seconds: float | None = None,
    start: Iterate | None = None,
    callback: Callback | None = None,
    grade: str = "eigen",
    checkpoint: str | os.PathLike[str] | None = None,
    smooth: bool = False,
) -> Solution:
    """Solve `problem` until its certified relative gap is at most `tol`.

    Where ``solver="auto"`` finds no room for dense arrays, landmarks bound the optimum of points near curves and
    surfaces, see ``docs/landmarks.md``; of others there is then a feasible point and no upper bound.

    Parameters
    ----------
    problem : KMeansSDP
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, or a `sknomad.solvers.Solver`.
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
        goes on from it with the same steps as if it had never stopped. Its bounds are not believed but proven again,
        from the point and the multipliers in it; beyond 2,000 points, where only the last multiplier is kept, they may
        be a little looser at first than they were. `tol` and the
        settings of the solver may change in between. A damaged file, or one of another problem or kind of solver, is
        refused. Where the file cannot be written the run warns once, goes on, and tries again later.
    smooth : bool, default=False
        Return the smoothest point known that is proven to be within `tol`, instead of the best one. Estimators do: the
        closer to the optimum, the more a manifold breaks into clumps. Up to 2,000 points.

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
    if not isinstance(smooth, bool):
        raise TypeError(f"smooth must be True or False, got {smooth!r}.")
    if grade == "verified":
        check_arithmetic(np.empty(0))  # lower bounds are of that grade too, where there is no upper one
    if start is not None:
        start = usable_start(start, problem, "start")
    keeps = problem.n <= ALWAYS_KEEPS_MULTIPLIER_UP_TO
    run = (SmoothRun if smooth else Run)(problem, tol, grade, iterate=start, keeps_multiplier=keeps)
    solver = resolve(solver, problem, tol)
    limits = Limits(max_iter, math.inf if max_seconds is None else max_seconds)
    with suitable_threads(problem.n):
        status = run_solver(run, solver, limits, callback=callback, checkpoint=checkpoint)
        if isinstance(solver, Auto) and lacks_memory_alone(run, status):
            status = bound_by_landmarks(run, solver, limits, callback)
    _warn_unless_certified(status, run, solver)
    return run.solution(status)


def run_solver(
    run: Run,
    solver: Solver,
    limits: Limits,
    *,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Status:
    """Take a solver's steps from where `run` is, judged as steps towards the program's optimum; why they ended."""
    problem, judge = run.problem, ProgramJudge()
    check_memory(problem, solver)
    keeper = None if checkpoint is None else CheckpointFile(Path(checkpoint), solver, judge)
    if keeper is not None:
        run.keeps_multiplier |= problem.n <= KEEPS_MULTIPLIER_UP_TO
        keeper.restore(run)
    steps = solver.iterates(problem, run.iterate) if not problem.is_trivial else _one_step(problem)
    if keeper is not None:
        steps = keeper.guarded(steps)
    try:
        status = take_steps(run, steps, judge, limits, callback=callback, keeper=keeper)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if keeper is not None:
        keeper.save(run)
    return judge.finish(run, status)


def _one_step(problem: KMeansSDP) -> Iterator[Iterate]:
    """The only step of a problem whose solution is known without a solver."""
    yield Iterate(interior_point(problem))


def _check_arguments(
    problem: object, tol: object, max_iter: object, max_seconds: object, start: object, callback: object, grade: object
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
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    check_choice(grade, "grade", GRADES)


def _warn_unless_certified(status: Status, run: Run, solver: Solver) -> None:
    if status in (Status.CERTIFIED, Status.STOPPED, Status.INTERRUPTED):
        return
    proof, ended = run.certificate, f"{how_it_ended(status)} after {run.iteration} iterations"
    if proof.upper == math.inf:
        advice = for_a_bound(run.problem, solver, status, run.left_out)
        text = f"{ended} without an upper bound: {proof.lower:.6g} <= optimum <= inf. {advice}"
    else:
        advice = for_a_smaller_gap(run.problem, status, run.landmarks)
        text = (
            f"{ended} with certified gap {proof.gap:.1e} > tol={run.tol:.1e}. The bounds stand: "
            f"{proof.lower:.6g} <= optimum <= {proof.upper:.6g}. {advice}"
        )
    warnings.warn(text, ConvergenceWarning, stacklevel=3)
