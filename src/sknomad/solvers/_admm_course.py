"""One run of ADMM: its steps, the penalty of each, and what they tell of the problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .._certificate.iterate import Iterate, NegativePart
from .._numerics.arrays import Array, choose_device, like, namespace
from .._numerics.block_eigen import fresh_vectors
from .._numerics.memory import free_memory_of
from .._numerics.projections import project_spectraplex
from .._numerics.sizes import EXCURSIONS, FULL_FOR_A_RESTART
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
from ._excursions import excursion_memory, excursion_pays
from ._halpern import REFLECTION, Anchor
from ._penalty import gliding_penalty, is_noise, rows_matter
from ._row_sums import keep_row_sums
from ._thin_end import ThinEndProjector
from ._trust import LOST, SETTLED, Trust, trust_in

if TYPE_CHECKING:
    from ._admm import ADMM

# Towards small gaps feasibility is what takes longest: the primal residual is kept this much below the dual one.
ANCHORED_BIAS = 10.0
# Steps with a penalty for point and bound before residuals are balanced where rows keep their sums.
WAIT_WITH_ROWS = 60


class Course:
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
        state.check(self.problem)
        self.T = namespace(self.template).asarray(like(state.T, self.template), copy=True)
        self.rho, self.count, self.residuals = state.rho, state.step, state.residuals
        self.anchor = None if state.anchor is None else state.anchor.moved_to(self.template)
        self.trust = state.trust if self.settings.trusted_shortfall > 0 else LOST
        self.keeps_rows, self.sought_since = state.keeps_rows, state.sought_since
        self.leading.carry_on(state.block, self.template)

    def _begin(self, start: Iterate | None) -> None:
        """Begin at ``T = Q - N/rho`` of any other iterate, or at ``T = J``."""
        problem, template = self.problem, self.template
        is_soft = start is not None and isinstance(start.point, SoftPoint)
        self.trust = self._trust_in(start) if is_soft else LOST
        self.count, self.residuals, self.anchor = 0, Residuals(1.0, 1.0), None
        self.keeps_rows, self.sought_since = False, 0
        self.rho = self._penalty_of_the_next_step()
        if start is None:
            self.T = cold_state(problem.fixed, template)
        else:
            self.T = warm_state(problem, start, self.rho, template)
        if problem.n > self.leading.exact_limit or (problem.n > self.settings.exact_below and is_soft):
            columns = self._first_columns(start)
            if self.leading.pays(columns.shape[1], template):
                self.leading.begin(StepMatrix(self.T, self.gram, self.rho), columns)

    def _trust_in(self, start: Iterate | None) -> Trust:
        """How far the point of the start is relied on."""
        if start is None or self.settings.trusted_shortfall == 0:
            return LOST
        return trust_in(start.point.value(self.problem.gram), self.settings.trusted_shortfall)

    def _first_columns(self, start: Iterate | None) -> Array:
        """Vectors that span most of a good ``Q``: those of the start, or random ones."""
        n, K = self.problem.n, self.problem.K
        if start is None:
            return fresh_vectors(self.problem.fixed, min(math.ceil(4 * K), n - 1), self.template)
        return like(start.point.root(), self.template)

    def choose_penalty(self) -> None:
        """Set an anchor when it is time for one; before that, balance the residuals now and then."""
        if self.anchor is None and self.settings.anchor_from <= self.count and self.problem.n <= FORM_BELOW:
            self.anchor = Anchor.at(self.T)
        if self.anchor is None and self.trust.is_given:
            self._change_penalty(self._penalty_of_the_next_step())
        elif self.anchor is None and self._balances():
            self.rho *= _rebalance(self.T, self.residuals, self.settings.balance_bias)

    def _balances(self) -> bool:
        """Whether it is time to balance residuals; at first those of the multiplier are large whatever the penalty.

        Where rows keep their sums most of what is left then is the bound's, which a balanced penalty sets back (noise
        of 1000 points, K = 250, seeds 0 to 2: 1.2 to 1.4 times the steps). Small gaps take so many steps that it pays.
        """
        wait = max(self.settings.balance_after, WAIT_WITH_ROWS if self.keeps_rows else 0)
        return self.count >= self.sought_since + wait and self.settings.balances_at(self.count)

    def _penalty_of_the_next_step(self) -> float:
        """While only the bound is sought, the gliding one; else that of the settings."""
        scale = 1.0 if self.settings.penalty == "auto" else float(self.settings.penalty)
        if self.trust.is_given:
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
            self._measured_step(point)
        if keeps_rows:
            keep_row_sums(self.T, self.gram.fixed)

    def _measured_step(self, point: Point) -> None:
        """A step that measures residuals, and tells what kind of problem this is."""
        self.keeps_rows = self.keeps_rows or self._begins_to_keep_rows()
        was_trusted = self.trust.is_given
        if was_trusted and self.count > 1:
            self.trust = self._trust_after(point)
        self.residuals = advance_and_measure(self.T, point, self.settings.relaxation)
        if was_trusted and not self.trust.is_given:
            self._seek_the_point()

    def _trust_after(self, point: Point) -> Trust:
        """What `point` leaves of the trust in that of the start."""
        if self.count >= self.settings.trusted_until:
            return LOST
        if self.count < SETTLED and self._is_noise():
            return LOST
        return self.trust.after(self.count, point.value(self.problem.gram))

    def _begins_to_keep_rows(self) -> bool:
        """Whether nonnegative copies should have the sums of rows from now on."""
        is_early = self.settings.keep_rows and 1 < self.count < SETTLED
        return is_early and rows_matter(self.rank, self.problem.n, self.problem.K)

    def _is_noise(self) -> bool:
        return is_noise(self.rank, self.problem.n, self.problem.K)

    def _seek_the_point(self) -> None:
        """From now on, with a penalty for both; residuals at the last one say nothing about the balance at this."""
        self.residuals, self.sought_since = Residuals(1.0, 1.0), self.count
        scale = 1.0 if self.settings.penalty == "auto" else float(self.settings.penalty)
        self._change_penalty(max(self.rho, self._penalty(scale)))

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
            T=self.T,
            rho=self.rho,
            step=self.count,
            residuals=self.residuals,
            trust=self.trust,
            block=block,
            anchor=self.anchor,
            keeps_rows=self.keeps_rows,
            sought_since=self.sought_since,
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
