"""The verified grade: one Cholesky factorisation proves an upper bound, rounding errors included.

For any float ``t``, any ``F`` (n x p), any vector ``a`` and any symmetric ``N >= 0`` let

    A = t I + F F' + 1 a' + a 1' - D - N.

If ``A >= -delta I`` then every feasible ``Q = J + W`` has ``<D, Q> <= 1'N1/n + (K-1)(t + delta) + |F|_F^2``, because
``W 1 = 0`` removes ``a``, ``tr W = K - 1``, and ``0 <= W <= I`` bounds ``<F F', W>``. Eigenvalues only suggest good
``t`` and ``F``; the proof rests on the factorisation alone. It needs ordinary float64 matrix products (no Strassen,
no reduced precision).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
from array_api_compat import is_numpy_array

from ._arrays import UNIT_ROUNDOFF, Array, device, frobenius, gamma, namespace
from ._gram import centring_error
from ._problem import KMeansSDP
from ._projections import lift, restrict

# Each failed factorisation retries with four times the margin; eight retries are 65,000 times the first.
N_ATTEMPTS = 9


class Shift(NamedTuple):
    """The matrix ``t I + F F' + 1a' + a1'`` that is to dominate ``D + N``."""

    t: float
    F: Array  # (n, p)
    a: Array  # (n,)


def verified_upper_bound(problem: KMeansSDP, N: Array) -> float:
    """A proven upper bound on the optimum from an exactly symmetric float64 ``N >= 0``; inf if no proof was found."""
    D = problem.gram.formed(N)
    values, U = _leading_eigenpairs(D + N, problem.K)
    margin = _first_margin(values, problem)
    for _ in range(N_ATTEMPTS):
        shift = _make_shift(D + N, values, U, margin)
        delta = _negative_curvature(problem, D, N, shift)
        if math.isfinite(delta):
            return _bound(problem, N, shift, delta)
        margin *= 4
    return math.inf


class _Spectrum(NamedTuple):
    leading: Array  # eigenvalues above t0
    t0: float  # the K-th largest eigenvalue on the complement of the ones vector
    largest: float
    smallest: float
    mean_size: float


def _leading_eigenpairs(M: Array, K: float) -> tuple[_Spectrum, Array]:
    """Eigenvalues on the complement of the ones vector, and the eigenvectors of those above the K-th."""
    xp = namespace(M)
    values, Z = xp.linalg.eigh(restrict(M))
    count = math.floor(K - 1)
    t0 = float(values[-1 - count])
    above = int(xp.sum(xp.astype(values > t0, xp.int64)))
    start = values.shape[0] - above
    spectrum = _Spectrum(values[start:], t0, float(values[-1]), float(values[0]), float(xp.mean(xp.abs(values))))
    return spectrum, lift(Z[:, start:])


def _first_margin(values: _Spectrum, problem: KMeansSDP) -> float:
    n = problem.n
    spread = n * abs(values.t0) + max(values.largest, 0) - min(values.smallest, 0)
    return 4 * gamma(n + 1) * spread + problem.gram.forming_error


def _make_shift(M: Array, values: _Spectrum, U: Array, margin: float) -> Shift:
    """Choose ``a`` so that the ones vector becomes a harmless eigenvector, of eigenvalue ``kappa > 0``."""
    xp = namespace(M)
    n = M.shape[0]
    F = U * xp.sqrt(values.leading - values.t0)
    t = values.t0 + margin
    kappa = max(t, values.mean_size)
    row_means = xp.sum(M, axis=1) / n
    a = row_means - xp.mean(row_means) / 2 + (kappa - t) / (2 * n)
    return Shift(t, F, a)


def _negative_curvature(problem: KMeansSDP, D: Array, N: Array, shift: Shift) -> float:
    """A `delta` for which ``A >= -delta I`` is proven; inf if the factorisation breaks down."""
    xp = namespace(D)
    n, (t, F, a) = D.shape[0], shift
    A = F @ F.T + a[None, :] + a[:, None] - D - N
    A = A + t * xp.eye(n, dtype=A.dtype, device=device(A))
    A = (A + A.T) / 2
    trace = float(xp.sum(xp.linalg.diagonal(A)))
    L = _cholesky(A)
    if L is None or trace <= 0:
        return math.inf
    if is_numpy_array(A):  # LAPACK's factorisation is covered by the standard analysis
        backward = gamma(n + 1) / (1 - gamma(n + 1)) * trace + 1e-290
    else:  # elsewhere, measure what the computed factor really reproduces
        residual = frobenius(L @ L.T - A)
        backward = (residual * (1 + gamma(n * n + 2)) + gamma(n + 2) * (frobenius(L) ** 2 + trace)) + 1e-290
    forming = (
        problem.gram.forming_error
        + gamma(F.shape[1] + 9) * frobenius(F) ** 2
        + gamma(9) * (float(xp.max(xp.sum(N, axis=1))) + 2 * math.sqrt(n) * frobenius(a) + abs(t))
    )
    return (backward + forming) * (1 + 1e-10)


def _cholesky(A: Array) -> Array:
    """The lower factor of `A`, or None if the factorisation broke down."""
    if is_numpy_array(A):
        L, info = la.lapack.dpotrf(A, lower=True, clean=True)
        return L if info == 0 and np.isfinite(L).all() else None
    xp = namespace(A)
    try:
        L = xp.linalg.cholesky(A)
    except Exception:
        return None
    return L if bool(xp.all(xp.isfinite(L))) else None


def _bound(problem: KMeansSDP, N: Array, shift: Shift, delta: float) -> float:
    """``1'N1/n + (K-1)(t + delta) + |F|_F^2``, rounded up."""
    xp = namespace(N)
    n, K = problem.n, problem.K
    mean = float(xp.sum(xp.sum(N, axis=1))) / n * (1 + gamma(2 * n))
    excess = frobenius(shift.F) ** 2 * (1 + gamma(n * shift.F.shape[1] + 4))
    level = (K - 1) * (shift.t + delta)
    pad = 8 * UNIT_ROUNDOFF * (mean + excess + (K - 1) * (abs(shift.t) + delta))
    return mean + excess + level + pad + centring_error(problem.gram)
