"""Lower bounds on the optimum: any point made exactly feasible, and its value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF, Array, all_finite, double, like, namespace
from .._numerics.fixed_vector import FixedVector
from .._numerics.projections import project_spectraplex
from .._numerics.validation import check_integer, check_numbers
from .._points.forms import DensePoint, FactorPoint, SoftPoint, SpectralPoint
from .._points.mixed import MixedPoint, interior_point
from .._points.point import Point, check_point
from .._program.problem import KMeansSDP
from .iterate import LARGEST_ENTRY, Iterate
from .shifting import raise_eigenvalues
from .trivial import trivial_value

# Below this what centring leaves of a column is only rounding.
NEARLY_CONSTANT = 1e-6

# Entries beyond this are those of no point, and their squares would overflow in single precision.
LARGEST_SINGLE_ENTRY = 1e15

# Target of the alternating projections: entries at least this share of what they now lack above zero, so that little
# mixing is left to do. A fixed margin would cost its own size in value, however close to feasible the point is.
REPAIR_MARGIN = 1e-2
REPAIR_RELAXATION = 1.5
# Projections from one point made feasible through its eigenvalues to the next.
SHIFT_EVERY = 4
# Values rise ever more slowly. What they rise by in so many projections is a bound for the next ones.
STEPS_TO_EXTRAPOLATE = SHIFT_EVERY


def repair(problem: KMeansSDP, Q: Array | Point, *, steps: int = 15) -> Array:
    """An exactly feasible matrix close to `Q`.

    Alternating projections between the spectraplex ``{Q 1 = 1, tr Q = K, psd}`` and the nonnegative matrices come
    first. Then entries are made nonnegative and eigenvalues raised until none is negative, or just enough of the
    interior point ``a I + b J`` lifts the last negative entry, whichever costs less.

    Parameters
    ----------
    problem : KMeansSDP
    Q : array of shape (n, n) or Point
    steps : int, default=15
        Number of alternating projections.

    Returns
    -------
    array of shape (n, n)
        Feasible up to the rounding of its entries.

    Examples
    --------
    >>> import numpy as np
    >>> from sknomad import Gram, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> Q = repair(problem, np.eye(4))
    >>> Q.sum(axis=1).round(12).tolist(), round(float(np.trace(Q)), 12)
    ([1.0, 1.0, 1.0, 1.0], 2.0)
    """
    check_integer(steps, "steps", 0)
    point = make_feasible(problem, Iterate(Q).point, steps=steps)
    if point is None:
        raise ValueError("Q must have finite entries, got NaN or inf. Start again from the last finite iterate.")
    return point.dense()


def feasible_value(problem: KMeansSDP, point: MixedPoint) -> float:
    """Value of a feasible point, rounded down by more than its arithmetic can have lost.

    With p columns ``c_j`` and weights ``w_j`` the value is ``sum_j w_j |X'c_j|^2``: products of length n, each off by
    at most ``g(n) |X|_F |c_j|``, so that the sum is off by ``2 g(n + p) |X|_F (sum_j w_j |c_j|^2)^(1/2) value^(1/2)``,
    at most ``2 g(n + p) sqrt(K) tr D``. That columns have their lengths, sums and trace up to ``n + p`` roundings
    moves the value by as many of ``K |D|``. Where ``D`` is a matrix, what is rounded is its magnitude, ``K`` times.
    """
    if problem.is_trivial:
        return trivial_value(problem, -1)
    gram, K = problem.gram, problem.K
    size = math.sqrt(K) * gram.trace + K * gram.norm if gram.is_factored else K * gram.magnitude
    rounding = 4 * (problem.n + _width(point.base)) * UNIT_ROUNDOFF * size + K * gram.forming_error
    return point.value(gram) - rounding - point.identity * gram.trace_error - gram.value_error


def _width(point: Point) -> int:
    """Number of columns that a point is made of."""
    if isinstance(point, SpectralPoint):
        return int(point.U.shape[1])
    return int(point.V.shape[1]) if isinstance(point, SoftPoint) else point.n


def make_feasible(
    problem: KMeansSDP, point: Point, *, steps: int, enough: float = math.inf, gives_up: bool = False
) -> MixedPoint | None:
    """A feasible point near `point`, factored where `point` is; None if `point` is not finite.

    At most `steps` alternating projections, in float32 where `point` is, until the value is `enough` or, if it
    `gives_up`, is no longer expected to become so.
    """
    check_point(point, "Q")
    if point.n != problem.n:
        raise ValueError(f"Q must have {problem.n} rows, got {point.n}. Pass an iterate of the same problem.")
    if problem.is_trivial:
        return interior_point(problem)
    if isinstance(point, MixedPoint):
        point = point.base
    # Points of other classes, derived ones too, are believed to have entries and nothing else.
    if type(point) in (SoftPoint, FactorPoint):
        return _as_soft(problem, cast("SoftPoint | FactorPoint", point)) if point.is_finite() else None
    spectral = as_spectral(problem, point)
    if spectral is None:
        return None
    # Of the precisions that a point may have, decompositions know this one and float64.
    template = spectral.U
    if isinstance(point, SpectralPoint) and point.U.dtype == namespace(point.U).float32:
        template = point.U
    return _repair_entries(problem, spectral, template, _End(steps, enough, gives_up))


def _as_soft(problem: KMeansSDP, point: SoftPoint | FactorPoint) -> MixedPoint:
    """Soft assignments satisfy everything but ``tr Q = K``; mixing with ``J`` or ``I`` settles that exactly."""
    return MixedPoint(point.as_soft(problem.fixed), fixed=problem.fixed).with_trace(problem.K)


def as_spectral(problem: KMeansSDP, point: Point) -> SpectralPoint | None:
    """`point` with everything but ``Q >= 0`` made exact; None if it is not finite."""
    fixed = problem.fixed
    if type(point) is not SpectralPoint:
        Q = check_numbers(point.dense(), "Q", (problem.n, problem.n))
        if not all_finite(Q) or float(np.abs(Q).max()) > LARGEST_ENTRY:
            return None
        return SpectralPoint(*project_spectraplex(Q / 2 + Q.T / 2, problem.K - 1, fixed), fixed)
    if not point.is_finite():
        return None
    xp = namespace(point.U)
    U, weights = double(point.U), xp.clip(double(point.l), min=0.0)
    sizes = xp.max(xp.abs(U), axis=0)
    if sizes.shape[0] == 0:
        return None
    top_size, top_weight = float(xp.max(sizes)), float(xp.max(weights))
    if top_size == 0 or top_weight == 0:
        return None
    V = U / xp.where(sizes > 0, sizes, 1.0)
    V = fixed.centre(V)
    norms = xp.sqrt(xp.sum(V * V, axis=0))
    # What centring leaves of a nearly constant column is rounding: such a column is dropped.
    norms = xp.where(norms > NEARLY_CONSTANT, norms, 0.0)
    V = V / xp.where(norms > 0, norms, 1.0)
    weights = (weights / top_weight) * (norms * sizes / top_size) ** 2
    total = float(xp.sum(weights))
    if total == 0:
        return None
    return SpectralPoint(fixed.centre(V), weights * ((problem.K - 1) / total), fixed.like(V))


def decomposed(problem: KMeansSDP, point: DensePoint) -> SpectralPoint | None:
    """`point` by its eigenvectors, in single precision where its entries are: what `make_feasible` may start from.

    Nothing rests on their precision, as `make_feasible` makes them exact. None if `point` is not finite.
    """
    Q = point.Q
    xp = namespace(Q)
    if Q.dtype != xp.float32:
        return as_spectral(problem, point)
    if not point.is_finite() or float(xp.max(xp.abs(Q))) > LARGEST_SINGLE_ENTRY:
        return None
    fixed = problem.fixed.like(Q)
    return SpectralPoint(*project_spectraplex(Q / 2 + Q.T / 2, problem.K - 1, fixed), fixed)


@dataclass(frozen=True)
class _End:
    """When alternating projections end."""

    steps: int  # at the latest after so many
    enough: float  # or with this value
    gives_up: bool  # or where it would not be reached

    def shifts_after(self, taken: int) -> bool:
        """Whether eigenvalues are raised after so many steps, which costs as much as several of them."""
        return self.steps > 0 and (taken % SHIFT_EVERY == 0 or taken == self.steps)

    def has_come(self, best_values: list[float]) -> bool:
        """Whether they are over after the steps that had these best values so far, the first before any step."""
        taken, value = len(best_values) - 1, best_values[-1]
        if taken >= self.steps or value >= self.enough:
            return True
        if not self.gives_up or taken < STEPS_TO_EXTRAPOLATE:
            return False
        rise = (value - best_values[-1 - STEPS_TO_EXTRAPOLATE]) / STEPS_TO_EXTRAPOLATE
        return value + (self.steps - taken) * rise < self.enough


def _repair_entries(problem: KMeansSDP, spectral: SpectralPoint, template: Array, end: _End) -> MixedPoint:
    """Alternating projections, like `template`; the best of the mixed points met on the way."""
    best = interior_point(problem)
    best_value, best_values = -math.inf, list[float]()
    while True:
        Q = spectral.rows(0, problem.n)
        mixed = _lift_entries(problem, spectral, Q)
        is_feasible = mixed.mean == 0
        shifted = None if is_feasible or not end.shifts_after(len(best_values)) else _shift(problem, spectral, Q)
        for candidate in (mixed,) if shifted is None else (mixed, shifted):
            value = candidate.value(problem.gram)
            if value > best_value:
                best, best_value = candidate, value
        best_values.append(best_value)
        if is_feasible or end.has_come(best_values):
            return best
        nearer = like(_towards_nonnegative(Q, spectral.fixed), template)
        fixed = spectral.fixed.like(template)
        projected = as_spectral(problem, SpectralPoint(*project_spectraplex(nearer, problem.K - 1, fixed), fixed))
        if projected is None:
            return best
        spectral = projected


def _shift(problem: KMeansSDP, spectral: SpectralPoint, Q: Array) -> MixedPoint | None:
    """The point of entries `Q` made feasible through its eigenvalues, and its rounding by mixing."""
    raised = raise_eigenvalues(problem, Q, spectral.fixed)
    exact = as_spectral(problem, raised)
    if exact is None:
        return None
    lifted = _lift_entries(problem, exact, exact.rows(0, problem.n))
    # What took away the excess of the trace is a share of J, which links everything: it is no part of what was found.
    excess = max((raised.trace() - 1) / (problem.K - 1), 1.0)
    base = SpectralPoint(exact.U, exact.l * excess, exact.fixed)
    return MixedPoint(base, lifted.identity, lifted.mean + lifted.base_weight * (1 - 1 / excess), exact.fixed)


def _towards_nonnegative(Q: Array, fixed: FixedVector) -> Array:
    """One over-relaxed step towards the matrices with entries a little above zero."""
    xp = namespace(Q)
    margin = REPAIR_MARGIN * max(-float(xp.min(fixed.relative(Q))), 0.0)
    return Q + REPAIR_RELAXATION * (fixed.raise_entries(Q, margin) - Q)


def _lift_entries(problem: KMeansSDP, spectral: SpectralPoint, Q: Array) -> MixedPoint:
    """Mix with the interior point until the smallest entry, in units of those of ``J``, is zero, rounding included.

    An entry is a sum of p products, off by ``g(p + 3)`` of the largest one; that p columns of length n have their
    lengths and sums to n roundings only moves it by less than ``5 n + p`` of them.
    """
    xp = namespace(Q)
    Q = spectral.fixed.relative(Q)
    rounding = (5 * problem.n + 2 * _width(spectral) + 16) * UNIT_ROUNDOFF * max(float(xp.max(Q)), 1 / problem.n)
    shortfall = max(rounding - float(xp.min(Q)), 0.0)
    # Weights so small that their reciprocals overflow leave nothing but the interior point.
    theta = shortfall / (shortfall + problem.interior_entry) if math.isfinite(shortfall) else 1.0
    a, b = problem.interior_weights
    return MixedPoint(spectral, identity=theta * a, mean=theta * b, fixed=spectral.fixed)
