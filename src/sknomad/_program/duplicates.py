"""Weights and equal points: the points of the program, and what their results say of the points given.

Equal points are one point with the sum of their weights: that is exact, see docs/weights.md. Points of weight zero take
no part and are placed like new ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from .._numerics.arrays import Array, SameTable, Table, given_template, is_sparse, row_slices, to_numpy
from .._numerics.equal_rows import BLOCK_ENTRIES, equal_rows
from .._numerics.exact_input import LARGEST_WHOLE, check_exact
from .._numerics.validation import check_numbers, symmetric
from .float_range import within_range


@dataclass(frozen=True)
class Groups:
    """Which point of the program stands for each given one."""

    of: Array  # (n,) its index, -1 for points of weight zero
    first: Array  # (m,) a given point of each
    own: Array = field(repr=False)  # (n,) weights of the given points

    def __post_init__(self) -> None:
        n = len(check_numbers(self.of, "groups of points", (None,)))
        m = len(check_numbers(self.first, "a point of each group", (None,)))
        check_numbers(self.own, "weights of the points", (n,), finite=True)
        if any(a.dtype.kind not in "iu" for a in (self.of, self.first)) or not _are_groups(self.of, self.first, n, m):
            raise ValueError(f"groups must name each of {m} groups for {n} points, got others.")

    @property
    def weights(self) -> Array:
        """Of the points of the program, (m,), each sum rounded once."""
        of, own = self.of[self.present], self.own[self.present]
        totals = np.bincount(of, weights=own, minlength=len(self.first))
        if not np.array_equal(own, np.floor(own)) or totals.sum() >= LARGEST_WHOLE:
            ends = np.cumsum(np.bincount(of, minlength=len(self.first)))[:-1]
            totals = np.array([math.fsum(part) for part in np.split(own[np.argsort(of, kind="stable")], ends)])
        return totals

    @property
    def roots(self) -> Array:
        """Of these weights."""
        return np.sqrt(self.weights)

    @property
    def present(self) -> Array:
        """The given points that have a weight."""
        return np.flatnonzero(self.of >= 0)

    @property
    def absent(self) -> Array:
        """The given points of weight zero."""
        return np.flatnonzero(self.of < 0)

    def merged(self, X: Table, *, pairwise: bool) -> Table:
        """The rows of `X` for the points of the program, and the columns too where they stand for points."""
        return self.columns(X[self.first], pairwise=pairwise)

    def columns(self, X: Table, *, pairwise: bool) -> Table:
        """`X` with the columns of the program's points only, where columns stand for training points."""
        return X[:, self.first] if pairwise else X

    def given(self, values: Array, fill: float) -> Array:
        """Values of the given points from those of the program's; `fill` for points of weight zero."""
        result = np.full((len(self.of), *values.shape[1:]), fill, dtype=values.dtype)
        result[self.present] = values[self.of[self.present]]
        return result

    def square(self, Q: SameTable, K: float) -> SameTable:
        """The affinity of the given points from that of the program's, sparse where `Q` is; zero without weight.

        Should ``K`` exceed the number of distinct points, what is left of the trace goes to the diagonal, within groups
        of equal points: it changes no value.
        """
        n, m, present = len(self.of), len(self.first), self.present
        spread = sp.csr_matrix((np.ones(len(present)), (present, self.of[present])), shape=(n, m))
        result = cast("SameTable", spread @ Q @ spread.T)
        if m >= K or len(present) == m:
            return result
        share = (K - m) / (len(present) - m)
        alone = sp.csr_matrix((share / self.own[present], (present, present)), shape=(n, n))
        return cast("SameTable", (1 - share) * result + (alone if is_sparse(result) else alone.toarray()))


def _are_groups(of: Array, first: Array, n: int, m: int) -> bool:
    """Whether groups are numbered from 0 to m - 1, -1 for none, and each has a point of its own."""
    is_in_range = bool(np.all((of >= -1) & (of < m))) and bool(np.all((first >= 0) & (first < n)))
    return is_in_range and np.array_equal(of[first], np.arange(m))


def read_groups(sample_weight: ArrayLike | None, X: Table, metric: str, *, takes_weights: bool = True) -> Groups | None:
    """The points of the program for the rows of `X`; None where they are the rows themselves, each counted once.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), or None
    X : array or CSR matrix
    metric : {"euclidean", "precomputed", "precomputed_distance"}
        What `X` is. In matrices equal points have equal rows and columns; in kernels they are merged only where no
        squared distance ``X_ii + X_jj - 2 X_ij`` is negative, because otherwise that would not be exact. Distances are
        refused later where a point has one from itself.
    takes_weights : bool
        Whether the solver does; without it equal points stay apart.
    """
    weights = _check(sample_weight, X)
    if not takes_weights:
        if np.any(weights != 1):
            raise ValueError(
                "sample_weight must be None for a solver that knows no weights, got weights. "
                'Use solver="auto", "admm" or "soft".'
            )
        return None
    present = np.flatnonzero(weights > 0)
    pairwise = metric != "euclidean"
    if pairwise and X.shape[0] != X.shape[1]:  # refused by name where the matrix is read
        return None
    matrix = _symmetric(X, present) if pairwise else None
    of, first = equal_rows(_rows(X, present) if matrix is None else matrix)
    is_merged_kernel = metric == "precomputed" and len(first) < len(present)
    # A program needs two points, be they equal.
    if len(first) < 2 or (matrix is not None and is_merged_kernel and not has_distances(matrix[np.ix_(first, first)])):
        of = first = np.arange(len(present))
    if len(first) == X.shape[0] and np.all(weights == 1):
        return None
    if matrix is not None:
        of, first = _in_order_of_contents(matrix, of, first)
    index = np.full(X.shape[0], -1)
    index[present] = of
    return Groups(index, present[first], weights)


def _rows(X: Table, present: Array) -> Table:
    """The rows of the points present."""
    return X if len(present) == X.shape[0] else X[present]


def _symmetric(X: Table, present: Array) -> Array:
    """The matrix between the points present, as it will be used."""
    matrix = (X.toarray() if is_sparse(X) else X)[np.ix_(present, present)]
    return symmetric(matrix)


def _in_order_of_contents(matrix: Array, of: Array, first: Array) -> tuple[Array, Array]:
    """Groups of a symmetric matrix in an order that depends neither on that of its rows nor on repetitions.

    Rows then have the same numbers in another order: sorted, they still tell most points apart.
    """
    distinct = np.sort(matrix[np.ix_(first, first)], axis=1)
    order = np.lexsort(distinct.T)
    return np.argsort(order)[of], first[order]


def has_distances(kernel: Array) -> bool:
    """Whether no squared distance between points of a kernel is negative, without any rounding.

    A sum and what its rounding lost are exactly the sum; where that is close to ``2 K_ij`` their difference is exact.
    """
    kernel = within_range(kernel)[0]  # so that no sum overflows
    row = np.diagonal(kernel)
    for block in row_slices(len(kernel), max(1, BLOCK_ENTRIES // len(kernel))):
        column = row[block, None]
        total = column + row
        part = total - column
        lost = (column - (total - part)) + (row - part)
        if not np.all((total - 2 * kernel[block]) + lost >= 0):
            return False
    return True


def _check(sample_weight: ArrayLike | None, X: Table) -> Array:
    """Weights as float64: nonnegative, finite, at least two of them positive."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    template = given_template(sample_weight)
    given = sample_weight if template is None else to_numpy(template)
    weights = np.array(_check_sample_weight(given, X, dtype=np.float64), dtype=np.float64)  # kept: a copy
    wrong = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold finite numbers >= 0, got {weights[wrong[0]]} at index {wrong[0]}. "
            "A point of weight zero takes no part."
        )
    check_exact(given, weights, "sample_weight")
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            f"sample_weight must leave at least 2 points, got {np.count_nonzero(weights)} of positive weight."
        )
    return weights
