"""Rows about their mean and scaled by weights: the steps there, which new rows take too, and their cost in digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._numerics.arrays import UNIT_ROUNDOFF, Array, SameTable, Table, gamma, is_sparse
from .._numerics.validation import check_integer, check_numbers
from .float_range import divided, matched_roots, roots_of

# Beyond this no power of two is a float64.
LARGEST_EXPONENT = 2200
# Share of the largest root of a weight below which a point is too light to be the origin of the others.
LIGHTEST_ORIGIN = 1e-3


@dataclass(frozen=True)
class Frame:
    """The steps that turn given rows into those that `Gram` holds; new points must take the same ones."""

    first: int = 0  # exponent of the power of two that given numbers are divided by
    # A row of the data, subtracted next; None where rows are not centred (kernels, sparse data).
    origin: Array | None = None
    second: int = 0  # exponent of the power of two that differences are divided by
    mean: Array | None = None  # of those, subtracted last

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            check_integer(vars(self)[name], f"the {name} exponent of a frame", -LARGEST_EXPONENT)
        if self.origin is not None:
            d = len(check_numbers(self.origin, "the origin of a frame", (None,), finite=True))
            check_numbers(cast("Array", self.mean), "the mean of a frame", (d,), finite=True)

    @property
    def width(self) -> int | None:
        """Number of columns of the rows it places; None for any."""
        return None if self.origin is None else len(self.origin)

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


class CentringError(NamedTuple):
    """How far centring in float64 can have moved values, as bounds that hold for every feasible ``Q``.

    The rows held are ``Z = Y + q e' + E``: ``Y`` the rows as they should be, ``q e'`` what the mean is wrong by, the
    same for all points (``q`` the roots of the weights), and ``E`` roundings. Two subtractions with one rounding each
    make ``|E|_F <= u (|X - x_0|_F + |X - mean|_F)``; weights add roundings of ``X - mean``, of a weight that is a
    sum, of its root and of the product. The computed mean, a sum over n points with shares that are right to ``n``
    roundings, is wrong by at most ``|q| |e| <= g(2n + 16) |X - x_0|_F``.

    ``|A|_Q = <A A', Q>^(1/2)`` is a seminorm with ``|A|_Q <= |A|_F`` because ``Q <= I``. As ``Q q = q`` and
    ``Y'q = 0``, ``|Y + q e'|_Q^2 = |Y|_Q^2 + |q|^2 |e|^2``. So ``<Z Z', Q>`` differs from ``<D, Q>`` by at most
    ``|q|^2 |e|^2 + 2 |E|_F (|Y|_F + |q| |e|) + |E|_F^2``, and the part of ``Q`` that is orthogonal to ``q`` does not
    see the mean: there ``2 |E|_F |Y|_F + |E|_F^2`` remain.
    """

    off_mean: float  # for the part of Q on the complement of the fixed vector
    of_value: float  # for all of Q, and for the trace of D


def centring_error(norm: float, spread: float, n: int, *, is_weighted: bool) -> CentringError:
    """Bounds on how far centring in float64 can have moved any value ``<D, Q>``.

    Parameters
    ----------
    norm : float
        ``|X|_F`` of the centred (and scaled) rows; 0 where nothing was centred.
    spread : float
        ``|X - x_0|_F``, scaled alike.
    n : int
        Number of points.
    is_weighted : bool
    """
    rounding = UNIT_ROUNDOFF * (spread + (3 * norm if is_weighted else norm))
    mean = gamma(2 * n + 16) * spread
    # A quarter more than the derivation asks for covers the roundings of the norms themselves.
    off_mean = 2.5 * norm * rounding + 4 * rounding * rounding
    return CentringError(off_mean, off_mean + 1.25 * mean * (mean + 2 * rounding))


def origin_of(roots: Array | None) -> int:
    """The row that others are taken relative to: the first that is not light, so that differences lose no digits.

    The error of centring is one of ``|X - x_0|``; a light point far away would make that large for all the others.
    """
    return 0 if roots is None else int(np.argmax(roots >= LIGHTEST_ORIGIN * float(roots.max())))


def differences(X: Array, row: int) -> tuple[Array, Array, int]:
    """Rows less the one named, that row, and the exponent of the power of two that both were divided by first.

    Nothing is divided unless a difference leaves float64: division first would lose small columns beside large ones.
    """
    with np.errstate(over="ignore"):
        moved = X - X[row]
    if np.isfinite(moved).all():
        return moved, X[row].copy(), 0
    X = divided(X, 1)
    return X - X[row], X[row].copy(), 1


def weighted_size(X: Table, roots: Array | None) -> float:
    """The largest number of ``diag(roots) X``; in range where nothing is to be said of it."""
    if roots is None or not largest_size(X):
        return 1.0
    return largest_size(scaled_rows(X, roots))


def largest_size(X: Table) -> float:
    """The largest absolute value in a table."""
    values = X.data if is_sparse(X) else X
    return float(np.abs(np.asarray(values)).max(initial=0.0))


def kernel_roots(D: Array, weights: ArrayLike | None) -> tuple[Array | None, int]:
    """The roots of `weights`, such that they bring no entry of the kernel out of range."""
    roots, scale = roots_of(weights, D.shape[0])
    if roots is None or not D.any():
        return roots, scale
    return matched_roots(roots, scale, math.sqrt(float(np.abs(D * np.outer(roots, roots)).max())))
