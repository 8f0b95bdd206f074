"""The forms in which a solver can hold ``Q``.

`DensePoint` is ``Q`` itself. `SpectralPoint`, `SoftPoint` and `FactorPoint` are factored and never form an n x n
array unless `dense` is called. With weights ``w`` the place of the ones vector is taken by ``u = sqrt(w)/|sqrt(w)|``,
see `FixedVector`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.sparse as sp

from .._numerics.arrays import Array, Sparse, all_finite, double, namespace, row_slices, to_numpy
from .._numerics.fixed_vector import UNWEIGHTED, FixedVector, fixed_vector
from .._numerics.validation import check_numbers
from .._program.gram import Gram
from .point import BLOCK_ROWS, Point, value_of_columns

# A cell of fewer points than this is empty: its inverse would overflow.
SMALLEST_COLUMN = 1e-100


@dataclass(frozen=True)
class DensePoint(Point):
    """``Q`` as an n x n array.

    Examples
    --------
    >>> DensePoint(np.full((3, 3), 1 / 3)).trace()
    1.0
    """

    Q: Array  # (n, n)

    def __post_init__(self) -> None:
        Q = check_numbers(self.Q, "Q", (None, None))
        object.__setattr__(self, "Q", check_numbers(Q, "Q", (Q.shape[0], Q.shape[0])))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Q.shape[0])

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        return self.Q[start:stop, :]

    def trace(self) -> float:
        """``tr Q``."""
        return float(np.trace(to_numpy(self.Q)))

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        return gram.inner(self.dense())

    def root(self) -> Array:
        """``B`` with ``Q = B B'``, negative eigenvalues left out."""
        values, vectors = np.linalg.eigh(self.dense())
        return vectors * np.sqrt(np.maximum(values, 0))

    def is_finite(self) -> bool:
        """Whether ``Q`` holds numbers only."""
        return all_finite(self.Q)

    def product(self, columns: Array) -> Array:
        """``Q`` times an n x k NumPy array."""
        return self.dense() @ columns

    def entries(self, i: Array, j: Array) -> Array:
        """The entries ``Q[i, j]`` for two index vectors."""
        return self.dense()[i, j]

    def dense(self) -> Array:
        """The whole of ``Q``, as a NumPy array."""
        return np.asarray(to_numpy(self.Q), dtype=np.float64)


@dataclass(frozen=True)
class SpectralPoint(Point):
    """``Q = J + U diag(l) U'`` with columns of ``U`` of length one that sum to zero (with weights: ``U'u = 0``).

    They are the eigenvectors, up to how roughly a solver computes these; nothing is believed of them.

    Examples
    --------
    >>> U = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> SpectralPoint(U, np.array([1.0])).dense().round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    U: Array  # (n, p) eigenvectors, or columns close to them
    l: Array  # (p,) their weights, eigenvalues where they are  # noqa: E741
    fixed: FixedVector = UNWEIGHTED  # u with Q u = u; also taken as an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "U", check_numbers(self.U, "U", (None, None)))
        object.__setattr__(self, "l", check_numbers(self.l, "l", (int(self.U.shape[1]),)))
        object.__setattr__(self, "fixed", fixed_vector(self.fixed, self.n))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.U.shape[0])

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        return (self.U[start:stop, :] * self.l) @ self.U.T + self.fixed.like(self.U).rows(slice(start, stop))

    def trace(self) -> float:
        """``tr Q``."""
        return 1 + float(to_numpy(self.l).sum())

    def value(self, gram: Gram) -> float:
        """``<D, Q>``; the ones vector contributes nothing, ``D`` being centred."""
        return value_of_columns(gram, self.U, self.l)

    def root(self) -> Array:
        """``B`` with ``Q - J = B B'``."""
        return np.asarray(to_numpy(self.U * self.l**0.5), dtype=np.float64)

    def is_finite(self) -> bool:
        """Whether vectors and values hold numbers only."""
        return all_finite(self.U) and all_finite(self.l)

    def product(self, columns: Array) -> Array:
        """``Q`` times an n x k NumPy array, through the root."""
        return super().product(columns) + self.fixed.times(columns)

    def entries(self, i: Array, j: Array) -> Array:
        """The entries ``Q[i, j]`` for two index vectors, through the root."""
        return super().entries(i, j) + self.fixed.entries(i, j)


@dataclass(frozen=True)
class SoftPoint(Point):
    """``Q = V diag(V'1)^-1 V'`` with nonnegative ``V`` whose rows sum to one: psd, nonnegative and ``Q 1 = 1``.

    With weights, ``Q = diag(u) V diag(V'u^2)^-1 V' diag(u)``.

    Examples
    --------
    >>> SoftPoint(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).dense().tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    V: Array  # (n, r) soft assignments, no empty column
    fixed: FixedVector = UNWEIGHTED  # u with Q u = u; also taken as an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "V", _check_columns(self.V, "V"))
        object.__setattr__(self, "fixed", fixed_vector(self.fixed, self.n))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.V.shape[0])

    @property
    def sizes(self) -> Array:
        """Points per cell, ``V'1``, in float64; with weights the share of all weight, ``V'u^2``."""
        xp = namespace(self.V)
        return self._share_sums(1) if self.fixed.is_weighted else xp.sum(self.V, axis=0, dtype=xp.float64)

    def rows(self, start: int, stop: int) -> Array:
        """Rows ``start:stop`` of ``Q``."""
        xp = namespace(self.V)
        rows = (self.V[start:stop, :] / xp.astype(self.sizes, self.V.dtype)) @ self.V.T
        return self.fixed.scale_pairs(rows, slice(start, stop))

    def trace(self) -> float:
        """``tr Q``."""
        return float(namespace(self.V).sum(self._share_sums(2) / self.sizes))

    def value(self, gram: Gram) -> float:
        """``<D, Q>``."""
        return value_of_columns(gram, self.fixed.scale_rows(self.V), 1 / self.sizes)

    def root(self) -> Array:
        """``B`` with ``Q = B B'``."""
        return self.fixed.scale_rows(np.asarray(to_numpy(self.V), dtype=np.float64) / np.sqrt(to_numpy(self.sizes)))

    def is_finite(self) -> bool:
        """Whether ``V`` holds numbers only."""
        return all_finite(self.V)

    def sparse_factors(self) -> tuple[Sparse, Sparse]:
        """Two sparse matrices of which ``Q`` is the product: a point has few cells."""
        left = self.fixed.scale_sparse_rows(sp.csr_matrix(np.asarray(to_numpy(self.V), dtype=np.float64)))
        return (left @ sp.diags(1 / np.asarray(to_numpy(self.sizes)))).tocsr(), left.T.tocsr()

    def as_soft(self, fixed: FixedVector = UNWEIGHTED) -> SoftPoint:
        """The same for `fixed`, in float64, rows nonnegative and of sum one, no empty column, whatever `V` holds."""
        xp = namespace(self.V)
        V = _rows_to_one(xp.clip(double(self.V), min=0.0))
        V = xp.take(V, xp.nonzero(SoftPoint(V, fixed).sizes > SMALLEST_COLUMN)[0], axis=1)
        return SoftPoint(_rows_to_one(V), fixed_vector(fixed, self.n).like(V))

    def _share_sums(self, power: int) -> Array:
        """Sums over the points of ``V**power``, with weights each with its share of them, in float64."""
        blocks = row_slices(self.n, BLOCK_ROWS)
        parts = (self.fixed.share_sums(double(self.V[block, :]) ** power, block) for block in blocks)
        return cast("Array", sum(parts))


def _check_columns(columns: Array, name: str) -> Array:
    """A table of real numbers with at least one column: ``Q`` cannot be made of none."""
    columns = check_numbers(columns, name, (None, None))
    if columns.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column, got none.")
    return columns


def _rows_to_one(V: Array) -> Array:
    """Rows of a nonnegative matrix scaled to sum one, by their largest entry first so that no sum overflows."""
    xp = namespace(V)
    largest = xp.max(V, axis=1)[:, None]
    V = xp.where(largest > 0, V / xp.where(largest > 0, largest, 1.0), 1.0)
    return V / xp.sum(V, axis=1)[:, None]


def side_by_side(points: list[SoftPoint], shares: list[float]) -> SoftPoint:
    """The mean of soft assignments with the given shares: all cells of all, each with its share of every row.

    Examples
    --------
    >>> one, other = SoftPoint(np.ones((2, 1))), SoftPoint(np.eye(2))
    >>> side_by_side([one, other], [0.5, 0.5]).dense().tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    columns = [share * np.asarray(to_numpy(one.V)) for share, one in zip(shares, points, strict=True)]
    return SoftPoint(np.hstack(columns), points[0].fixed)


@dataclass(frozen=True)
class FactorPoint(Point):
    """``Q = Y Y'``, as the Burer-Monteiro method holds it.

    Examples
    --------
    >>> FactorPoint(np.array([[1.0], [2.0]])).rows(1, 2).tolist()
    [[2.0, 4.0]]
    """

    Y: Array  # (n, r)

    def __post_init__(self) -> None:
        object.__setattr__(self, "Y", _check_columns(self.Y, "Y"))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

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

    def is_finite(self) -> bool:
        """Whether ``Y`` holds numbers only."""
        return all_finite(self.Y)

    def as_soft(self, fixed: FixedVector = UNWEIGHTED) -> SoftPoint:
        """The nearest row-stochastic form: ``V = Y diag(Y'1)`` with rows scaled to sum one."""
        Y = np.maximum(np.asarray(to_numpy(self.Y), dtype=np.float64), 0)
        Y = Y / max(float(Y.max()), np.finfo(float).tiny)
        # With weights V = diag(u)^-1 Y diag(Y'u), but scaling the rows takes no notice of the first factor.
        return SoftPoint(Y * fixed_vector(fixed, self.n).sums(Y)).as_soft(fixed)
