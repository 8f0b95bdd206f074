"""Few points that stand for many: which parts there are is a matter of shape more than of the number of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from .._numerics.arrays import Array, Table, is_sparse
from .._program.data_rows import rows_of
from .._program.gram import Gram

# Beyond this many points small groups stand for them.
MOST_GROUPS = 500


def coarsen(gram: Gram) -> tuple[Gram, Array]:
    """The data, or the means of 500 small groups where there are more points, and the group of each point.

    A random sample would leave gaps in thin manifolds that are as wide as what separates them; groups spread by
    k-means++ leave none, and their means have less noise. Weights are looked at as so many equal points.
    """
    if gram.n <= MOST_GROUPS and gram.roots is None:
        return gram, np.arange(gram.n)
    X = gram.table if gram.sparse is not None else rows_of(gram, np.empty(0)).host
    if gram.roots is not None and gram.n <= MOST_GROUPS:
        return _repeated(X, _weights(gram))
    centres = kmeans_plusplus(X, MOST_GROUPS, random_state=0)[0]
    for _ in range(2):
        nearest = pairwise_distances_argmin(X, centres)
        _, groups, sizes = np.unique(nearest, return_inverse=True, return_counts=True)
        members = sp.csr_matrix((1 / sizes[groups], (groups, np.arange(gram.n))), shape=(len(sizes), gram.n))
        centres = _dense(members @ X)
    coarse, first_copy = _repeated(centres, np.bincount(groups, _weights(gram)))
    return coarse, first_copy[groups]


def _dense(A: Table) -> Array:
    return A.toarray() if is_sparse(A) else A


def _repeated(X: Table, weights: Array) -> tuple[Gram, Array]:
    """Points as often as they count, 500 in all at most, and the first copy of each.

    Where most points are copies of a few, those few alone were too few to look at. Where they are not, weights that
    would make more than 500 points are left aside.
    """
    total, is_whole = float(weights.sum()), bool(np.all(weights == np.round(weights)))
    share = 0.0
    if is_whole and total <= MOST_GROUPS:
        share = 1.0
    elif 2 * len(weights) <= MOST_GROUPS:
        share = MOST_GROUPS / total
    copies = np.maximum(np.round(share * weights), 1).astype(int)
    return Gram.from_data(X[np.repeat(np.arange(len(copies)), copies)]), np.cumsum(copies) - copies


def counted_points(gram: Gram) -> int:
    """The number of points, equal ones counted each, where weights are such counts."""
    weights = _weights(gram)
    return int(weights.sum()) if np.all(weights == np.round(weights)) else gram.n


def _weights(gram: Gram) -> Array:
    """Weights from their roots, whole ones exactly."""
    weights = np.ones(gram.n) if gram.roots is None else gram.roots**2
    return np.round(weights) if np.allclose(weights, np.round(weights), rtol=1e-9, atol=0) else weights
