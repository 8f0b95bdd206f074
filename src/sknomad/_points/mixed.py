"""`MixedPoint`: any point with multiples of ``I`` and ``J`` added, which is how points are made feasible."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._numerics.arrays import Array, to_numpy
from .._numerics.fixed_vector import UNWEIGHTED, FixedVector, fixed_vector
from .._numerics.validation import check_real
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .forms import DensePoint
from .point import Point, check_point

# A share beyond this is none.
LARGEST_SHARE = 1e150


@dataclass(frozen=True)
class MixedPoint(Point):
    """``Q = base_weight * base + identity * I + mean * J``: how a nearly feasible point is made feasible.

    Examples
    --------
    >>> MixedPoint(DensePoint(np.eye(2)), mean=0.5).rows(0, 1).tolist()
    [[0.75, 0.25]]
    """

    base: Point  # in any form, without `identity` and `mean`
    identity: float = 0.0  # weight of I
    mean: float = 0.0  # weight of J
    fixed: FixedVector = UNWEIGHTED  # J = u u'; also taken as an array

    def __post_init__(self) -> None:
        check_point(self.base, "base")
        for name in ("identity", "mean"):
            check_real(vars(self)[name], name, -LARGEST_SHARE, LARGEST_SHARE, "a finite number")
        object.__setattr__(self, "fixed", fixed_vector(self.fixed, self.n))

    @property
    def base_weight(self) -> float:
        """What is left for `base`, so that rows still sum to one."""
        return 1 - self.identity - self.mean

    @property
    def unmixed(self) -> Point:
        """`base`, or this point itself if nothing is left of it."""
        return self.base if self.base_weight > 0 else self

    def with_trace(self, K: float) -> MixedPoint:
        """Mixed with as much ``J`` or ``I`` as gives it the trace ``K``; what else was feasible stays so."""
        identity, mean = shares_for_trace(self.trace(), K, self.n)
        left = 1 - identity - mean
        return replace(self, identity=left * self.identity + identity, mean=left * self.mean + mean)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.base.n

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        block = self.base_weight * np.asarray(to_numpy(self.base.rows(start, stop)), dtype=np.float64)
        block += self.fixed.like(block).rows(slice(start, stop), self.mean)
        block[np.arange(stop - start), np.arange(start, stop)] += self.identity
        return block

    def trace(self) -> float:
        """``tr Q``."""
        return self.base_weight * self.base.trace() + self.identity * self.n + self.mean

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        return self.base_weight * self.base.value(gram) + self.identity * gram.trace

    def root(self) -> Array:
        """``B`` of the base, weighted."""
        return self.base.root() * self.base_weight**0.5

    def is_finite(self) -> bool:
        """Whether `base` holds numbers only."""
        return self.base.is_finite()

    def product(self, columns: Array) -> Array:
        """``Q`` times an n x k NumPy array, as that of the base."""
        lifted = self.identity * columns + self.mean * self.fixed.times(columns)
        return self.base_weight * self.base.product(columns) + lifted

    def entries(self, i: Array, j: Array) -> Array:
        """The entries ``Q[i, j]`` for two index vectors, as those of the base."""
        lifted = self.identity * (i == j) + self.fixed.entries(i, j, self.mean)
        return self.base_weight * self.base.entries(i, j) + lifted


def shares_for_trace(trace: float, K: float, n: int) -> tuple[float, float]:
    """How much of ``I`` and of ``J``, one of them none, to mix with a point of this trace so that it becomes ``K``.

    Examples
    --------
    >>> shares_for_trace(3.0, 2.0, 10), shares_for_trace(3.0, 3.7, 10)
    ((0.0, 0.5), (0.10000000000000002, 0.0))
    """
    if trace > K:
        return 0.0, (trace - K) / (trace - 1)
    return ((K - trace) / (n - trace) if trace < n else 0.0), 0.0


def interior_point(problem: KMeansSDP) -> MixedPoint:
    """The most interior feasible point, ``a I + b J``; where the program is trivial, an optimal one."""
    a, b = problem.interior_weights
    return MixedPoint(DensePoint(np.eye(problem.n)), identity=a, mean=b, fixed=problem.fixed)
