"""One part or several: how strong the best division of some points is, against what single pieces show by chance.

Single pieces too show a best division, so that one is believed only from a strength on that few single pieces reach.
``docs/automatic_choice_notes.md`` says how the constants were chosen, and on which data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .divisions import Pool, Scored, gather
from .look import Look
from .ring_arcs import are_arcs_of_a_ring
from .survey import FINE_UP_TO
from .valley_tree import FEWEST_POINTS

# A score counts from here on; what it falls short of that counts half: a true division into many parts shares its
# evidence with many that are nearly the same, and so scores low.
MODEST_SCORE, WEIGHT_BELOW = -3.4, 0.5
# Strength from which on there are several parts: hardly 5 in 100 single pieces reach it (benchmarks/part_constants.py).
# With few points, which have fewer looks, it moves with the log of their number, faster below this many than above.
SEVERAL_FROM, SEVERAL_FROM_FINE, AT_FINE_POINTS = 0.1, 0.5, 100
PER_LOG_FEWER_POINTS, PER_LOG_FINE_POINTS = -1.3, -0.55
# Arcs of what looks show as one ring are parts only where they stand apart more clearly.
MORE_FOR_RINGS = 0.5


@dataclass(frozen=True)
class Verdict:
    """Divisions into several parts, and whether the best of them is to be believed."""

    ranked: list[Scored]  # all divisions into several parts, the best first
    strength: float  # of the best, less what single pieces rarely reach: positive for several parts

    @property
    def best(self) -> Scored:
        """The division with the highest score."""
        return self.ranked[0]

    @property
    def margin(self) -> float:
        """The score of the best division less that of the best into another number; infinite where there is none."""
        others = (division.score for division in self.ranked if division.n_parts != self.best.n_parts)
        return self.best.score - next(others, -math.inf)


def judge(looks: Sequence[Look], pool: Pool | None = None) -> Verdict | None:
    """The divisions that looks show and the strength of the best; None where they show none into several parts.

    A pool that has seen the first of the looks saves looking at these again; it then has seen all.
    """
    if looks[0].n < 2 * FEWEST_POINTS:
        return None
    pool = gather(looks, pool)
    ranked = [division for division in pool.scored() if math.isfinite(division.score)]
    if not ranked:
        return None
    needed = several_from(looks[0].n)
    if are_arcs_of_a_ring(looks, ranked[0].labels):
        needed += MORE_FOR_RINGS
    return Verdict(ranked, _weighed(ranked[0].score) + pool.highest_valley - needed)


def _weighed(score: float) -> float:
    """How much a score adds to the strength."""
    above = score - MODEST_SCORE
    return above if above > 0 else WEIGHT_BELOW * above


def several_from(n: int) -> float:
    """The strength from which on `n` points (or groups) are believed to be several parts."""
    if n <= FINE_UP_TO:
        per_log = PER_LOG_FEWER_POINTS if n < AT_FINE_POINTS else PER_LOG_FINE_POINTS
        return SEVERAL_FROM_FINE + per_log * math.log(n / AT_FINE_POINTS)
    return SEVERAL_FROM
