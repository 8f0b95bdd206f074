"""Projections on the pieces of the feasible set, written once for every array library.

The fixed vector ``u`` (of ones, or of roots of weights) is removed exactly, by one Householder reflection that maps it
to the first axis: what is left is an ordinary symmetric matrix of size n - 1, so no eigenvector can ever
be mistaken for it.
"""

from __future__ import annotations

import math

from .arrays import Array, device, eigh, namespace
from .fixed_vector import FixedVector


def reflector(fixed: FixedVector, template: Array) -> Array:
    """Vector ``h`` with ``(I - h h') e_1`` parallel to ``u`` and ``|h|^2 = 2``, like `template`."""
    h = fixed.vector(template)
    h[0] += 1
    return h * math.sqrt(2 / (2 + 2 * fixed.first_entry(template)))


def restrict(A: Array, fixed: FixedVector) -> Array:
    """The symmetric matrix `A` as a form on the complement of ``u``, (n-1) x (n-1)."""
    h = reflector(fixed, A)
    w = A @ h
    w = w - (0.5 * (w @ h)) * h
    update = w[:, None] * h[None, :]
    return (A - update - update.T)[1:, 1:]


def lift(Z: Array, fixed: FixedVector) -> Array:
    """Columns of `Z` (n-1 coordinates) back in n coordinates, orthogonal to ``u``."""
    xp = namespace(Z)
    h = reflector(fixed, Z)
    U = xp.concat([xp.zeros((1, Z.shape[1]), dtype=Z.dtype, device=device(Z)), Z], axis=0)
    return U - h[:, None] * (h @ U)[None, :]


def simplex_threshold(values: Array, total: float) -> float:
    """The `t` with ``sum(max(values - t, 0)) = total``, for ``total > 0``.

    Exact projection on the simplex subtracts it; only values above it matter, so leading ones suffice if the
    result is at least the smallest of them.
    """
    top = float(namespace(values).max(values))
    return top + _threshold_below_top(values - top, total)


def _threshold_below_top(shifted: Array, total: float) -> float:
    """The threshold for values of maximum 0: such differences do not cancel the total, however large the values."""
    xp = namespace(shifted)
    descending = xp.sort(shifted, descending=True)
    counts = xp.arange(1, shifted.shape[0] + 1, dtype=shifted.dtype, device=device(shifted))
    candidates = (xp.cumulative_sum(descending) - total) / counts
    n_active = int(xp.sum(xp.astype(descending > candidates, xp.int64)))
    return float(candidates[max(n_active, 1) - 1])


def project_simplex(values: Array, total: float) -> Array:
    """Nearest point to `values` with nonnegative entries of the given sum."""
    xp = namespace(values)
    if total <= 0:
        return xp.zeros_like(values)
    shifted = values - xp.max(values)
    return xp.clip(shifted - _threshold_below_top(shifted, total), min=0.0)


def project_spectraplex(A: Array, total: float, fixed: FixedVector) -> tuple[Array, Array]:
    """Nearest ``W`` to `A` with ``W`` psd, ``W u = 0``, ``tr W = total``, as eigenpairs ``(U, l)``, ``l > 0``."""
    xp = namespace(A)
    values, Z = eigh(restrict(A, fixed))
    weights = project_simplex(values, total)
    first = int(xp.sum(xp.astype(weights <= 0, xp.int64)))  # eigenvalues come in ascending order
    return lift(Z[:, first:], fixed), weights[first:]


def ky_fan_sum(values: Array, count: float) -> float:
    """Sum of the `count` largest entries, a fraction of the next one included."""
    xp = namespace(values)
    descending = xp.sort(values, descending=True)
    whole = math.floor(count)
    total = float(xp.sum(descending[:whole])) if whole else 0.0
    return total + (count - whole) * float(descending[whole]) if count > whole else total
