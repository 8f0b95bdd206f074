"""Links that jump to another turn of a manifold: one of them folds the whole sheet, so they are left out of ways.

Such a link is long, and without it and others as long its ends are far apart: the way over shorter links leads all
along the turn, where the detour around a hole in a sheet is a few times as long as the link across. A link is kept
where shorter ones leave its ends apart altogether. See docs/pictures.md.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from .._numerics.arrays import Array, Sparse

# Links up to this many times the median are never left out; ways between the ends of one lead over links up to this
# share of it, since links beside one that jumps jump as well; and so many times as long as the link they show that it
# does. Chosen on seeds 0 to 4 of benchmarks/unrolling.py.
LONG, SHORTER, FAR = 2.0, 0.8, 8.0
# Lengths that are judged by one graph of shorter links differ by this factor at most.
LEVEL = 1.15


def without_shortcuts(graph: Sparse) -> Sparse:
    """A symmetric graph of lengths without the links that jump.

    Examples
    --------
    >>> path = np.diag(np.ones(29), 1)
    >>> path[0, 29] = 2.5
    >>> kept = without_shortcuts(sp.csr_matrix(path + path.T))
    >>> kept.nnz, float(kept[0, 29])
    (58, 0.0)
    """
    links = sp.triu(graph).tocoo()
    i, j, length = links.row, links.col, links.data
    apart = length[length > np.finfo(float).tiny]  # equal points have links too
    if len(apart) == 0:
        return graph
    jumps = np.zeros(len(length), dtype=bool)
    is_long = length >= LONG * np.median(apart)
    level = np.floor(np.log(length) / np.log(LEVEL))
    for one in np.unique(level[is_long]):
        judged = np.flatnonzero(is_long & (level == one))
        jumps[judged] = _jump(_shorter(graph, SHORTER * LEVEL**one), i[judged], j[judged], length[judged])
    if not jumps.any():
        return graph
    left = sp.csr_matrix((length[~jumps], (i[~jumps], j[~jumps])), shape=graph.shape)
    return (left + left.T).tocsr()


def _jump(graph: Sparse, i: Array, j: Array, length: Array) -> Array:
    """Which links have ends that `graph` joins, but only by a way that is too long."""
    _, piece = connected_components(graph, directed=False)
    jumps = piece[i] == piece[j]
    sources, place = np.unique(i[jumps], return_inverse=True)
    if len(sources):
        ways = dijkstra(graph, directed=False, indices=sources, limit=FAR * float(length.max()))
        jumps[jumps] = ways[place, j[jumps]] > FAR * length[jumps]
    return jumps


def _shorter(graph: Sparse, most: float) -> Sparse:
    """The graph of links shorter than `most`."""
    links = graph.tocoo()
    kept = links.data < most
    return sp.csr_matrix((links.data[kept], (links.row[kept], links.col[kept])), shape=graph.shape)
