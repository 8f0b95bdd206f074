"""The data as rows, and the three sums over them that soft assignments need.

This is the one seam between the factored solver and the data: a table in memory today, blocks read from disk or spread
over machines tomorrow. Whoever can form these sums and scores can run the solver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Array, like, namespace
from ._gram import Gram


class Sums(NamedTuple):
    """What the whole data contributes to one step, for soft assignments ``V`` (n x r)."""

    products: Array  # X'V, (d, r)
    sizes: Array  # V'1, (r,)
    squares: Array  # squared column norms of V, (r,)


class Rows:
    """A centred table ``X``, dense in any array library, or sparse with its mean kept apart."""

    def __init__(self, host: Array, model: Array, mean: Array = None):
        self.host = host  # NumPy or SciPy, float64
        self.X = like(host, model) if mean is None else host
        self.mean = mean

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def sums(self, V: Array) -> Sums:
        """``X'V``, ``V'1`` and the squared norms of the columns of ``V``."""
        xp = namespace(V)
        sizes = xp.sum(V, axis=0)
        products = self.X.T @ V
        if self.mean is not None:
            products = products - self.mean[:, None] * sizes
        return Sums(products, sizes, xp.sum(V * V, axis=0))

    def scores(self, centroids: Array) -> Array:
        """``X m_j`` for the columns ``m_j`` of `centroids`, (n, r)."""
        scores = self.X @ centroids
        return scores if self.mean is None else scores - self.mean @ centroids

    def take(self, indices: Array) -> Array:
        """Some rows as a dense centred NumPy array."""
        rows = self.host[indices]
        return np.asarray(rows if self.mean is None else rows.toarray() - self.mean)


def rows_of(gram: Gram, model: Array) -> Rows:
    """The rows whose inner products `gram` holds, in the library, on the device and in the precision of `model`.

    For a kernel they are made from its eigenvectors; negative eigenvalues, which no points have, are left out.
    """
    if gram.is_factored:
        return Rows(gram.factor, model)
    if gram.sparse is not None:
        return Rows(gram.sparse, model, np.asarray(gram.sparse.mean(axis=0)).ravel())
    values, vectors = np.linalg.eigh(gram.dense())
    keep = values > 1e-12 * max(float(values[-1]), 0.0)
    return Rows(vectors[:, keep] * np.sqrt(values[keep]), model)
