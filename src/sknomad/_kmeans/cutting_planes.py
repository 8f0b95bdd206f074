"""Better bounds on the best clustering: triangles and pairs added to the program where its ``Q`` breaks them.

ADMM as in `solvers.ADMM`, with the nonnegative matrices replaced by those that also obey the cuts found so far. The
projection on these is a small dual problem over the cuts' weights ``w >= 0``: minimise
``|max(T + A'w, 0)|^2 / 2``, whose gradient is ``A R``, ``R = max(T + A'w, 0)``. A few accelerated steps from the last
weights suffice, and whatever they leave undone only makes the bound looser: any weights prove something.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._certificate.cuts import Multipliers, clustering_upper_bound
from .._numerics.arrays import Array
from .._numerics.projections import project_spectraplex
from .._points.forms import SpectralPoint
from .._program.problem import KMeansSDP
from .._solving.solution import Status
from ..solvers._warm_eigenspace import LeadingProjector

# Beyond this many points the dense arrays of this method, and its search for cuts, take too long.
LARGEST_FOR_CUTS = 5000
RELAXATION = 1.6
# Steps between two searches for cuts and between two looks at the bound, accelerated steps of each projection.
ROUND, LOOK, INNER = 60, 20, 8
# New cuts per point and round, the share of them that one first point may have, and the least violation of use, in
# units of the average entry of Q.
CUTS_PER_POINT, SHARE_PER_POINT, LEAST_VIOLATION = 3, 0.1, 1e-4
# Pairs (j, k) looked at in one search.
PAIRS_PER_SEARCH = 2 * 10**8
# No better bound, by this share of the goal, for so many steps: an end.
PATIENCE, LEAST_PROGRESS = 900, 0.02
# After so many steps without one, a search that finds no broken cut divides the penalty.
STALLED, LOOSER = 120, 2.0
# Steps between two revisions of the goal.
REVISION = 300
# Full eigendecompositions up to this many points, as in the solver without cuts; beyond, a warm subspace.
EXACT_BELOW, EXACT_LIMIT = 400, 4000


@dataclass(frozen=True)
class Tightened:
    """What cuts have added."""

    upper: float  # on <D, Z> over clusterings
    multipliers: Multipliers
    point: SpectralPoint  # the last Q
    status: Status
    n_iter: int


def tighten(
    problem: KMeansSDP,
    Q: Array,
    N: Array,
    rho: float,
    *,
    goal: float,
    max_iter: int,
    max_seconds: float,
    revise: Callable[[SpectralPoint], float] | None = None,
) -> Tightened:
    """Add cuts until no clustering can have a value above `goal`, from a solution ``Q`` with its multiplier ``N``.

    Parameters
    ----------
    problem : KMeansSDP
    Q, N : array of shape (n, n)
    rho : float
        Penalty of the solver that they come from.
    goal : float
        Upper bound on ``<D, Z>`` at which to stop.
    max_iter : int
    max_seconds : float
    revise : callable, optional
        Asked now and then, with the current ``Q``, for a new goal: it may suggest a better clustering.

    Returns
    -------
    Tightened
        With an upper bound at least as good as that of ``N`` alone.
    """
    started = time.perf_counter()
    search = _Search(problem, Q, N, rho)
    status = Status.MAX_ITER
    while search.upper > goal and search.step < max_iter:
        search.advance(goal)
        if revise is not None and search.step % REVISION == 0:
            goal = revise(search.point)
        if search.unrewarded >= PATIENCE:
            status = Status.EXHAUSTED
            break
        if time.perf_counter() - started >= max_seconds:
            status = Status.MAX_SECONDS
            break
    status = Status.CERTIFIED if search.upper <= goal else status
    return Tightened(search.upper, search.best, search.point, status, search.step)


class _Search:
    """ADMM on the program with the cuts found so far, and the best proof met on the way."""

    def __init__(self, problem: KMeansSDP, Q: Array, N: Array, rho: float):
        self.problem, self.D, self.project = problem, problem.gram.dense(), _projector(problem)
        self.T, self.rho = Q - N / rho, rho  # as in ADMM
        self.cuts, self.weights = np.empty((0, 3), dtype=np.int32), np.empty(0)  # weights in units of 1/rho
        self.polyhedron = _Polyhedron(problem.n, self.cuts)
        self.point = SpectralPoint(*self.project(Q))
        self.generator = np.random.default_rng(0)
        self.best = Multipliers(N)
        self.upper = self.rewarded_upper = clustering_upper_bound(problem, self.best)
        self.step = self.rewarded_at = 0

    @property
    def unrewarded(self) -> int:
        """Steps since the bound last came a good deal closer to the goal."""
        return self.step - self.rewarded_at

    def advance(self, goal: float) -> None:
        """One step; now and then new cuts, and a look at the bound."""
        n = self.problem.n
        if self.step % ROUND == 0:
            new = find_cuts(self.point.rows(0, n), CUTS_PER_POINT * n, self.generator)
            if len(new) == 0 and self.unrewarded >= STALLED:
                self._loosen()
            self._exchange_cuts(new)
        R, self.weights = self.polyhedron.project(self.T, self.weights)
        self.point = SpectralPoint(*self.project(2 * R - self.T + self.D / self.rho))
        self.T += RELAXATION * (self.point.rows(0, n) - R)
        self.step += 1
        if self.step % LOOK == 0:
            self._look(goal)

    def _look(self, goal: float) -> None:
        proof = self.polyhedron.multipliers(self.T, self.weights, self.rho)
        found = clustering_upper_bound(self.problem, proof)
        if found < self.upper:
            self.upper, self.best = found, proof
        if self.rewarded_upper - self.upper > LEAST_PROGRESS * (self.upper - goal):
            self.rewarded_upper, self.rewarded_at = self.upper, self.step

    def _exchange_cuts(self, new: Array) -> None:
        """Drop cuts without weight, add new ones; none twice."""
        kept = self.weights > 0
        cuts = np.concatenate([self.cuts[kept], new])
        weights = np.concatenate([self.weights[kept], np.zeros(len(new))])
        first = np.sort(np.unique(cuts, axis=0, return_index=True)[1])
        self.cuts, self.weights = cuts[first], weights[first]
        self.polyhedron = _Polyhedron(self.problem.n, self.cuts)

    def _loosen(self) -> None:
        """A smaller penalty: where the bound stands still and no cut is broken, ``Q`` drifts faster under it."""
        R, weights = self.polyhedron.project(self.T, self.weights)
        self.T = R + (self.T - R) * LOOSER
        self.weights, self.rho = weights * LOOSER, self.rho / LOOSER


def _projector(problem: KMeansSDP) -> Callable[[Array], tuple[Array, Array]]:
    if problem.n <= EXACT_BELOW:
        return lambda A: project_spectraplex(A / 2 + A.T / 2, problem.K - 1, problem.fixed)
    leading = LeadingProjector(problem.K - 1, EXACT_LIMIT, problem.fixed)
    return lambda A: leading.project(A / 2 + A.T / 2)


class _Polyhedron:
    """Nonnegative matrices that obey some cuts ``<A_c, R> >= 0``."""

    def __init__(self, n: int, cuts: Array):
        self.n, self.cuts, self.A = n, cuts, cut_operator(n, cuts)
        # The row sums of |A A'| bound it from above as a diagonal matrix does: a step length for each weight.
        sums = np.asarray(abs(self.A @ self.A.T).sum(axis=1)).ravel()
        self.steps = 1 / np.maximum(sums, 1)

    def lifted(self, T: Array, weights: Array) -> Array:
        """``T + A'w``."""
        return T + (self.A.T @ weights).reshape(self.n, self.n)

    def project(self, T: Array, weights: Array) -> tuple[Array, Array]:
        """About the nearest point to `T`, and the weights that make it so."""
        ahead, momentum = weights, 1.0
        for _ in range(INNER if len(weights) else 0):
            gradient = self.A @ np.maximum(self.lifted(T, ahead), 0).ravel()
            new = np.maximum(ahead - self.steps * gradient, 0)
            following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
            ahead = np.maximum(new + ((momentum - 1) / following) * (new - weights), 0)
            weights, momentum = new, following
        return np.maximum(self.lifted(T, weights), 0), weights

    def multipliers(self, T: Array, weights: Array, rho: float) -> Multipliers:
        """The proof that a state holds, in the units of ``D``."""
        _, weights = self.project(T, weights)
        used = weights > 0
        return Multipliers(rho * np.maximum(-self.lifted(T, weights), 0), self.cuts[used], rho * weights[used])


def cut_operator(n: int, cuts: Array) -> sp.csr_matrix:
    """The matrix ``A`` (m x n^2) with ``A vec(Z)`` positive where ``Z`` obeys a cut with room to spare."""
    i, j, k = cuts.astype(np.int64).T
    row, half = np.arange(len(cuts)), np.where(j == k, 0.0, 0.5)
    entries = [(i, i, row * 0 + 1.0), (j, k, half), (k, j, half), (i, k, -half), (k, i, -half)]
    entries += [(i, j, row * 0 - 0.5), (j, i, row * 0 - 0.5)]
    columns = np.concatenate([a * n + b for a, b, _ in entries])
    values = np.concatenate([value for _, _, value in entries])
    return sp.csr_matrix((values, (np.tile(row, len(entries)), columns)), shape=(len(cuts), n * n))


def find_cuts(Z: Array, count: int, generator: np.random.Generator) -> Array:
    """At most `count` cuts that ``Z`` breaks, the most broken first; few for any one first point.

    A triangle at i can be broken only by points j and k with ``Z_ij, Z_ik > 0``, so the search goes over those. Where
    even that is too much, a random part of the points is searched.
    """
    n = len(Z)
    least, most = LEAST_VIOLATION / n, max(1, int(SHARE_PER_POINT * count))
    order, budget = generator.permutation(n), PAIRS_PER_SEARCH
    found, sizes = [np.empty((0, 3), dtype=np.int32)], [np.empty(0)]
    for i in order:
        near = np.flatnonzero(Z[i] > least)
        near = near[near != i]
        budget -= len(near) ** 2
        if budget < 0:
            break
        excess = Z[i, near][:, None] + Z[i, near] - Z[i, i] - Z[np.ix_(near, near)]
        # On the diagonal stands the pair, of which the triangle's formula would make something weaker.
        np.fill_diagonal(excess, Z[i, near] - Z[i, i])
        j, k = np.nonzero(np.triu(excess) > least)
        amounts = excess[j, k]
        if len(amounts) > most:
            best = np.argpartition(-amounts, most)[:most]
            j, k, amounts = j[best], k[best], amounts[best]
        found.append(np.column_stack([np.full(len(j), i), near[j], near[k]]).astype(np.int32))
        sizes.append(amounts)
    ranking = np.argsort(-np.concatenate(sizes), kind="stable")[:count]
    return np.concatenate(found)[ranking]
