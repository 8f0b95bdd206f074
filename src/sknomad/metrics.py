"""How well an embedding or a ``Q`` does: geodesics, neighbourhoods, order along a closed curve, hardness."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

from ._numerics.arrays import row_slices
from ._numerics.validation import check_integer, check_real

__all__ = [
    "active_modes", "bullseye_score", "circular_rank_correlation", "continuity", "graph_geodesics", "hardness",
    "trustworthiness",
]  # fmt: skip

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Distances formed at a time: rows times points.
BLOCK_ENTRIES = 2**22


def graph_geodesics(X: ArrayLike, n_neighbors: int) -> Floats:
    """Lengths of shortest paths in the graph of nearest neighbours.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_neighbors : int
        Neighbours of each point, the point itself among them, as the paper counts.

    Returns
    -------
    array of shape (n, n)
        Infinite where no path leads.

    Examples
    --------
    >>> graph_geodesics([[0.0], [1.0], [3.0]], 2)[0]
    array([0., 1., 3.])
    """
    points: Floats = check_array(X, dtype=np.float64)
    check_integer(n_neighbors, "n_neighbors", 2)
    if n_neighbors > len(points):
        raise ValueError(f"n_neighbors must be at most n_samples={len(points)}, got {n_neighbors}.")
    graph = kneighbors_graph(points, n_neighbors - 1, mode="distance")
    return np.asarray(dijkstra(graph, directed=False))


def bullseye_score(true_distances: ArrayLike, distances: ArrayLike, percentiles: ArrayLike) -> Floats:
    """Share of each point's nearest points that two matrices of distances agree on, averaged over points.

    At percentile p, the ``s = max(floor(n p / 100), 1)`` nearest of each point, itself first; ties go to the lower
    index.

    Parameters
    ----------
    true_distances, distances : array-like of shape (n, n)
        Infinite entries are allowed and come last.
    percentiles : array-like of float
        In (0, 100].

    Returns
    -------
    array
        One score in [0, 1] per percentile.

    Examples
    --------
    >>> D = [[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]]
    >>> bullseye_score(D, D, [50, 100])
    array([1., 1.])
    """
    truth, other = (_order_by_distance(D, name) for D, name in ((true_distances, "true_"), (distances, "")))
    if truth.shape != other.shape:
        raise ValueError(f"distances must have the shape of true_distances, {truth.shape}, got {other.shape}.")
    n = len(truth)
    position = np.empty_like(truth)
    np.put_along_axis(position, truth, np.arange(n)[None, :], axis=1)
    scores = []
    for p in np.atleast_1d(np.asarray(percentiles, dtype=float)):
        check_real(float(p), "percentiles", math.nextafter(0, 1), 100, "real numbers in (0, 100]")
        size = max(math.floor(n * p / 100), 1)
        scores.append(np.mean(np.take_along_axis(position, other[:, :size], axis=1) < size))
    return np.array(scores)


def _order_by_distance(distances: ArrayLike, prefix: str) -> Indices:
    """Indices of all points from each, nearest first and the point itself before all."""
    D = np.array(distances, dtype=float)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"{prefix}distances must be a square matrix, got shape {D.shape}.")
    if np.isnan(D).any():
        raise ValueError(
            f"{prefix}distances must not hold NaN, got {int(np.isnan(D).sum())}. Use inf where unreachable."
        )
    np.fill_diagonal(D, -np.inf)
    return np.argsort(D, axis=1, kind="stable")


def trustworthiness(X: ArrayLike, embedding: ArrayLike, n_neighbors: int = 5) -> float:
    """How far neighbours in an embedding are neighbours in the data, in row blocks of bounded memory.

    ``1 - 2/(n k (2n - 3k - 1)) sum_i sum_j max(0, r(i, j) - k)`` over the ``k`` nearest ``j`` of ``i`` in the
    embedding, ``r`` being the rank among neighbours in the data. 1 is perfect; see also `continuity`.

    Parameters
    ----------
    X : array-like of shape (n, d)
    embedding : array-like of shape (n, p)
    n_neighbors : int, default=5
        Less than n/2.

    Returns
    -------
    float

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [3.0, 0.0], [4.0, 0.2]]
    >>> trustworthiness(X, [[row[0]] for row in X], n_neighbors=2)
    1.0
    """
    return _rank_agreement(X, embedding, n_neighbors)


def continuity(X: ArrayLike, embedding: ArrayLike, n_neighbors: int = 5) -> float:
    """How far neighbours in the data stay neighbours in an embedding: `trustworthiness` with the roles exchanged.

    Parameters
    ----------
    X : array-like of shape (n, d)
    embedding : array-like of shape (n, p)
    n_neighbors : int, default=5

    Returns
    -------
    float

    Examples
    --------
    >>> continuity([[0.0], [1.0], [2.0], [3.0], [4.0]], [[0.0], [1.0], [2.0], [3.0], [4.0]], n_neighbors=2)
    1.0
    """
    return _rank_agreement(embedding, X, n_neighbors)


def _rank_agreement(ranked_by: ArrayLike, chosen_by: ArrayLike, k: int) -> float:
    ranked: Floats = check_array(ranked_by, dtype=np.float64)
    chosen: Floats = check_array(chosen_by, dtype=np.float64)
    n = len(ranked)
    if len(chosen) != n:
        raise ValueError(f"embedding must have as many rows as X, got {len(chosen)} and {n}.")
    check_integer(k, "n_neighbors", 1)
    if not k < n / 2:
        raise ValueError(f"n_neighbors must be less than n_samples / 2 = {n / 2}, got {k}.")
    excess = 0
    for block, among_ranked in _neighbour_orders(ranked):
        rank = np.empty_like(among_ranked)
        np.put_along_axis(rank, among_ranked, np.arange(n)[None, :], axis=1)
        nearest = _orders(chosen, block)[:, 1 : k + 1]
        excess += int(np.maximum(np.take_along_axis(rank, nearest, axis=1) - k, 0).sum())
    return 1 - excess * 2 / (n * k * (2 * n - 3 * k - 1))


def _neighbour_orders(X: Floats) -> Iterator[tuple[slice, Indices]]:
    for block in row_slices(len(X), max(1, BLOCK_ENTRIES // len(X))):
        yield block, _orders(X, block)


def _orders(X: Floats, block: slice) -> Indices:
    """For some rows all points, nearest first; a row itself comes first even among duplicates."""
    squares = np.sum(X * X, axis=1)
    distances = squares[block, None] + squares[None, :] - 2 * (X[block] @ X.T)
    distances[np.arange(block.stop - block.start), np.arange(block.start, block.stop)] = -np.inf
    return np.argsort(distances, axis=1, kind="stable")


def circular_rank_correlation(angle: ArrayLike, order: ArrayLike) -> float:
    """Agreement of two cyclic orders: 1 when they are the same up to rotation and reflection.

    With ``a, b = 2 pi rank / n`` it is ``max(|mean exp(i(a - b))|, |mean exp(i(a + b))|)``.

    Parameters
    ----------
    angle : array-like of shape (n,)
        Recovered positions; only their order matters.
    order : array-like of shape (n,)
        True positions; only their order matters.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> circular_rank_correlation([0.3, 0.2, 0.1, 0.9], [2, 3, 4, 1])
    1.0
    """
    a, b = (_rank_angles(values, name) for values, name in ((angle, "angle"), (order, "order")))
    if len(a) != len(b):
        raise ValueError(f"angle and order must have the same length, got {len(a)} and {len(b)}.")
    same, reflected = abs(np.mean(np.exp(1j * (a - b)))), abs(np.mean(np.exp(1j * (a + b))))
    return round(float(max(same, reflected)), 15)


def _rank_angles(given: ArrayLike, name: str) -> Floats:
    values = np.asarray(given, dtype=float)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} must be a non-empty vector of finite numbers, got shape {values.shape}.")
    ranks = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return 2 * np.pi * ranks / len(values)


def hardness(Q: ArrayLike) -> float:
    """``|Q|_F^2 / tr Q``: 1 exactly for hard clusterings (projections), ``K/n`` at the softest.

    Parameters
    ----------
    Q : array-like of shape (n, n)
        Feasible.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    >>> hardness([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    1.0
    """
    matrix = _square(Q)
    return float(np.sum(matrix * matrix) / np.trace(matrix))


def active_modes(Q: ArrayLike, threshold: float | None = None) -> int:
    """Number of eigenvalues of ``Q`` that count.

    Parameters
    ----------
    Q : array-like of shape (n, n)
        Feasible.
    threshold : float, optional
        Smallest eigenvalue that counts. None is ``K/(10 n)`` with ``K = tr Q``, the rule behind the paper's figure; the
        number depends on it, so name it wherever the number is used.

    Returns
    -------
    int

    Examples
    --------
    >>> active_modes([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    2
    """
    matrix = _square(Q)
    if threshold is None:
        threshold = float(np.trace(matrix)) / (10 * len(matrix))
    check_real(threshold, "threshold", 0, math.inf, "a nonnegative real number")
    return int(np.sum(np.linalg.eigvalsh((matrix + matrix.T) / 2) >= threshold))


def _square(Q: ArrayLike) -> Floats:
    matrix: Floats = check_array(Q, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"Q must be a square matrix, got shape {matrix.shape}.")
    return matrix
