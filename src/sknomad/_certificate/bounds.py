"""The judge: turns any iterate of any solver into proven bounds, from scratch, in float64.

Nothing here knows a solver. Upper bounds come from one nonnegative matrix ``N``, lower bounds from a point made
exactly feasible. A poor ``N`` or ``Q`` makes the bounds loose, never false.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF, Array, double, float64_model, frobenius, is_on_gpu, namespace, to_numpy
from .._numerics.fixed_vector import centred, direction_like, mean_rows, mean_value, relative
from .._numerics.projections import ky_fan_sum, project_spectraplex, restrict
from .._numerics.validation import check_choice, check_integer
from .._points.forms import DensePoint, FactorPoint, MixedPoint, Point, SoftPoint, SpectralPoint, dense
from .._program.gram import centring_error
from .._program.problem import KMeansSDP
from .cholesky_proof import estimated_upper_bound, verified_upper_bound
from .solution import Certificate, Iterate, NegativePart

GRADES = ("eigen", "verified")

# Full sets of eigenvalues up to these sizes; beyond, block iteration and a Cholesky factorisation are far cheaper.
CHEAP_ON_CPU, CHEAP_ON_GPU = 4000, 8000

# Beyond this a matrix holds neither a point nor a multiplier, only an overflow to come.
LARGEST_ENTRY = 1e150
# Below this what centring leaves of a column is only rounding.
NEARLY_CONSTANT = 1e-6

# Target of the alternating projections: entries at least this share of what they now lack above zero, so that little
# mixing is left to do. A fixed margin would cost its own size in value, however close to feasible the point is.
REPAIR_MARGIN = 1e-2
REPAIR_RELAXATION = 1.5


def certify(problem: KMeansSDP, iterate: Any, *, grade: str = "eigen", repair_steps: int = 15) -> Certificate:
    """Bounds on the optimum of `problem` from one iterate.

    Parameters
    ----------
    problem : KMeansSDP
    iterate : Iterate
        Its ``Q`` gives the lower bound (after `repair`), its ``N`` the upper one. Anything may be in them.
    grade : {"eigen", "verified"}, default="eigen"
        ``"eigen"``: float64 eigenvalues plus a pad for rounding. ``"verified"``: one Cholesky factorisation
        proves the bound including every rounding error.
    repair_steps : int, default=15
        Alternating projections spent on the lower bound, one eigendecomposition each; 0 for a quick look.

    Returns
    -------
    Certificate
        With ``upper = inf`` where there is no multiplier to bound with, ``lower = -inf`` where ``Q`` is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sknomad import Gram, Iterate, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> Q = np.kron(np.eye(2), np.full((2, 2), 0.5))
    >>> certify(problem, Iterate(Q, N=np.zeros((4, 4)))).lower.__round__(6)
    100.0
    """
    check_choice(grade, "grade", GRADES)
    check_integer(repair_steps, "repair_steps", 0)
    point = make_feasible(problem, iterate.point, steps=repair_steps)
    lower = -math.inf if point is None else feasible_value(problem, point)
    return Certificate(lower, upper_bound(problem, iterate.N, grade=grade), grade)


def repair(problem: KMeansSDP, Q: Any, *, steps: int = 15) -> Array:
    """An exactly feasible matrix close to `Q`.

    Alternating projections between the spectraplex ``{Q 1 = 1, tr Q = K, psd}`` and the nonnegative matrices come
    first, then just enough of the interior point ``a I + b J`` to lift the last negative entry.

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
    return dense(point)


def upper_bound(problem: KMeansSDP, N: Any, *, grade: str = "eigen", start: Array = None) -> float:
    """Upper bound on the optimum from one nonnegative matrix.

    For any symmetric ``N >= 0`` and feasible ``Q``, ``<D, Q> <= <D + N, Q>``, and the right-hand side is at most
    ``1'N1/n`` plus the sum of the ``K - 1`` largest eigenvalues of ``P (D + N) P``, a fraction of the next included
    (with weights ``u'Nu`` and ``P = I - uu'``).

    Parameters
    ----------
    problem : KMeansSDP
    N : array of shape (n, n), NegativePart or None
        Its symmetric nonnegative part is used, so any matrix is safe; a bad one only makes the bound loose.
    grade : {"eigen", "verified"}, default="eigen"
    start : array of shape (n, p), optional
        A guess of the leading eigenvectors of ``D + N``, to save time; the bound does not rest on it.

    Returns
    -------
    float
        Never below the optimum, up to the stated rounding pad; ``inf`` for None or a matrix that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sknomad import Gram, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> round(upper_bound(problem, np.zeros((4, 4))), 6)
    101.0
    """
    check_choice(grade, "grade", GRADES)
    if problem.is_trivial:
        return _trivial_value(problem, +1)
    if N is None:
        return math.inf
    if isinstance(N, NegativePart) and grade == "verified":
        return verified_upper_bound(problem, N, float64_model(N.T), start)
    N = nonnegative_part(problem, N.formed() if isinstance(N, NegativePart) else N)
    if N is None:
        return math.inf
    if grade == "verified":
        return verified_upper_bound(problem, N, float64_model(N), start)
    return _eigenvalue_bound(problem, N)


def eigenvalues_are_cheap(problem: KMeansSDP, N: Any) -> bool:
    """Whether all eigenvalues of ``D + N`` cost little beside a solver's steps."""
    state = N.T if isinstance(N, NegativePart) else N
    return problem.is_trivial or problem.n <= (CHEAP_ON_GPU if is_on_gpu(state) else CHEAP_ON_CPU)


def estimate_upper_bound(problem: KMeansSDP, N: Any, start: Array = None) -> tuple[float, Array]:
    """About the value of `upper_bound`, from a few Ritz values: no proof. Also the vectors to start a proof from."""
    state = N.T if isinstance(N, NegativePart) else N
    return estimated_upper_bound(problem, N, float64_model(state), start)


def nonnegative_part(problem: KMeansSDP, N: Array) -> Array:
    """`N` as an exactly symmetric nonnegative float64 matrix, or None if it is not finite or about to overflow."""
    xp = namespace(N)
    if tuple(N.shape) != (problem.n, problem.n):
        raise ValueError(f"N must have shape {(problem.n, problem.n)}, got {tuple(N.shape)}.")
    N = double(N)
    N = xp.clip(N / 2 + N.T / 2, min=0.0)
    return N if bool(xp.all(N <= LARGEST_ENTRY)) else None


def _eigenvalue_bound(problem: KMeansSDP, N: Array) -> float:
    xp = namespace(N)
    n, K, gram = problem.n, problem.K, problem.gram
    mean = mean_value(N, problem.direction)
    X = gram.factor_like(N)
    M = restrict((X @ X.T if X is not None else gram.formed_like(N)) + N, problem.direction)
    values = xp.linalg.eigvalsh(M)
    size = max(float(xp.max(xp.abs(values))), frobenius(M) / math.sqrt(n))
    # eigvalsh is backward stable: each eigenvalue is right to a modest multiple of n u |M|; K of them add up.
    pad = 2 * n * UNIT_ROUNDOFF * (K * size + mean) + K * gram.forming_error + centring_error(gram)
    return mean + ky_fan_sum(values, K - 1) + pad


def feasible_value(problem: KMeansSDP, point: MixedPoint) -> float:
    """Value of a feasible point, rounded down by more than its arithmetic can have lost."""
    if problem.is_trivial:
        return _trivial_value(problem, -1)
    gram = problem.gram
    size = max(abs(gram.trace), gram.norm)
    return point.value(gram) - 8 * problem.n * UNIT_ROUNDOFF * size - problem.K * gram.forming_error


def _trivial_value(problem: KMeansSDP, direction: int) -> float:
    """The optimum where it is known: ``K = n`` keeps the trace of ``D``, the other cases keep nothing."""
    gram = problem.gram
    if problem.n != problem.K:
        return 0.0
    return gram.trace + direction * (4 * problem.n * UNIT_ROUNDOFF * abs(gram.trace) + problem.n * gram.forming_error)


def make_feasible(problem: KMeansSDP, point: Point, *, steps: int) -> MixedPoint | None:
    """A feasible point near `point`, factored where `point` is; None if `point` is not finite."""
    if point.n != problem.n:
        raise ValueError(f"Q must have {problem.n} rows, got {point.n}. Pass an iterate of the same problem.")
    if problem.is_trivial:
        a, b = problem.interior_weights
        return MixedPoint(DensePoint(np.eye(problem.n)), identity=a, mean=b, u=problem.direction)
    if isinstance(point, MixedPoint):
        point = point.base
    if isinstance(point, SoftPoint | FactorPoint):
        return _repair_trace(problem, point.as_soft(problem.direction)) if _is_finite(point.columns) else None
    spectral = as_spectral(problem, point)
    return None if spectral is None else _repair_entries(problem, spectral, steps)


def _repair_trace(problem: KMeansSDP, soft: SoftPoint) -> MixedPoint:
    """Soft assignments satisfy everything but ``tr Q = K``; mixing with ``J`` or ``I`` settles that exactly."""
    trace = soft.trace()
    if trace > problem.K:
        return MixedPoint(soft, mean=(trace - problem.K) / (trace - 1), u=problem.direction)
    return MixedPoint(soft, identity=(problem.K - trace) / (problem.n - trace), u=problem.direction)


def as_spectral(problem: KMeansSDP, point: Point) -> SpectralPoint | None:
    """`point` with everything but ``Q >= 0`` made exact; None if it is not finite."""
    direction = problem.direction
    if not isinstance(point, SpectralPoint):
        Q = np.asarray(to_numpy(point.rows(0, point.n)), dtype=np.float64)
        if not _is_finite(Q) or float(np.abs(Q).max()) > LARGEST_ENTRY:
            return None
        return SpectralPoint(*project_spectraplex(Q / 2 + Q.T / 2, problem.K - 1, direction), direction)
    if not (_is_finite(point.U) and _is_finite(point.l)):
        return None
    xp = namespace(point.U)
    U, weights = double(point.U), xp.clip(double(point.l), min=0.0)
    sizes = xp.max(xp.abs(U), axis=0)
    top_size, top_weight = float(xp.max(sizes)), float(xp.max(weights))
    if top_size == 0 or top_weight == 0:
        return None
    V = U / xp.where(sizes > 0, sizes, 1.0)
    V = centred(V, direction)
    norms = xp.sqrt(xp.sum(V * V, axis=0))
    # What centring leaves of a nearly constant column is rounding: such a column is dropped.
    norms = xp.where(norms > NEARLY_CONSTANT, norms, 0.0)
    V = V / xp.where(norms > 0, norms, 1.0)
    weights = (weights / top_weight) * (norms * sizes / top_size) ** 2
    total = float(xp.sum(weights))
    if total == 0:
        return None
    return SpectralPoint(centred(V, direction), weights * ((problem.K - 1) / total), direction_like(direction, V))


def _repair_entries(problem: KMeansSDP, spectral: SpectralPoint, steps: int) -> MixedPoint | None:
    """Alternating projections, keeping the best of the mixed points met on the way."""
    best, best_value = None, -math.inf
    for step in range(steps + 1):
        Q = spectral.rows(0, problem.n)
        candidate = _lift_entries(problem, spectral, Q)
        value = candidate.value(problem.gram)
        if value > best_value:
            best, best_value = candidate, value
        if step == steps or candidate.mean == 0:
            break
        nearer = _towards_nonnegative(Q, spectral.u)
        spectral = SpectralPoint(*project_spectraplex(nearer, problem.K - 1, spectral.u), spectral.u)
    return best


def _towards_nonnegative(Q: Array, u: Array) -> Array:
    """One over-relaxed step towards the matrices with entries a little above zero."""
    xp = namespace(Q)
    margin = REPAIR_MARGIN * max(-float(xp.min(relative(Q, u))), 0.0)
    n = Q.shape[0]
    target = xp.clip(Q, min=margin) if u is None else xp.maximum(Q, mean_rows(u, n, weight=margin * n))
    return Q + REPAIR_RELAXATION * (target - Q)


def _lift_entries(problem: KMeansSDP, spectral: SpectralPoint, Q: Array) -> MixedPoint:
    """Mix with the interior point until the smallest entry, in units of those of ``J``, is zero, rounding included."""
    xp = namespace(Q)
    Q = relative(Q, spectral.u)
    rounding = 8 * UNIT_ROUNDOFF * max(float(xp.max(Q)), 1 / problem.n)
    shortfall = max(rounding - float(xp.min(Q)), 0.0)
    # Weights so small that their reciprocals overflow leave nothing but the interior point.
    theta = shortfall / (shortfall + problem.interior_entry) if math.isfinite(shortfall) else 1.0
    a, b = problem.interior_weights
    return MixedPoint(spectral, identity=theta * a, mean=theta * b, u=spectral.u)


def is_finite(iterate: Iterate) -> bool:
    """Whether the point of an iterate holds numbers only."""
    point: Any = iterate.point.base if isinstance(iterate.point, MixedPoint) else iterate.point
    arrays = (point.U, point.l) if isinstance(point, SpectralPoint) else (point.columns,)
    return all(_is_finite(array) for array in arrays)


def _is_finite(array: Array) -> bool:
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))
