"""Of all points that a proof allows, the smoothest: what manifolds and their coordinates are best read off.

The optimum follows the accidents of a sample: where points happen to lie a little apart it has no entries across, so
that one curve comes in pieces. Points within the tolerance need not do that. Soft assignments with a cell at every
point are smooth, a few sweeps bring them as near to the optimum as is asked for, and more sweeps only add clumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .._certificate.certificate import Certificate
from .._certificate.lower import feasible_value, make_feasible
from .._numerics.arrays import choose_device
from .._points.forms import SoftPoint, side_by_side
from .._points.mixed import MixedPoint
from .._program.data_rows import rows_of
from .._program.problem import KMeansSDP
from ..solvers._cells_at_points import cells_at_points
from ..solvers._soft_updates import settle_trace, sweep
from .run_state import Run
from .solution import Solution, Status

# Sweeps after which a point is taken, from the smoothest on.
SWEEPS = (0, 1, 2, 4, 8)
# Up to so many points; a cell at each is n x n numbers.
MOST_POINTS = 2000
# How far a point may fall short of the best one, relative; and at most this share of the tolerance as long as steps are
# taken, so that the bound has the rest.
SHORTFALL, SHARE = 1e-3, 0.5
# Where no smooth point is that near, the best one is mixed with a smooth one that can have at least this share.
LEAST_SHARE = 0.1
# Rounding must not take a mixed point below what it was mixed for.
SLIGHTLY_LESS = 0.999
# How much longer than without it a run may take for the sake of a smooth point, and for that of a last multiplier.
LONGEST, LONGEST_AT_ALL = 1.5, 2.0


class Valued(NamedTuple):
    """A feasible point and what it proves."""

    point: MixedPoint
    value: float  # rounded down


def smooth_points(problem: KMeansSDP) -> Iterator[Valued]:
    """Feasible points, the smoothest first, later ones of higher value as a rule; none where there are too many points.

    Examples
    --------
    >>> from sknomad import Gram
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]), 2)
    >>> [round(one.value, 2) for one in smooth_points(problem)][::4]
    [22.67, 24.0]
    """
    if problem.is_trivial or problem.n > MOST_POINTS:
        return
    template = choose_device("cpu", problem.n)
    rows, fixed = rows_of(problem.gram, template), problem.fixed.like(template)
    current, done = cells_at_points(problem, rows, template), 0
    for count in SWEEPS:
        if count > 0:
            current = settle_trace(problem, rows, sweep(problem, rows, current, count - done - 1))
        done = count
        point = make_feasible(problem, SoftPoint(current.V, fixed), steps=0)
        if point is not None:
            yield Valued(point, feasible_value(problem, point))


@dataclass
class SmoothRun(Run):
    """A run whose answer is the smoothest point that it can prove to be within the tolerance."""

    first_done: int | None = None  # steps after which some point was
    known: list[Valued] = field(default_factory=list)  # smooth points, the smoothest first

    def __post_init__(self) -> None:
        self.further = smooth_points(self.problem)

    @property
    def may_end(self) -> bool:
        """Whether the gap is closed, for a smooth point too if that can be had at a small price.

        The last multiplier, the only one kept, should then be the one behind the bound.
        """
        if not self.is_done:
            return False
        self.first_done = self.first_done or max(self.iteration, 1)
        steps = self.iteration / self.first_done
        wanted = self._smoothest(self.lower - min(SHARE * self.tol, SHORTFALL) * abs(self.lower))
        if wanted is None or steps > LONGEST_AT_ALL:
            return True
        return self.upper_from == self.iteration and (steps > LONGEST or self._is_within(wanted))

    def solution(self, status: Status) -> Solution:
        """What the run has found, with the smoothest of the points within the tolerance."""
        best = super().solution(status)
        least = max(self.upper - self.tol * abs(self.upper), self.lower - SHORTFALL * abs(self.lower))
        smooth = self._smoothest(least) if self.is_done else None
        if smooth is None or not self._is_within(smooth):
            return best
        return replace(best, point=smooth.point, certificate=Certificate(smooth.value, self.upper, self.grade))

    def _candidates(self) -> Iterator[Valued]:
        """Smooth points, the smoothest first, made as they are needed."""
        yield from self.known
        for one in self.further:
            self.known.append(one)
            yield one

    def _smoothest(self, least: float) -> Valued | None:
        """The smoothest point of at least so much value: a candidate, or the best point with a share of one in it."""
        for one in self._candidates():
            if one.value >= least:
                return one
        for one in self.known:
            share = (self.lower - least) / (self.lower - one.value) if self.lower > one.value else 0.0
            if share >= LEAST_SHARE:
                return self._mixed(one, SLIGHTLY_LESS * share)
        return None

    def _mixed(self, smooth: Valued, share: float) -> Valued | None:
        """The best point with a share of a smooth one; None where it is no soft assignment."""
        base = None if self.point is None else self.point.base
        if not isinstance(base, SoftPoint) or not isinstance(smooth.point.base, SoftPoint):
            return None
        point = make_feasible(self.problem, side_by_side([base, smooth.point.base], [1 - share, share]), steps=0)
        return None if point is None else Valued(point, feasible_value(self.problem, point))

    def _is_within(self, one: Valued) -> bool:
        return Certificate(one.value, self.upper).gap <= self.tol
