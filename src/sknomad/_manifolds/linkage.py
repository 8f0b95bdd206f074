"""The single-linkage tree of a solution: at which similarity its parts come together.

The similarity of two points is ``s_ij = Q_ij / sqrt(Q_ii Q_jj)``, the cosine of their angle in the space where ``Q`` is
the Gram matrix; heights are ``-log10 s``, decades of similarity. A part is a set of points that hang together and hold
at least one twentieth of all; smaller sets belong to the part that they join first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from .._numerics.arrays import Array, row_slices, to_numpy
from .._points.components import in_order
from .._points.forms import SoftPoint
from .._points.point import Point
from .._program.gram import Gram

# Rows of Q looked at together: bounds the memory at n times this many numbers.
BLOCK_ROWS = 512

# Sets of fewer than this share of all points are no parts of their own.
SMALLEST_SHARE = 0.05
# Similarities below this are zero, whatever the solver's accuracy.
FAINTEST = 1e-6
# Heights from here on all mean "apart": loosely solved problems leave similarities of this size between parts.
CEILING = 4.0
# Heights up to here all mean "together": a similarity of 0.8.
TOGETHER = 0.1
# Sets beyond which their distances are not measured.
MOST_MEASURED = 1000
# A tree speaks about parts only at heights where sets large enough hold this share of the points.
COVERED = 0.8


@dataclass(frozen=True)
class LinkageTree:
    """The links of a maximum spanning tree of similarities, and which of them join two parts.

    Parameters
    ----------
    first, second : arrays of shape (n - 1,)
        The two points of each link.
    heights : array of shape (n - 1,)
        ``-log10`` of their similarity, ascending; infinite where there is none above the noise.
    joins_parts : array of bool, shape (n - 1,)
        Whether both sides of the link are large enough to be parts.
    covered_from : float
        Height from which on most points are in sets large enough to be parts.
    """

    first: Array
    second: Array
    heights: Array
    joins_parts: Array
    covered_from: float

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.heights) + 1

    def components(self, height: float) -> Array:
        """Labels of the sets joined by links of at most `height`, by first appearance."""
        return self._labels(self.heights <= height)

    def count(self, height: float) -> int:
        """Number of parts at `height`: it falls as the height grows, down to one."""
        return 1 + int(np.sum(self.joins_parts & (self.heights > height)))

    def parts(self, height: float) -> Array:
        """Labels of the parts at `height`; sets that are too small belong to the part that they join first."""
        return self._labels(~(self.joins_parts & (self.heights > height)))

    def cut(self, count: int) -> Array:
        """Labels of exactly `count` parts.

        Their size is at least the smallest allowed, unless the tree has fewer such parts: then that size is halved
        until there are enough, down to single points.
        """
        smallest = smallest_part(self.n)
        joins = self.joins_parts
        while joins.sum() < count - 1 and smallest > 1:
            smallest = max(smallest // 2, 1)
            joins = _join_sets(self.first, self.second, smallest)[0]
        kept = np.ones(self.n - 1, dtype=bool)
        kept[np.flatnonzero(joins)[::-1][: count - 1]] = False
        return self._labels(kept)

    def persistence(self, count: int) -> float:
        """Decades of height over which there are `count` parts, on a logarithmic scale.

        With ``h_1 >= h_2 >= ...`` the heights of links that join parts, ``log10(h_{count-1} / h_count)``, both ends
        within what heights can tell: above `TOGETHER` and where parts cover the points, below `CEILING`.
        """
        splits = self.heights[self.joins_parts][::-1]
        if count - 1 > len(splits):
            return 0.0
        high = splits[count - 2] if count > 1 else CEILING
        low = max(splits[count - 1] if count - 1 < len(splits) else 0.0, self.covered_from, TOGETHER)
        return max(math.log10(min(high, CEILING) / low), 0.0) if high > 0 and math.isfinite(low) else 0.0

    def clearest(self) -> int:
        """The number of parts that persists longest, the smaller of equals."""
        return max(range(1, self.count(-math.inf) + 1), key=self.persistence)

    def _labels(self, kept: Array) -> Array:
        links = (np.ones(int(kept.sum())), (self.first[kept], self.second[kept]))
        return in_order(connected_components(sp.coo_array(links, shape=(self.n, self.n)), directed=False)[1])


def linkage_tree(point: Point, gram: Gram | None = None) -> LinkageTree:
    """The single-linkage tree of the similarities of a point.

    Similarities no larger than the most negative one are the solver's noise and count as none. What no similarity
    joins is joined to the largest set, at an infinite height; with the data, sets whose means are nearest come first.
    """
    similarity = similarities(point)
    # scipy takes a zero for a missing link, so heights are raised by one.
    links = sp.csr_array((1 - np.log10(similarity.data), similarity.indices, similarity.indptr), similarity.shape)
    forest = minimum_spanning_tree(links).tocoo()
    order = np.argsort(forest.data, kind="stable")
    first, second = forest.row[order].astype(np.int64), forest.col[order].astype(np.int64)
    bridges = _bridges(point.n, first, second, gram)
    first, second = np.r_[first, bridges[0]], np.r_[second, bridges[1]]
    heights = np.r_[np.maximum(forest.data[order] - 1, 0.0), np.full(len(bridges[0]), math.inf)]
    joins_parts, covered_at = _join_sets(first, second, smallest_part(point.n))
    covered_from = 0.0 if covered_at < 0 else float(heights[covered_at]) if covered_at < len(heights) else math.inf
    return LinkageTree(first, second, heights, joins_parts, covered_from)


def smallest_part(n: int) -> int:
    """Fewest points of a part: a twentieth, and never a single one where there are many."""
    return max(math.ceil(SMALLEST_SHARE * n), min(2, n // 2), 1)


def similarities(point: Point) -> sp.csr_array:
    """``Q_ij / sqrt(Q_ii Q_jj)`` of all pairs where it exceeds the noise, a sparse matrix without diagonal."""
    if isinstance(point, SoftPoint):
        found, floor = _soft_similarities(point), FAINTEST
    else:
        found, floor = _block_similarities(point)
    pairs = found.tocoo()
    row, column = pairs.row, pairs.col
    kept = (pairs.data > floor) & (row != column)
    return sp.csr_array((np.minimum(pairs.data[kept], 1.0), (row[kept], column[kept])), shape=(point.n, point.n))


def _soft_similarities(point: SoftPoint) -> sp.csr_array:
    """From the assignments alone: as sparse as their overlaps."""
    root = sp.csr_array(point.root())
    norms = np.sqrt(np.maximum(np.asarray(root.multiply(root).sum(axis=1)).ravel(), np.finfo(float).tiny))
    root = sp.diags_array(1 / norms) @ root
    return sp.csr_array(root @ root.T)


def _block_similarities(point: Point) -> tuple[sp.csr_array, float]:
    """From rows of any point, with the size of the noise: how negative similarities are that should be none."""
    diagonal = np.concatenate([np.diagonal(block, start) for start, block in _row_blocks(point)])
    scale = 1 / np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
    blocks, floor = [], FAINTEST
    for start, block in _row_blocks(point):
        S = block * scale[start : start + len(block), None] * scale
        floor = max(floor, -float(S.min()))
        blocks.append(sp.csr_array(S * np.greater(S, floor)))
    return sp.csr_array(sp.vstack(blocks)), floor


def _row_blocks(point: Point) -> Iterator[tuple[int, Array]]:
    for block in row_slices(point.n, BLOCK_ROWS):
        yield block.start, np.asarray(to_numpy(point.rows(block.start, block.stop)), dtype=np.float64)


def _bridges(n: int, first: Array, second: Array, gram: Gram | None) -> tuple[Array, Array]:
    """Links that tie connected sets together: those nearest to each other first, or all to the largest."""
    links = sp.coo_array((np.ones(len(first)), (first, second)), shape=(n, n))
    labels = connected_components(links, directed=False)[1]
    sizes = np.bincount(labels)
    member = np.zeros(len(sizes), dtype=np.int64)
    member[labels[::-1]] = np.arange(n)[::-1]  # the first point of each set
    if gram is not None and 1 < len(sizes) <= MOST_MEASURED:
        one, other = _nearest_sets(gram, labels, sizes)
        return member[one], member[other]
    order = np.argsort(sizes, kind="stable")
    return member[order[:-1]], np.full(len(sizes) - 1, member[order[-1]])


def _nearest_sets(gram: Gram, labels: Array, sizes: Array) -> tuple[Array, Array]:
    """Pairs of sets that join all of them, by the distances of their means, the nearest first."""
    H = np.zeros((len(labels), len(sizes)))
    H[np.arange(len(labels)), labels] = 1 / sizes[labels]
    M = H.T @ (gram @ H)
    lengths = np.sqrt(np.maximum(np.diagonal(M)[:, None] + np.diagonal(M) - 2 * M, 0))
    longest = float(lengths.max())
    # scipy takes a zero for a missing link.
    tree = minimum_spanning_tree(np.triu(lengths / (longest if longest > 0 else 1.0) + 1, 1)).tocoo()
    order = np.argsort(tree.data, kind="stable")
    return tree.row[order].astype(np.int64), tree.col[order].astype(np.int64)


def _join_sets(first: Array, second: Array, smallest: int) -> tuple[Array, int]:
    """Join sets link by link: which links join two of at least `smallest`, and which first leaves few points outside.

    The second is -1 if single points are large enough already.
    """
    n = len(first) + 1
    parent, size = list(range(n)), [1] * n
    joins = np.zeros(n - 1, dtype=bool)
    covered = n if smallest == 1 else 0
    covered_at = -1 if covered else n - 1

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for k in range(n - 1):
        a, b = root(int(first[k])), root(int(second[k]))
        if size[a] < size[b]:
            a, b = b, a
        joins[k] = size[b] >= smallest
        if size[a] + size[b] >= smallest:
            covered += sum(s for s in (size[a], size[b]) if s < smallest)
        parent[b], size[a] = a, size[a] + size[b]
        if covered_at == n - 1 and covered >= COVERED * n:
            covered_at = k
    return joins, covered_at


def cut_deepest(trees: list[LinkageTree], count: int) -> Array:
    """Exactly `count` parts, from the deepest layer that still has links enough to tell what belongs together.

    A layer that has fallen into more sets than that does not know how to join them.
    """
    for tree in reversed(trees):
        if int(np.sum(np.isinf(tree.heights) & tree.joins_parts)) < count:
            return tree.cut(count)
    return trees[0].cut(count)
