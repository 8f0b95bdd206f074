"""Isometric coordinates: every manifold laid flat, so that straight distances are the lengths of ways along it.

``Q`` says which points are neighbours, the data say how far apart they are. Ways lead over the nearest of each point's
links; classical scaling of their lengths gives the coordinates, in the units of the data. See docs/pictures.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from .._numerics.arrays import Array, Sparse, Table, leading_eigh, row_slices
from .._points.components import rows_above
from .._points.embedding import fix_signs
from .._points.point import Point
from .._program.gram import Gram
from .new_points import product, squared_norms
from .shortcuts import without_shortcuts

# Lengths of links of each point that ways lead over, the shortest: more of them jump to the next turn of a roll, fewer
# make detours. Links of one length, up to rounding, count once, so that neither the order of rows matters nor how often
# a point is given. Chosen on the first three seeds of benchmarks/unrolling.py.
NEAREST_LENGTHS = 6
SAME_LENGTH = 1 + 1e-9
# Up to so many points of a manifold ways between all are measured; beyond, those from some landmarks.
ALL_WAYS_UP_TO, LANDMARKS = 1000, 150
# Numbers of the data compared at a time.
BLOCK_ENTRIES = 2**19


def unroll(
    point: Point,
    gram: Gram,
    parts: Array,
    threshold: float,
    n_components: int,
    weights: Array | None = None,
    rings: Sequence[Array] = (),
    closing: Sequence[Array] = (),
    n_lengths: int = NEAREST_LENGTHS,
    links: Links | None = None,
) -> Array:
    """Isometric coordinates (n, n_components), each component of `parts` by itself, about its (weighted) mean.

    Ways lead over entries of ``Q`` of a similarity above `threshold`. Where these leave a component in pieces, the
    nearest points of two pieces are linked. The points of `rings`, curves that close, are linked each to the next: a
    wide gap in the sample would otherwise open them. Pairs of `closing` are linked when all is in one piece. Of each
    point's links those of the `n_lengths` shortest count, or `links` where they are known already.
    """
    lengths = Lengths(gram)
    known = links or measure_links(point, gram, parts, threshold, n_lengths)
    ways = known.graph
    for ring in rings:
        ways = _with_links(ways, lengths, ring, np.roll(ring, -1))
    by_part = np.argsort(parts, kind="stable")
    coordinates = np.zeros((point.n, n_components))
    for members in np.split(by_part, np.cumsum(np.bincount(parts))[:-1]):
        if len(members) > 1:
            graph = _in_one_piece(ways[members][:, members], lengths, members)
            for first, last in (np.searchsorted(members, ends) for ends in closing if np.isin(ends, members).all()):
                graph = _with_links(graph, lengths, np.array([first]), np.array([last]), members)
            own = np.full(len(members), 1 / len(members)) if weights is None else _shares(weights[members])
            block = _flatten(graph, own, n_components)
            coordinates[members, : block.shape[1]] = block
    return coordinates


class Links(NamedTuple):
    """Which links ways lead over."""

    graph: Sparse  # (n, n) symmetric, their lengths
    jumped: Array  # (n,) whether a link of the point was left out, because it jumps to another turn


def measure_links(point: Point, gram: Gram, parts: Array, threshold: float, n_lengths: int = NEAREST_LENGTHS) -> Links:
    """The nearest links of each point, without those that jump."""
    graph = _nearest_links(point, Lengths(gram), parts, threshold, n_lengths)
    kept = without_shortcuts(graph)
    return Links(kept, graph.getnnz(axis=1) > kept.getnnz(axis=1))


class Lengths:
    """Distances between the points of a Gram matrix, in its units: those of the data unless their scale is extreme."""

    def __init__(self, gram: Gram):
        self.kernel = None if gram.kernel is None else np.asarray(gram.table)
        self.rows = gram.table
        self.width = 1 if self.kernel is not None else max(1, gram.table.shape[1])

    def of(self, first: Array, second: Array) -> Array:
        """Distances of pairs of points, without cancellation where the points are rows."""
        found = np.empty(len(first))
        for block in row_slices(len(first), max(1, BLOCK_ENTRIES // self.width)):
            i, j = first[block], second[block]
            if self.kernel is None:
                squares = squared_norms(cast("Table", self.rows[i] - self.rows[j]))
            else:
                squares = self.kernel[i, i] + self.kernel[j, j] - 2 * self.kernel[i, j]
            found[block] = np.sqrt(np.maximum(squares, 0))
        return found

    def nearest(self, some: Array, others: Array) -> tuple[int, int]:
        """The points of two sets that are nearest to each other."""
        best = (math.inf, 0, 0)
        for block in row_slices(len(some), max(1, BLOCK_ENTRIES // len(others))):
            squares = self._squares(some[block], others)
            row, column = divmod(int(np.argmin(squares)), len(others))
            best = min(best, (float(squares[row, column]), int(some[block][row]), int(others[column])))
        return best[1], best[2]

    def _squares(self, some: Array, others: Array) -> Array:
        """Squared distances between two sets, good enough to compare."""
        if self.kernel is not None:
            diagonal = np.diagonal(self.kernel)
            return diagonal[some][:, None] + diagonal[others] - 2 * self.kernel[np.ix_(some, others)]
        products = product(self.rows[some], cast("Table", self.rows[others].T))
        return squared_norms(self.rows[some])[:, None] + squared_norms(self.rows[others]) - 2 * products


def _nearest_links(point: Point, lengths: Lengths, parts: Array, threshold: float, n_lengths: int) -> Sparse:
    """The symmetric graph of every point's nearest links to points of its own component."""
    rows, columns, found = [], [], []
    for block, entries in rows_above(point, threshold):
        links = entries.tocoo()
        i, j = links.row + block.start, links.col
        is_link = (i != j) & (parts[i] == parts[j])
        i, j = i[is_link], j[is_link]
        length = lengths.of(i, j)
        order = np.lexsort((length, i))
        i, j, length = i[order], j[order], length[order]
        kept = _rank_of_length(i, length) <= n_lengths
        rows.append(i[kept])
        columns.append(j[kept])
        found.append(length[kept])
    # A stored zero would be no link.
    data = np.maximum(np.concatenate(found), np.finfo(float).tiny)
    graph = sp.csr_matrix((data, (np.concatenate(rows), np.concatenate(columns))), shape=(point.n, point.n))
    return graph.maximum(graph.T).tocsr()


def _rank_of_length(i: Array, length: Array) -> Array:
    """How many different lengths, zero left aside, each link's is among those of its point; sorted by both."""
    is_first = np.ones(len(i), dtype=bool)
    is_first[1:] = i[1:] != i[:-1]
    is_longer = length > 0
    is_longer[1:] &= is_first[1:] | (length[1:] > SAME_LENGTH * length[:-1])
    steps = np.cumsum(is_longer)
    before: Array = (steps - is_longer)[is_first]
    return np.asarray(steps - np.repeat(before, np.diff(np.append(np.flatnonzero(is_first), len(i)))))


def _in_one_piece(graph: Sparse, lengths: Lengths, members: Array) -> Sparse:
    """The graph with the pieces it falls into linked, each to the nearest other until there is one."""
    count, piece = connected_components(graph, directed=False)
    while count > 1:
        order = np.argsort(np.bincount(piece), kind="stable")[:-1]  # the largest waits to be joined
        pairs = [lengths.nearest(members[piece == name], members[piece != name]) for name in order.tolist()]
        ends = np.searchsorted(members, np.array(pairs)).T
        graph = _with_links(graph, lengths, ends[0], ends[1], members)
        count, piece = connected_components(graph, directed=False)
    return graph


def _with_links(graph: Sparse, lengths: Lengths, first: Array, second: Array, members: Array | None = None) -> Sparse:
    """The graph with links between further pairs; its points are `members` of the data."""
    i, j = (first, second) if members is None else (members[first], members[second])
    length = np.maximum(lengths.of(i, j), np.finfo(float).tiny)
    link = sp.csr_matrix((length, (first, second)), shape=graph.shape)
    return graph.maximum(link).maximum(link.T).tocsr()


def _flatten(graph: Sparse, shares: Array, n_components: int) -> Array:
    """Coordinates whose distances are the lengths of shortest ways in `graph`."""
    if graph.shape[0] <= ALL_WAYS_UP_TO:
        ways = np.asarray(dijkstra(graph, directed=False))
        return _classical_scaling((ways + ways.T) / 2, shares, n_components)
    landmarks, ways = _spread_landmarks(graph)
    near = _classical_scaling(ways[:, landmarks], np.full(len(landmarks), 1 / len(landmarks)), n_components)
    # Each point by its distances to the landmarks, the least squares answer.
    sizes = np.sum(near**2, axis=0)
    squares = ways**2
    moved = squares - np.mean(ways[:, landmarks] ** 2, axis=1)[:, None]
    placed = -0.5 * moved.T @ (near / np.where(sizes > 0, sizes, 1))
    placed = placed - shares @ placed
    axes = np.linalg.eigh((placed * shares[:, None]).T @ placed)[1][:, ::-1]
    return fix_signs(placed @ axes)


def _spread_landmarks(graph: Sparse) -> tuple[Array, Array]:
    """Points far from each other, one after the other, and the lengths of the ways from each to all points."""
    far = _ways_from(graph, 0)
    landmarks, ways = [int(np.argmax(far))], []
    nearest = np.full(graph.shape[0], np.inf)
    while True:
        ways.append(_ways_from(graph, landmarks[-1]))
        nearest = np.minimum(nearest, ways[-1])
        if len(landmarks) == LANDMARKS:
            return np.array(landmarks), np.array(ways)
        landmarks.append(int(np.argmax(nearest)))


def _ways_from(graph: Sparse, point: int) -> Array:
    return np.asarray(dijkstra(graph, directed=False, indices=np.array([point])))[0]


def _classical_scaling(ways: Array, shares: Array, n_components: int) -> Array:
    """Classical scaling about the weighted mean: equal to that of as many equal points as weights say."""
    squares = ways**2
    mean = squares @ shares
    roots = np.sqrt(shares)
    centred = -0.5 * (squares - mean - mean[:, None] + shares @ mean) * np.outer(roots, roots)
    values, vectors = leading_eigh(centred, min(n_components, len(ways) - 1))
    return fix_signs(vectors / roots[:, None] * np.sqrt(np.maximum(values, 0)))


def _shares(weights: Array) -> Array:
    return weights / weights.sum()
