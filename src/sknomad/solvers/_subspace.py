"""The leading eigenspace of a slowly changing symmetric matrix, carried along from step to step.

A block of vectors is filtered by a Chebyshev polynomial of the matrix that is small on the whole unwanted part of the
spectrum, its negative end included, and then rotated to the best eigenvector approximations in its span. Warm
started, one low-degree filter per change of the matrix keeps up with a full decomposition.
"""

from __future__ import annotations

import math
from typing import Any

from .._arrays import Array, device, frobenius, namespace
from .._projections import lift, project_simplex, restrict, simplex_threshold

# Vectors kept below the threshold, as a share of those above it: the gap that the filter works with.
GUARD_SHARE, GUARD_COUNT = 0.15, 8
FILTER_DEGREE = 4
# Ritz pairs that count must satisfy |A u - t u| <= this share of the largest eigenvalue.
RESIDUAL_TOLERANCE = 1e-3
# Beyond this share of n a full decomposition costs less than filtering.
LARGEST_SHARE = 0.3
MAX_PASSES = 3
LANCZOS_STEPS = 12


class LeadingProjector:
    """Projection on the spectraplex ``{W psd, W 1 = 0, tr W = total}`` for a sequence of similar matrices."""

    def __init__(self, total: float):
        self.total = total
        self._block: Array = None  # orthonormal Ritz vectors of the last matrix
        self._ritz: Array = None  # their Ritz values, ascending

    def project(self, A: Array) -> tuple[Array, Array]:
        """Eigenpairs ``(U, l)``, ``l > 0``, of the point of the spectraplex nearest to the symmetric `A`."""
        if self._block is not None:
            for _ in range(MAX_PASSES):
                self._filter(A)
                weights, accurate = self._weights(A)
                if accurate:
                    return self._trim(weights)
        return self._exact(A)

    def _exact(self, A: Array) -> tuple[Array, Array]:
        """Full decomposition; keeps its leading part as a warm block if the rank is low enough for one to pay."""
        xp = namespace(A)
        values, Z = xp.linalg.eigh(restrict(A))
        weights = project_simplex(values, self.total)
        rank = int(xp.sum(xp.astype(weights > 0, xp.int64)))
        size = _block_size(rank)
        self._block = None
        if size <= LARGEST_SHARE * A.shape[0]:
            self._block, self._ritz = lift(Z[:, -size:]), values[-size:]
        return lift(Z[:, -rank:]), weights[-rank:]

    def _filter(self, A: Array) -> None:
        lowest = _lowest_eigenvalue_bound(A)
        cut = float(self._ritz[0])
        V = _chebyshev(A, self._block, lowest, max(cut, lowest + 1e-3 * (float(self._ritz[-1]) - lowest)))
        self._block, self._ritz, self._image = _rayleigh_ritz(A, _orthonormal(_centred(V)))

    def _weights(self, A: Array) -> tuple[Array, bool]:
        """Projected eigenvalues, and whether the block is wide and accurate enough to trust them."""
        xp = namespace(A)
        threshold = simplex_threshold(self._ritz, self.total)
        weights = xp.clip(self._ritz - threshold, min=0.0)
        has_guards = float(self._ritz[0]) < threshold
        error = self._image - self._block * self._ritz
        # A pair matters in proportion to the weight it receives.
        weighted = frobenius(error * xp.sqrt(weights / self.total))
        return weights, has_guards and weighted <= RESIDUAL_TOLERANCE * abs(float(self._ritz[-1]))

    def _trim(self, weights: Array) -> tuple[Array, Array]:
        """Drop guards beyond the wanted number; hand out the pairs with positive weight."""
        xp = namespace(weights)
        n_zero = int(xp.sum(xp.astype(weights <= 0, xp.int64)))
        U, weights = self._block[:, n_zero:], weights[n_zero:]
        spare = self._block.shape[1] - _block_size(U.shape[1])
        if spare > 0:
            self._block, self._ritz = self._block[:, spare:], self._ritz[spare:]
        return U, weights


def _block_size(rank: int) -> int:
    return rank + GUARD_COUNT + math.ceil(GUARD_SHARE * rank)


def _centred(V: Array) -> Array:
    return V - namespace(V).mean(V, axis=0)


def _orthonormal(V: Array) -> Array:
    return namespace(V).linalg.qr(V, mode="reduced")[0]


def _rayleigh_ritz(A: Array, V: Array) -> tuple[Array, Array, Array]:
    """Ritz vectors, ascending Ritz values and the image of the vectors, in the span of `V` (centred)."""
    xp = namespace(A)
    image = _centred(A @ V)
    H = V.T @ image
    values, rotation = xp.linalg.eigh((H + H.T) / 2)
    return V @ rotation, values, image @ rotation


def _chebyshev(A: Array, V: Array, low: float, high: float) -> Array:
    """Chebyshev polynomial of `A`, small on ``[low, high]``, growing fast above, applied to `V`."""
    centre, half = (low + high) / 2, (high - low) / 2
    previous, current = V, (_centred(A @ V) - centre * V) / half
    for _ in range(FILTER_DEGREE - 1):
        previous, current = current, (2 / half) * (_centred(A @ current) - centre * current) - previous
    return current


def _lowest_eigenvalue_bound(A: Array) -> float:
    """A number below (nearly always) all eigenvalues of the centred `A`: Lanczos plus its last residual."""
    xp = namespace(A)
    n = A.shape[0]
    v = xp.cos(xp.arange(n, dtype=A.dtype, device=device(A)) * 1.7)
    v = v - xp.mean(v)
    v = v / frobenius(v)
    alphas, betas, previous, beta = [], [], xp.zeros_like(v), 0.0
    for _ in range(min(LANCZOS_STEPS, n - 1)):
        w = A @ v
        w = w - xp.mean(w) - beta * previous
        alphas.append(float(w @ v))
        w = w - alphas[-1] * v
        beta = frobenius(w)
        betas.append(beta)
        if beta == 0:
            break
        previous, v = v, w / beta
    return _tridiagonal_minimum(alphas, betas[:-1]) - betas[-1]


def _tridiagonal_minimum(diagonal: list[float], off_diagonal: list[float]) -> Any:
    from scipy.linalg import eigvalsh_tridiagonal

    return float(eigvalsh_tridiagonal(diagonal, off_diagonal)[0])
