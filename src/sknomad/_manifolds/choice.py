"""How many parts, and which: the division that several smooth solutions agree on, without labels.

Looks at up to seven ``K`` suggest divisions, `divisions` scores them, `strength` tells whether the best is believed,
and `refinement` whether one within it is meant. ``docs/automatic_choice_notes.md`` says how the constants were chosen,
and on which data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array
from .._numerics.threads import suitable_threads
from .._points.components import in_order
from .._program.gram import Gram
from .._solving.budget import Budget
from .._solving.loop import Callback
from .divisions import Pool, gather_told
from .look import Look
from .patches import coordinates_K
from .refinement import refined
from .strength import Verdict, judge
from .survey import FINE_UP_TO, Survey, look_around, surveys

# Looks with patches of these sizes tell which K coordinates are read off; smaller ones where there are few points. The
# finest looks are left out: noise breaks rings there.
PATCHES_FOR_COORDINATES, FINE_PATCHES_FOR_COORDINATES = (10, 15, 21, 30), (5, 7, 10, 15)
# Where the first looks speak this clearly, for several parts by strength and margin or for one by strength, finer ones
# are not waited for.
CLEAR_STRENGTH, CLEAR_MARGIN = 1.0, 0.5
# Confidence is logistic in the distance from that strength and in the margin over other numbers of parts, both bounded.
LARGEST_STRENGTH, LARGEST_MARGIN = 4.0, 2.0
CONFIDENCE_IN_SEVERAL, CONFIDENCE_IN_SEVERAL_FINE = (-1.93, 0.75, 2.03), (-1.18, 0.47, 1.16)
CONFIDENCE_IN_ONE, CONFIDENCE_IN_ONE_FINE = (1.41, 0.22), (-0.64, 1.09)
# With the number told, in the score of the division.
CONFIDENCE_WHEN_TOLD, CONFIDENCE_WHEN_TOLD_FINE = (3.19, 1.59), (2.42, 1.45)


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
        Sees the progress of every look; returning True ends the search, with what is known so far.
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
    return look_and_decide(gram, n_parts=n_parts, allow_single=allow_single, callback=callback, budget=budget)[1]


def look_and_decide(
    gram: Gram,
    *,
    n_parts: int | None = None,
    allow_single: bool = True,
    callback: Callback | None = None,
    budget: Budget | None = None,
) -> tuple[Survey, Choice]:
    """As many looks as it takes, and the choice; parameters as in `choose`.

    With the number of parts given, all looks are made: the clearest division into so many may show in any of them.
    """
    if n_parts is None:
        return decide_when_clear(surveys(gram, callback, budget), allow_single=allow_single)
    survey = look_around(gram, callback, budget)
    return survey, decide(survey, n_parts=n_parts)


def decide_when_clear(stages: Iterable[Survey], *, allow_single: bool = True) -> tuple[Survey, Choice]:
    """The first of some surveys, each with more looks than the one before, that speaks clearly, or else the last."""
    pool = Pool()
    for survey in stages:
        with suitable_threads(survey.looks[0].n):
            verdict = judge(survey.looks, pool)
        if _is_clear(verdict, allow_single=allow_single):
            break
    with suitable_threads(survey.looks[0].n):
        return survey, _as_judged(survey, verdict, allow_single=allow_single)


def _is_clear(verdict: Verdict | None, *, allow_single: bool) -> bool:
    """Whether finer looks would hardly say anything else."""
    if verdict is None:
        return allow_single
    if verdict.strength > CLEAR_STRENGTH:
        return verdict.margin > CLEAR_MARGIN
    return allow_single and verdict.strength < -CLEAR_STRENGTH


def decide(survey: Survey, *, n_parts: int | None = None, allow_single: bool = True) -> Choice:
    """The choice that the looks speak for; parameters as in `choose`."""
    with suitable_threads(survey.looks[0].n):
        if n_parts is not None:
            return _as_told(survey, n_parts)
        return _as_judged(survey, judge(survey.looks), allow_single=allow_single)


def _as_judged(survey: Survey, verdict: Verdict | None, *, allow_single: bool) -> Choice:
    """The best division, or one part."""
    one, looks = np.zeros(survey.looks[0].n, dtype=np.int64), survey.looks
    if verdict is None:
        return _choice(survey, one, 1, _confidence(one, -math.inf, LARGEST_MARGIN), -math.inf, LARGEST_MARGIN)
    labels = one if allow_single and verdict.strength < 0 else refined(looks, verdict).labels
    margin = verdict.margin if math.isfinite(verdict.margin) else LARGEST_MARGIN
    confidence = _confidence(labels, verdict.strength, margin)
    return _choice(survey, labels, int(labels.max()) + 1, confidence, verdict.strength, margin)


def _as_told(survey: Survey, n_parts: int) -> Choice:
    """The clearest division into `n_parts` parts, or one part where there is none."""
    looks, labels, score = survey.looks, np.zeros(survey.looks[0].n, dtype=np.int64), -math.inf
    if n_parts == 1:
        return _choice(survey, labels, 1, 1.0, score, math.nan)
    ranked = gather_told(looks, n_parts).scored()
    if not ranked:
        return _choice(survey, labels, n_parts, 0.0, score, math.nan, was_found=False)
    labels, score = ranked[0].labels, ranked[0].score
    return _choice(survey, labels, n_parts, _told_confidence(looks[0].n, score), score, math.nan)


def _choice(
    survey: Survey,
    labels: Array,
    n_parts: int,
    confidence: float,
    strength: float,
    margin: float,
    *,
    was_found: bool = True,
) -> Choice:
    """The choice of these parts of the points of the looks."""
    K = coordinates_K(survey.n, n_parts, _for_coordinates(survey.looks), labels)
    K_values = np.array([look.K for look in survey.looks])
    labels = in_order(labels[survey.groups])
    return Choice(K, n_parts, labels, confidence, strength, margin, was_found, K_values)


def _for_coordinates(looks: list[Look]) -> list[Look]:
    """The looks whose patches have a size that coordinates are read off."""
    n = looks[0].n
    sizes = FINE_PATCHES_FOR_COORDINATES if n <= FINE_UP_TO else PATCHES_FOR_COORDINATES
    return [look for look in looks if any(math.isclose(n / look.K, size) for size in sizes)]


def _confidence(labels: Array, strength: float, margin: float) -> float:
    """The share of data with known parts, equally strong and clear, on which the number was right."""
    distance, is_fine = min(abs(strength), LARGEST_STRENGTH), len(labels) <= FINE_UP_TO
    if not labels.any():
        in_one = CONFIDENCE_IN_ONE_FINE if is_fine else CONFIDENCE_IN_ONE
        return _logistic(in_one, distance if strength < 0 else 0.0)
    in_several = CONFIDENCE_IN_SEVERAL_FINE if is_fine else CONFIDENCE_IN_SEVERAL
    return _logistic(in_several, distance if strength > 0 else 0.0, min(margin, LARGEST_MARGIN))


def _told_confidence(n: int, score: float) -> float:
    """The share of data with known parts, whose division into as many parts scored the same, on which it was right."""
    return _logistic(CONFIDENCE_WHEN_TOLD_FINE if n <= FINE_UP_TO else CONFIDENCE_WHEN_TOLD, score)


def _logistic(coefficients: tuple[float, ...], *values: float) -> float:
    slopes = coefficients[1:]
    return 1 / (1 + math.exp(-coefficients[0] - sum(c * v for c, v in zip(slopes, values, strict=True))))
