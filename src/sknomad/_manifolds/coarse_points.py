"""Few points that stand for many: which parts there are is a matter of shape more than of the number of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from .._numerics.arrays import Array, Table, is_sparse
from .._program.data_rows import rows_of
from .._program.gram import Gram

# Beyond this many points small groups stand for them.
MOST_GROUPS = 500
# The smallest mass, as a share of the largest: what is lighter still counts as much, and logs stay finite.
SMALLEST_MASS = 1e-9


@dataclass(frozen=True)
class CoarsePoints:
    """Few points that stand for all."""

    gram: Gram
    of_point: Array  # (n,) which of them stands for each point
    masses: Array  # how much each stands for, one on average


def coarsen(gram: Gram) -> CoarsePoints:
    """The data, or the means of 500 small groups where there are more points.

    A random sample would leave gaps in thin manifolds that are as wide as what separates them; groups spread by
    k-means++ leave none, and their means have less noise. They lie far more evenly than the points do, so that how many
    points each stands for must be kept: without it two clouds that overlap look like one.
    """
    if gram.n <= MOST_GROUPS and gram.roots is None:
        return CoarsePoints(gram, np.arange(gram.n), np.ones(gram.n))
    X = gram.table if gram.sparse is not None else rows_of(gram, np.empty(0)).host
    if gram.n <= MOST_GROUPS:
        return _repeated(X, _weights(gram), np.arange(gram.n))
    centres = kmeans_plusplus(X, MOST_GROUPS, random_state=0)[0]
    for _ in range(2):
        nearest = pairwise_distances_argmin(X, centres)
        _, groups, sizes = np.unique(nearest, return_inverse=True, return_counts=True)
        members = sp.csr_matrix((1 / sizes[groups], (groups, np.arange(gram.n))), shape=(len(sizes), gram.n))
        centres = _dense(members @ X)
    return _repeated(centres, np.bincount(groups, _weights(gram)), groups)


def _dense(A: Table) -> Array:
    return A.toarray() if is_sparse(A) else A


def _repeated(X: Table, weights: Array, groups: Array) -> CoarsePoints:
    """Rows of a table as often as they count, 500 in all at most; each point has the first copy of its group.

    Where most points are copies of a few, those few alone were too few to look at. Where they are not, weights that
    would make more than 500 points become masses.
    """
    total, is_whole = float(weights.sum()), bool(np.all(weights == np.round(weights)))
    share = 0.0
    if is_whole and total <= MOST_GROUPS:
        share = 1.0
    elif 2 * len(weights) <= MOST_GROUPS:
        share = MOST_GROUPS / total
    copies = np.maximum(np.round(share * weights), 1).astype(int)
    masses = np.repeat(weights / copies, copies)
    masses = np.maximum(masses / masses.max(), SMALLEST_MASS)
    gram = Gram.from_data(X[np.repeat(np.arange(len(copies)), copies)])
    return CoarsePoints(gram, (np.cumsum(copies) - copies)[groups], masses / masses.mean())


def counted_points(gram: Gram) -> int:
    """The number of points, equal ones counted each, where weights are such counts."""
    weights = _weights(gram)
    return int(weights.sum()) if np.all(weights == np.round(weights)) else gram.n


def _weights(gram: Gram) -> Array:
    """Weights from their roots, whole ones exactly."""
    weights = np.ones(gram.n) if gram.roots is None else gram.roots**2
    return np.round(weights) if np.allclose(weights, np.round(weights), rtol=1e-9, atol=0) else weights
