"""The correspondence with K-means: a clustering as a feasible ``Q``, and as the start of a proof."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from .._certificate.iterate import Iterate
from .._certificate.upper import eigenvalues_are_cheap, upper_bound
from .._numerics.arrays import Array
from .._points.forms import SoftPoint
from .._program.inputs import check_unweighted
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from ..solvers._admm_state import row_multipliers
from ..solvers._soft_updates import SoftState
from .inertia import memberships

# The trace multiplier is sought between these shares of tr D per cluster: on a coarse grid first, because the bound is
# level where the multiplier is too large, then between the neighbours of the best. Each look takes all eigenvalues.
SMALLEST_SHARE, LARGEST_SHARE = 1e-3, 2.0
COARSE_LOOKS, FINE_LOOKS = 10, 12
# Floating-point operations per second of a slow processor core at eigenvalues, to tell what one look will take.
SLOW_RATE = 5e9
# In which order the grid is looked at: where time is short, from its middle outwards.
OUTWARDS = sorted(range(COARSE_LOOKS), key=lambda k: abs(k - COARSE_LOOKS // 2))


def assignment_matrix(labels: ArrayLike) -> Array:
    """The ``Q`` of a hard clustering: ``Q_ij = 1/|C|`` where i and j share the cluster C, else 0.

    It is feasible for ``K`` = the number of clusters, and a projection: ``Q Q = Q``.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each point, any values.

    Returns
    -------
    array of shape (n, n)

    Examples
    --------
    >>> assignment_matrix([1, 1, 0])
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    V = memberships(labels)
    return (V / V.sum(axis=0)) @ V.T


def lloyd_iterate(
    problem: KMeansSDP, labels: ArrayLike, *, multiplier: float | None = None, max_seconds: float | None = None
) -> Iterate:
    """A clustering, for instance Lloyd's, as an iterate: to be judged as it is, or to start a solver from.

    Its point is the `assignment_matrix`. Its dual guess comes from the row multipliers
    ``y_i = 2 x_i.m - |m|^2 - t/|C|``, where ``m`` is the mean of the cluster ``C`` of point i:
    ``N_ij = max(0, (y_i + y_j)/2 - D_ij)`` off the diagonal.

    Parameters
    ----------
    problem : KMeansSDP
    labels : array-like of shape (n,)
        Cluster of each point, at most ``K`` clusters for the value to be that of the clustering.
    multiplier : float, optional
        The trace multiplier ``t``, in the units of ``D``. None looks for the one with the least upper bound, for as
        many points as all eigenvalues can be had quickly; beyond, there is no dual guess.
    max_seconds : float, optional
        Most seconds of that search, to within one look; it ends with the best found by then.

    Returns
    -------
    Iterate
        With a `SoftPoint`, the guess ``N`` (or None), and ``t`` as ``state.lam``.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, certify
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> certify(problem, lloyd_iterate(problem, [0, 0, 1, 1])).gap < 1e-6
    True
    """
    budget = Budget.of(max_seconds)
    check_unweighted(problem.gram, "the iterate of a clustering")
    V = memberships(labels, problem.n)
    if multiplier is None and not eigenvalues_are_cheap(problem, V):
        return Iterate(SoftPoint(V))
    # The slope is taken over a step of the data's own size: one of 1 would be lost beside large numbers.
    natural = max(problem.gram.trace, problem.gram.norm) / V.shape[1] or 1.0
    D, plain = problem.gram.dense(), row_multipliers(problem, V, 0.0)
    slope = (row_multipliers(problem, V, natural) - plain) / natural

    def guess(t: float) -> Array:
        y = plain + t * slope
        N = np.maximum((y[:, None] + y) / 2 - D, 0)
        np.fill_diagonal(N, 0)
        return N

    if multiplier is None:
        multiplier = natural * _best_share(
            lambda share: upper_bound(problem, guess(natural * share)), problem.n, budget
        )
    return Iterate(SoftPoint(V), N=guess(multiplier), state=SoftState(float(multiplier)))


def _best_share(bound: Callable[[float], float], n: int, budget: Budget) -> float:
    """The share with the least bound, on a logarithmic scale, or the best that there is time for: none, the middle."""
    grid, found = np.linspace(math.log(SMALLEST_SHARE), math.log(LARGEST_SHARE), COARSE_LOOKS), {}
    if budget.left < 4 / 3 * n**3 / SLOW_RATE:
        return math.exp(grid[OUTWARDS[0]])
    for k in OUTWARDS:
        found[k] = bound(math.exp(grid[k]))
        if budget.left < budget.elapsed / len(found):
            break
    best = min(sorted(found), key=lambda k: found[k])
    if budget.left < FINE_LOOKS * budget.elapsed / len(found):
        return math.exp(grid[best])
    around = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, COARSE_LOOKS - 1)]))
    answer = minimize_scalar(
        lambda x: bound(math.exp(x)), bounds=around, method="bounded", options={"maxiter": FINE_LOOKS}
    )
    return math.exp(answer.x)
