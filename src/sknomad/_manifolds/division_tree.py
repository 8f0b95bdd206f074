"""The divisions of a solution over all thresholds: which sets of points come together at which similarity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._files.records import saved
from .._numerics.arrays import Array
from .linkage import LinkageTree

# A branch has at least this share of all points, and at least three; smaller sets are part of the branch they join.
SMALLEST_SHARE, FEWEST_POINTS = 0.02, 3
# Heights up to here all mean "together": a similarity of a half.
TOGETHER = 0.3
# A branch has the label of this share of its points, if there is one.
OF_ONE_MANIFOLD = 0.95


@saved
@dataclass(frozen=True)
class DivisionTree:
    """Branches of a single-linkage tree that are large enough to see, each until it joins another.

    Heights are decades of similarity, ``-log10(Q_ij / sqrt(Q_ii Q_jj))``: 0 is together, infinity is apart.
    """

    parent: Array  # (b,) the branch that each ends in, -1 for the last
    born: Array  # (b,) height at which it is large enough, or at which two branches became it
    ends: Array  # (b,) height at which it joins another
    sizes: Array  # (b,) its points when it ends
    labels: Array  # (b,) the manifold that nearly all of its points belong to, -1 where they belong to several

    @property
    def middles(self) -> Array:
        """Where each branch lies from left to right, in points: above the branch it ends in, beside its sisters."""
        left, used = np.zeros(len(self.parent)), np.zeros(len(self.parent))
        beginning = 0.0
        for k in range(len(self.parent))[::-1]:  # a branch comes after those that end in it
            above = int(self.parent[k])
            if above < 0:
                left[k], beginning = beginning, beginning + float(self.sizes[k])
            else:
                left[k], used[above] = left[above] + used[above], used[above] + float(self.sizes[k])
        return left + self.sizes / 2


def division_tree(tree: LinkageTree, labels: Array) -> DivisionTree:
    """The branches of a linkage tree, with the `labels` of their points.

    Examples
    --------
    >>> first, second, heights = np.array([0, 1, 3, 4, 0]), np.array([1, 2, 4, 5, 3]), np.array([0.1, 0.2, 0.1, 0.3, 2])
    >>> linkage = LinkageTree(first, second, heights, heights > 1, 0.0)
    >>> found = division_tree(linkage, np.array([0, 0, 0, 1, 1, 1]))
    >>> found.parent.tolist(), found.ends.tolist(), found.labels.tolist()
    ([2, 2, -1], [2.0, 2.0, inf], [0, 1, -1])
    """
    smallest = max(FEWEST_POINTS, math.ceil(SMALLEST_SHARE * tree.n))
    growing = _Growing(labels, smallest)
    for i, j, height in zip(tree.first.tolist(), tree.second.tolist(), tree.heights.tolist(), strict=True):
        growing.join(i, j, height)
    return growing.tree()


class _Growing:
    """Sets of points joined link by link, and the branches they have become."""

    def __init__(self, labels: Array, smallest: int):
        n = len(labels)
        self.smallest, self.root_of, self.members = smallest, list(range(n)), [[i] for i in range(n)]
        self.branch: list[int | None] = [None] * n
        self.labels = labels
        self.parent: list[int] = []
        self.born: list[float] = []
        self.ends: list[float] = []
        self.points: list[list[int]] = []

    def root(self, i: int) -> int:
        """The point that stands for the set of point `i`."""
        while self.root_of[i] != i:
            self.root_of[i] = self.root_of[self.root_of[i]]
            i = self.root_of[i]
        return i

    def join(self, i: int, j: int, height: float) -> None:
        """Join the sets of two points; two branches end there, and a new one begins."""
        a, b = self.root(i), self.root(j)
        if len(self.members[a]) < len(self.members[b]):
            a, b = b, a
        one, other = self.branch[a], self.branch[b]
        if other is None and math.isinf(height):  # nothing joins a few points that are apart: they are in no branch
            self.root_of[b] = a
            return
        if one is not None and other is not None and height > TOGETHER:
            for ended, of in ((one, a), (other, b)):
                self.ends[ended], self.points[ended] = height, list(self.members[of])
                self.parent[ended] = len(self.parent)
            self.branch[a] = self._begin(height)
        self.members[a] += self.members[b]
        self.members[b], self.root_of[b] = [], a
        if self.branch[a] is None and len(self.members[a]) >= self.smallest:
            self.branch[a] = self._begin(max(height, TOGETHER))

    def _begin(self, height: float) -> int:
        self.parent.append(-1)
        self.born.append(height)
        self.ends.append(math.inf)
        self.points.append([])
        return len(self.parent) - 1

    def tree(self) -> DivisionTree:
        """What has been found; the branches that are left end nowhere."""
        for i in {self.root(i) for i in range(len(self.labels))}:
            last = self.branch[i]
            if last is not None:
                self.points[last] = self.members[i]
        kept = [k for k, points in enumerate(self.points) if points]  # others became part of one before they ended
        place = {k: position for position, k in enumerate(kept)}
        parent = [place.get(self.parent[k], -1) for k in kept]
        return DivisionTree(
            parent=np.array(parent, dtype=np.int64),
            born=np.array([self.born[k] for k in kept]),
            ends=np.array([self.ends[k] for k in kept]),
            sizes=np.array([len(self.points[k]) for k in kept], dtype=np.int64),
            labels=np.array([self._label(self.points[k]) for k in kept], dtype=np.int64),
        )

    def _label(self, points: list[int]) -> int:
        names, counts = np.unique(self.labels[points], return_counts=True)
        return int(names[np.argmax(counts)]) if counts.max() >= OF_ONE_MANIFOLD * len(points) else -1
