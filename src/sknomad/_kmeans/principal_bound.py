"""The bound of principal components: what no clustering can explain, whatever its clusters are.

Every feasible ``Q = J + W`` has ``0 <= W <= I`` and ``tr W = K - 1``, so ``<X X', Q>`` with centred ``X`` is at most
the sum of the ``K - 1`` largest eigenvalues of ``S = X'X``: no solver, no labels, no n x n array. The sum is proven
from a computed eigendecomposition ``S ~ V diag(l) V'``: eigenvalues of ``V diag(l) V'`` are at most
``1 + |V'V - I|`` times those of ``diag(max(l, 0))``, and ``S`` differs from it by a matrix whose norm is known.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF, Array, frobenius, gamma
from .._program.gram import Gram
from .inertia import least_inertia

# Larger matrices, by their side, would take longer than the bound is worth.
LARGEST_SIDE = 2000


def principal_bound(gram: Gram, K: int) -> float:
    """A lower bound on the inertia of every clustering of `gram` into at most `K` clusters, in its units.

    Examples
    --------
    >>> round(principal_bound(Gram.from_data([[0.0, 0.0], [4.0, 1.0], [8.0, -1.0]]), 2), 3)
    1.476
    """
    return max(least_inertia(gram, K).given(_largest_value(gram, K)), 0.0)


def _largest_value(gram: Gram, K: int) -> float:
    """A proven upper bound on ``<D, Q>``; inf where there is none to be had at this price."""
    X = gram.factor
    if X is None or min(X.shape) > LARGEST_SIDE or min(X.shape) < K:
        return math.inf
    # Both products have the same eigenvalues off zero.
    A = X if X.shape[1] <= X.shape[0] else X.T
    S = A.T @ A
    if not np.isfinite(S).all():
        return math.inf
    values, V = np.linalg.eigh(S)
    defect, error = _defect_of(V), _residual(S, values, V) + gamma(len(A) + 2) * float(np.sum(A * A))
    largest = float(np.sum(np.maximum(values[len(values) - K + 1 :], 0.0)))
    slack = 1 + gamma(4 * len(S) ** 2 + len(A) + 64)
    bound = ((1 + defect) * largest + math.sqrt(K) * error) * slack + gram.centring_error
    return bound if math.isfinite(bound) else math.inf


def _defect_of(V: Array) -> float:
    """A bound on the norm of ``V'V - I``, up to the roundings of norms."""
    return frobenius(V.T @ V - np.eye(len(V))) + gamma(len(V) + 2) * (frobenius(V) ** 2 + math.sqrt(len(V)))


def _residual(S: Array, values: Array, V: Array) -> float:
    """A bound on the norm of ``S - V diag(values) V'``, up to the roundings of norms."""
    scaled = V * values
    rounding = gamma(len(S) + 3) * frobenius(scaled) * frobenius(V) + UNIT_ROUNDOFF * frobenius(S)
    return frobenius(S - scaled @ V.T) + rounding
