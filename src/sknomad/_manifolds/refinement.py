"""Of two divisions that score alike, one within the other, which is meant.

Three clouds of which two lie close show as two parts and as three, with nearly the same score. Which division wins is
then chance. But a part that is several by itself, by the same test that tells one part from several, says that the
finer one is meant: so each part in question is looked at alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from .._numerics.arrays import Array
from .divisions import Scored
from .look import Look
from .strength import Verdict, judge
from .survey import FINE_UP_TO, LARGEST_FINE_PATCH

# A finer division is considered if its score comes as close as this. Nearer than this the margin is not clear either,
# so that all looks have been made.
CLOSE_SCORE = 0.5
# It lies within the coarser one if so many of the points keep to the part that theirs lies in.
SHARE_WITHIN = 0.95
# Parts of fewer points are left whole: with 50 in its place the sets only lost (development draws).
FEWEST_TO_DIVIDE = 100
# A part is several by itself if the best division of it is ahead by as much of any into another number. Where parts
# were wrongly divided, at the gaps of curves, that was .2 at most; where rightly, .4 and more (development seeds 0 to 5
# of the sets, 0 and 1 of the families).
MARGIN_WITHIN = 0.3


def refined(looks: Sequence[Look], verdict: Verdict) -> Scored:
    """The best division, or one within it that comes close and divides a part that is clearly several by itself."""
    best = verdict.best

    @cache
    def is_several(part: int) -> bool:
        points = np.flatnonzero(best.labels == part)
        return len(points) >= FEWEST_TO_DIVIDE and _are_clearly_several(looks, points)

    for finer in _close_refinements(verdict, looks[0].masses):
        if any(is_several(part) for part in _divided_parts(best.labels, finer.labels, looks[0].masses)):
            return finer
    return best


def _close_refinements(verdict: Verdict, masses: Array) -> Iterator[Scored]:
    """Divisions within the best one that score nearly as much, the highest score first."""
    best = verdict.best
    for division in verdict.ranked:
        if division.score < best.score - CLOSE_SCORE:
            return
        if division.n_parts > best.n_parts:
            shared = _shared(best.labels, division.labels, masses)
            if shared.max(axis=0).sum() >= SHARE_WITHIN * shared.sum():
                yield division


def _divided_parts(labels: Array, finer: Array, masses: Array) -> list[int]:
    """The parts that hold most of several finer ones, the largest first."""
    shared = _shared(labels, finer, masses)
    held = np.bincount(shared.argmax(axis=0), minlength=len(shared))
    return [int(part) for part in np.argsort(-shared.sum(axis=1), kind="stable") if held[part] > 1]


def _shared(labels: Array, finer: Array, masses: Array) -> Array:
    """How much each part has of each finer one, (parts, finer parts)."""
    shared = np.zeros((int(labels.max()) + 1, int(finer.max()) + 1))
    np.add.at(shared, (labels, finer), masses)
    return shared


def _are_clearly_several(looks: Sequence[Look], points: Array) -> bool:
    """Whether some of the points, looked at alone, are several parts, and into how many is clear."""
    sizes = [look.n / look.K for look in looks]
    largest = LARGEST_FINE_PATCH if len(points) <= FINE_UP_TO else max(sizes)
    alone = [look.within(points) for look, size in zip(looks, sizes, strict=True) if round(size) <= round(largest)]
    verdict = judge(alone) if alone else None
    return verdict is not None and verdict.strength > 0 and verdict.margin >= MARGIN_WITHIN
