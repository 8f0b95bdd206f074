"""Embeddings: the leading eigenvectors of ``Q - J``, scaled by the roots of their eigenvalues."""

from __future__ import annotations

import numpy as np

from .._numerics.arrays import Array
from .._program.centring import mean_of_rows
from .point import Point


def embed(point: Point, n_components: int, labels: Array | None = None, roots: Array | None = None) -> Array:
    """Coordinates of shape (n, n_components); each component of `labels` is embedded by itself.

    A component's coordinates come from its own block of ``Q``, centred, so that they do not depend on the other
    components and no eigenvector is mistaken for the vector of ones. Components of fewer points than dimensions
    get zeros in the remaining ones. With `roots`, of weights, the coordinates are those of as many equal points.
    """
    root = point.root() if roots is None else point.root() / roots[:, None]
    groups = [np.arange(point.n)] if labels is None else [np.flatnonzero(labels == k) for k in np.unique(labels)]
    coordinates = np.zeros((point.n, n_components))
    for members in groups:
        block = _leading_coordinates(root[members], n_components, None if roots is None else roots[members])
        coordinates[members, : block.shape[1]] = block
    return coordinates


def _leading_coordinates(root: Array, n_components: int, roots: Array | None) -> Array:
    """Principal coordinates of the rows of `root`: ``root z`` for the leading eigenvectors ``z`` of its covariance."""
    root = root - mean_of_rows(root, roots)
    return root @ leading_directions(root, n_components, roots)


def leading_directions(centred: Array, n_components: int, roots: Array | None = None) -> Array:
    """The leading eigenvectors of the covariance of centred rows, at most `n_components` and one less than rows.

    Their signs are those for which the largest coordinate of any row is positive. With `roots`, of weights, the
    covariance is weighted.
    """
    root = centred if roots is None else centred * roots[:, None]
    if root.shape[1] <= root.shape[0]:
        _, vectors = np.linalg.eigh(root.T @ root)
        directions = vectors[:, ::-1]
    else:
        values, vectors = np.linalg.eigh(root @ root.T)
        sizes = np.sqrt(np.maximum(values, 0))
        directions = (root.T @ (vectors / np.where(sizes > 0, sizes, 1)))[:, ::-1]
    directions = directions[:, : min(n_components, root.shape[0] - 1)]
    return directions * _signs(centred @ directions)


def fix_signs(columns: Array) -> Array:
    """Columns with the sign that makes their largest entry (in absolute value) positive."""
    return columns * _signs(columns)


def _signs(columns: Array) -> Array:
    if columns.shape[1] == 0:
        return np.ones(0)
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None, :], axis=0)
    return np.where(largest < 0, -1.0, 1.0)[0]
