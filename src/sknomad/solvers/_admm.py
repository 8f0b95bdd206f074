"""ADMM: the convex solver, with a dual bound at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from .._certificate.solution import Iterate, NegativePart
from .._files.records import saved
from .._numerics.arrays import Array, choose_device, is_on_gpu, itemsize, like, namespace
from .._numerics.block_eigen import fresh_vectors
from .._numerics.fixed_vector import direction_like
from .._numerics.projections import project_spectraplex
from .._numerics.validation import check_integer, check_real
from .._points.forms import SoftPoint, SpectralPoint
from .._program.problem import KMeansSDP
from ._admm_state import (
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
from ._excursions import LARGEST as POLISHED_UP_TO
from ._excursions import Projector, polish
from ._excursions import is_due as polish_is_due
from ._halpern import REFLECTION, Anchor
from ._warm_eigenspace import LeadingProjector

# Up to this many points the matrix of a step is formed, a second n x n array, for faster products.
FORM_BELOW = 30_000
# n x n arrays alive at the worst moment, a thorough look at the bounds: the judge's, in float64, and the solver's own.
ARRAYS_OF_THE_JUDGE, ARRAYS = 7.6, 6.4
# Arrays of more than so many bytes go back to the system at once on a CPU; below, holes between them remain.
RETURNED_AT_ONCE = 2**25
LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS = 7.9, 2.6
# Steps before the value of Q is near its limit, and those after which a bound sought alone makes little progress.
SETTLED, LONGEST_TRUST = 50, 75
# Towards small gaps feasibility is what takes longest: the primal residual is kept this much below the dual one.
ANCHORED_BIAS = 10.0
# Full eigendecompositions, at the start and where a warm block has become too narrow, up to these sizes.
EXACT_ON_CPU, EXACT_ON_GPU = 4000, 10_000


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
        Starting penalty in units of ``|D|_F / sqrt(K)``; "auto" is 1. It is then balanced between residuals.
    balance_every : int, default=10
        Steps between two looks at the balance of residuals.
    balance_until : int, default=500
        Steps after which the penalty stays fixed, so that convergence is guaranteed.
    trusted_shortfall : float, default=0
        Leave the penalty alone, for 75 steps at most, until the value of ``Q`` has passed that of soft assignments it
        started from by this share: as long as their point is that good, only the bound is sought.
    anchor_from : int, default=300
        Step from which on steps are averaged with an anchor, and the penalty changes only when the anchor does. Far
        better for small gaps; it needs a second n x n array. Up to 30,000 points.
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
    penalty: Any = "auto"
    balance_every: int = 10
    balance_until: int = 500
    trusted_shortfall: float = 0.0
    anchor_from: int = 300
    exact_below: int = 400
    device: Any = "auto"
    matrix_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_real(self.relaxation, "relaxation", 1, math.nextafter(2, 1), "a real number in [1, 2)")
        if self.penalty != "auto":
            check_real(self.penalty, "penalty", 1e-12, 1e12, 'a positive real number or "auto"')
        check_integer(self.balance_every, "balance_every", 1)
        check_integer(self.balance_until, "balance_until", 0)
        check_real(self.trusted_shortfall, "trusted_shortfall", 0, 1, "a real number in [0, 1]")
        check_integer(self.anchor_from, "anchor_from", 0)
        check_integer(self.exact_below, "exact_below", 2)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data, judging included: so many n x n arrays."""
        model = choose_device(self.device, problem.n)
        # Beyond the full decompositions: the state, and for the proof one float64 array.
        bytes_per_entry = itemsize(model) + 8 + 2.0
        if problem.n <= FORM_BELOW:
            is_large = not is_on_gpu(model) and 8 * problem.n**2 > RETURNED_AT_ONCE
            judge, own = (LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS) if is_large else (ARRAYS_OF_THE_JUDGE, ARRAYS)
            bytes_per_entry = judge * 8 + own * itemsize(model)
        return int(bytes_per_entry * problem.n**2)

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step, for ever. Its multiplier is a view of the state: valid until the next step."""
        model = choose_device(self.device, problem.n)
        T, rho = self._initial_state(problem, start, model)
        gram = GramOperator(problem.gram, model)
        leading = _leading_projector(problem, model)
        step, residuals = 0, Residuals(1.0, 1.0)
        if start is not None and "T" in start.extra:
            step = int(start.extra["step"])
            residuals = Residuals(start.residuals["primal_residual"], start.residuals["dual_residual"])
            leading.restore(start.extra, model)
        elif problem.n > leading.exact_limit or (problem.n > self.exact_below and _is_soft(start)):
            leading.begin(StepMatrix(T, gram, rho), _first_columns(problem, start, model))
        project = self._projector(problem, model, leading)
        anchor = None if start is None else Anchor.restored(start.extra, model)
        trusted = self._trusted_value(problem, start)
        while True:
            if anchor is None and self.anchor_from <= step and problem.n <= FORM_BELOW:
                anchor = Anchor(T)
            if anchor is None and trusted == -math.inf and self._balances_at(step):
                rho *= _rebalance(T, residuals)
            step += 1
            U, weights = project(StepMatrix(T, gram, rho))
            if anchor is not None:
                residuals = advance_and_measure(T, U, weights, REFLECTION, gram.u)
                anchor.average(T, row_blocks(problem.n))
                if anchor.is_spent(residuals.primal, step):
                    rho *= _rebalance(T, residuals, ANCHORED_BIAS)
                    anchor = Anchor(T)
            elif step % self.balance_every == 0 or step == 1:
                if trusted > -math.inf and step >= SETTLED:
                    value = SpectralPoint(U, weights, gram.u).value(problem.gram)
                    trusted = trusted if value <= trusted and step < LONGEST_TRUST else -math.inf
                residuals = advance_and_measure(T, U, weights, self.relaxation, gram.u)
            else:
                advance(T, U, weights, self.relaxation, gram.u)
            iterate = Iterate(
                SpectralPoint(U, weights, gram.u),
                N=NegativePart(T, rho),
                residuals={"primal_residual": residuals.primal, "dual_residual": residuals.dual, "penalty": rho},
                extra={
                    "T": T,
                    "rho": rho,
                    "step": step,
                    "trusted": trusted,
                    **leading.state(),
                    **(anchor.state() if anchor else {}),
                },
            )
            yield iterate
            if anchor is not None and problem.n <= POLISHED_UP_TO and polish_is_due(step):
                yield from polish(iterate, step, rho, gram, partial(self._continued_projector, problem, model, iterate))

    def _continued_projector(self, problem: KMeansSDP, model: Array, iterate: Iterate) -> Projector:
        leading = _leading_projector(problem, model)
        leading.restore(iterate.extra, model)
        return self._projector(problem, model, leading)

    def _balances_at(self, step: int) -> bool:
        return step > 0 and step % self.balance_every == 0 and step < self.balance_until

    def _trusted_value(self, problem: KMeansSDP, start: Iterate | None) -> float:
        """The value up to which the point of the start is good enough; -inf where it is not to be relied on."""
        if start is None or not (_is_soft(start) or "trusted" in start.extra) or self.trusted_shortfall == 0:
            return -math.inf
        if "trusted" in start.extra:
            return float(start.extra["trusted"])
        value = start.point.value(problem.gram)
        return value + self.trusted_shortfall * abs(value)

    def _initial_state(self, problem: KMeansSDP, start: Iterate | None, model: Array) -> tuple[Array, float]:
        """Continue exactly where an ADMM iterate stopped, or begin at ``T = Q - N/rho`` of any other."""
        scale = 1.0 if self.penalty == "auto" else float(self.penalty)
        rho = scale * problem.gram.norm / math.sqrt(problem.K)
        if start is None:
            return cold_state(problem.n, model, direction_like(problem.direction, model)), rho
        if "T" in start.extra:
            return namespace(model).asarray(like(start.extra["T"], model), copy=True), float(start.extra["rho"])
        return warm_state(problem, start, rho, model), rho

    def _projector(self, problem: KMeansSDP, model: Array, leading: LeadingProjector) -> Projector:
        if problem.n <= self.exact_below:
            return lambda A: project_spectraplex(A.formed(), problem.K - 1, A.gram.u)
        if problem.n <= FORM_BELOW:
            return lambda A: leading.project(A.formed())
        return leading.project


def _leading_projector(problem: KMeansSDP, model: Array) -> LeadingProjector:
    limit = EXACT_ON_GPU if is_on_gpu(model) else EXACT_ON_CPU
    return LeadingProjector(problem.K - 1, limit, direction_like(problem.direction, model))


def _is_soft(start: Iterate | None) -> bool:
    return start is not None and isinstance(start.point, SoftPoint)


def _first_columns(problem: KMeansSDP, start: Iterate | None, model: Array) -> Array:
    """Vectors that span most of a good ``Q``: those of the start, or random ones."""
    if start is None:
        return fresh_vectors(problem.n, min(math.ceil(4 * problem.K), problem.n - 1), model, problem.direction)
    return like(start.point.root(), model)


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
