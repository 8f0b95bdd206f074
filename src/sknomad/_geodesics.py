"""``Q`` as a sparse graph, and the lengths of shortest paths in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from ._arrays import Array, row_slices, to_numpy
from ._points import Point, entries

# Entries of Q formed at a time.
BLOCK_ENTRIES = 2**22


def support(point: Point, threshold: float) -> Any:
    """The entries of ``Q`` above `threshold` times the largest, as a symmetric CSR matrix, made in row blocks."""
    n = point.n
    # A psd matrix has its largest entry on the diagonal.
    cut = threshold * float(entries(point, np.arange(n), np.arange(n)).max())
    blocks = []
    for block in row_slices(n, max(1, BLOCK_ENTRIES // n)):
        rows = np.asarray(to_numpy(point.rows(block.start, block.stop)), dtype=np.float64)
        blocks.append(sp.csr_matrix(np.where(rows > cut, rows, 0.0)))
    Q = sp.vstack(blocks, format="csr")
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
