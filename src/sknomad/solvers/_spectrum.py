"""As much of a spectrum as a projection on the spectraplex and its derivative need: all of it, or the leading part.

Eigenvectors beyond the rank of the projection only tell how fast it turns towards them. Those just below it matter;
of the others the mean eigenvalue is enough. With as many of the former as the rank, Newton's method took as many steps
as with all of them (MNIST zeros, n = 1000, K = 16: 44 decompositions to 1e-4 instead of 34, 220 to 1e-6 instead of
208), with three tenths as many twice as many to 1e-6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._numerics.arrays import Array, eigh, frobenius, itemsize, namespace
from .._numerics.block_eigen import (
    LARGEST_GAIN,
    chebyshev_filter,
    lowest_eigenvalue_bound,
    orthonormal,
    rayleigh_ritz,
    safe_degree,
)
from .._numerics.fixed_vector import FixedVector
from .._numerics.projections import lift, restrict, simplex_threshold
from .._numerics.sizes import FULL_FOR_A_PLACE

# Vectors below the threshold, as a share of those above it: wanted, and at least.
GUARD_SHARE, LEAST_GUARD_SHARE = 1.0, 0.5
# Degree of the filter that turns the vectors of one matrix into those of the next, and how often it is applied at most.
DEGREE, MOST_PASSES = 10, 3
# Residuals of the pairs that count, root mean square, may reach this share of what the threshold is above the guards.
RESIDUAL_TOLERANCE = 0.1
# Beyond this share of n a full decomposition costs less than following so many vectors.
LARGEST_SHARE = 0.3


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a symmetric matrix on the complement of ``u``, and what the others are like."""

    values: Array  # (m,) the largest eigenvalues, ascending
    vectors: Array  # (n, m) their eigenvectors
    rest: float  # mean of the other eigenvalues; 0 where there are none


def spectrum_of(A: Array, total: float, fixed: FixedVector, near: Spectrum | None = None) -> Spectrum:
    """The spectrum of `A`, in so far as it matters for the projection on the spectraplex of trace `total`.

    Few points, and a first matrix, are decomposed in full; others by a filter, from the vectors of a matrix `near`.
    """
    if A.shape[0] <= FULL_FOR_A_PLACE.on(A):
        values, Z = eigh(restrict(A, fixed))
        return Spectrum(values, lift(Z, fixed), 0.0)
    if near is not None and near.values.shape[0] <= LARGEST_SHARE * A.shape[0]:
        followed = _followed(A, total, fixed, near)
        if followed is not None:
            return followed
    return _decomposed(A, total, fixed)


def _decomposed(A: Array, total: float, fixed: FixedVector) -> Spectrum:
    """The leading part of a full decomposition."""
    values, Z = eigh(restrict(A, fixed))
    first = max(values.shape[0] - _wanted(_rank(values, total)), 0)
    return Spectrum(values[first:], lift(Z[:, first:], fixed), _mean(values[:first]))


def _followed(A: Array, total: float, fixed: FixedVector, near: Spectrum) -> Spectrum | None:
    """The leading part from that of a matrix nearby; None where too few vectors are left, or they do not settle."""
    lowest = lowest_eigenvalue_bound(A, near.vectors, fixed)
    values, V = near.values, near.vectors
    for _ in range(MOST_PASSES):
        filtered = _filtered(A, V, values, lowest, fixed)
        V, values, image = rayleigh_ritz(A, orthonormal(fixed.centre(filtered)), fixed)
        rank, threshold = _rank(values, total), simplex_threshold(values, total)
        if values.shape[0] - rank < LEAST_GUARD_SHARE * rank:
            return None
        error = image[:, -rank:] - V[:, -rank:] * values[-rank:]
        if frobenius(error) <= RESIDUAL_TOLERANCE * math.sqrt(rank) * (threshold - float(values[0])):
            first = max(values.shape[0] - _wanted(rank), 0)
            return Spectrum(values[first:], V[:, first:], _mean_of_others(A, values[first:], fixed))
    return None


def _filtered(A: Array, V: Array, values: Array, lowest: float, fixed: FixedVector) -> Array:
    """Columns nearer to the leading eigenvectors than `V`, Ritz vectors of these ascending `values`.

    The largest eigenvalues of a nearly feasible point are thousands of times its threshold. What a filter makes of them
    would drown the others, unless these are filtered without them, and so by a polynomial of higher degree.
    """
    xp = namespace(A)
    top, cut = float(values[-1]), float(values[0])
    high = max(cut, lowest + 1e-6 * (top - lowest))
    centre, half = (lowest + high) / 2, (high - lowest) / 2
    most = centre + half * math.cosh(math.acosh(LARGEST_GAIN[itemsize(V)]) / DEGREE)
    count = int(xp.sum(xp.astype(values <= most, xp.int64)))
    large, degree = V[:, count:], safe_degree(DEGREE, lowest, high, top, V)
    others = chebyshev_filter(_Without(A, large), V[:, :count], lowest, high, DEGREE, fixed)
    return xp.concat([others, chebyshev_filter(A, large, lowest, high, degree, fixed)], axis=1)


class _Without:
    """A symmetric matrix on the complement of some orthonormal columns."""

    def __init__(self, A: Array, columns: Array):
        self.A, self.columns, self.shape = A, columns, A.shape

    def __matmul__(self, V: Array) -> Array:
        image = self.A @ V
        return image - self.columns @ (self.columns.T @ image)


def _rank(values: Array, total: float) -> int:
    """Eigenvalues that the projection keeps: at least one, whatever rounding makes of a tiny total."""
    xp = namespace(values)
    return max(int(xp.sum(xp.astype(values > simplex_threshold(values, total), xp.int64))), 1)


def _wanted(rank: int) -> int:
    return rank + math.ceil(GUARD_SHARE * rank)


def _mean(values: Array) -> float:
    return float(namespace(values).sum(values)) / values.shape[0] if values.shape[0] else 0.0


def _mean_of_others(A: Array, values: Array, fixed: FixedVector) -> float:
    """Mean of the eigenvalues on the complement of ``u`` that are not among `values`, by the trace."""
    xp = namespace(A)
    count = A.shape[0] - 1 - values.shape[0]
    trace = float(xp.linalg.trace(A)) - fixed.mean_value(A)
    return (trace - float(xp.sum(values))) / count if count else 0.0
