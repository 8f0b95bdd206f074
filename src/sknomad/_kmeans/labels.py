"""From soft answers to clusterings: labels read off ``Q`` in several ways, polished until no point wants to move."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .._numerics.arrays import Array, Table, is_sparse
from .._points.components import in_order
from .._points.point import Point
from .._program.gram import Gram
from .inertia import kmeans_objective, memberships

# Starts of the small clustering problem that each way of reading Q poses.
STARTS_PER_READING = 3
# An exchange must gain at least this share of the spread of the data, or rounding may make it run in circles.
LEAST_GAIN = 1e-11
# Exchanges per point, at most; after Lloyd's algorithm a few per hundred points are the rule.
EXCHANGES_PER_POINT = 2


class Clustering(NamedTuple):
    """A clustering, in the order of first appearance, and what it costs."""

    labels: Array  # (n,) integers from 0
    inertia: float


def readings(point: Point, X: Table, K: int) -> Iterator[Array]:
    """Coordinates (n rows) whose clusters are those of ``Q``: exactly so where ``Q`` is a hard clustering.

    With ``Q = B B'``: the rows of ``B`` (distances of ``Q^(1/2)``), the leading eigenvectors of ``Q``, the rows of
    ``Q``, and the data averaged by it, ``Q X``.
    """
    B = point.root()
    U, sizes, _ = np.linalg.svd(B, full_matrices=False)
    yield U * sizes
    yield U[:, :K]
    yield U * sizes**2
    yield B @ np.asarray((X.T @ B).T)


def labels_of_point(point: Point, X: Table, K: int, random: np.random.RandomState) -> Iterator[Array]:
    """One labelling for each way of reading ``Q``."""
    for coordinates in readings(point, X, K):
        yield _lloyd(coordinates, K, random, n_init=STARTS_PER_READING)


def labels_of_data(X: Table, K: int, n_init: int, random: np.random.RandomState) -> Array:
    """Labels of the best of `n_init` k-means++ starts."""
    return _lloyd(X, K, random, n_init=n_init)


def best_clustering(gram: Gram, X: Table, K: int, proposals: Iterable[Array]) -> Clustering:
    """Polish every proposed labelling; the one of least inertia, the first of equal ones."""
    polished = [_polish(gram, X, labels, K) for labels in proposals]
    return min(polished, key=lambda clustering: clustering.inertia)


def _polish(gram: Gram, X: Table, labels: Array, K: int) -> Clustering:
    """Fill empty clusters, then Lloyd's algorithm and exchanges of single points: never worse than `labels`."""
    filled = _fill(X, in_order(labels), K)
    centres = cluster_means(X, filled)
    moved = exchange(X, in_order(_lloyd(X, len(centres), None, init=centres)))
    candidates = [Clustering(found, kmeans_objective(gram, found)) for found in (moved, filled)]
    return min(candidates, key=lambda clustering: clustering.inertia)


def _lloyd(X: Table, K: int, random: np.random.RandomState | None, **options: object) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
        return KMeans(K, random_state=random, tol=0.0, **{"n_init": 1, **options}).fit(X).labels_


def exchange(X: Table, labels: Array) -> Array:
    """Move single points while the best move lowers the inertia: the test of Hartigan and Wong.

    Taking a point at distance ``a`` from its mean out of a cluster of ``p`` points saves ``p a^2 / (p - 1)``, and
    putting it at distance ``b`` from the mean of one of ``q`` costs ``q b^2 / (q + 1)``. Where no move pays, Lloyd's
    algorithm has nothing to do either; the converse is false.

    Examples
    --------
    >>> exchange(np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 0, 1])).tolist()
    [0, 0, 1, 1]
    """
    labels, n = labels.copy(), len(labels)
    sizes = np.bincount(labels).astype(float)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else np.sum(X * X, axis=1)
    sums = cluster_means(X, labels) * sizes[:, None]
    distances = _squared_distances(X, squares, sums / sizes[:, None])
    everyone, least = np.arange(n), LEAST_GAIN * float(squares.sum())
    for _ in range(EXCHANGES_PER_POINT * n):
        own = sizes[labels]
        saved = np.where(own > 1, own / np.maximum(own - 1, 1) * distances[everyone, labels], -np.inf)
        costs = distances * (sizes / (sizes + 1))
        costs[everyone, labels] = np.inf
        targets = np.argmin(costs, axis=1)
        gains = saved - costs[everyone, targets]
        mover = int(np.argmax(gains))
        if not gains[mover] > least:
            break
        old, new = int(labels[mover]), int(targets[mover])
        row = X[[mover]].toarray()[0] if is_sparse(X) else X[mover]
        labels[mover] = new
        for cluster, sign in ((old, -1.0), (new, 1.0)):
            sizes[cluster] += sign
            sums[cluster] += sign * row
            distances[:, [cluster]] = _squared_distances(X, squares, sums[[cluster]] / sizes[cluster])
    return labels


def _squared_distances(X: Table, squares: Array, centres: Array) -> Array:
    return np.maximum(squares[:, None] - 2 * np.asarray(X @ centres.T) + np.sum(centres**2, axis=1), 0)


def cluster_means(X: Table, labels: Array) -> Array:
    """Mean of each cluster, (K, d)."""
    V = memberships(labels)
    return np.asarray(X.T @ V).T / V.sum(axis=0)[:, None]


def _fill(X: Table, labels: Array, K: int) -> Array:
    """Labels in which the points farthest from their means have got the missing clusters, as far as there are any."""
    labels = labels.copy()
    for new in range(int(labels.max()) + 1, K):
        means = cluster_means(X, labels)[labels]
        spread = np.asarray(X - means)
        distances = np.sum(spread * spread, axis=1)
        farthest = int(np.argmax(distances))
        if distances[farthest] <= 0:
            break
        labels[farthest] = new
    return in_order(labels)
