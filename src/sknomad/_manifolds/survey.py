"""Looks at some data: smooth solutions at several ``K``, all that the choice of parts is made from.

A look is, roughly, the feasible point nearest to a multiple of the inner products (`Ridge`). The solution of the
program itself has no entries across a gap of the sample, and so breaks single pieces up there; this one has.

Looks at the smallest patches come last, so that whoever finds the others clear need not wait for them. Looks do not
depend on each other, and the decompositions in their steps gain little from many threads. So where nobody listens and
there is no limit of time, they are made side by side, with one thread each, and do not depend on how many threads there
are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event

import numpy as np

from .._numerics.arrays import Array, to_numpy
from .._numerics.threads import limited_threads, suitable_threads, threads_now
from .._points.forms import SpectralPoint
from .._points.point import Point
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from .._solving.loop import Callback, Limits
from .._solving.rough import rough_iterate
from .._solving.solution import Status
from .._solving.solve import solve
from ..solvers._ridge import Ridge
from .coarse_points import coarsen, counted_points
from .look import Look, make_look

# Points per patch, n/K, of the looks; where there are few points large patches tell nothing. With only four looks,
# close ties between divisions fall by chance.
POINTS_PER_PATCH, LARGEST_FINE_PATCH, FINE_UP_TO = (4, 5, 7, 10, 15, 21, 30), 15, 200
# The smallest patch of the first looks, where there are not few points.
SMALLEST_FIRST_PATCH = 7
# The most steps at each K, and the primal residual at which fewer are enough.
MOST_STEPS, SMALL_RESIDUAL = 40, 0.1
# Beyond this many points steps are in single precision.
DOUBLE_UP_TO = 200


@dataclass(frozen=True)
class Survey:
    """Looks at some data: all that a choice is made from."""

    n: int  # points
    groups: Array  # (n,) the group that stands for each point
    looks: list[Look]  # at the groups, from coarse to fine patches; fewer where time is up or somebody asked to stop


def look_around(gram: Gram, callback: Callback | None = None, budget: Budget | None = None) -> Survey:
    """Smooth solutions at several ``K``, until time is up or the callback asks to stop."""
    *_, survey = surveys(gram, callback, budget)
    return survey


def surveys(gram: Gram, callback: Callback | None = None, budget: Budget | None = None) -> Iterator[Survey]:
    """Yield a survey of the first looks, and one of all of them; no second one where that has to end.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).standard_normal((210, 2))
    >>> [len(survey.looks) for survey in surveys(Gram.from_data(points))]
    [5, 7]
    """
    coarse = coarsen(gram)
    is_in_turn = callback is not None or (budget is not None and math.isfinite(budget.seconds))
    looks: list[Look] = []
    for values in _in_stages(looked_at(coarse.gram.n), coarse.gram.n):
        problems, is_over = [KMeansSDP(coarse.gram, K) for K in values], False
        if is_in_turn:
            further, is_over = _looks_in_turn(problems, coarse.masses, callback, budget or Budget())
        else:
            further = _looks_side_by_side(problems, coarse.masses)
        looks = looks + further
        yield Survey(counted_points(gram), coarse.of_point, looks)
        if is_over:
            return


def _in_stages(values: list[float], n: int) -> list[list[float]]:
    """The ``K`` of the first looks, and those of the others, if there are any."""
    if n <= FINE_UP_TO:
        return [values]
    count = sum(size >= SMALLEST_FIRST_PATCH for size in POINTS_PER_PATCH)
    return [values[:count], values[count:]]


def looked_at(n: int) -> list[float]:
    """The ``K`` of the looks at `n` points, ascending; all at least 2, and one at least."""
    sizes = [size for size in POINTS_PER_PATCH if n > FINE_UP_TO or size <= LARGEST_FINE_PATCH]
    return sorted(n / size for size in sizes if n / size >= 2) or [min(2.0, float(n))]


def _looks_in_turn(
    problems: list[KMeansSDP], masses: Array, callback: Callback | None, budget: Budget
) -> tuple[list[Look], bool]:
    """One look after another, at least one, and whether the last one has to be the last of all."""
    looks, is_over = [], False
    for problem in problems:
        with suitable_threads(problem.n):
            point, was_stopped = _smooth_solution(problem, callback, budget)
            looks.append(_look_at(problem.K, point, masses))
        is_over = was_stopped or budget.is_spent
        if is_over:
            break
    return looks, is_over


def _looks_side_by_side(problems: list[KMeansSDP], masses: Array) -> list[Look]:
    """All looks, as many at a time as there are threads; an interrupt ends those under way with their next step."""
    n_threads, is_over = threads_now(), Event()

    def look_at(problem: KMeansSDP) -> Look:
        point, _ = _smooth_solution(problem, lambda progress: is_over.is_set(), Budget())
        return _look_at(problem.K, point, masses)

    with limited_threads(1), ThreadPoolExecutor(n_threads) as pool:
        # The finest patches take longest, so they begin first.
        coming = [pool.submit(look_at, problem) for problem in reversed(problems)]
        try:
            ended, _ = wait(coming, return_when=FIRST_EXCEPTION)
        finally:
            is_over.set()
            pool.shutdown(wait=False, cancel_futures=True)
        for look in ended:
            look.result()  # raises what went wrong, if anything did
        return [look.result() for look in reversed(coming)]


def _look_at(K: float, point: Point, masses: Array) -> Look:
    """The look of a solution, with its eigenvectors where they are known."""
    if not isinstance(point, SpectralPoint):
        return make_look(K, point.dense(), masses)
    values, vectors = (np.asarray(to_numpy(array), dtype=np.float64) for array in (point.l, point.U))
    return make_look(K, point.dense(), masses, (values, vectors))


def _smooth_solution(problem: KMeansSDP, callback: Callback | None, budget: Budget) -> tuple[Point, bool]:
    """The point of a few steps, and whether the callback asked to stop."""
    if problem.is_trivial:
        return solve(problem).point.unmixed, False
    solver = Ridge(end_at=SMALL_RESIDUAL, device="cpu32" if problem.n > DOUBLE_UP_TO else "cpu")
    iterate, status = rough_iterate(problem, solver, Limits(MOST_STEPS, budget.left), callback)
    return iterate.point, status is Status.STOPPED
