"""Manifolds: the connected components of the graph whose weights are the entries of ``Q``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ._arrays import Array, row_slices, to_numpy
from ._points import Point

# Rows of Q looked at together: bounds the memory at n times this many numbers.
BLOCK_ROWS = 512


def find_manifolds(point: Point, threshold: float) -> Array:
    """Label of each point's component in the graph of entries above `threshold` times the largest.

    Labels count from 0 in the order in which components first appear.
    """
    cut = threshold * max(float(block.max()) for block in _row_blocks(point))
    graph = sp.vstack([sp.csr_matrix(block > cut) for block in _row_blocks(point)])
    _, labels = connected_components(graph, directed=False)
    return _by_first_appearance(labels)


def name_manifolds(parts: Array, min_size: int) -> Array:
    """The label of every component: -1 below `min_size` points, the others counted from 0."""
    is_large = np.bincount(parts) >= min_size
    return np.where(is_large, np.cumsum(is_large) - 1, -1)


def _row_blocks(point: Point) -> Iterator[Array]:
    for block in row_slices(point.n, BLOCK_ROWS):
        yield np.asarray(to_numpy(point.rows(block.start, block.stop)))


def _by_first_appearance(labels: Array) -> Array:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
