"""Projections on the Fantope ``{0 <= Z <= I, tr Z = total}``: of one matrix, or of a sequence of similar ones.

Few eigenvectors count, about ``total`` and some more. Once they are known, filtering them keeps up with a slowly
changing matrix, at the price of a few products instead of a decomposition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array, frobenius, namespace, to_numpy
from .._numerics.block_eigen import chebyshev_filter, lowest_eigenvalue_bound, orthonormal, rayleigh_ritz, safe_degree
from .._numerics.fixed_vector import Ones

# Bisections for the threshold.
BISECTIONS = 60
# From this size on, and where no more than this share of all vectors is needed, blocks are the faster.
SMALLEST_FOR_BLOCKS, LARGEST_SHARE = 600, 0.3
# Vectors kept below the threshold, as a share of those above it and besides; with fewer left than the second pair says
# others may be missing.
GUARD_SHARE, GUARD_COUNT = 0.3, 12
LEAST_GUARD_SHARE, LEAST_GUARDS = 0.05, 2
FILTER_DEGREE, MOST_PASSES = 4, 3
# The residuals of all pairs that count may reach this share of the norm of the projection.
RESIDUAL_TOLERANCE = 0.02
# The low end of the spectrum is looked up after so many matrices, and taken this share of the spread lower.
LOWEST_LIFETIME, LOWEST_MARGIN = 8, 0.1


class _Nothing(Ones):
    """No vector is fixed: there is nothing to take out."""

    def centre(self, V: Array) -> Array:
        """The columns as they are."""
        return V


class _Block(NamedTuple):
    vectors: Array  # (k, p), orthonormal Ritz vectors of the last matrix
    values: Array  # (p,), ascending
    lowest: float  # below all eigenvalues
    age: int  # matrices since that was looked up


class FantopeProjector:
    """Projects one matrix after another on the Fantope of the given trace."""

    def __init__(self, total: float):
        self.total = total
        self._block: _Block | None = None

    def project(self, A: Array) -> Array:
        """The nearest matrix to the symmetric `A` in the Fantope, nearly."""
        if self._block is not None:
            for _ in range(MOST_PASSES):
                found = self._filtered(A, self._block)
                if found is not None:
                    return found
        return self._exactly(A)

    def _exactly(self, A: Array) -> Array:
        """By a full decomposition, which leaves a block behind if that pays."""
        k = A.shape[0]
        values, vectors = namespace(A).linalg.eigh(A)
        shares = fantope_shares(values, self.total)
        rank = _count(shares)
        size, self._block = _block_size(rank), None
        if k >= SMALLEST_FOR_BLOCKS and size <= LARGEST_SHARE * k:
            self._block = _Block(vectors[:, -size:], values[-size:], float(values[0]), 0)
        return _formed(vectors[:, k - rank :], shares[k - rank :])

    def _filtered(self, A: Array, block: _Block) -> Array | None:
        """By one filter of the block; None where that is not accurate yet, or the block too narrow."""
        nothing, lowest, age = _Nothing(A.shape[0]), block.lowest, block.age + 1
        if age > LOWEST_LIFETIME:
            lowest, age = lowest_eigenvalue_bound(A, block.vectors, nothing), 0
        top, cut = float(block.values[-1]), float(block.values[0])
        low = lowest - LOWEST_MARGIN * (top - lowest)
        high = max(cut, low + 1e-6 * (top - low))
        degree = safe_degree(FILTER_DEGREE, low, high, top, block.vectors)
        V = chebyshev_filter(A, block.vectors, low, high, degree, nothing)
        V, values, image = rayleigh_ritz(A, orthonormal(V), nothing)
        shares = fantope_shares(values, self.total)
        rank, size = _count(shares), V.shape[1]
        self._block = _Block(V, values, lowest, age)
        if size - rank < LEAST_GUARDS + LEAST_GUARD_SHARE * rank:
            return None
        kept = V[:, size - rank :]
        error = frobenius(image[:, size - rank :] - kept * values[size - rank :])
        if not error <= RESIDUAL_TOLERANCE * frobenius(shares):
            return None
        return _formed(kept, shares[size - rank :])


def _block_size(rank: int) -> int:
    return rank + GUARD_COUNT + math.ceil(GUARD_SHARE * rank)


def _count(shares: Array) -> int:
    return int(namespace(shares).sum(namespace(shares).astype(shares > 0, namespace(shares).int64)))


def _formed(vectors: Array, shares: Array) -> Array:
    return (vectors * shares) @ vectors.T


def fantope_shares(values: Array, total: float) -> Array:
    """``clip(values - t, 0, 1)`` with the ``t`` for which they add up to `total`, by bisection.

    Examples
    --------
    >>> fantope_shares(np.array([0.2, 0.5, 3.0]), 1.5).round(3).tolist()
    [0.1, 0.4, 1.0]
    """
    host = np.asarray(to_numpy(values))
    low, high = float(host.min()) - 1, float(host.max())
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if np.clip(host - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    xp = namespace(values)
    return xp.clip(values - (low + high) / 2, 0.0, 1.0)
