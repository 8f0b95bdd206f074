"""What would close a gap that stayed open, with the numbers of this problem and this machine."""

from __future__ import annotations

import math

from .._landmark.multiplier import LandmarkMultiplier
from .._landmark.rows import what_landmarks_need
from .._numerics.arrays import choose_device, cuda_is_available
from .._numerics.memory import free_memory_of
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from ..solvers import ADMM, Auto, Solver
from .memory_check import forecast, readable_size
from .solution import Status

# The parameter that each limit is.
LIMITS = {Status.MAX_ITER: "max_iter", Status.MAX_SECONDS: "max_seconds"}
# From so many points on a step takes long enough for other hardware, or fewer points, to matter.
LONG_STEPS = 1000


def how_it_ended(status: Status) -> str:
    """The beginning of a warning.

    Examples
    --------
    >>> how_it_ended(Status.MAX_ITER), how_it_ended(Status.EXHAUSTED)
    ('reached max_iter', 'the solver ended')
    """
    return f"reached {LIMITS[status]}" if status in LIMITS else "the solver ended"


def for_a_smaller_gap(problem: KMeansSDP, status: Status, landmarks: LandmarkMultiplier | None = None) -> str:
    """What to do where there is a bound, perhaps by landmarks, but not the one asked for.

    Examples
    --------
    >>> from sknomad import Gram
    >>> for_a_smaller_gap(KMeansSDP(Gram.from_data([[0.0], [1.0]]), 1), Status.MAX_ITER)
    'Raise max_iter or tol.'
    """
    if landmarks is not None and status is Status.EXHAUSTED:
        return f"Raise tol, or use solve_by_landmarks with more than {len(landmarks.M)} landmarks."
    text = f"Raise {LIMITS.get(status, 'the limits')} or tol"
    if problem.n < LONG_STEPS:
        return f"{text}."
    others = "" if cuda_is_available() else "a GPU or "
    return f"{text}; {others}fewer points than {problem.n} make steps cheaper."


def for_a_bound(problem: KMeansSDP, solver: str | Solver, status: Status, left_out: float = math.nan) -> str:
    """What to do where there is none: it takes dense arrays, a solver that has them, and steps beyond its first.

    Or landmarks that leave out next to nothing of the data; `left_out` is how much, if they were tried.
    """
    need, free = forecast(problem, ADMM()), free_memory_of(choose_device("auto", problem.n))
    is_auto = isinstance(solver, Auto) or solver == "auto"
    if need <= free:
        if is_auto and status in LIMITS:
            return f"Raise {LIMITS[status]}: bounds come after the first phase."
        return 'One needs solver="admm" or "auto".'
    at_most = math.floor(problem.n * math.sqrt(max(free, 0) / need))
    return (
        f"One needs dense {problem.n} x {problem.n} arrays: {readable_size(need)} needed, {readable_size(free)} free. "
        f"Use {'' if cuda_is_available() else 'a GPU with that much memory or '}at most {at_most} points; "
        f"{_about_landmarks(problem.gram, left_out, LIMITS.get(status) if is_auto else None)}."
    )


def _about_landmarks(gram: Gram, left_out: float, limit: str | None) -> str:
    """Why there is no bound by landmarks, or how to have one."""
    needed = what_landmarks_need(gram)
    if needed is not None:
        return f"near curves or surfaces landmarks need no such arrays, but {needed}"
    if not math.isnan(left_out):
        return f"landmarks leave out {left_out:.1e} of these data, too much for a bound without such arrays"
    if limit is not None:
        return f"near curves or surfaces landmarks need no such arrays, after the first phase: raise {limit}"
    return "near curves or surfaces solve_by_landmarks needs no such arrays"
