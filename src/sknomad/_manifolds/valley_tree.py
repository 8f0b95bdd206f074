"""Valley trees: which peaks of density stand out, and where the valleys between them run.

Links are taken from the highest level down. Where one joins two sets of points, the lower of their peaks ends; how far
it stood above the link is its *prominence* (0-dimensional persistence). Dropping all links of at least some prominence
leaves the parts whose peaks stand out by as much, so that one tree serves every prominence asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._numerics.arrays import Array
from .._points.components import in_order
from .look import FAINTEST, Landscape, Look

# A part has at least this share of the points, and at least three; smaller sets join what they meet first.
SMALLEST_SHARE, FEWEST_POINTS = 0.02, 3


@dataclass(frozen=True)
class ValleyTree:
    """The links of a maximum spanning tree of levels, highest first."""

    first: Array  # (n - 1,) ends of the links
    second: Array  # (n - 1,)
    levels: Array  # (n - 1,) at which they join
    prominence: Array  # (n - 1,) of the peak that ends there; 0 where one side is too small to be a part
    smaller_side: Array  # (n - 1,) points on the smaller side, by their masses

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.levels) + 1

    def without(self, dropped: Array) -> Array:
        """Labels of what hangs together without the dropped links, by first appearance."""
        kept = ~dropped
        links = sp.coo_array((np.ones(int(kept.sum())), (self.first[kept], self.second[kept])), shape=(self.n, self.n))
        return in_order(connected_components(links, directed=False)[1])

    def cut(self, n_parts: int) -> Array | None:
        """Labels of the `n_parts` most prominent parts; None where there are not so many."""
        order = np.argsort(-self.prominence, kind="stable")[: n_parts - 1]
        if len(order) < n_parts - 1 or self.prominence[order].min(initial=math.inf) <= 0:
            return None
        dropped = np.zeros(self.n - 1, dtype=bool)
        dropped[order] = True
        return self.without(dropped)

    def highest_prominence(self, share: float) -> float:
        """The largest prominence with at least `share` of the points on either side."""
        return float(self.prominence[self.smaller_side >= share * self.n].max(initial=0.0))


def valley_tree(look: Look, landscape: Landscape, smallest: int) -> ValleyTree:
    """The tree of one look; sets of fewer than `smallest` points are no parts, and their peaks do not count.

    Examples
    --------
    >>> from sknomad._manifolds.look import make_look
    >>> look = make_look(2.0, np.kron(np.eye(2), np.full((4, 4), 1 / 4)))
    >>> valley_tree(look, Landscape.PLAIN, 3).cut(2).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    links = look.spanning_trees[landscape]
    sets = _GrowingSets(look.density[landscape], look.masses)
    joins = zip(links.first.tolist(), links.second.tolist(), links.levels.tolist(), strict=True)
    ends = [sets.join(i, j, level, smallest) for i, j, level in joins]
    side, prominence = np.array(ends).reshape(-1, 2).T
    return ValleyTree(links.first, links.second, links.levels, prominence, side)


class _GrowingSets:
    """Sets of points that are joined one link at a time, with their sizes (the sums of masses) and peaks."""

    def __init__(self, density: Array, masses: Array):
        self.parent, self.size, self.peak = list(range(len(density))), masses.tolist(), density.tolist()

    def root(self, i: int) -> int:
        """The point that stands for the set of point `i`."""
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, i: int, j: int, level: float, smallest: float) -> tuple[float, float]:
        """Join the sets of two points; returns the size of the smaller and by how much the lower peak stood out."""
        a, b = self.root(i), self.root(j)
        if self.size[a] < self.size[b]:
            a, b = b, a
        smaller = self.size[b]
        prominence = min(self.peak[a], self.peak[b]) - level if smaller >= smallest else 0.0
        if smaller >= smallest or self.size[a] < smallest:
            self.peak[a] = max(self.peak[a], self.peak[b])
        self.parent[b], self.size[a] = a, self.size[a] + smaller
        return smaller, prominence


def prominences_between(look: Look, labels: Array) -> Array:
    """How far the lower peak stands out whenever two of the given parts join; one number less than there are parts.

    Parts join by links of the spanning tree, or faintly, by how high the lower of their peaks is. Of the faint ways
    those to the highest peak are enough: no other is higher for either end.
    """
    links, count = look.spanning_trees[Landscape.PLAIN], int(labels.max()) + 1
    peak = np.full(count, -np.inf)
    np.maximum.at(peak, labels, look.density[Landscape.PLAIN])
    first, second = labels[links.first], labels[links.second]
    between = np.flatnonzero(first != second)
    others = np.delete(np.arange(count), peak.argmax())
    first, second = np.r_[first[between], np.full(count - 1, peak.argmax())], np.r_[second[between], others]
    faintest = np.minimum(peak[first], peak[second]) + Landscape.PLAIN.value * math.log(FAINTEST)
    levels = np.maximum(faintest, np.r_[links.levels[between], np.full(count - 1, -np.inf)])
    order = np.argsort(-levels, kind="stable")
    sets = _GrowingSets(peak, np.ones(count))
    merges = zip(first[order].tolist(), second[order].tolist(), levels[order].tolist(), strict=True)
    joins = (sets.join(a, b, level, 1)[1] for a, b, level in merges if sets.root(a) != sets.root(b))
    return np.maximum(list(islice(joins, count - 1)), 0.0)


def smallest_part(n: int, share: float = SMALLEST_SHARE) -> int:
    """Fewest points of a part."""
    return max(FEWEST_POINTS, math.ceil(share * n))
