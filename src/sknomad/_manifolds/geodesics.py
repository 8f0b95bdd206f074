"""``Q`` as a sparse graph, and the lengths of shortest paths in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from .._numerics.arrays import Array, Sparse
from .._points.components import rows_above
from .._points.point import Point


def support(point: Point, threshold: float) -> Sparse:
    """The entries of ``Q`` whose similarity is above `threshold`, as a symmetric CSR matrix, made in row blocks."""
    Q = sp.vstack([rows for _, rows in rows_above(point, threshold)], format="csr")
    return (Q + Q.T) / 2


def geodesics(Q: Sparse, sources: int | Sequence[int] | Array | None = None) -> Array:
    """Lengths of shortest paths over the nonzero entries of a sparse ``Q``; infinite where no path leads.

    An edge is ``sqrt(Q_ii + Q_jj - 2 Q_ij)`` long, the distance of two rows of a root of ``Q``: distances add along
    paths where squares of distances do not.
    """
    indices = None if sources is None else np.asarray(sources)
    return np.asarray(dijkstra(edge_lengths(Q), directed=True, indices=indices))


def edge_lengths(Q: Sparse) -> Sparse:
    """The CSR matrix of edge lengths; a stored zero is an edge of length zero, between equal rows of ``Q``."""
    diagonal = Q.diagonal()
    graph = Q.tocoo()
    is_edge = graph.row != graph.col
    rows, columns = graph.row[is_edge], graph.col[is_edge]
    squares = diagonal[rows] + diagonal[columns] - 2 * graph.data[is_edge]
    lengths = np.sqrt(np.maximum(squares, 0))
    return sp.csr_matrix((lengths, (rows, columns)), shape=Q.shape)
