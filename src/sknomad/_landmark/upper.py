"""Upper bounds on the optimum from ``N = Phi M Phi'``, ``M >= 0``: for all points, from small matrices.

``N`` is nonnegative because ``Phi`` and ``M`` are, so the judge's theorem holds: every feasible ``Q = J + W`` has
``<D, Q> <= 1'N1/n + <D + N, W>``. With ``X = F B``, up to what is left out, and the coordinates of `Basis`,

    <D + N, W> = <T, W'>,   T = L'(diag(M, 0) + B B')L,   W' = Z'WZ,

where ``0 <= W' <= (1 + defect) I``, ``tr W' <= (1 + defect)(K - 1)`` and ``W'`` sends the coordinates of the vector of
ones to nearly zero. The first two alone bound the right-hand side by ``1 + defect`` times the sum of the ``K - 1``
largest eigenvalues, negative ones counted as zero; the third takes the ones out of ``T`` first.

What is left out of ``X`` has norm ``r``: as ``<A A', Q>^(1/2)`` is a seminorm of ``A`` and at most ``|A|_F``, a bound
``b`` for ``F B`` becomes ``(b^(1/2) + r)^2`` for ``X``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._certificate.cholesky_proof import UNDERFLOW
from .._numerics.arrays import UNIT_ROUNDOFF, Array, device, double, frobenius, gamma, like, namespace
from .._numerics.fixed_vector import Weighted
from .._numerics.ieee import check_arithmetic
from .._numerics.projections import ky_fan_sum, lift, restrict
from .basis import Basis
from .sums import LandmarkSums

# Each failed factorisation retries with four times the margin.
N_ATTEMPTS = 9


@dataclass(frozen=True)
class LandmarkProgram:
    """The dual program over ``M``: minimise the upper bound on the optimum."""

    sums: LandmarkSums
    basis: Basis
    K: float
    centring_error: float  # how far centring may have moved any <D, Q - J>

    @property
    def factor(self) -> Array:
        """``G`` with ``D = Z G G' Z'``, (k, d)."""
        L = self.basis.L
        return L.T @ like(self.sums.B, L)

    @property
    def landmark_columns(self) -> Array:
        """Coordinates of the columns of ``Phi``, (k, m)."""
        return self.basis.L[: self.sums.m, :].T

    @property
    def ones(self) -> Array:
        """``Phi'1``, (m,)."""
        return like(self.sums.ones, self.basis.L)

    def upper_bound(self, M: Array, grade: str = "eigen") -> float:
        """The bound that the nonnegative part of a finite ``M`` proves; inf where no proof is found."""
        xp = namespace(self.basis.L)
        if grade == "verified":
            check_arithmetic(self.basis.L, self.sums.k)
        M = xp.clip(double(M), min=0.0)
        M = xp.clip(M / 2 + M.T / 2, min=0.0)
        if not bool(xp.all(xp.isfinite(M))):
            return math.inf
        form = _form(self, M)
        eigenvalue_sum = _verified_sum(form, self.K) if grade == "verified" else _eigenvalue_sum(form, self.K)
        sums, basis = self.sums, self.basis
        mean = float(self.ones @ (M @ self.ones)) / sums.n * (1 + gamma(2 * sums.depth + 2 * sums.m + 8))
        # W' has norm at most 1 + defect and trace at most that times K - 1.
        total = mean + (1 + basis.defect) * (eigenvalue_sum + self.K * form.error)
        root = math.sqrt(max(total, 0.0)) + sums.left_out
        bound = (root * root + self.centring_error) * (1 + 1e-14)
        return bound if math.isfinite(bound) else math.inf


@dataclass(frozen=True)
class _Form:
    """``T``, and ``T - z a' - a z'`` which has the ones vector ``z`` taken out."""

    T: Array  # (k, k), symmetric, as computed
    error: float  # bound on the norm of its rounding error
    z: Array  # (k,)
    a: Array  # (k,)
    z_error: float  # bound on |W' z|: <z a' + a z', W'> is at most 2 |a| times that


def _form(program: LandmarkProgram, M: Array) -> _Form:
    basis, sums = program.basis, program.sums
    xp, L = namespace(basis.L), basis.L
    m, k = sums.m, sums.k
    corner = L[:m, :m]
    B, G = like(sums.B, L), program.factor
    T = xp.matmul(G, G.T)
    T[:m, :m] = T[:m, :m] + corner.T @ (M @ corner)
    T = T / 2 + T.T / 2
    factor_error = gamma(k + 2) * frobenius(L) * frobenius(B)
    error = gamma(2 * m + 8) * frobenius(corner) ** 2 * frobenius(M)
    error += (2 * frobenius(G) + factor_error) * factor_error + gamma(B.shape[1] + 8) * frobenius(G) ** 2
    error += 4 * UNIT_ROUNDOFF * frobenius(T)
    z = basis.ones
    length = float(z @ z)
    Tz = T @ z
    # What makes ``T - z a' - a z'`` vanish on z; any other ``a`` would be as true.
    a = (Tz - z * (float(z @ Tz) / (2 * length))) / length
    return _Form(T, error * (1 + 1e-6), z, a, basis.ones_error)


def _unit(form: _Form) -> Weighted:
    return Weighted(form.z / frobenius(form.z))


def _eigenvalue_sum(form: _Form, K: float) -> float:
    """The sum of the K - 1 largest eigenvalues on the complement of ``z``, plus a pad for rounding.

    The pad is that of the dense judge: the reflection that removes ``z`` and the eigenvalues are both backward stable.
    """
    xp, k = namespace(form.T), form.T.shape[0]
    values = xp.clip(xp.linalg.eigvalsh(restrict(form.T, _unit(form))), min=0.0)
    count = min(K - 1, float(k - 1))
    pad = 16 * (k + 8) * UNIT_ROUNDOFF * math.sqrt(K) * frobenius(form.T)
    return ky_fan_sum(values, count) + pad + 2 * frobenius(form.a) * form.z_error * (1 + 1e-6)


def _verified_sum(form: _Form, K: float) -> float:
    """What ``(K - 1)(t + delta) + |Y|_F^2`` is for a ``t >= 0`` and a ``Y`` with a proof.

    The proof is that ``t I + Y Y' + z b' + b z' - T >= -delta I``: then ``<T - z b' - b z', W'>`` is at most that, for
    every ``0 <= W' <= I`` of trace at most ``K - 1``. Eigenvalues only suggest ``t``, ``Y`` and ``b``.
    """
    xp, k = namespace(form.T), form.T.shape[0]
    values, vectors = xp.linalg.eigh(restrict(form.T, _unit(form)))
    first = max(k - 1 - math.floor(K - 1) - 1, 0)
    t0 = max(float(values[first]), 0.0) if k > K else 0.0
    excess = xp.clip(values[first:] - t0, min=0.0)
    Y = lift(vectors[:, first:], _unit(form)) * xp.sqrt(excess)
    spread = k * t0 + max(float(values[-1]), 0.0) - min(float(values[0]), 0.0)
    margin = 4 * gamma(k + 1) * (spread + frobenius(form.T))
    for _ in range(N_ATTEMPTS):
        t = t0 + margin
        b = _balanced(form, t, max(t, float(values[-1])))
        delta = _negative_curvature(form, t, Y, b)
        if math.isfinite(delta):
            square = frobenius(Y) ** 2 * (1 + gamma(k * Y.shape[1] + 8))
            return ((K - 1) * (t + delta) + square + 2 * frobenius(b) * form.z_error * (1 + 1e-6)) * (1 + 1e-14)
        margin *= 4
    return math.inf


def _balanced(form: _Form, t: float, kappa: float) -> Array:
    """The ``b`` that makes ``z`` a harmless eigenvector of ``t I + z b' + b z' - T``, of eigenvalue ``kappa``."""
    return form.a + form.z * ((kappa - t) / (2 * float(form.z @ form.z)))


def _negative_curvature(form: _Form, t: float, Y: Array, b: Array) -> float:
    """A `delta` with ``t I + Y Y' + z b' + b z' - T >= -delta I``, proven by a Cholesky factor; inf if there is none.

    ``L L'`` is psd whatever ``L`` is, so the difference to the matrix bounds how far that is from being so.
    """
    xp, k = namespace(form.T), form.T.shape[0]
    identity = xp.eye(k, dtype=xp.float64, device=device(form.T))
    outer = form.z[:, None] * b[None, :]
    A = t * identity + Y @ Y.T + (outer + outer.T) - form.T
    A = xp.tril(A) + xp.tril(A, k=-1).T
    try:
        L = xp.tril(xp.linalg.cholesky(A))
    except Exception:  # each library has its own error for "not positive definite"
        return math.inf
    if not bool(xp.all(xp.isfinite(L))):
        return math.inf
    backward = frobenius(L @ L.T - A) + gamma(k + 3) * (frobenius(L) ** 2 + frobenius(A))
    forming = gamma(Y.shape[1] + 9) * frobenius(Y) ** 2
    forming += gamma(11) * (frobenius(form.T) + 2 * frobenius(form.z) * frobenius(b) + t * math.sqrt(k))
    return (backward + forming + k * UNDERFLOW) * (1 + gamma(k * k + 16)) * (1 + 1e-10)
