"""The correspondence with K-means: a clustering as a feasible ``Q``, its inertia, and as the start of a proof."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from .._certificate.iterate import Iterate
from .._certificate.upper import eigenvalues_are_cheap, upper_bound
from .._numerics.arrays import Array, Data
from .._points.forms import SoftPoint
from .._program.gram import Gram
from .._program.inputs import check_unweighted
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from ..solvers._admm_state import row_multipliers
from ..solvers._soft_updates import SoftState

# The trace multiplier is sought between these shares of tr D per cluster: on a coarse grid first, because the bound is
# level where the multiplier is too large, then between the neighbours of the best. Each look takes all eigenvalues.
SMALLEST_SHARE, LARGEST_SHARE = 1e-3, 2.0
COARSE_LOOKS, FINE_LOOKS = 10, 12
# Floating-point operations per second of a slow processor core at eigenvalues, to tell what one look will take.
SLOW_RATE = 5e9
# In which order the grid is looked at: where time is short, from its middle outwards.
OUTWARDS = sorted(range(COARSE_LOOKS), key=lambda k: abs(k - COARSE_LOOKS // 2))


def kmeans_objective(X: Data | Gram, labels: ArrayLike) -> float:
    """Inertia of a clustering: the sum of squared distances of the points to their cluster's mean.

    It equals ``tr D - <D, Q>`` with ``Q`` the `assignment_matrix` of the labels.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Gram
        Points, or their inner products.
    labels : array-like of shape (n,)
        Cluster of each point, any values.

    Returns
    -------
    float

    Examples
    --------
    >>> kmeans_objective([[0.0], [2.0], [10.0]], ["a", "a", "b"])
    2.0
    """
    gram = X if isinstance(X, Gram) else Gram.from_data(X)
    check_unweighted(gram, "an inertia")
    V = memberships(labels, gram.n)
    sizes = V.sum(axis=0)
    rows = gram.factor
    if rows is not None:
        centroids = (rows.T @ V) / sizes
        return float(np.sum((rows - V @ centroids.T) ** 2))
    return gram.trace - float(np.sum(V * (gram @ V) / sizes))


def inertia_bound(gram: Gram, upper: float) -> float:
    """The least inertia that an upper bound on ``<D, Q>`` allows to any clustering into at most ``K`` clusters.

    It is ``tr D - upper``, with ``tr D`` rounded down.

    Parameters
    ----------
    gram : Gram
    upper : float
        Such as ``solution.certificate.upper``.

    Returns
    -------
    float
        0 where nothing is known.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> gram = Gram.from_data([[0.0], [1.0], [10.0], [11.0]])
    >>> round(inertia_bound(gram, solve(KMeansSDP(gram, 2), tol=1e-6).certificate.upper), 2)
    1.0
    """
    if math.isinf(upper):
        return 0.0
    return max(0.0, gram.trace - gram.trace_error - upper)


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
    D, plain, slope = problem.gram.dense(), row_multipliers(problem, V, 0.0), row_multipliers(problem, V, 1.0)
    slope = slope - plain

    def guess(t: float) -> Array:
        y = plain + t * slope
        N = np.maximum((y[:, None] + y) / 2 - D, 0)
        np.fill_diagonal(N, 0)
        return N

    if multiplier is None:
        natural = max(problem.gram.trace, problem.gram.norm) / V.shape[1]
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


def memberships(labels: ArrayLike, n: int | None = None) -> Array:
    """Labels as a matrix of zeros and ones, one column per cluster in the order of their labels."""
    given = np.asarray(labels)
    if given.ndim != 1 or given.size == 0 or (n is not None and given.size != n):
        rule = "one label per point" if n is None else f"{n} labels, one per point"
        raise ValueError(f"labels must be {rule}, got shape {given.shape}. Pass a one-dimensional array.")
    clusters, index = np.unique(given, return_inverse=True)
    V = np.zeros((given.size, clusters.size))
    V[np.arange(given.size), index] = 1.0
    return V


def check_no_noise(labels: ArrayLike) -> None:
    """Refuse labels in which -1 stands beside 0, as others mark points of no cluster; -1 beside 1 alone is a sign."""
    given = np.asarray(labels)
    if given.dtype.kind not in "if" or not (given == -1).any() or not ((given == 0).any() or (given == -1).all()):
        return
    raise ValueError(
        f"labels must name a cluster for every point, got -1, which marks noise, for {int((given == -1).sum())} of "
        f"{given.size}. Leave those points out: certify_kmeans(X[labels != -1], labels[labels != -1])."
    )
