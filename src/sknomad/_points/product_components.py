"""Components of a graph whose weights are a product of sparse nonnegative matrices, without most of its entries.

With few cells almost every point is linked to the one that has most of its cell, which takes a look at each entry of a
factor. Components that are left apart can be linked only where the product with the largest entries of another one
exceeds the cut, and only those rows are formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._numerics.arrays import Array, row_slices

# Entries looked at together.
BLOCK_ENTRIES = 2**22
# Components beyond which a bound for each of them costs more than the entries themselves.
MOST_BOUNDED = 1000
# Relative rounding of a bound, generously.
ROUNDING = 1e-9


def product_components(left: Any, right: Any, cut: float) -> Array:
    """Labels of the components of the graph of the entries of ``left @ right`` above `cut`.

    Parameters
    ----------
    left, right : CSR matrices of shapes (n, r) and (r, n)
        Nonnegative; their product is symmetric but for rounding.
    cut : float
        Nonnegative.

    Returns
    -------
    array of shape (n,)
        From 0, in no particular order.

    Examples
    --------
    >>> V = sp.csr_matrix([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]])
    >>> product_components(V, V.T.tocsr(), 0.1).tolist()
    [0, 0, 1]
    """
    labels = join(np.arange(left.shape[0]), *_links_to_the_largest(left, right, cut))
    if labels.max() == 0:
        return labels
    rows = np.arange(left.shape[0]) if labels.max() >= MOST_BOUNDED else _may_be_linked(left, right, labels, cut)
    for block in row_slices(len(rows), max(1, BLOCK_ENTRIES // left.shape[0])):
        entries = (left[rows[block]] @ right).tocoo()
        is_link = entries.data > cut
        labels = join(labels, rows[block][entries.row[is_link]], entries.col[is_link])
    return labels


def join(labels: Array, first: Array, second: Array) -> Array:
    """Labels of the components that links between points make of components, from 0."""
    ends = (labels[first], labels[second])
    graph = sp.coo_matrix((np.ones(len(first), dtype=bool), ends), shape=(labels.max() + 1,) * 2)
    return connected_components(graph, directed=False)[1][labels]


def _links_to_the_largest(left: Any, right: Any, cut: float) -> tuple[Array, Array]:
    """Links of points to the one with the largest entry of a cell, where that cell alone suffices for them."""
    largest = right.max(axis=1).toarray().ravel()
    owner = np.asarray(right.argmax(axis=1)).ravel()
    entries = left.tocoo()
    is_link = entries.data * largest[entries.col] > cut
    return entries.row[is_link], owner[entries.col[is_link]]


def _may_be_linked(left: Any, right: Any, labels: Array, cut: float) -> Array:
    """The points that some other component than their own could hold a link to."""
    count = int(labels.max()) + 1
    largest = np.zeros((count, right.shape[0]))
    entries = right.tocoo()
    np.maximum.at(largest, (labels[entries.col], entries.row), entries.data)
    found = [np.empty(0, dtype=np.int64)]
    for block in row_slices(left.shape[0], max(1, BLOCK_ENTRIES // count)):
        bounds = left[block] @ largest.T
        bounds[np.arange(len(bounds)), labels[block]] = 0.0
        found.append(block.start + np.flatnonzero(bounds.max(axis=1) * (1 + ROUNDING) > cut))
    return np.concatenate(found)
