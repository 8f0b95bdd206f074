"""Nearly orthonormal coordinates of the columns ``F = [Phi, E]``, and by how much they are not orthonormal.

With a computed triangular ``L`` for which ``L L'`` is about ``H + eps I``, ``H`` about ``F'F``, the columns of
``Z = F_+ L^-T`` have the Gram matrix ``I + Delta``, ``F_+`` being ``F`` above ``sqrt(eps) I``. Below every ``W`` with
``0 <= W <= I`` on the points zeros are put for the rows that were added; then ``W' = Z'WZ`` satisfies
``0 <= W' <= (1 + |Delta|) I`` and ``tr W' <= (1 + |Delta|) tr W``, and ``<F S F', W> = <L'S L, W'>`` for every ``S``.
``|Delta| <= |L^-1|^2 |F_+'F_+ - L L'|``, which is known. ``eps`` is zero unless the columns are nearly dependent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._numerics.arrays import Array, device, frobenius, gamma, like, namespace
from .sums import LandmarkSums

# Ridges tried until columns are orthonormal to within this.
RIDGES, ENOUGH = (0.0, 1e-11, 1e-9, 1e-7, 1e-5), 1e-7
# Beyond this nothing useful can be said.
TOO_MUCH = 0.1


@dataclass(frozen=True)
class Basis:
    """The triangular factor, in any array library, with proven bounds on its errors."""

    L: Array  # (k, k), F = Z L'
    defect: float  # bound on |Delta|
    ones: Array  # (k,) coordinates of the vector of ones, L'c as computed
    ones_error: float  # bound on |W' ones| for every W with W 1 = 0 and 0 <= W <= I


def find_basis(sums: LandmarkSums, template: Array) -> Basis | None:
    """The basis for the smallest ridge that will do; None if none does."""
    best: Basis | None = None
    for ridge in RIDGES:
        basis = _with_ridge(sums, ridge, template)
        if basis is not None and (best is None or basis.defect < best.defect):
            best = basis
        if best is not None and best.defect <= ENOUGH:
            break
    return best if best is not None and best.defect <= TOO_MUCH else None


def _with_ridge(sums: LandmarkSums, ridge: float, template: Array) -> Basis | None:
    xp = namespace(template)
    k = sums.k
    identity = xp.eye(k, dtype=xp.float64, device=device(template))
    H = like(sums.H, template) + ridge * identity
    try:
        L = xp.tril(xp.linalg.cholesky(H))
    except Exception:  # each library has its own error for "not positive definite"
        return None
    if not bool(xp.all(xp.isfinite(L))):
        return None
    inverse = xp.linalg.inv(L)
    slack = 1 + gamma(k * k + 16)
    square = frobenius(L) ** 2 * slack
    # The ridge is added with one rounding of the diagonal.
    factoring = frobenius(xp.matmul(L, L.T) - H) * slack + gamma(k + 2) * (square + frobenius(H) * slack)
    product_error = frobenius(identity - xp.matmul(inverse, L)) * slack
    product_error += gamma(k + 2) * (frobenius(inverse) * math.sqrt(square) + math.sqrt(k)) * slack
    if not product_error < 0.5:
        return None
    inverse_norm = _spectral_bound(inverse) * slack / (1 - product_error)
    defect = inverse_norm * inverse_norm * (sums.H_error + factoring) * (1 + 1e-10)
    if not math.isfinite(defect):
        return None
    c = like(sums.ones_weights, template)
    rounding = gamma(k + 2) * math.sqrt(square) * frobenius(c)
    error = (math.sqrt(1 + defect) * sums.ones_error + (1 + defect) * rounding) * (1 + 1e-10)
    return Basis(L, defect, L.T @ c, error)


def _spectral_bound(A: Array) -> float:
    """A bound on the spectral norm: Frobenius's, or the root of the largest row sum times the largest column sum."""
    xp = namespace(A)
    sizes = xp.abs(A)
    by_sums = math.sqrt(float(xp.max(xp.sum(sizes, axis=0))) * float(xp.max(xp.sum(sizes, axis=1))))
    return min(frobenius(A), by_sums)
