"""Symmetric nonnegative matrix factorisation by the paper's ADMM: ``A`` close to ``Y Y'`` with ``Y >= 0``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray

from .._numerics.arrays import row_slices
from .._numerics.validation import check_integer, check_real, check_square, check_table

Floats = NDArray[np.float64]

# Up to this many rows a factored matrix is formed once; beyond, a block of rows at a time, again and again.
FORM_BELOW = 5000
BLOCK_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class SymmetricNMF:
    """A nonnegative factor, how well it fits, and how the other starts did.

    Examples
    --------
    >>> import numpy as np
    >>> found = symmetric_nmf(np.kron(np.eye(2), np.ones((2, 2))), 2, n_starts=3, random_state=0)
    >>> found.Y.shape, found.error < 1e-3, found.errors.shape
    ((4, 2), True, (3,))
    """

    Y: Floats  # (n, rank) the best factor found, nonnegative
    error: float  # |A - Y Y'| / |A| in the Frobenius norm, with the negative entries of A set to 0
    errors: Floats  # (n_starts,) the same for every start
    n_iter: int  # steps of the best start


def symmetric_nmf(
    A: ArrayLike,
    rank: int,
    *,
    factored: bool = False,
    n_starts: int = 1,
    random_state: int = 0,
    tol: float = 1e-5,
    max_iter: int = 1000,
    penalty: float = 1.0,
    step: float = 1.0,
) -> SymmetricNMF:
    """Nonnegative ``Y`` with ``|A - Y Y'|_F`` small, the best of several random starts.

    The product is split into ``Y X'`` with the constraint ``X = Y``, whose multiplier is ``G``. The paper prints the
    last step with the opposite sign::

        X <- [(A Y + p Y - G) (Y'Y + p I)^-1]_+
        Y <- [(A X + p X + G) (X'X + p I)^-1]_+
        G <- G + step p (X - Y)

    Parameters
    ----------
    A : array of shape (n, n), or of shape (n, d) if `factored`
        Symmetric, or a factor ``B`` of ``A = B B'``. Negative entries of ``A`` (not of ``B``) count as 0.
    rank : int
        Number of columns of ``Y``; may exceed ``n``.
    factored : bool, default=False
        Whether the first argument is ``B``.
    n_starts : int, default=1
        Random starts ``|N(0, 1)| sqrt(mean(A) / rank)``.
    random_state : int, default=0
        Seed; start number i depends on it and on i only.
    tol : float, default=1e-5
        Stop when ``|X - Y|_F <= tol |X|_F``.
    max_iter : int, default=1000
        Most steps of each start.
    penalty, step : float, default=1
        The paper's sigma and eta.

    Returns
    -------
    SymmetricNMF

    Examples
    --------
    >>> import numpy as np
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> symmetric_nmf(A, 2).error < 1e-4
    True
    >>> symmetric_nmf(A, 1).error.__round__(4)
    0.7071
    """
    product = _Clipped(check_table(A, "A", accept_sparse=False), factored)
    check_integer(rank, "rank", 1)
    check_integer(n_starts, "n_starts", 1)
    check_integer(random_state, "random_state", 0)
    check_integer(max_iter, "max_iter", 1)
    check_real(tol, "tol", 0, 1, "a real number in [0, 1]")
    check_real(penalty, "penalty", 1e-12, 1e12, "a positive real number")
    check_real(step, "step", 1e-12, 1e12, "a positive real number")
    runs = []
    for start in range(n_starts):
        generator = np.random.default_rng([random_state, start])
        Y = np.abs(generator.standard_normal((product.n, rank))) * math.sqrt(product.mean / rank)
        Y, steps = _fit(product, Y, penalty, step, tol, max_iter)
        runs.append((product.error(Y), steps, Y))
    error, steps, Y = min(runs, key=lambda run: run[0])
    return SymmetricNMF(Y, error, np.array([run[0] for run in runs]), steps)


class _Clipped:
    """``max(A, 0)`` as an operator, with its mean and norm; a factored ``A`` of many rows is never formed whole."""

    def __init__(self, A: Floats, factored: bool):
        self.n = A.shape[0]
        self.factor: Floats | None = None
        self.is_plain = False  # whether the factor needs no clipping
        if not factored:
            self.A = np.maximum(check_square(A, "A"), 0)
        elif self.n <= FORM_BELOW:
            self.A = np.maximum(A @ A.T, 0)
        else:
            self.factor, self.is_plain = A, bool(A.min() >= 0)
        total = square = 0.0
        for block in self._blocks():
            total += float(block.sum())
            square += float(np.vdot(block, block))
        self.mean, self.norm = total / self.n**2, math.sqrt(square)

    def _blocks(self) -> Iterator[Floats]:
        if self.factor is None:
            yield self.A
            return
        for rows in row_slices(self.n, max(1, BLOCK_ENTRIES // self.n)):
            yield np.maximum(self.factor[rows] @ self.factor.T, 0)

    def __matmul__(self, Y: Floats) -> Floats:
        if self.factor is not None and self.is_plain:
            return self.factor @ (self.factor.T @ Y)
        return np.concatenate([block @ Y for block in self._blocks()])

    def error(self, Y: Floats) -> float:
        """``|A - Y Y'| / |A|``; 0 for ``A = 0``, where nothing is left to fit."""
        if self.norm == 0:
            return 0.0
        if self.factor is None:
            return float(la.norm(self.A - Y @ Y.T)) / self.norm
        small = Y.T @ Y
        square = self.norm**2 - 2 * float(np.vdot(Y, self @ Y)) + float(np.vdot(small, small))
        return math.sqrt(max(square, 0.0)) / self.norm


def _fit(A: _Clipped, Y: Floats, p: float, step: float, tol: float, max_iter: int) -> tuple[Floats, int]:
    G = np.zeros_like(Y)
    X, steps = Y, 0
    while steps < max_iter:
        steps += 1
        X = _solve_and_clip(A @ Y + p * Y - G, Y, p)
        Y = _solve_and_clip(A @ X + p * X + G, X, p)
        difference = X - Y
        G += (step * p) * difference
        if la.norm(difference) <= tol * la.norm(X):
            break
    return X, steps


def _solve_and_clip(right: Floats, Y: Floats, p: float) -> Floats:
    """``[right (Y'Y + p I)^-1]_+``."""
    factor = la.cho_factor(Y.T @ Y + p * np.eye(Y.shape[1]), check_finite=False)
    return np.maximum(la.cho_solve(factor, right.T, check_finite=False).T, 0)
