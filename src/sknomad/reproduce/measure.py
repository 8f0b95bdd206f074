"""What the experiments measure: order along closed curves, circulance, and what neighbours have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import svd_flip

Array = NDArray[np.float64]


def recovered_angle(embedding: Array) -> Array:
    """Angle of each point of a 2-D embedding about its mean."""
    x, y = (embedding - embedding.mean(axis=0)).T[:2]
    return np.arctan2(y, x)


def winding_number(embedding: Array) -> float:
    """How often the closed polygon through points in their order goes round their mean.

    Examples
    --------
    >>> winding_number(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
    1.0
    """
    angle = recovered_angle(embedding)
    steps = np.diff(angle, append=angle[0])
    return round(abs(float(np.sum((steps + np.pi) % (2 * np.pi) - np.pi))) / (2 * np.pi), 9)


def circulance_error(Q: Array) -> float:
    """Relative distance, in the Frobenius norm, of a matrix from the nearest circulant one.

    Examples
    --------
    >>> circulance_error(np.eye(3))
    0.0
    """
    lag = np.subtract.outer(np.arange(len(Q)), np.arange(len(Q))) % len(Q)
    means = np.bincount(lag.ravel(), Q.ravel()) / len(Q)
    return float(np.linalg.norm(Q - means[lag]) / np.linalg.norm(Q))


def principal_plane(X: Array) -> Array:
    """First two principal components of the rows of `X`."""
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return svd_flip(left[:, :2] * singular[:2], None)[0]


def nearest(points: Array, count: int) -> NDArray[np.intp]:
    """Indices of the `count` nearest other points of each, of shape (n, count)."""
    squares = np.sum(points**2, axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :count]


def strongest(Q: Array, count: int) -> NDArray[np.intp]:
    """Indices of the `count` other points with the largest entries of each row of ``Q``."""
    weights = Q.copy()
    np.fill_diagonal(weights, -np.inf)
    return np.argsort(-weights, axis=1, kind="stable")[:, :count]


def purity(neighbours: NDArray[np.intp], target: NDArray[np.int64] | NDArray[np.float64]) -> float:
    """Share of neighbours that have the target of their point."""
    return float(np.mean(target[neighbours] == target[:, None]))


def explained(neighbours: NDArray[np.intp], values: Array) -> float:
    """Share of the variance of `values` explained by the mean over a point's neighbours, without itself.

    Examples
    --------
    >>> explained(np.array([[1], [0], [3], [2]]), np.array([1.0, 1.0, 5.0, 5.0]))
    1.0
    """
    residual = values - values[neighbours].mean(axis=1)
    return float(1 - np.mean(residual**2) / np.var(values))


def exponent(n: ArrayLike, seconds: ArrayLike) -> float:
    """Slope of seconds against n on logarithmic axes.

    Examples
    --------
    >>> round(exponent([10, 20, 40], [1.0, 4.0, 16.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])
