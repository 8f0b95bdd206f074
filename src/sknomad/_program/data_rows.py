"""The data as rows, and the three sums over them that soft assignments need.

This is the one seam between the factored solver and the data: a table in memory today, blocks read from disk or spread
over machines tomorrow. Whoever can form these sums and scores can run the solver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array, Table, is_sparse, like, namespace
from .centring import mean_of_rows
from .gram import Gram

# Products with all columns in a run of soft assignments, in units of what a decomposition costs per entry.
PRODUCTS_OF_A_RUN = 640


class Sums(NamedTuple):
    """What the whole data contributes to one step, for soft assignments ``V`` (n x r)."""

    products: Array  # X'V, (d, r)
    sizes: Array  # V'1, (r,)
    squares: Array  # squared column norms of V, (r,)


class Rows:
    """A centred table ``X``, dense in any array library, or sparse with its mean apart, and the points' weights."""

    def __init__(self, host: Table, template: Array, mean: Array | None = None, roots: Array | None = None):
        self.host = host  # NumPy or SciPy, float64
        self.X: Table = host if is_sparse(host) else like(host, template)
        self.mean = mean
        self.weights = None if roots is None else like(roots**2, template)  # None: all 1
        self.total = float(host.shape[0] if roots is None else np.sum(roots**2))  # of the weights

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def sums(self, V: Array) -> Sums:
        """``X'V``, ``V'1`` and the squared norms of the columns of ``V``, sums in which points have their weights."""
        xp = namespace(V)
        weighted = V if self.weights is None else V * self.weights[:, None]
        sizes = xp.sum(weighted, axis=0)
        products = self.X.T @ weighted
        if self.mean is not None:
            products = products - self.mean[:, None] * sizes
        return Sums(products, sizes, xp.sum(weighted * V, axis=0))

    def sizes(self, V: Array) -> Array:
        """``V'1`` alone."""
        return namespace(V).sum(V, axis=0) if self.weights is None else self.weights @ V

    def sums_of_squares(self, V: Array) -> Array:
        """Squared norms of the columns of ``V`` alone."""
        return namespace(V).sum(V * V, axis=0) if self.weights is None else self.weights @ (V * V)

    def scores(self, centroids: Array) -> Array:
        """``X m_j`` for the columns ``m_j`` of `centroids`, (n, r)."""
        scores = self.X @ centroids
        return scores if self.mean is None else scores - self.mean @ centroids

    def take(self, indices: Array) -> Array:
        """Some rows as a dense centred NumPy array."""
        rows = self.host[indices]
        dense = rows.toarray() if is_sparse(rows) else rows
        return np.asarray(dense if self.mean is None else dense - self.mean)


def rows_of(gram: Gram, template: Array) -> Rows:
    """The rows whose inner products `gram` holds, in the library, on the device and in the precision of `template`.

    For a kernel they are made from its eigenvectors; negative eigenvalues, which no points have, are left out. So are
    the rows of a table with far more columns than points, which products would pass over again and again.
    """
    if gram.is_factored and not _is_wide(*gram.table.shape):
        return Rows(gram.table, template, roots=gram.roots)
    if gram.sparse is not None:
        return Rows(gram.table, template, mean_of_rows(gram.table, gram.roots), gram.roots)
    host = _principal_coordinates(gram.dense())
    return Rows(host if gram.roots is None else host / gram.roots[:, None], template, roots=gram.roots)


def _is_wide(n: int, d: int) -> bool:
    """Whether a decomposition costs less than what products with `n` instead of `d` columns save in a run."""
    return d > n and PRODUCTS_OF_A_RUN * d > n**2


def _principal_coordinates(D: Array) -> Array:
    """Points with the inner products `D` along their principal axes, the widest first.

    The largest coordinate along each axis is positive, so that the order of the points does not turn axes around.
    """
    values, vectors = np.linalg.eigh(D)
    keep = values > 1e-12 * max(float(values[-1]), 0.0)
    axes = vectors[:, keep][:, ::-1]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None, :], axis=0)
    return axes * (np.sign(largest) * np.sqrt(values[keep][::-1]))
