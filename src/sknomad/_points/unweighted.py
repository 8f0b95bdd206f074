"""What is read off a point: products and single entries of ``Q`` without forming it, and ``Q`` without its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array, row_slices, to_numpy
from .._program.gram import Gram
from .forms import DensePoint, MixedPoint, Point, SoftPoint, SpectralPoint

# Points of less than this share of the largest weight are light: what a solver leaves open in their entries of Z is
# large once divided by their weights.
LIGHT = 1e-3
BLOCK_ROWS = 512


@dataclass(frozen=True)
class PlainPoint:
    """``Q_ij = Z_ij / (q_i q_j)`` for a point ``Z`` of the weighted program: what equal points would have."""

    base: Point  # Z
    roots: Array  # (n,) q, the roots of the weights

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.base.n

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        block = np.asarray(to_numpy(self.base.rows(start, stop)), dtype=np.float64)
        return block / (self.roots[start:stop, None] * self.roots)

    def trace(self) -> float:
        """``tr Q``."""
        everyone = np.arange(self.n)
        return float(entries(self, everyone, everyone).sum())

    def value(self, gram: Gram) -> float:
        """``<D, Q>`` for the weighted ``D`` and ``Z``: the same number as for points repeated."""
        return self.base.value(gram)

    def root(self) -> Array:
        """``B`` of the base, row by row over the roots."""
        return self.base.root() / self.roots[:, None]

    @property
    def is_light(self) -> Array:
        """Whether each point is light."""
        return self.roots**2 < LIGHT * float(np.max(self.roots**2))

    def noise(self) -> float:
        """How negative entries of ``Z`` are that should be none: smaller positive ones mean nothing either."""
        if isinstance(self.base, SoftPoint):
            return 0.0
        blocks = row_slices(self.n, BLOCK_ROWS)
        return max(0.0, *(-float(np.min(to_numpy(self.base.rows(block.start, block.stop)))) for block in blocks))


def plain(point: Point, roots: Array) -> Point:
    """`point` as an affinity of points: itself where there are no weights (`roots` None)."""
    return point if roots is None else PlainPoint(point, roots)


def largest_entry(point: Point) -> float:
    """The largest entry of ``Q``, which is on its diagonal; light points are left aside."""
    everyone = np.arange(point.n)
    if isinstance(point, PlainPoint):
        everyone = everyone[~point.is_light]
    return float(entries(point, everyone, everyone).max())


def product(point: Point, columns: Array) -> Array:
    """``Q`` times an n x k NumPy array, through the factor where there is one: no n x n array."""
    if isinstance(point, MixedPoint):
        lifted = point.identity * columns + point.mean * point.fixed.times(columns)
        return point.base_weight * product(point.base, columns) + lifted
    if isinstance(point, DensePoint):
        return np.asarray(to_numpy(point.Q), dtype=np.float64) @ columns
    root = point.root()
    result = root @ (root.T @ columns)
    return result + point.fixed.times(columns) if isinstance(point, SpectralPoint) else result


def entries(point: Point, i: Array, j: Array) -> Array:
    """The entries ``Q[i, j]`` for two index vectors, through the factor where there is one."""
    if isinstance(point, MixedPoint):
        lifted = point.identity * (i == j) + point.fixed.entries(i, j, point.mean)
        return point.base_weight * entries(point.base, i, j) + lifted
    if isinstance(point, PlainPoint):
        return entries(point.base, i, j) / (point.roots[i] * point.roots[j])
    if isinstance(point, DensePoint):
        return np.asarray(to_numpy(point.Q), dtype=np.float64)[i, j]
    root = point.root()
    result = np.einsum("kr,kr->k", root[i], root[j])
    return result + point.fixed.entries(i, j) if isinstance(point, SpectralPoint) else result
