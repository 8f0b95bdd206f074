"""ADMM: the convex solver, with a dual bound at every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from .._certificate.iterate import Iterate, NegativePart
from .._files.records import saved
from .._numerics.arrays import Array, Device, choose_device, is_on_gpu, itemsize, like, namespace
from .._numerics.block_eigen import fresh_vectors
from .._numerics.memory import free_memory_of
from .._numerics.projections import project_spectraplex
from .._numerics.sizes import EXCURSIONS, FULL_FOR_A_RESTART, FULL_FOR_A_STEP
from .._numerics.validation import check_integer, check_real
from .._points.forms import SoftPoint, SpectralPoint
from .._points.point import Point
from .._program.problem import KMeansSDP
from ._admm_state import (
    FORM_BELOW,
    ADMMState,
    GramOperator,
    Residuals,
    StepMatrix,
    advance,
    advance_and_measure,
    cold_state,
    rescale_multiplier,
    row_blocks,
    warm_state,
)
from ._excursions import SMALLEST_GAP, excursion, excursion_due, excursion_memory, excursion_pays
from ._halpern import REFLECTION, Anchor
from ._penalty import LARGEST_FIRST, gliding_penalty, has_small_patches, is_noise
from ._row_sums import keep_row_sums
from ._thin_end import ThinEndProjector

# n x n arrays alive at the worst moment, a thorough look at the bounds: the judge's, in float64, and the solver's own.
ARRAYS_OF_THE_JUDGE, ARRAYS = 7.6, 6.4
# Arrays of more than so many bytes go back to the system at once on a CPU; below, holes between them remain.
RETURNED_AT_ONCE = 2**25
LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS = 7.9, 2.6
# Steps before the value of Q is near its limit, and those after which a bound sought alone makes little progress.
SETTLED, LONGEST_TRUST = 50, 75
# How rough the points of plain steps may be for a gap in view, and at most.
ROUGHNESS_PER_GAP, LARGEST_ROUGHNESS = 3.0, 3e-3
# Towards small gaps feasibility is what takes longest: the primal residual is kept this much below the dual one.
ANCHORED_BIAS = 10.0


@saved
@dataclass(frozen=True)
class ADMM:
    """Alternating direction method of multipliers (relaxed Douglas-Rachford) with one dense n x n state.

    Each step projects on the spectraplex ``{Q 1 = 1, tr Q = K, psd}`` and on the nonnegative matrices. It converges
    from any start, and every step carries a multiplier that `certify` turns into an upper bound. Deterministic.

    Parameters
    ----------
    relaxation : float, default=1.6
        Over-relaxation of the step, in [1, 2).
    penalty : float or "auto", default="auto"
        Starting penalty in units of ``|D|_F / sqrt(K)``; "auto" is 1. It is then balanced between residuals. Where the
        point of soft assignments is trusted, this is the penalty after that.
    balance_every : int, default=10
        Steps between two looks at the balance of residuals.
    balance_until : int, default=500
        Steps after which the penalty stays fixed, so that convergence is guaranteed.
    trusted_shortfall : float, default=0
        Let the penalty glide from large to small, for 75 steps at most, until the value of ``Q`` has passed that of
        soft assignments it started from by this share: as long as their point is that good, only the bound is sought.
    anchor_from : int, default=300
        Step from which on steps are averaged with an anchor, and the penalty changes only when the anchor does. Far
        better for small gaps; it needs a second n x n array. Up to 30,000 points.
    excursions_from : int, default=600
        Step after which an excursion sharpens both bounds for the first time.
    excursion_gap : float, default=1e-6
        The relative gap that excursions are for. The smaller, the better the bounds that they lead to, and the more
        steps they take.
    exact_below : int, default=400
        Up to this many points the eigendecomposition is full; above, a warm-started subspace is filtered.
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where to compute; an array stands for its library, device and precision.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, ADMM(relaxation=1.8), tol=1e-6).is_certified
    True
    """

    relaxation: float = 1.6
    penalty: float | str = "auto"
    balance_every: int = 10
    balance_until: int = 500
    trusted_shortfall: float = 0.0
    anchor_from: int = 300
    excursions_from: int = 600
    excursion_gap: float = 1e-6
    exact_below: int = FULL_FOR_A_STEP
    device: Device = "auto"
    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_real(self.relaxation, "relaxation", 1, math.nextafter(2, 1), "a real number in [1, 2)")
        if self.penalty != "auto":
            check_real(self.penalty, "penalty", 1e-12, 1e12, 'a positive real number or "auto"')
        check_integer(self.balance_every, "balance_every", 1)
        check_integer(self.balance_until, "balance_until", 0)
        check_real(self.trusted_shortfall, "trusted_shortfall", 0, 1, "a real number in [0, 1]")
        check_integer(self.anchor_from, "anchor_from", 0)
        check_integer(self.excursions_from, "excursions_from", 1)
        check_real(self.excursion_gap, "excursion_gap", 0, 1, "a real number in [0, 1]")
        check_integer(self.exact_below, "exact_below", 2)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data, judging included: so many n x n arrays.

        Excursions need more, and are left out where there is not as much.
        """
        template = choose_device(self.device, problem.n)
        # Beyond the full decompositions: the state, and for the proof one float64 array.
        bytes_per_entry = itemsize(template) + 8 + 2.0
        if problem.n <= FORM_BELOW:
            is_large = not is_on_gpu(template) and 8 * problem.n**2 > RETURNED_AT_ONCE
            judge, own = (LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS) if is_large else (ARRAYS_OF_THE_JUDGE, ARRAYS)
            bytes_per_entry = judge * 8 + own * itemsize(template)
        return int(bytes_per_entry * problem.n**2)

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step, for ever. Its multiplier is a view of the state: valid until the next step."""
        course = _Course(self, problem, start)
        while True:
            course.choose_penalty()
            iterate = course.step()
            yield iterate
            number = excursion_due(course.count, self.excursions_from)
            if number is not None and course.may_leave():
                yield from excursion(problem, self.excursion_gap, number, iterate, course.state(), course.gram)

    @property
    def roughness(self) -> float:
        """How far from the projection the point of a plain step may be, as a share of it."""
        return min(ROUGHNESS_PER_GAP * max(self.excursion_gap, SMALLEST_GAP), LARGEST_ROUGHNESS)

    def balances_at(self, step: int) -> bool:
        """Whether residuals are balanced after so many steps."""
        return step > 0 and step % self.balance_every == 0 and step < self.balance_until


class _Course:
    """One run of ADMM: its state, and what steers the next step."""

    def __init__(self, settings: ADMM, problem: KMeansSDP, start: Iterate | None):
        self.settings, self.problem = settings, problem
        self.template = choose_device(settings.device, problem.n)
        self.gram = GramOperator(problem.gram, self.template)
        self.leading = ThinEndProjector(problem.K - 1, FULL_FOR_A_RESTART.on(self.template), self.gram.fixed)
        self.project = self._projector()
        self.anchor: Anchor | None
        self.rank = problem.n  # of the last point
        if start is not None and isinstance(start.state, ADMMState):
            self._continue(start.state)
        else:
            self._begin(start)

    def _continue(self, state: ADMMState) -> None:
        """Go on exactly where an iterate of this solver stopped."""
        self.T = namespace(self.template).asarray(like(state.T, self.template), copy=True)
        self.rho, self.count, self.residuals = state.rho, state.step, state.residuals
        self.anchor = None if state.anchor is None else state.anchor.moved_to(self.template)
        self.trusted = state.trusted if self.settings.trusted_shortfall > 0 else -math.inf
        self.keeps_rows = state.keeps_rows
        self.leading.carry_on(state.block, self.template)

    def _begin(self, start: Iterate | None) -> None:
        """Begin at ``T = Q - N/rho`` of any other iterate, or at ``T = J``."""
        problem, template = self.problem, self.template
        is_soft = start is not None and isinstance(start.point, SoftPoint)
        self.trusted = self._trusted_value(start) if is_soft else -math.inf
        self.count, self.residuals, self.anchor = 0, Residuals(1.0, 1.0), None
        self.keeps_rows = False
        self.rho = self._penalty_of_the_next_step()
        if start is None:
            self.T = cold_state(problem.fixed, template)
        else:
            self.T = warm_state(problem, start, self.rho, template)
        if problem.n > self.leading.exact_limit or (problem.n > self.settings.exact_below and is_soft):
            columns = self._first_columns(start)
            if self.leading.pays(columns.shape[1], template):
                self.leading.begin(StepMatrix(self.T, self.gram, self.rho), columns)

    def _trusted_value(self, start: Iterate | None) -> float:
        """The value up to which the point of the start is good enough; -inf where it is not to be relied on."""
        if start is None or self.settings.trusted_shortfall == 0:
            return -math.inf
        value = start.point.value(self.problem.gram)
        return value + self.settings.trusted_shortfall * abs(value)

    def _first_columns(self, start: Iterate | None) -> Array:
        """Vectors that span most of a good ``Q``: those of the start, or random ones."""
        n, K = self.problem.n, self.problem.K
        if start is None:
            return fresh_vectors(self.problem.fixed, min(math.ceil(4 * K), n - 1), self.template)
        return like(start.point.root(), self.template)

    def choose_penalty(self) -> None:
        """Set an anchor when it is time for one; before that, balance the residuals now and then.

        Where rows keep their sums the penalty for both stays: what is left is mostly the bound's, and a balanced one,
        twice as large, takes 1.2 to 1.4 times the steps (noise of 1000 points, K = 250, seeds 0 to 2).
        """
        if self.anchor is None and self.settings.anchor_from <= self.count and self.problem.n <= FORM_BELOW:
            self.anchor = Anchor.at(self.T)
        if self.anchor is None and self.trusted > -math.inf:
            self._change_penalty(self._penalty_of_the_next_step())
        elif self.anchor is None and not self.keeps_rows and self.settings.balances_at(self.count):
            self.rho *= _rebalance(self.T, self.residuals)

    def _penalty_of_the_next_step(self) -> float:
        """While only the bound is sought, the gliding one; else that of the settings."""
        scale = 1.0 if self.settings.penalty == "auto" else float(self.settings.penalty)
        if self.trusted > -math.inf:
            scale = gliding_penalty(self.count + 1, self.problem.n, self.problem.K)
        return self._penalty(scale)

    def _penalty(self, scale: float) -> float:
        return scale * self.problem.gram.norm / math.sqrt(self.problem.K)

    def _change_penalty(self, rho: float) -> None:
        if rho != self.rho:
            rescale_multiplier(self.T, rho / self.rho)
            self.rho = rho

    def step(self) -> Iterate:
        """One step, plain or anchored."""
        self.count += 1
        # Anchored steps are for the last digits, which a rough filter would blur.
        self.leading.roughness = self.settings.roughness if self.anchor is None else 0.0
        point, self.rank = self.project(StepMatrix(self.T, self.gram, self.rho))
        if self.anchor is not None:
            self._anchored_step(self.anchor, point)
        else:
            self._plain_step(point)
        residuals = {"primal_residual": self.residuals.primal, "dual_residual": self.residuals.dual}
        return Iterate(
            point,
            N=NegativePart(self.T, self.rho),
            residuals={**residuals, "penalty": self.rho},
            state=self.state(),
        )

    def _anchored_step(self, anchor: Anchor, point: Point) -> None:
        """A reflected step averaged with the anchor; where that is spent, a new anchor and perhaps a new penalty."""
        self.residuals = advance_and_measure(self.T, point, REFLECTION)
        anchor = anchor.average(self.T, row_blocks(self.problem.n))
        if anchor.is_spent(self.residuals.primal, self.count):
            self.rho *= _rebalance(self.T, self.residuals, ANCHORED_BIAS)
            self.anchor = Anchor.at(self.T)
        else:
            self.anchor = anchor.after(self.residuals.primal)

    def _plain_step(self, point: Point) -> None:
        """An over-relaxed step; residuals are measured now and then, as they cost about as much again.

        Rows are first kept in the step after the one that tells: the first change spoils the bound, which is looked at.
        """
        keeps_rows = self.keeps_rows
        if self.count % self.settings.balance_every != 0 and self.count != 1:
            advance(self.T, point, self.settings.relaxation)
        else:
            self.keeps_rows = self.keeps_rows or self._begins_to_keep_rows()
            ends_trust = self.trusted > -math.inf and self._ends_trust(point)
            self.residuals = advance_and_measure(self.T, point, self.settings.relaxation)
            if ends_trust:
                self._seek_the_point()
        if keeps_rows:
            keep_row_sums(self.T, self.gram.fixed)

    def _ends_trust(self, point: Point) -> bool:
        """Whether `point` tells that the one of the start is not good enough, or it is too late to rely on that."""
        if 1 < self.count < SETTLED:
            return self._is_noise()
        is_late = self.count >= LONGEST_TRUST
        return is_late or (self.count >= SETTLED and point.value(self.problem.gram) > self.trusted)

    def _begins_to_keep_rows(self) -> bool:
        """Whether this step tells that nonnegative copies should have the sums of rows from now on."""
        is_early = 1 < self.count < SETTLED
        return is_early and has_small_patches(self.problem.n, self.problem.K) and self._is_noise()

    def _is_noise(self) -> bool:
        return is_noise(self.rank, self.problem.n, self.problem.K)

    def _seek_the_point(self) -> None:
        """From now on, with a penalty for both; residuals at the last one say nothing about the balance at this."""
        self.trusted, self.residuals = -math.inf, Residuals(1.0, 1.0)
        scale = 1.0 if self.settings.penalty == "auto" else float(self.settings.penalty)
        self._change_penalty(max(self.rho, self._penalty(min(scale, LARGEST_FIRST))))

    def may_leave(self) -> bool:
        """Whether an excursion from here pays and fits into memory."""
        n = self.problem.n
        pays = n <= EXCURSIONS.on(self.template) and excursion_pays(
            n, self.rank, self.count, self.settings.excursion_gap
        )
        return pays and excursion_memory(n) <= free_memory_of(self.template)

    def state(self) -> ADMMState:
        """The record to continue from, which shares its arrays."""
        block = self.leading.carried()
        return ADMMState(
            self.T, self.rho, self.count, self.residuals, self.trusted, block, self.anchor, self.keeps_rows
        )

    def _projector(self) -> Callable[[StepMatrix], tuple[Point, int]]:
        """What maps the matrix of a step to its point, and the rank of that less one."""
        if self.problem.n <= self.settings.exact_below:
            return self._decomposed
        if self.problem.n <= FORM_BELOW:
            return lambda A: self.leading.nearest(A.formed())
        return lambda A: self._factored(*self.leading.project(A))

    def _decomposed(self, A: StepMatrix) -> tuple[Point, int]:
        return self._factored(*project_spectraplex(A.formed(), self.problem.K - 1, self.gram.fixed))

    def _factored(self, U: Array, weights: Array) -> tuple[Point, int]:
        return SpectralPoint(U, weights, self.gram.fixed), int(weights.shape[0])


def _rebalance(T: Array, residuals: Residuals, bias: float = 1.0) -> float:
    """Change the penalty of the state `T` so that both residuals move towards each other; returns the factor.

    With a `bias` the primal one is to become so much smaller than the dual one.
    """
    ratio = bias * residuals.primal / max(residuals.dual, 1e-300)
    if 1 / 3 <= ratio <= 3:
        return 1.0
    factor = min(max(math.sqrt(ratio), 1 / 3), 3.0)
    rescale_multiplier(T, factor)
    return factor
