"""Which rows of a table are equal, exactly, and in an order that does not depend on the order of the rows."""

from __future__ import annotations

from typing import cast

import numpy as np
import scipy.sparse as sp

from .arrays import Array, Table, is_sparse, row_slices

# Numbers of the table looked at together.
BLOCK_ENTRIES = 2**20


def equal_rows(X: Table) -> tuple[Array, Array]:
    """The index of each row's distinct row, and a row of the table for each of these.

    Distinct rows come in the order of a number made of their contents, so that a table with its rows in another order,
    or repeated, has the same ones in the same order. Rows are compared number by number: 0 equals -0.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), finite

    Returns
    -------
    of : array of shape (n,)
        Values from 0 to m - 1.
    first : array of shape (m,)
        With ``X[first][of]`` equal to ``X``.

    Examples
    --------
    >>> of, first = equal_rows(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    >>> len(first), bool(of[0] == of[2])
    (2, True)
    """
    if is_sparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
    _, first, of = np.unique(_contents(X), return_index=True, return_inverse=True)
    if len(first) == X.shape[0]:
        return of, first
    # Equal rows have equal numbers; should unequal ones have them too, they stay apart.
    apart = np.flatnonzero(_differ(X, first[of]))
    of[apart] = len(first) + np.arange(len(apart))
    return of, np.concatenate([first, apart])


def _contents(X: Table) -> Array:
    """One 64-bit number for each row, the same for equal rows."""
    n, d = X.shape
    factors = np.random.default_rng(0).integers(0, 2**64 - 1, size=(d,), dtype=np.uint64, endpoint=True)
    if is_sparse(X):
        return np.asarray(sp.csr_matrix((_scrambled(X.data), X.indices, X.indptr), shape=X.shape) @ factors)
    blocks = row_slices(n, max(1, BLOCK_ENTRIES // max(d, 1)))
    return np.concatenate([_scrambled(X[block]) @ factors for block in blocks])


def _scrambled(numbers: Array) -> Array:
    """The bits of float64 numbers, each mixed with the others, zero for zero: round numbers differ in few of them."""
    bits = np.ascontiguousarray(numbers + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))


def _differ(X: Table, others: Array) -> Array:
    """Whether each row differs from another one of the table."""
    differs = np.zeros(X.shape[0], dtype=bool)
    for block in row_slices(X.shape[0], max(1, BLOCK_ENTRIES // max(X.shape[1], 1))):
        unequal = cast("Table", X[block] != X[others[block]])
        differs[block] = np.asarray(unequal.sum(axis=1)).ravel() > 0
    return differs
