"""Rows about their mean and scaled by weights: the steps there, which new rows take too, and their cost in digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from .._numerics.arrays import UNIT_ROUNDOFF, Array, SameTable, Table, is_sparse
from .float_range import divided


@dataclass(frozen=True)
class Frame:
    """The steps that turn given rows into those that `Gram` holds; new points must take the same ones."""

    first: int = 0  # exponent of the power of two that given numbers are divided by
    origin: Array | None = (
        None  # the first row, subtracted next; None where rows are not centred (kernels, sparse data)
    )
    second: int = 0  # exponent of the power of two that differences are divided by
    mean: Array | None = None  # of those, subtracted last

    def place(self, rows: Table) -> Table:
        """Rows in the units of the Gram matrix and, for dense data, about the mean of the points it was made of."""
        rows = divided(rows, self.first)
        return rows if self.origin is None else divided(rows - self.origin, self.second) - self.mean


def mean_of_rows(X: Table, roots: Array | None) -> Array:
    """The mean of the rows of a table, weighted by the squares of `roots` unless that is None."""
    if roots is None:
        return np.asarray(X.mean(axis=0)).ravel()
    shares = (roots / la.norm(roots)) ** 2
    return np.asarray(X.T @ shares).ravel()


def scaled_rows(X: SameTable, roots: Array) -> SameTable:
    """``diag(roots) X``."""
    table: Table = X
    if is_sparse(table):
        data = table.data * np.repeat(roots, np.diff(table.indptr))
        table = sp.csr_matrix((data, table.indices, table.indptr), shape=table.shape)
    else:
        table = table * roots[:, None]
    return cast("SameTable", table)


def centring_error(norm: float, spread: float, *, is_weighted: bool) -> float:
    """Bound on how far centring in float64 can have moved any value ``<D, Q>``.

    Two subtractions with one rounding each leave an error ``|E|_F <= u (|X - x_1|_F + |X - mean|_F)``, and
    ``0 <= Q - J <= I`` turns that into at most ``2 |X|_F |E|_F + |E|_F^2``. Scaling by the roots of weights adds two
    roundings of ``X - mean``, of the root and of the product.

    Parameters
    ----------
    norm : float
        ``|X|_F`` of the centred (and scaled) rows; 0 where nothing was centred.
    spread : float
        ``|X - x_1|_F``, scaled alike.
    is_weighted : bool
    """
    return 2.5 * UNIT_ROUNDOFF * norm * (spread + (3 * norm if is_weighted else norm))
