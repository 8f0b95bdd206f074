"""``Q`` as a sparse graph, and the lengths of shortest paths in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from .._numerics.arrays import Array, Sparse
from .._points.components import rows_above
from .._points.point import Point

# Nearest points of each that ways round are sought through: more drop few further edges.
DETOURS = 16


def support(point: Point, threshold: float) -> Sparse:
    """The entries of ``Q`` above `threshold` times the largest, as a symmetric CSR matrix, made in row blocks."""
    Q = sp.vstack([rows for _, rows in rows_above(point, threshold)], format="csr")
    return (Q + Q.T) / 2


def geodesics(Q: Sparse, sources: int | Sequence[int] | Array | None = None) -> Array:
    """Lengths of shortest paths over the nonzero entries of a sparse ``Q``; infinite where no path leads.

    An edge is ``Q_ii + Q_jj - 2 Q_ij`` long.
    """
    indices = None if sources is None else np.asarray(sources)
    return np.asarray(dijkstra(without_detours(edge_lengths(Q)), directed=True, indices=indices))


def edge_lengths(Q: Sparse) -> Sparse:
    """The CSR matrix of edge lengths; a stored zero is an edge of length zero, between equal rows of ``Q``."""
    diagonal = Q.diagonal()
    graph = Q.tocoo()
    is_edge = graph.row != graph.col
    rows, columns = graph.row[is_edge], graph.col[is_edge]
    lengths = np.maximum(diagonal[rows] + diagonal[columns] - 2 * graph.data[is_edge], 0)
    return sp.csr_matrix((lengths, (rows, columns)), shape=Q.shape)


def without_detours(graph: Sparse) -> Sparse:
    """The graph without the edges that two others undercut: no shortest path has one.

    Lengths are squared distances, so most edges of a neighbourhood go: on a ring only those to the next points stay.
    Both edges of a shorter way round are shorter than the edge they replace, so by induction every length of a shortest
    path stays what it is.
    """
    kept = np.ones(graph.nnz, dtype=bool)
    ways = np.full(graph.shape[0], np.inf)
    for i in range(graph.shape[0]):
        edges = slice(graph.indptr[i], graph.indptr[i + 1])
        near, lengths = graph.indices[edges], graph.data[edges]
        for k in np.argsort(lengths)[:DETOURS]:
            onward = slice(graph.indptr[near[k]], graph.indptr[near[k] + 1])
            reached = graph.indices[onward]
            ways[reached] = np.minimum(ways[reached], lengths[k] + graph.data[onward])
        kept[edges] = ways[near] >= lengths
        ways.fill(np.inf)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))[kept]
    return sp.csr_matrix((graph.data[kept], (rows, graph.indices[kept])), shape=graph.shape)
