"""Embeddings: the leading eigenvectors of ``Q - J``, scaled by the roots of their eigenvalues."""

from __future__ import annotations

import numpy as np

from ._arrays import Array
from ._points import Point


def embed(point: Point, n_components: int, labels: Array | None = None) -> Array:
    """Coordinates of shape (n, n_components); each component of `labels` is embedded by itself.

    A component's coordinates come from its own block of ``Q``, centred, so that they do not depend on the other
    components and no eigenvector is mistaken for the vector of ones. Components of fewer points than dimensions
    get zeros in the remaining ones.
    """
    root = point.root()
    groups = [np.arange(point.n)] if labels is None else [np.flatnonzero(labels == k) for k in np.unique(labels)]
    coordinates = np.zeros((point.n, n_components))
    for members in groups:
        block = _leading_coordinates(root[members], n_components)
        coordinates[members, : block.shape[1]] = block
    return coordinates


def _leading_coordinates(root: Array, n_components: int) -> Array:
    """Principal coordinates of the rows of `root`: ``root z`` for the leading eigenvectors ``z`` of its covariance."""
    root = root - root.mean(axis=0)
    small = root.T @ root if root.shape[1] <= root.shape[0] else root @ root.T
    values, vectors = np.linalg.eigh(small)
    count = min(n_components, root.shape[0] - 1, vectors.shape[1])
    leading = vectors[:, ::-1][:, :count]
    if root.shape[1] > root.shape[0]:
        leading = leading * np.sqrt(np.maximum(values[::-1][:count], 0))
    else:
        leading = root @ leading
    return fix_signs(leading)


def fix_signs(columns: Array) -> Array:
    """Columns with the sign that makes their largest entry (in absolute value) positive."""
    if columns.shape[1] == 0:
        return columns
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None, :], axis=0)
    return columns * np.where(largest < 0, -1.0, 1.0)
