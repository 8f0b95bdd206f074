"""Upper bounds on the optimum, from one nonnegative matrix ``N``: a poor one makes them loose, never false."""

from __future__ import annotations

import math

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF, Array, double, float64_template, frobenius, namespace
from .._numerics.ieee import check_arithmetic
from .._numerics.projections import ky_fan_sum, restrict
from .._numerics.sizes import ALL_EIGENVALUES, ALL_EIGENVALUES_FOR_LARGE_GAPS
from .._numerics.validation import check_choice, check_numbers
from .._program.problem import KMeansSDP
from .cholesky_proof import estimated_upper_bound, verified_upper_bound
from .iterate import LARGEST_ENTRY, Multiplier, NegativePart
from .trivial import trivial_value

GRADES = ("eigen", "verified")
# The smallest gap of which Ritz values, as precise as `estimate_upper_bound` makes them, tell when it is reached.
SMALLEST_SCREENED = 1e-4


def upper_bound(problem: KMeansSDP, N: Multiplier | None, *, grade: str = "eigen", start: Array | None = None) -> float:
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
        ``"verified"`` raises a `RuntimeError` where float64 is not what a proof assumes, see ``docs/trust.md``.
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
    state = np.empty(0) if N is None else state_of(problem, N)
    if start is not None:
        check_numbers(start, "start", (problem.n, None))
    if grade == "verified":
        check_arithmetic(state, problem.n)
    if problem.is_trivial:
        return trivial_value(problem, +1)
    if N is None:
        return math.inf
    if isinstance(N, NegativePart):
        N = NegativePart(state, N.weight)  # whatever a class derived from it does
        if grade == "verified":
            return verified_upper_bound(problem, N, float64_template(N.T), start)
    N = nonnegative_part(problem, N.formed() if isinstance(N, NegativePart) else state)
    if N is None:
        return math.inf
    if grade == "verified":
        return verified_upper_bound(problem, N, float64_template(N), start)
    return _eigenvalue_bound(problem, N)


def eigenvalues_are_cheap(problem: KMeansSDP, N: Multiplier, tol: float = 0.0) -> bool:
    """Whether all eigenvalues of ``D + N`` cost little beside a solver's steps, where a gap of `tol` is in view."""
    state = N.T if isinstance(N, NegativePart) else N
    limit = ALL_EIGENVALUES if tol < SMALLEST_SCREENED else ALL_EIGENVALUES_FOR_LARGE_GAPS
    return problem.is_trivial or problem.n <= limit.on(state)


def estimate_upper_bound(problem: KMeansSDP, N: Multiplier, start: Array | None = None) -> tuple[float, Array]:
    """About the value of `upper_bound`, from a few Ritz values: no proof. Also the vectors to start a proof from."""
    return estimated_upper_bound(problem, N, float64_template(state_of(problem, N)), start)


def state_of(problem: KMeansSDP, N: Multiplier) -> Array:
    """The n x n array that a multiplier is made of, checked: multipliers come from solvers, users and files."""
    return check_numbers(N.T if isinstance(N, NegativePart) else N, "N", (problem.n, problem.n))


def nonnegative_part(problem: KMeansSDP, N: Array) -> Array | None:
    """`N` as an exactly symmetric nonnegative float64 matrix, or None if it is not finite or about to overflow."""
    xp = namespace(N)
    N = double(state_of(problem, N))
    N = xp.clip(N / 2 + N.T / 2, min=0.0)
    return N if bool(xp.all(N <= LARGEST_ENTRY)) else None


def _eigenvalue_bound(problem: KMeansSDP, N: Array) -> float:
    xp = namespace(N)
    n, K, gram = problem.n, problem.K, problem.gram
    mean = problem.fixed.mean_value(N)
    X = gram.factor_like(N)
    A = (X @ X.T if X is not None else gram.formed_like(N)) + N
    values = xp.linalg.eigvalsh(restrict(A, problem.fixed))
    # The reflection that removes u, of norm sqrt(2) up to n roundings, costs about 12 n u |A|_F: of all of A, its part
    # along u included, which under extreme weights is far larger than what is left of it. eigvalsh is backward stable,
    # to a modest multiple of n u |A|_F. An error E of the matrix moves a sum of K eigenvalues by at most sqrt(K) |E|_F.
    pad = 16 * (n + 8) * UNIT_ROUNDOFF * math.sqrt(K) * frobenius(A) + (4 * n + 40) * UNIT_ROUNDOFF * mean
    return mean + ky_fan_sum(values, K - 1) + pad + K * gram.forming_error + gram.centring_error
