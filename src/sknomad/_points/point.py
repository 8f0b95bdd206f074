"""`Point`: what every form of ``Q`` can be asked."""

from __future__ import annotations

from typing import Protocol, cast, runtime_checkable

import numpy as np

from .._numerics.arrays import Array, Sparse, double, float64_template, namespace, row_slices, to_numpy
from .._program.gram import Gram

# Rows converted to float64 at a time when sums over all points are formed.
BLOCK_ROWS = 65536


@runtime_checkable
class Point(Protocol):
    """A symmetric n x n matrix ``Q``, in whatever form a solver holds it.

    A form defines the first six; the others follow from them, and are defined again where the form allows better.
    """

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        ...

    def trace(self) -> float:
        """``tr Q``."""
        ...

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        ...

    def root(self) -> Array:
        """Some ``B`` (NumPy, n x r) with ``Q = B B'`` up to multiples of ``J`` and ``I``: all an embedding needs."""
        ...

    def is_finite(self) -> bool:
        """Whether it holds numbers only."""
        ...

    def product(self, columns: Array) -> Array:
        """``Q`` times an n x k NumPy array, through the root: no n x n array."""
        root = self.root()
        return root @ (root.T @ columns)

    def entries(self, i: Array, j: Array) -> Array:
        """The entries ``Q[i, j]`` for two index vectors, through the root."""
        root = self.root()
        return np.einsum("kr,kr->k", root[i], root[j])

    def diagonal(self) -> Array:
        """The entries ``Q_ii``, NumPy."""
        everyone = np.arange(self.n)
        return self.entries(everyone, everyone)

    def dense(self) -> Array:
        """The whole of ``Q``, as an n x n NumPy array."""
        return np.asarray(to_numpy(self.rows(0, self.n)), dtype=np.float64)

    def sparse_factors(self) -> tuple[Sparse, Sparse] | None:
        """Two sparse matrices of which ``Q`` is the product; None where they would not be sparse."""
        return None


def check_point(point: object, name: str) -> Point:
    """`point` if it is one, in any form."""
    if not isinstance(point, Point):
        raise TypeError(f"{name} must be a point such as DensePoint(Q), got {type(point).__name__}.")
    return point


def value_of_columns(gram: Gram, columns: Array, weights: Array) -> float:
    """``sum_j weights_j <D, c_j c_j'>`` in float64 for the columns ``c_j`` of an n x r array, where they lie."""
    xp = namespace(columns)
    X = gram.factor_like(float64_template(columns))
    if X is not None:
        blocks = row_slices(gram.n, BLOCK_ROWS)
        products = cast("Array", sum(X[block, :].T @ double(columns[block, :]) for block in blocks))
        return float(xp.sum(xp.sum(products * products, axis=0) * double(weights)))
    columns, weights = double(to_numpy(columns)), double(to_numpy(weights))
    return float(np.sum(np.sum(columns * (gram @ columns), axis=0) * weights))
