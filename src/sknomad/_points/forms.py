"""The forms in which a solver can hold ``Q``, each with the same few methods.

`DensePoint` is ``Q`` itself. `SpectralPoint`, `SoftPoint` and `FactorPoint` are factored and never form an n x n
array unless `dense` is called. `MixedPoint` adds multiples of ``I`` and ``J = 11'/n`` to any of them. With weights
``w`` the place of the ones vector is taken by ``u = sqrt(w)/|sqrt(w)|``, see `_direction`; a ``u`` of None is ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._numerics.arrays import Array, double, float64_model, like, namespace, row_slices, to_numpy
from .._numerics.fixed_vector import direction_like, mean_rows, shares
from .._program.gram import Gram

# Rows converted to float64 at a time when sums over all points are formed.
BLOCK_ROWS = 65536
# A cell of fewer points than this is empty: its inverse would overflow.
SMALLEST_COLUMN = 1e-100


class Point(Protocol):
    """A symmetric n x n matrix ``Q``."""

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


def dense(point: Point) -> Array:
    """The whole of ``Q``, as an n x n NumPy array."""
    return np.asarray(to_numpy(point.rows(0, point.n)), dtype=np.float64)


def value_of_columns(gram: Gram, columns: Array, weights: Array) -> float:
    """``sum_j weights_j <D, c_j c_j'>`` in float64 for the columns ``c_j`` of an n x r array, where they lie."""
    xp = namespace(columns)
    if gram.is_factored:
        X = gram.factor_like(float64_model(columns))
        products: Array = None
        for block in row_slices(gram.n, BLOCK_ROWS):
            part = X[block, :].T @ double(columns[block, :])
            products = part if products is None else products + part
        return float(xp.sum(xp.sum(products * products, axis=0) * double(weights)))
    columns, weights = double(to_numpy(columns)), double(to_numpy(weights))
    return float(np.sum(np.sum(columns * (gram @ columns), axis=0) * weights))


@dataclass(frozen=True)
class DensePoint:
    """``Q`` as an n x n array.

    Examples
    --------
    >>> DensePoint(np.full((3, 3), 1 / 3)).trace()
    1.0
    """

    Q: Array  # (n, n)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Q.shape[0])

    @property
    def columns(self) -> Array:
        """The array that holds the point."""
        return self.Q

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        return self.Q[start:stop, :]

    def trace(self) -> float:
        """``tr Q``."""
        return float(np.trace(to_numpy(self.Q)))

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        return gram.inner(np.asarray(to_numpy(self.Q), dtype=np.float64))

    def root(self) -> Array:
        """``B`` with ``Q = B B'``, negative eigenvalues left out."""
        values, vectors = np.linalg.eigh(np.asarray(to_numpy(self.Q), dtype=np.float64))
        return vectors * np.sqrt(np.maximum(values, 0))


@dataclass(frozen=True)
class SpectralPoint:
    """``Q = J + U diag(l) U'`` with orthonormal columns of ``U`` that sum to zero (with weights: ``U'u = 0``).

    Examples
    --------
    >>> U = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> dense(SpectralPoint(U, np.array([1.0]))).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    U: Array  # (n, p) eigenvectors
    l: Array  # (p,) eigenvalues  # noqa: E741
    u: Array = None  # (n,) with Q u = u; None is the ones vector

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.U.shape[0])

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        u = direction_like(self.u, self.U)
        return (self.U[start:stop, :] * self.l) @ self.U.T + mean_rows(u, self.n, slice(start, stop))

    def trace(self) -> float:
        """``tr Q``."""
        return 1 + float(to_numpy(self.l).sum())

    def value(self, gram: Gram) -> float:
        """``<D, Q>``; the ones vector contributes nothing, ``D`` being centred."""
        return value_of_columns(gram, self.U, self.l)

    def root(self) -> Array:
        """``B`` with ``Q - J = B B'``."""
        return np.asarray(to_numpy(self.U * self.l**0.5), dtype=np.float64)


@dataclass(frozen=True)
class SoftPoint:
    """``Q = V diag(V'1)^-1 V'`` with nonnegative ``V`` whose rows sum to one: psd, nonnegative and ``Q 1 = 1``.

    With weights, ``Q = diag(u) V diag(V'u^2)^-1 V' diag(u)``.

    Examples
    --------
    >>> dense(SoftPoint(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    V: Array  # (n, r) soft assignments, no empty column
    u: Array = None  # (n,) with Q u = u; None is the ones vector

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.V.shape[0])

    @property
    def columns(self) -> Array:
        """The array that holds the point."""
        return self.V

    @property
    def sizes(self) -> Array:
        """Points per cell, ``V'1``, in float64; with weights the share of all weight, ``V'u^2``."""
        xp = namespace(self.V)
        return xp.sum(self.V, axis=0, dtype=xp.float64) if self.u is None else self._weighted_sum(1)

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        xp = namespace(self.V)
        rows = (self.V[start:stop, :] / xp.astype(self.sizes, self.V.dtype)) @ self.V.T
        return rows if self.u is None else rows * mean_rows(like(self.u, self.V), self.n, slice(start, stop))

    def trace(self) -> float:
        """``tr Q``."""
        return float(namespace(self.V).sum(self._weighted_sum(2) / self.sizes))

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        columns = self.V if self.u is None else self.V * like(self.u, self.V)[:, None]
        return value_of_columns(gram, columns, 1 / self.sizes)

    def root(self) -> Array:
        """``B`` with ``Q = B B'``."""
        root = np.asarray(to_numpy(self.V), dtype=np.float64) / np.sqrt(to_numpy(self.sizes))
        return root if self.u is None else root * to_numpy(self.u)[:, None]

    def as_soft(self, u: Array = None) -> SoftPoint:
        """The same for `u`, in float64, every row nonnegative and of sum one, no empty column, whatever `V` holds."""
        xp = namespace(self.V)
        V = _rows_to_one(xp.clip(double(self.V), min=0.0))
        V = xp.take(V, xp.nonzero(SoftPoint(V, u).sizes > SMALLEST_COLUMN)[0], axis=1)
        return SoftPoint(_rows_to_one(V), direction_like(u, V))

    def _weighted_sum(self, power: int) -> Array:
        """Sums over the points of ``V**power``, each with its share of the weight, in float64."""
        xp = namespace(self.V)
        share = None if self.u is None else shares(self.u, self.V)
        total: Array = 0.0
        for block in row_slices(self.n, BLOCK_ROWS):
            part = double(self.V[block, :]) ** power
            total = total + (xp.sum(part, axis=0) if share is None else share[block] @ part)
        return total


def _rows_to_one(V: Array) -> Array:
    """Rows of a nonnegative matrix scaled to sum one, by their largest entry first so that no sum overflows."""
    xp = namespace(V)
    largest = xp.max(V, axis=1)[:, None]
    V = xp.where(largest > 0, V / xp.where(largest > 0, largest, 1.0), 1.0)
    return V / xp.sum(V, axis=1)[:, None]


@dataclass(frozen=True)
class FactorPoint:
    """``Q = Y Y'``, as the Burer-Monteiro method holds it.

    Examples
    --------
    >>> FactorPoint(np.array([[1.0], [2.0]])).rows(1, 2).tolist()
    [[2.0, 4.0]]
    """

    Y: Array  # (n, r)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def columns(self) -> Array:
        """The array that holds the point."""
        return self.Y

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        return self.Y[start:stop, :] @ self.Y.T

    def trace(self) -> float:
        """``tr Q``."""
        return float((to_numpy(self.Y) ** 2).sum())

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        return value_of_columns(gram, self.Y, namespace(self.Y).ones_like(self.Y[0, :]))

    def root(self) -> Array:
        """``B`` with ``Q = B B'``."""
        return np.asarray(to_numpy(self.Y), dtype=np.float64)

    def as_soft(self, u: Array = None) -> SoftPoint:
        """The nearest row-stochastic form: ``V = Y diag(Y'1)`` with rows scaled to sum one."""
        Y = np.maximum(np.asarray(to_numpy(self.Y), dtype=np.float64), 0)
        Y = Y / max(float(Y.max()), np.finfo(float).tiny)
        # With weights V = diag(u)^-1 Y diag(Y'u), but scaling the rows takes no notice of the first factor.
        return SoftPoint(Y * (Y.sum(axis=0) if u is None else to_numpy(u) @ Y)).as_soft(u)


@dataclass(frozen=True)
class MixedPoint:
    """``Q = base_weight * base + identity * I + mean * J``: how a nearly feasible point is made feasible.

    Examples
    --------
    >>> MixedPoint(DensePoint(np.eye(2)), mean=0.5).rows(0, 1).tolist()
    [[0.75, 0.25]]
    """

    base: Point  # in any form, without `identity` and `mean`
    identity: float = 0.0  # weight of I
    mean: float = 0.0  # weight of J
    u: Array = None  # (n,) with J = u u'; None is the ones vector

    @property
    def base_weight(self) -> float:
        """What is left for `base`, so that rows still sum to one."""
        return 1 - self.identity - self.mean

    @property
    def unmixed(self) -> Point:
        """`base`, or this point itself if nothing is left of it."""
        return self.base if self.base_weight > 0 else self

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.base.n

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        block = self.base_weight * np.asarray(to_numpy(self.base.rows(start, stop)), dtype=np.float64)
        u = None if self.u is None else to_numpy(self.u)
        block += mean_rows(u, self.n, slice(start, stop), self.mean)
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
