"""When to judge a run, how thoroughly, and when a proof is worth its price."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Protocol

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate, NegativePart
from .._certificate.lower import decomposed, make_feasible
from .._certificate.shifting import negative_share
from .._certificate.upper import eigenvalues_are_cheap, estimate_upper_bound, state_of, upper_bound
from .._files.records import saved
from .._numerics.arrays import Array, is_on_gpu
from .._numerics.block_eigen import LARGEST_OF_A_UNIT_VECTOR
from .._numerics.validation import check_count, check_moderate, check_real
from .._points.forms import DensePoint, SpectralPoint
from .._points.point import Point
from .run_state import Run
from .solution import Status

# Judging costs about as much as a step: early and often at first, then after every 15 % more iterations with bounds.
FIRST_LOOK, LOOK_EVERY, LOOK_GROWTH = 10, 10, 1.15
REPAIR_STEPS, REPAIR_GAIN = 20, 12
# A repair costs as much as many steps. The next one waits for so many times the steps: less where the gap that is left
# may be this small a multiple of the tolerance.
REPAIR_GROWTH, REPAIR_GROWTH_FAR, NEAR = 1.1, 3.0, 1.6
# Up to this many points every look also tries the cheapest repair, for a smooth history.
SMALL_PROBLEM = 500
# Where the end is forecast: gaps fall ever more slowly, and steps between two looks are at least so many.
FORECAST_MARGIN, LEAST_INTERVAL = 1.2, 4
# Beyond these sizes a repair, which needs several n x n arrays, or a proof that is not the last, costs too much.
LARGEST_FOR_REPAIR = 20_000
LARGEST_FOR_INTERIM_PROOFS = 5000
# Up to this size a proof costs no more than some forty steps, so that one may fail.
LARGEST_FOR_EAGER_PROOFS = 10_000
# Beyond this size even a look at the bound costs as much as many steps: fewer looks, and the first one later.
LARGE_PROBLEM, LOOK_EVERY_LARGE = 20_000, 25
# There a proof is tried when the estimated gap is this share of the tolerance, so that it succeeds at once.
CAUTIOUS_SHARE = 0.9


class Judge(Protocol):
    """Looks at a run now and then and enters the bounds that it finds."""

    def begin(self, run: Run) -> None:
        """Look at the iterate that a run starts from."""
        ...

    def after_step(self, run: Run) -> bool:
        """Look at the current iterate if it is time to; returns whether it was."""
        ...


class NoJudge:
    """Lets a run go to its limits without a look: for rough solutions that nothing is claimed of."""

    def begin(self, run: Run) -> None:
        """Nothing."""

    def after_step(self, run: Run) -> bool:
        """Nothing."""
        return False


@saved
@dataclass
class ProgramJudge:
    """The judge of the program: certifies iterates as `certify` does, at the least cost that closes the gap."""

    screen: float = math.inf  # the cheapest available idea of the upper bound: tells when a proof is worth its price
    vectors: Array | None = None  # leading eigenvectors from the last screening, to start the next
    next_look: int = FIRST_LOOK  # iteration at which to judge
    first_multiplier: int | None = None  # iteration that brought the first one
    last_repair: int = 0  # iteration of the last one
    last_look: int = 0  # iteration of the last one, where the next is forecast
    last_gap: float = math.inf  # what it suggested
    optimism: float = 0.0  # how far the last proof that fell short was from what suggested it

    def check(self, n: int) -> None:
        """Refuse what can be no plan of a judge of `n` points: a file may hold anything."""
        if self.vectors is not None:
            check_moderate(self.vectors, "the judge's eigenvectors", (n, None), LARGEST_OF_A_UNIT_VECTOR)
        first = 0 if self.first_multiplier is None else self.first_multiplier
        for count in (self.next_look, self.last_repair, self.last_look, first):
            check_count(count, "every count of the judge")
        largest = sys.float_info.max
        check_real(self.screen, "the judge's estimate", -largest, math.inf, "a real number above -inf")
        check_real(self.last_gap, "the judge's last gap", -math.inf, math.inf, "a real number")
        check_real(self.optimism, "the judge's optimism", 0, largest, "a finite number >= 0")

    def take_over(self, other: ProgramJudge) -> None:
        """Go on where another judge of the same run was."""
        vars(self).update(vars(other))

    def prove_again(
        self, run: Run, point: Point | None, multiplier: Array | None = None, *, upper_was_known: bool
    ) -> None:
        """Bound the optimum from what a file holds: a point, which is made feasible anew, and multipliers.

        What it costs is a proof for each; none where there was none before. The judge's own plans stay as they were.
        """
        if point is not None:
            _offer(run, point, steps=0)
        last = _current(run).N
        if not upper_was_known or (last is None and not run.problem.is_trivial):
            return
        if last is not None and not eigenvalues_are_cheap(run.problem, last, run.tol):
            run.demand_verified()
        run.enter_upper(upper_bound(run.problem, last, grade=run.grade, start=self.vectors))
        if multiplier is not None:
            run.enter_upper(upper_bound(run.problem, multiplier, grade=run.grade, start=self.vectors), multiplier)

    def begin(self, run: Run) -> None:
        """Look at the start, which may be the answer; a run that goes on has been looked at before."""
        if not run.rows:
            self.judge(run, thorough=False)

    def after_step(self, run: Run) -> bool:
        """Judge the current iterate if its time has come, thoroughly at a milestone."""
        iterate = _current(run)
        every = LOOK_EVERY_LARGE if iterate.N is not None and run.problem.n > LARGE_PROBLEM else LOOK_EVERY
        if iterate.N is not None and self.first_multiplier is None:
            self.first_multiplier, self.next_look = run.iteration, run.iteration - 1 + every
        if run.iteration < self.next_look and not iterate.is_milestone:
            return False
        done = run.iteration - (self.first_multiplier or 0)
        interval = max(every, math.ceil(done * (LOOK_GROWTH - 1)))
        self.next_look = run.iteration + interval
        self.judge(run, thorough=iterate.is_milestone)
        if isinstance(iterate.N, NegativePart):
            may_wait = is_on_gpu(iterate.N.T) and interval == every
            self.next_look = run.iteration + self._forecast(run, interval, 2 * interval if may_wait else interval)
        return True

    def _forecast(self, run: Run, planned: int, most: int) -> int:
        """Steps until the gap is closed, `most` at most, if it goes on to fall as since the last look; or as `planned`.

        It saves steps after the last that was needed, and on a GPU, where they cost more than a step, early looks that
        cannot succeed.
        Where an estimate led to a proof that fell short of it, the same is expected of the next.
        """
        gap, gap_before, steps = self._gap_below(run, self.screen), self.last_gap, run.iteration - self.last_look
        self.last_look, self.last_gap = run.iteration, gap if math.isfinite(gap) else math.inf
        expected, goal = self._screened_gap(run), run.tol if self.optimism > 0 else CAUTIOUS_SHARE * run.tol
        if not (0 < goal < expected < math.inf and 0 < gap < gap_before < math.inf):
            return planned
        left = math.log(expected / goal) * steps / math.log(gap_before / gap)
        return max(LEAST_INTERVAL, math.ceil(min(FORECAST_MARGIN * left, most)))

    def judge(self, run: Run, *, thorough: bool, is_last: bool = False) -> None:
        """Bound the optimum from the current iterate: `thorough` at a milestone, the more so where it `is_last`."""
        iterate = _current(run)
        if iterate.N is not None or run.problem.is_trivial:
            self._improve_upper(run, iterate, thorough=thorough)
        self._improve_lower(run, iterate.point, thorough=thorough, is_last=is_last)
        if iterate.N is not None and run.upper > self.screen and self._screened_gap(run) <= _goal(run):
            self._prove(run, iterate)
            self.optimism = 0.0 if run.is_done else max(run.upper - self.screen, 0.0)
        run.record()

    def finish(self, run: Run, status: Status) -> Status:
        """A last look at the last iterate: thorough, unless somebody is waiting for the run to end."""
        if status is Status.CERTIFIED or run.iterate is None:
            return status
        in_a_hurry = status in (Status.INTERRUPTED, Status.MAX_SECONDS)
        if not in_a_hurry or run.point is None:
            self.judge(run, thorough=not in_a_hurry, is_last=not in_a_hurry)
        elif math.isinf(run.upper) and math.isfinite(self.screen) and run.problem.n <= LARGE_PROBLEM:
            self._prove(run, run.iterate)  # a run that is cut short still owes one proof of what it has seen
        # Whoever interrupted a program wants to hear that it was, even if all was just proven.
        return Status.CERTIFIED if run.is_done and status is not Status.INTERRUPTED else status

    def _improve_upper(self, run: Run, iterate: Iterate, *, thorough: bool) -> None:
        if iterate.N is not None:
            state_of(run.problem, iterate.N)
        if iterate.N is None or eigenvalues_are_cheap(run.problem, iterate.N, run.tol):
            bound = upper_bound(run.problem, iterate.N)
            self.screen = min(self.screen, bound)
            if run.grade == "eigen":
                run.enter_upper(bound)
        else:
            run.demand_verified()  # beyond this size the stronger proof is also the cheaper one
            value, self.vectors = estimate_upper_bound(run.problem, iterate.N, self._suggested_vectors(run, iterate))
            self.screen = min(self.screen, value)
        if run.grade == "verified" and (thorough or self._proof_is_due(run)):
            self._prove(run, iterate)

    def _suggested_vectors(self, run: Run, iterate: Iterate) -> Array | None:
        """Where to look for leading eigenvectors of ``D + N``: the last ones, or those of ``Q``, which they tend to."""
        if self.vectors is None and isinstance(iterate.point, SpectralPoint):
            return iterate.point.U[:, -math.ceil(run.problem.K) :]
        return self.vectors

    def _proof_is_due(self, run: Run) -> bool:
        """Whether a new proof would at least halve what is unproven; the largest problems wait for the last one."""
        if run.problem.n > LARGEST_FOR_INTERIM_PROOFS:
            return False
        if not math.isfinite(run.upper):
            return True
        return run.upper - self.screen > max(self.screen - run.lower, run.tol * abs(self.screen))

    def _prove(self, run: Run, iterate: Iterate) -> None:
        run.enter_upper(upper_bound(run.problem, iterate.N, grade="verified", start=self.vectors))

    def _screened_gap(self, run: Run) -> float:
        """The gap that a proof is expected to have: what screening suggests, and what the last proof fell short by."""
        return self._gap_below(run, self.screen + self.optimism)

    def _gap_below(self, run: Run, upper: float) -> float:
        """The gap to `upper`; an estimate may fall below what is feasible."""
        return Certificate(run.lower, max(upper, run.lower)).gap

    def _improve_lower(self, run: Run, point: Point, *, thorough: bool, is_last: bool) -> None:
        """Make `point` feasible: at little cost first, with alternating projections where that may close the gap."""
        if isinstance(point, DensePoint) and not run.problem.is_trivial:
            spectral = decomposed(run.problem, point)  # one decomposition now serves every look at the point
            if spectral is None:
                return
            point = spectral
        if not isinstance(point, SpectralPoint):
            _offer(run, point, steps=REPAIR_STEPS)
            return
        if run.problem.n > LARGEST_FOR_REPAIR and run.point is not None:
            return
        if run.point is None or run.problem.n <= SMALL_PROBLEM:
            _offer(run, point, steps=0)
        if self._screened_gap(run) > run.tol and (is_last or self._is_promising(run, point, waits=not thorough)):
            enough = self.screen - _goal(run) * abs(self.screen)
            _offer(run, point, steps=REPAIR_STEPS, enough=enough, gives_up=not is_last)
            self.last_repair = run.iteration

    def _is_promising(self, run: Run, point: SpectralPoint, *, waits: bool) -> bool:
        """Whether repair can be expected to close the gap, or at least a quarter of it after a long time without.

        What negative entries lack in sum tells how infeasible the point is: repair has been seen to cost a fifth of it
        and far less, and one that will not do ends early. Where the lower bound is not what keeps the gap open,
        waiting for the upper one is cheaper. At a milestone no repair `waits` for steps since the last one.
        """
        if not math.isfinite(self.screen) or (waits and not self._waited(run, REPAIR_GROWTH)):
            return False
        value = point.value(run.problem.gram)
        if self.screen - value > max(run.tol * abs(self.screen), (self.screen - run.lower) / 20):
            return False
        expected = value - negative_share(run.problem, point) * abs(value) / REPAIR_GAIN
        if self.screen - expected <= NEAR * run.tol * abs(self.screen):
            return value > run.lower
        closes_some = expected - run.lower > (self.screen - run.lower) / 4
        return closes_some and (not waits or self._waited(run, REPAIR_GROWTH_FAR))

    def _waited(self, run: Run, growth: float) -> bool:
        """Whether steps of ADMM have grown by this factor since the last repair."""
        before = self.first_multiplier or 0
        return run.iteration - before >= growth * (self.last_repair - before)


def _goal(run: Run) -> float:
    """The gap between what is screened and what is feasible that will do."""
    return run.tol if run.problem.n <= LARGEST_FOR_EAGER_PROOFS else CAUTIOUS_SHARE * run.tol


def _current(run: Run) -> Iterate:
    assert run.iterate is not None
    return run.iterate


def _offer(run: Run, point: Point, *, steps: int, enough: float = math.inf, gives_up: bool = False) -> None:
    feasible = make_feasible(run.problem, point, steps=steps, enough=enough, gives_up=gives_up)
    if feasible is not None:
        run.enter_point(feasible)
