"""How many parts, and which: the division that several rough solutions agree on, without labels.

Four looks at different ``K`` suggest divisions, `divisions` scores them. Whether there are several parts at all is a
question of its own: single pieces too show a best division, so that one is believed only from a strength on that few
single pieces reach. See ``docs/automatic_choice.md`` for how the constants were chosen, and on which data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array
from .._points.components import in_order
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from .._solving.loop import Callback, Limits
from .._solving.rough import rough_iterate
from .._solving.solution import Status
from .._solving.solve import solve
from ..solvers import ADMM
from .coarse_points import coarsen, counted_points
from .divisions import gather, gather_told
from .look import Look, make_look
from .patches import coordinates_K
from .valley_tree import FEWEST_POINTS

# Points per patch, n/K, of the four looks: few points need finer patches.
POINTS_PER_PATCH, POINTS_PER_FINE_PATCH, FINE_UP_TO = (6, 10, 15, 25), (4, 6, 10, 15), 200
# Steps of ADMM at each K. Enough to part manifolds; many more also break up single ones at the gaps of their sample,
# because the exact solution has no entries across a gap while an approximate one still has small ones.
# Larger K need more: twice K, and never fewer than the first number.
LOOK_STEPS, LOOK_STEPS_PER_K = 50, 2
# Beyond this many points steps are in single precision.
DOUBLE_UP_TO = 300
# Strength from which on there are several parts, at some number of points and for fine patches at another, and how it
# moves with the log of their number: at most 5 in 100 single pieces reach it (benchmarks/part_constants.py).
SEVERAL_FROM, AT_POINTS = -3.23, 300
SEVERAL_FROM_FINE, AT_FINE_POINTS = -1.8, 100
PER_LOG_POINTS = -0.7
# Confidence is logistic in the distance from that strength and in the margin over other numbers of parts, both bounded.
LARGEST_STRENGTH, LARGEST_MARGIN = 4.0, 2.0
CONFIDENCE_IN_SEVERAL, CONFIDENCE_IN_SEVERAL_FINE = (-1.13, 0.45, 1.06), (-1.41, 0.67, 1.01)
CONFIDENCE_IN_ONE, CONFIDENCE_IN_ONE_FINE, CONFIDENCE_WHEN_TOLD = (1.14, 0.25), (-1.30, 1.04), (2.70, 1.20)


@dataclass(frozen=True)
class Survey:
    """Looks at some data: all that a choice is made from."""

    n: int  # points
    groups: Array  # (n,) the group that stands for each point
    looks: list[Look]  # at the groups, from coarse to fine patches; fewer where the callback asked to stop


@dataclass(frozen=True)
class Choice:
    """What the data say about their parts.

    Parameters
    ----------
    K : float
        The ``K`` to read coordinates off.
    n_parts : int
        Number of parts, possibly one.
    labels : array of shape (n,)
        The part of each point; with more than 500 points, of its group.
    confidence : float
        How often the number of parts was right on data with known parts that looked like these; with the number told,
        how often that division agreed with the known one.
    strength : float
        What speaks for the best division into several parts, less what single pieces rarely reach: positive for
        several. With the number told, the score of the division.
    margin : float
        The score of the best division into several parts less that of the best into another number; NaN with the
        number told.
    was_found : bool
        Whether the data show a division into the number of parts told.
    K_values : array
        ``K`` of the looks.
    """

    K: float
    n_parts: int
    labels: Array
    confidence: float
    strength: float
    margin: float
    was_found: bool
    K_values: Array


def choose(
    gram: Gram,
    *,
    n_parts: int | None = None,
    allow_single: bool = True,
    callback: Callback | None = None,
    budget: Budget | None = None,
) -> Choice:
    """Choose the parts of the points of `gram`.

    Parameters
    ----------
    gram : Gram
    n_parts : int, optional
        The number of parts, if known.
    allow_single : bool, default=True
        Whether one part may be the answer.
    callback : callable, optional
        Sees the progress of every rough solve; returning True ends the search, with what is known so far.
    budget : Budget, optional
        Time for the search, which ends with what is known by then.

    Returns
    -------
    Choice
        Parts, the ``K`` for coordinates, and how sure that is.

    Examples
    --------
    >>> from sknomad.datasets import two_rings
    >>> choice = choose(Gram.from_data(two_rings(100)[0]))
    >>> choice.n_parts, choice.labels[[0, -1]].tolist()
    (2, [0, 1])
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    return decide(look_around(gram, callback, budget), n_parts=n_parts, allow_single=allow_single)


def look_around(gram: Gram, callback: Callback | None = None, budget: Budget | None = None) -> Survey:
    """Rough solutions at several ``K``, until time is up or the callback asks to stop."""
    coarse, groups = coarsen(gram)
    budget, looks = budget or Budget(), []
    for K in looked_at(coarse.n):
        Q, is_last = _rough_solution(KMeansSDP(coarse, K), callback, budget)
        looks.append(make_look(K, Q))
        if is_last or budget.is_spent:
            break
    return Survey(counted_points(gram), groups, looks)


def decide(survey: Survey, *, n_parts: int | None = None, allow_single: bool = True) -> Choice:
    """The choice that the looks speak for; parameters as in `choose`."""
    looks, margin = survey.looks, math.nan
    if n_parts is None:
        labels, strength, margin = _best_division(looks, allow_single=allow_single)
        confidence, was_found = _confidence(labels, strength, margin), True
    else:
        labels, strength, was_found = _told_division(looks, n_parts)
        confidence = _logistic(CONFIDENCE_WHEN_TOLD, strength) if was_found and n_parts > 1 else float(was_found)
    found = int(labels.max()) + 1 if n_parts is None else n_parts
    return Choice(
        K=coordinates_K(survey.n, found, looks, labels),
        n_parts=found,
        labels=in_order(labels[survey.groups]),
        confidence=confidence,
        strength=strength,
        margin=margin,
        was_found=was_found,
        K_values=np.array([look.K for look in looks]),
    )


def looked_at(n: int) -> list[float]:
    """The ``K`` of the looks at `n` points, ascending; all at least 2, and one at least."""
    patches = POINTS_PER_FINE_PATCH if n <= FINE_UP_TO else POINTS_PER_PATCH
    return sorted(n / size for size in patches if n / size >= 2) or [min(2.0, float(n))]


def several_from(n: int) -> float:
    """The strength from which on `n` points are several parts."""
    if n <= FINE_UP_TO:
        return SEVERAL_FROM_FINE + PER_LOG_POINTS * math.log(n / AT_FINE_POINTS)
    return SEVERAL_FROM + PER_LOG_POINTS * math.log(n / AT_POINTS)


def _rough_solution(problem: KMeansSDP, callback: Callback | None, budget: Budget) -> tuple[Array, bool]:
    """The ``Q`` of a few steps, and whether the callback asked to stop."""
    if problem.is_trivial:
        return solve(problem).point.unmixed.dense(), False
    steps = math.ceil(max(LOOK_STEPS, LOOK_STEPS_PER_K * problem.K))
    solver = ADMM(device="cpu32" if problem.n > DOUBLE_UP_TO else "cpu")
    iterate, status = rough_iterate(problem, solver, Limits(steps, budget.left), callback)
    return iterate.point.dense(), status is Status.STOPPED


def _best_division(looks: list[Look], *, allow_single: bool) -> tuple[Array, float, float]:
    """The answer, its strength, and its margin over the best division into another number of parts."""
    n = looks[0].n
    one = np.zeros(n, dtype=np.int64)
    if n < 2 * FEWEST_POINTS:
        return one, -math.inf, LARGEST_MARGIN
    pool, highest_valley = gather(looks)
    ranked = [division for division in pool.scored(looks) if math.isfinite(division.score)]
    if not ranked:
        return one, -math.inf, LARGEST_MARGIN
    best = ranked[0]
    others = [division.score for division in ranked if division.n_parts != best.n_parts]
    margin = best.score - others[0] if others else LARGEST_MARGIN
    strength = best.score + highest_valley - several_from(n)
    return one if allow_single and strength < 0 else best.labels, strength, margin


def _told_division(looks: list[Look], n_parts: int) -> tuple[Array, float, bool]:
    """The clearest division into `n_parts` parts, its score, and whether there is one."""
    one = np.zeros(looks[0].n, dtype=np.int64)
    if n_parts == 1:
        return one, -math.inf, True
    ranked = gather_told(looks, n_parts).scored(looks)
    return (ranked[0].labels, ranked[0].score, True) if ranked else (one, -math.inf, False)


def _confidence(labels: Array, strength: float, margin: float) -> float:
    """The share of data with known parts, equally strong and clear, on which the number was right."""
    distance, is_fine = min(abs(strength), LARGEST_STRENGTH), len(labels) <= FINE_UP_TO
    if not labels.any():
        in_one = CONFIDENCE_IN_ONE_FINE if is_fine else CONFIDENCE_IN_ONE
        return _logistic(in_one, distance if strength < 0 else 0.0)
    in_several = CONFIDENCE_IN_SEVERAL_FINE if is_fine else CONFIDENCE_IN_SEVERAL
    return _logistic(in_several, distance if strength > 0 else 0.0, min(margin, LARGEST_MARGIN))


def _logistic(coefficients: tuple[float, ...], *values: float) -> float:
    slopes = coefficients[1:]
    return 1 / (1 + math.exp(-coefficients[0] - sum(c * v for c, v in zip(slopes, values, strict=True))))
