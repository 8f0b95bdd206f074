"""Better bounds on the best clustering: triangles and pairs added to the program where its ``Q`` breaks them.

ADMM as in `solvers.ADMM`, with the nonnegative matrices replaced by those that also obey the cuts found so far. The
projection on these is a small dual problem over the cuts' weights ``w >= 0``: minimise
``|max(T + A'w, 0)|^2 / 2``, whose gradient is ``A R``, ``R = max(T + A'w, 0)``. A few accelerated steps from the last
weights suffice, and whatever they leave undone only makes the bound looser: any weights prove something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from .._certificate.cuts import Multipliers, clustering_upper_bound
from .._certificate.iterate import Iterate
from .._numerics.arrays import Array
from .._numerics.projections import project_spectraplex
from .._numerics.sizes import FULL_FOR_A_RESTART, FULL_FOR_A_STEP
from .._points.forms import SpectralPoint
from .._program.problem import KMeansSDP
from .._solving.run_state import Run
from ..solvers._warm_eigenspace import LeadingProjector

# Beyond this many points the dense arrays of this method, and its search for cuts, take too long.
LARGEST_FOR_CUTS = 5000
RELAXATION = 1.6
# Steps between two searches for cuts and between two looks at the bound, accelerated steps of each projection.
ROUND, LOOK_EVERY, INNER = 60, 20, 8
# New cuts per point and round, the share of them that one first point may have, and the least violation of use, in
# units of the average entry of Q.
CUTS_PER_POINT, SHARE_PER_POINT, LEAST_VIOLATION = 3, 0.1, 1e-4
# Pairs (j, k) looked at in one search.
PAIRS_PER_SEARCH = 2 * 10**8
# The search ends when the bound has not come closer to the target, by this share of the distance, for so many steps.
PATIENCE, LEAST_PROGRESS = 900, 0.02
# After so many steps without one, a search that finds no broken cut divides the penalty.
STALLED, LOOSER = 120, 2.0
# Steps between two revisions of the target.
REVISION = 300


class Target(Protocol):
    """What the search for cuts is after."""

    @property
    def upper(self) -> float:
        """Upper bound on ``<D, Z>`` over clusterings at which to stop."""
        ...

    def revise(self, point: SpectralPoint) -> None:
        """Look for a better clustering in ``Q``, which would bring the target nearer."""
        ...


class ClusteringJudge:
    """The judge of clusterings: bounds ``<D, Z>`` over all of them from an iterate's multipliers and cuts."""

    def __init__(self, problem: KMeansSDP):
        self.problem = problem
        self.best: Multipliers | None = None  # behind the best bound of the run
        self._last: tuple[Multipliers, float] | None = None

    def bound_of(self, proof: Multipliers) -> float:
        """The bound that `proof` gives; that of the last one asked for is remembered."""
        if self._last is None or self._last[0] is not proof:
            self._last = proof, clustering_upper_bound(self.problem, proof)
        return self._last[1]

    def begin(self, run: Run) -> None:
        """Look at the multipliers that the search starts from."""
        self._look(run)

    def after_step(self, run: Run) -> bool:
        """Look at milestones."""
        assert run.iterate is not None
        if run.iterate.is_milestone:
            self._look(run)
        return run.iterate.is_milestone

    def _look(self, run: Run) -> None:
        assert run.iterate is not None
        proof = proof_of(run.iterate)
        if (found := self.bound_of(proof)) < run.upper:
            run.enter_upper(found)
            self.best = proof


def proof_of(iterate: Iterate) -> Multipliers:
    """What a milestone, or the start of a search, holds as its state."""
    assert isinstance(iterate.state, Multipliers)
    return iterate.state


@dataclass(frozen=True)
class CuttingPlanes:
    """ADMM on the program with cuts, more of them from round to round.

    Iterates hold `Multipliers` as their state at milestones: with cuts no single ``N`` proves anything.

    Parameters
    ----------
    target : Target
        Ends nothing here, but progress is measured by it, and it is revised now and then.
    bound_of : callable
        The judge's bound for some multipliers: where it stands still, the penalty is divided.
    penalty : float
        Of the solver that the start comes from.
    """

    target: Target
    bound_of: Callable[[Multipliers], float]
    penalty: float

    def iterates(self, problem: KMeansSDP, start: Iterate) -> Iterator[Iterate]:
        """Yield one iterate per step, until cuts have brought no better bound for long."""
        search = _Search(problem, start, self)
        while search.unrewarded < PATIENCE:
            iterate = search.advance()
            if search.step % REVISION == 0:
                self.target.revise(search.point)
            yield iterate


class _Search:
    """ADMM on the program with the cuts found so far."""

    def __init__(self, problem: KMeansSDP, start: Iterate, settings: CuttingPlanes):
        self.problem, self.D, self.project = problem, problem.gram.dense(), _projector(problem)
        self.settings, self.rho = settings, settings.penalty
        proof = proof_of(start)
        Q, N = start.point.dense(), np.asarray(proof.N, dtype=np.float64)
        self.T = Q - N / self.rho  # as in ADMM
        self.cuts, self.weights = np.empty((0, 3), dtype=np.int32), np.empty(0)  # weights in units of 1/rho
        self.polyhedron = _Polyhedron(problem.n, self.cuts)
        self.point = SpectralPoint(*self.project(Q))
        self.generator = np.random.default_rng(0)
        self.upper = self.rewarded_upper = settings.bound_of(proof)
        self.step = self.rewarded_at = 0

    @property
    def unrewarded(self) -> int:
        """Steps since the bound last came a good deal closer to the target."""
        return self.step - self.rewarded_at

    def advance(self) -> Iterate:
        """One step; now and then new cuts, and a milestone for the judge."""
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
        if self.step % LOOK_EVERY != 0:
            return Iterate(self.point)
        proof = self.polyhedron.multipliers(self.T, self.weights, self.rho)
        self._measure_progress(self.settings.bound_of(proof))
        return Iterate(self.point, state=proof, is_milestone=True)

    def _measure_progress(self, found: float) -> None:
        self.upper = min(self.upper, found)
        if self.rewarded_upper - self.upper > LEAST_PROGRESS * (self.upper - self.settings.target.upper):
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
    if problem.n <= FULL_FOR_A_STEP:
        return lambda A: project_spectraplex(A / 2 + A.T / 2, problem.K - 1, problem.fixed)
    leading = LeadingProjector(problem.K - 1, FULL_FOR_A_RESTART.cpu, problem.fixed)
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
