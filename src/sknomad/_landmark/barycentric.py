"""Barycentric weights: each row as a convex combination of the landmarks nearest to it.

Weights minimise ``|x - sum_l w_l c_l|^2`` over the simplex, plus a small multiple of ``|w|^2`` that decides where the
landmarks are in special position. Whatever they come out as, they are nonnegative and sum to one; that alone is what
bounds rest on, so landmarks with negative weights are simply left out, the worst first, and the rest solved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from .._numerics.arrays import Array, Sparse

# Weight of |w|^2, as a share of the mean squared distance to the landmarks.
RIDGE = 1e-3
# Smaller weights are none: their squares would only waste digits.
SMALLEST_WEIGHT = 1e-9


@dataclass(frozen=True)
class Barycentric:
    """The map from rows to their weights on landmarks."""

    landmarks: Array  # (m, d)
    n_neighbours: int  # most landmarks with a weight in one row

    @property
    def m(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.shape[0])

    @cached_property
    def _index(self) -> Any:
        return NearestNeighbors(n_neighbors=min(self.n_neighbours, self.m)).fit(self.landmarks)

    def matrix(self, rows: Array) -> Sparse:
        """Weights of the rows, sparse (n, m), nonnegative, rows of sum one up to `n_neighbours` roundings."""
        nearest = self._index.kneighbors(rows, return_distance=False)
        weights = simplex_weights(self.landmarks[nearest] - rows[:, None, :])
        starts = np.arange(0, nearest.size + 1, nearest.shape[1])
        Phi = sp.csr_matrix((weights.ravel(), nearest.ravel(), starts), shape=(len(rows), self.m))
        Phi.eliminate_zeros()
        return Phi


def simplex_weights(offsets: Array) -> Array:
    """Weights on the simplex that nearly minimise ``|sum_l w_l offsets_l|``, for each row of offsets.

    Parameters
    ----------
    offsets : array of shape (n, q, d)

    Returns
    -------
    array of shape (n, q)

    Examples
    --------
    >>> simplex_weights(np.array([[[-1.0], [3.0]]])).round(2).tolist()
    [[0.75, 0.25]]
    """
    n, q, _ = offsets.shape
    inner = offsets @ offsets.transpose(0, 2, 1)
    size = np.trace(inner, axis1=1, axis2=2) / q
    # Rows on top of all their landmarks: any weights are right.
    inner = inner / np.where(size > 0, size, 1.0)[:, None, None] + RIDGE * np.eye(q)
    weights, active, todo = np.empty((n, q)), np.ones((n, q), dtype=bool), np.arange(n)
    for _ in range(q):
        weights[todo] = _on_active(inner[todo], active[todo])
        worst = np.argmin(weights[todo], axis=1)
        is_negative = weights[todo, worst] < 0
        todo, worst = todo[is_negative], worst[is_negative]
        if not len(todo):
            break
        active[todo, worst] = False
    weights = np.where(weights >= SMALLEST_WEIGHT, weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _on_active(inner: Array, active: Array) -> Array:
    """Weights of sum one on the active landmarks that minimise ``w' inner w``, whatever their sign."""
    both = active[:, :, None] & active[:, None, :]
    inner = np.where(both, inner, np.eye(active.shape[1]))
    weights = np.linalg.solve(inner, active[:, :, None].astype(float))[:, :, 0]
    return weights / weights.sum(axis=1, keepdims=True)
