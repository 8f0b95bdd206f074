"""Inertia: what a clustering costs, without cancellation, and what no clustering costs less than."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._certificate.upper import upper_bound
from .._numerics.arrays import UNIT_ROUNDOFF, Array, Data, Sparse
from .._program.duplicates import has_distances
from .._program.gram import Gram
from .._program.inputs import check_unweighted
from .._program.problem import KMeansSDP


def kmeans_objective(X: Data | Gram, labels: ArrayLike) -> float:
    """Inertia of a clustering: the sum of squared distances of the points to their cluster's mean.

    It equals ``tr D - <D, Q>`` with ``Q`` the `assignment_matrix` of the labels.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Gram
        Points, or their inner products.
    labels : array-like of shape (n,)
        Cluster of each point, any values.

    Returns
    -------
    float

    Examples
    --------
    >>> kmeans_objective([[0.0], [2.0], [10.0]], ["a", "a", "b"])
    2.0
    """
    gram = X if isinstance(X, Gram) else Gram.from_data(X)
    check_unweighted(gram, "an inertia")
    V = memberships(labels, gram.n)
    if gram.factor is not None:
        centroids = (gram.factor.T @ V) / V.sum(axis=0)
        return float(np.sum((gram.factor - V @ centroids.T) ** 2))
    if gram.sparse is not None:
        return _sparse_inertia(gram.sparse, V)
    return _inertia_of_pairs(np.asarray(gram.kernel), V)


def _sparse_inertia(X: Sparse, V: Array) -> float:
    """Entries that are there less their cluster's mean, and the means once for each entry that is not: all squares."""
    sizes, cluster = V.sum(axis=0)[:, None], np.argmax(V, axis=1)
    places = np.repeat(cluster, np.diff(X.indptr)), X.indices
    means = np.asarray((X.T @ V).T) / sizes
    missing = sizes - _sums(places, np.ones(X.nnz), means.shape)
    # Once more, of what they leave: the mean of equal numbers is then that number.
    means += (_sums(places, X.data - means[places], means.shape) - missing * means) / sizes
    return float(np.sum((X.data - means[places]) ** 2) + np.sum(missing * means**2))


def _sums(places: tuple[Array, Array], values: Array, shape: tuple[int, ...]) -> Array:
    sums = np.zeros(shape)
    np.add.at(sums, places, values)
    return sums


def _inertia_of_pairs(kernel: Array, V: Array) -> float:
    """Squared distances within each cluster over twice its size: a point alone costs exactly nothing."""
    total = 0.0
    for column in V.T:
        members = np.flatnonzero(column)
        block = kernel[np.ix_(members, members)]
        squares = np.diagonal(block)
        total += float(np.sum(squares[:, None] + squares - 2 * block)) / (2 * len(members))
    return total


class LeastInertia(NamedTuple):
    """What is known of the inertia of every clustering into at most some number of clusters."""

    trace: float  # of D, rounded down, less what a clustering into fewer clusters may gain
    known: float  # without any bound: 0 where no squared distance is negative

    def given(self, upper: float) -> float:
        """The least inertia that an upper bound on ``<D, Q>`` allows."""
        if math.isinf(upper):
            return self.known
        return max(self.known, self.trace - upper - 4 * UNIT_ROUNDOFF * (abs(self.trace) + abs(upper)))


def least_inertia(gram: Gram, n_clusters: int | None = None) -> LeastInertia:
    """For clusterings of `gram` into at most `n_clusters` clusters, None for any number.

    The program speaks of exactly ``K`` clusters. Where no squared distance is negative, some point of every cluster can
    be put alone without a loss, so fewer clusters are no better. Otherwise ``D + cP`` is the Gram matrix of points if
    ``-c`` bounds the eigenvalues of ``D`` from below, and every value for k clusters is ``c (k - 1)`` larger there.
    """
    trace = gram.trace - gram.trace_error
    if gram.is_of_points or _has_distances(gram):
        return LeastInertia(trace, 0.0)
    count = gram.n if n_clusters is None else n_clusters
    return LeastInertia(trace - (count - 1) * _negative_curvature(gram), -math.inf)


def _has_distances(gram: Gram) -> bool:
    """Whether no squared distance of the kernel as it was given is negative; a division may have hidden one."""
    return gram.frame.first <= 0 and has_distances(np.asarray(gram.kernel))


def _negative_curvature(gram: Gram) -> float:
    """Some ``c >= 0`` with ``D >= -c`` orthogonal to the ones vector, proven: the optimum of ``-D`` for ``K = 2``."""
    negated = KMeansSDP(Gram(kernel=-np.asarray(gram.kernel), unit=gram.unit), 2)
    return max(0.0, upper_bound(negated, np.zeros((gram.n, gram.n)), grade="verified"))


def inertia_bound(gram: Gram, upper: float, *, n_clusters: int | None = None) -> float:
    """The least inertia that an upper bound on ``<D, Q>`` allows to any clustering into at most ``K`` clusters.

    It is ``tr D - upper``, with ``tr D`` rounded down.

    Parameters
    ----------
    gram : Gram
    upper : float
        Such as ``solution.certificate.upper``.
    n_clusters : int, optional
        The ``K`` of `upper`. Kernels with negative squared distances need it: there fewer clusters may be better, and
        None allows for the most that any number of them may gain.

    Returns
    -------
    float
        Where nothing is known 0, or ``-inf`` for a kernel with negative squared distances.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> gram = Gram.from_data([[0.0], [1.0], [10.0], [11.0]])
    >>> round(inertia_bound(gram, solve(KMeansSDP(gram, 2), tol=1e-6).certificate.upper), 2)
    1.0
    """
    return least_inertia(gram, n_clusters).given(upper)


def memberships(labels: ArrayLike, n: int | None = None) -> Array:
    """Labels as a matrix of zeros and ones, one column per cluster in the order of their labels."""
    codes = cluster_codes(labels, n)
    V = np.zeros((codes.size, int(codes.max()) + 1))
    V[np.arange(codes.size), codes] = 1.0
    return V


def cluster_codes(labels: ArrayLike, n: int | None = None) -> Array:
    """Labels as integers from 0, in the order of the labels."""
    given = np.asarray(labels)
    if given.ndim != 1 or given.size == 0 or (n is not None and given.size != n):
        rule = "one label per point" if n is None else f"{n} labels, one per point"
        raise ValueError(f"labels must be {rule}, got shape {given.shape}. Pass a one-dimensional array.")
    try:
        return np.unique(given, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise TypeError("labels must be of one kind, all numbers or all text, got some of each.") from error


def check_no_noise(labels: ArrayLike) -> None:
    """Refuse labels in which -1 stands beside 0, as others mark points of no cluster; -1 beside 1 alone is a sign."""
    given = np.asarray(labels)
    if given.dtype.kind not in "if" or not (given == -1).any() or not ((given == 0).any() or (given == -1).all()):
        return
    raise ValueError(
        f"labels must name a cluster for every point, got -1, which marks noise, for {int((given == -1).sum())} of "
        f"{given.size}. Leave those points out: certify_kmeans(X[labels != -1], labels[labels != -1])."
    )
