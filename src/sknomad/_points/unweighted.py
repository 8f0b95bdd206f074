"""`PlainPoint`: ``Q`` of single points, without the weights of the program it was found by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._numerics.arrays import Array, Sparse, row_slices, to_numpy
from .._program.gram import Gram
from .forms import SoftPoint
from .point import Point

# Points of less than this share of the largest weight are light: what a solver leaves open in their entries of Z is
# large once divided by their weights.
LIGHT = 1e-3
BLOCK_ROWS = 512


@dataclass(frozen=True)
class PlainPoint(Point):
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
        return float(self.diagonal().sum())

    def value(self, gram: Gram) -> float:
        """``<D, Q>`` for the weighted ``D`` and ``Z``: the same number as for points repeated."""
        return self.base.value(gram)

    def root(self) -> Array:
        """``B`` of the base, row by row over the roots."""
        return self.base.root() / self.roots[:, None]

    def is_finite(self) -> bool:
        """Whether ``Z`` holds numbers only."""
        return self.base.is_finite()

    def product(self, columns: Array) -> Array:
        """``Q`` times an n x k NumPy array, as that of ``Z``."""
        return self.base.product(columns / self.roots[:, None]) / self.roots[:, None]

    def entries(self, i: Array, j: Array) -> Array:
        """The entries ``Q[i, j]`` for two index vectors, as those of ``Z``."""
        return self.base.entries(i, j) / (self.roots[i] * self.roots[j])

    def sparse_factors(self) -> tuple[Sparse, Sparse] | None:
        """Those of ``Z``, row by row and column by column over the roots."""
        factors = self.base.sparse_factors()
        if factors is None:
            return None
        over_roots = sp.diags(1 / self.roots)
        return (over_roots @ factors[0]).tocsr(), (factors[1] @ over_roots).tocsr()

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
