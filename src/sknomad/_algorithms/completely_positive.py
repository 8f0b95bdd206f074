"""Complete positivity of a given ``Q``: two tests that construct a nonnegative factor, and the error of those found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from .._numerics.validation import check_integer, check_square
from ..ring.positivity import ROUNDING, dominance_factor, is_circulant, three_cosines_factor
from .symmetric_nmf import symmetric_nmf

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CPRankProfile:
    """How well nonnegative factors of each rank reproduce a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> profile = CPRankProfile(np.array([1, 2]), np.array([[0.5, 0.7], [0.1, 0.3]]))
    >>> profile.mean.round(3).tolist(), profile.spread.round(3).tolist()
    ([0.6, 0.2], [0.1, 0.1])
    """

    ranks: NDArray[np.int64]  # (m,) numbers of columns tried
    errors: Floats  # (m, n_starts) relative errors |Q - Y Y'| / |Q|, one per random start

    @property
    def mean(self) -> Floats:
        """Mean error at each rank."""
        return self.errors.mean(axis=1)

    @property
    def spread(self) -> Floats:
        """Standard deviation over the starts at each rank."""
        return self.errors.std(axis=1)

    @property
    def best(self) -> Floats:
        """Smallest error at each rank."""
        return self.errors.min(axis=1)


def cp_rank_profile(
    Q: ArrayLike,
    ranks: Iterable[int],
    n_starts: int = 50,
    *,
    random_state: int = 0,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> CPRankProfile:
    """Error of symmetric nonnegative factorisation against its rank, over random starts.

    ``Q`` is completely positive if it equals ``Y Y'`` with ``Y >= 0``; the least number of columns is its cp-rank. An
    error that falls to rounding suggests a rank that suffices; one that levels off suggests that none does. Neither is
    a proof.

    Parameters
    ----------
    Q : array of shape (n, n)
        Symmetric and nonnegative.
    ranks : iterable of int
        Numbers of columns to try.
    n_starts : int, default=50
        Random starts for each.
    random_state : int, default=0
        Seed.
    max_iter : int, default=1000
        Most steps of each start.
    n_jobs : int, optional
        Number of ranks tried at the same time, each in its own process, as in scikit-learn; -1 uses every core.

    Returns
    -------
    CPRankProfile

    Examples
    --------
    >>> import numpy as np
    >>> profile = cp_rank_profile(np.kron(np.eye(3), np.full((4, 4), 0.25)), [1, 2, 3], n_starts=5)
    >>> profile.best.round(2).tolist()
    [0.82, 0.58, 0.0]
    """
    matrix = check_square(Q, "Q")
    tried = np.array([check_integer(rank, "ranks", 1) for rank in ranks], dtype=np.int64)
    if tried.size == 0:
        raise ValueError("ranks must hold at least one integer, got none. Pass for instance [8, 16, 32].")
    check_integer(n_starts, "n_starts", 1)
    fit = delayed(partial(symmetric_nmf, matrix, n_starts=n_starts, random_state=random_state, max_iter=max_iter))
    # The largest ranks take longest: first, so that no core waits for the last of them.
    order = np.argsort(-tried, kind="stable")
    errors = np.empty((len(tried), n_starts))
    errors[order] = [found.errors for found in Parallel(n_jobs)(fit(int(rank)) for rank in tried[order])]
    return CPRankProfile(tried, errors)


def diagonal_dominance_factor(Q: ArrayLike) -> Floats | None:
    """Nonnegative ``B`` with ``B B' = Q`` if ``Q`` is nonnegative and diagonally dominant, else None.

    Each pair contributes ``Q_ij (e_i + e_j)(e_i + e_j)'``, and what is left of the diagonal is nonnegative. For a
    feasible ``Q`` the condition is that every ``Q_ii`` is at least 1/2, which holds on a ring from ``K = n/2`` on.

    Parameters
    ----------
    Q : array of shape (n, n)
        Symmetric.

    Returns
    -------
    array of shape (n, r) or None
        None does not say that there is no factor, unless ``Q`` has negative entries.

    Examples
    --------
    >>> B = diagonal_dominance_factor([[2.0, 1.0], [1.0, 3.0]])
    >>> (B @ B.T).round(12).tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    """
    matrix: Floats = check_square(Q, "Q")
    allowed = ROUNDING * float(np.abs(matrix).max())
    if matrix.min() < -allowed or np.any(2 * matrix.diagonal() < matrix.sum(axis=1) - allowed):
        return None
    return dominance_factor(np.maximum(matrix, 0.0))


def circulance_factor(Q: ArrayLike) -> Floats | None:
    """Nonnegative ``B`` with ``B B' = Q`` if ``Q`` is circulant, feasible and of trace at most 3/2, else None.

    The paper's proposition, made constructive: each Fourier mode of such a ``Q`` is a sum of three shifted raised
    cosines. 3/2 is sharp: on rings the optimum for slightly larger ``K`` has no nonnegative factor.

    Parameters
    ----------
    Q : array of shape (n, n)
        Symmetric; the points in the order of their circle.

    Returns
    -------
    array of shape (n, 3 n//2 + 1) or None
        As for `diagonal_dominance_factor`, None is no proof that there is no factor.

    Examples
    --------
    >>> from sknomad.ring import ring_optimum
    >>> Q = ring_optimum(12, 1.4).Q
    >>> B = circulance_factor(Q)
    >>> bool(B.min() >= 0 and abs(B @ B.T - Q).max() < 1e-12), circulance_factor(ring_optimum(12, 3).Q) is None
    (True, True)
    """
    matrix: Floats = check_square(Q, "Q")
    row = matrix[0]
    is_feasible = matrix.min() >= -ROUNDING and abs(row.sum() - 1) <= ROUNDING
    if not (is_circulant(matrix) and is_feasible and np.trace(matrix) <= 1.5 + ROUNDING):
        return None
    if np.fft.fft(row).real.min() < -ROUNDING:
        return None
    return three_cosines_factor(np.maximum(row, 0.0))
