"""``Q`` as a sparse graph, and the lengths of shortest paths in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from ._arrays import Array
from ._manifolds import rows_above
from ._points import Point


def support(point: Point, threshold: float) -> Any:
    """The entries of ``Q`` above `threshold` times the largest, as a symmetric CSR matrix, made in row blocks."""
    Q = sp.vstack([rows for _, rows in rows_above(point, threshold)], format="csr")
    return (Q + Q.T) / 2


def geodesics(Q: Any, sources: Array | None = None) -> Array:
    """Lengths of shortest paths over the nonzero entries of a sparse ``Q``; infinite where no path leads.

    An edge is ``Q_ii + Q_jj - 2 Q_ij`` long.
    """
    diagonal = Q.diagonal()
    graph = Q.tocoo()
    lengths = np.maximum(diagonal[graph.row] + diagonal[graph.col] - 2 * graph.data, 0)
    # A stored zero is an edge of length zero: equal rows of Q are at no distance.
    graph = sp.csr_matrix((lengths, (graph.row, graph.col)), shape=Q.shape)
    return np.asarray(dijkstra(graph, directed=True, indices=sources))
