"""How many parts, and which ``K``: the answer that persists longest over thresholds and over ``K``, without labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin

from .._numerics.arrays import Array, Table, is_sparse
from .._points.components import in_order
from .._points.point import Point
from .._program.data_rows import rows_of
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.loop import Callback, Limits
from .._solving.rough import rough_iterate
from .._solving.solution import Status
from .._solving.solve import solve
from ..solvers import ADMM
from .linkage import SMALLEST_SHARE, LinkageTree, linkage_tree

# The grid: half octaves of K, from few and large patches to patches of a handful of points.
SMALLEST_K, LARGEST_K, STEPS_PER_OCTAVE = 3.0, 64.0, 2
POINTS_PER_PATCH = 3
# Steps of ADMM at each K. Enough to part manifolds; many more also break up single ones at the gaps of their sample,
# because the exact solution has no entries across a gap while an approximate one still has small ones.
# Larger K need more: twice K, and never fewer than the first number.
LOOK_STEPS, LOOK_STEPS_PER_K = 50, 2
# Beyond this many points steps are in single precision.
SMALL = 300
# Beyond this many points small groups stand for them: which K suits is a matter of shape more than of their number.
MOST_GROUPS = 500
# Two divisions into parts are the same if they agree to this adjusted Rand index.
SAME = 0.9
# Divisions that persist over less than this at one K are not looked at.
SHORTEST = 0.05
# Decades of height times octaves of K times points of the smallest part: what the divisions of a single manifold rarely
# reach. A handful of points comes apart by chance far more easily than half of them.
SIGNIFICANT = 16.0
# However small the parts, decades times octaves that are enough.
ALWAYS_SIGNIFICANT = 1.0
# What makes looks at larger K superfluous: the longest stretch of heights there is, over more than an octave of K.
CLEAR = 2.0
# Lengths of at least these shares of the longest are as good: for two or more parts, and for one.
AS_GOOD, AS_GOOD_FOR_ONE = 0.7, 0.9


@dataclass(frozen=True)
class Look:
    """One ``K`` of the grid and the divisions into parts that its tree suggests."""

    K: float
    lengths: dict[int, float]  # number of parts: over how many decades of height there are so many
    labels: dict[int, Array]  # number of parts: the division, where it persists at all


@dataclass(frozen=True)
class Choice:
    """What the data say about ``K`` and the number of parts.

    Parameters
    ----------
    K : float
        The ``K`` at which the parts show best.
    n_parts : int
        Their number, possibly one.
    labels : array of shape (n,)
        The part of each point; with more than 500 points, of its group.
    persistence : float
        Decades of height times octaves of ``K`` over which the best division into two or more parts persists.
    confidence : float
        Between 0.5, undecided, and 1: ``p / (p + t)`` for two or more parts of persistence ``p``, ``t / (p + t)`` for
        one, with the threshold ``t`` between them.
    K_values : array
        The grid.
    lengths : array
        For each ``K`` of the grid, decades of height over which the chosen division persists there.
    """

    K: float
    n_parts: int
    labels: Array
    persistence: float
    confidence: float
    K_values: Array
    lengths: Array


def choose(gram: Gram, *, n_parts: int | None = None, callback: Callback | None = None) -> Choice:
    """Choose ``K`` and the number of parts for `gram`.

    Parameters
    ----------
    gram : Gram
    n_parts : int, optional
        The number of parts, if known: then only ``K`` is chosen.
    callback : callable, optional
        Sees the progress of every solve; returning True ends the search, with what is known so far.

    Returns
    -------
    Choice

    Examples
    --------
    >>> from sknomad.datasets import two_rings
    >>> choice = choose(Gram.from_data(two_rings(80)[0]))
    >>> choice.n_parts
    2
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    coarse, groups = _coarsen(gram)
    looks: list[Look] = []
    for K in K_grid(coarse.n):
        point, stopped = _look_at(KMeansSDP(coarse, K), callback)
        looks.append(_divisions(K, linkage_tree(point), n_parts))
        labels, lengths = _clearest_division(looks)
        persistence = float(lengths.sum()) / STEPS_PER_OCTAVE
        if stopped or persistence >= CLEAR:
            break
    needed = ALWAYS_SIGNIFICANT if labels is None else _needed(labels)
    if labels is None or (n_parts is None and persistence < needed):
        labels, lengths = np.zeros(coarse.n, dtype=np.int64), np.array([look.lengths.get(1, 0.0) for look in looks])
    K_values = np.array([look.K for look in looks])
    is_one = not labels.any()
    ours, other = (needed, persistence) if is_one else (persistence, needed)
    return Choice(
        K=_finest_K(K_values, lengths, _count(gram)) if is_one else _coarsest_K(K_values, lengths),
        n_parts=int(labels.max()) + 1 if n_parts is None else n_parts,
        labels=in_order(labels[groups]),
        persistence=persistence,
        confidence=ours / (ours + other),
        K_values=K_values,
        lengths=lengths,
    )


def K_grid(n: int) -> list[float]:
    """Ascending half octaves, from about 3 to 64 or three points per patch; for very few points, one ``K``."""
    last = min(LARGEST_K, n / POINTS_PER_PATCH)
    if last < SMALLEST_K:
        return [min(SMALLEST_K, float(n))]
    steps = math.floor(STEPS_PER_OCTAVE * math.log2(last / SMALLEST_K) + 1e-9)
    return [last / 2 ** (step / STEPS_PER_OCTAVE) for step in range(steps, -1, -1)]


def usual_K(n: int) -> float:
    """About twelve neighbours per point: ``n / 12`` between 2 and 32, and at most `n`."""
    return float(min(max(math.floor(n / 12), 2), 32, n))


def _coarsen(gram: Gram) -> tuple[Gram, Array]:
    """The data, or the means of 500 small groups where there are more points, and the group of each point.

    A random sample would leave gaps in thin manifolds that are as wide as what separates them; groups spread by
    k-means++ leave none, and their means have less noise. Weights are looked at as so many equal points.
    """
    if gram.n <= MOST_GROUPS and gram.roots is None:
        return gram, np.arange(gram.n)
    X: Table = gram.table if gram.sparse is not None else rows_of(gram, np.empty(0)).host
    if gram.roots is not None and gram.n <= MOST_GROUPS:
        return _repeated(X, _weights(gram))
    centres = kmeans_plusplus(X, MOST_GROUPS, random_state=0)[0]
    for _ in range(2):
        nearest = pairwise_distances_argmin(X, centres)
        _, groups, sizes = np.unique(nearest, return_inverse=True, return_counts=True)
        members = sp.csr_array((1 / sizes[groups], (groups, np.arange(gram.n))), shape=(len(sizes), gram.n))
        centres = members @ X
        centres = centres.toarray() if is_sparse(centres) else centres
    coarse, first_copy = _repeated(centres, np.bincount(groups, _weights(gram)))
    return coarse, first_copy[groups]


def _repeated(X: Table, weights: Array) -> tuple[Gram, Array]:
    """Points as often as they count, 500 in all at most, and the first copy of each.

    Where most points are copies of a few, those few alone were too few to look at. Where they are not, weights that
    would make more than 500 points are left aside.
    """
    total, is_whole = float(weights.sum()), bool(np.all(weights == np.round(weights)))
    share = (
        1.0 if is_whole and total <= MOST_GROUPS else MOST_GROUPS / total if 2 * len(weights) <= MOST_GROUPS else 0.0
    )
    copies = np.maximum(np.round(share * weights), 1).astype(int)
    return Gram.from_data(X[np.repeat(np.arange(len(copies)), copies)]), np.cumsum(copies) - copies


def _count(gram: Gram) -> int:
    """The number of points, equal ones counted each, where weights are such counts."""
    weights = _weights(gram)
    return int(weights.sum()) if np.all(weights == np.round(weights)) else gram.n


def _weights(gram: Gram) -> Array:
    """Weights from their roots, whole ones exactly."""
    weights = np.ones(gram.n) if gram.roots is None else gram.roots**2
    return np.round(weights) if np.allclose(weights, np.round(weights), rtol=1e-9, atol=0) else weights


def _look_at(problem: KMeansSDP, callback: Callback | None) -> tuple[Point, bool]:
    """A rough solution, and whether the callback asked to stop."""
    if problem.is_trivial:
        return solve(problem).point.unmixed, False
    steps = math.ceil(max(LOOK_STEPS, LOOK_STEPS_PER_K * problem.K))
    solver = ADMM(device="cpu32" if problem.n > SMALL else "cpu")
    iterate, status = rough_iterate(problem, solver, Limits(steps, math.inf), callback)
    return iterate.point, status is Status.STOPPED


def _divisions(K: float, tree: LinkageTree, n_parts: int | None) -> Look:
    """The divisions of one tree that persist.

    Only into fewer parts than ``K``: with as many, the program is K-means and divides anything.
    """
    most = min(math.ceil(K) - 1, math.floor(1 / SMALLEST_SHARE))
    counts = range(1, most + 1) if n_parts is None else range(n_parts, min(n_parts, most) + 1)
    lengths = {count: tree.persistence(count) for count in counts}
    return Look(K, lengths, {count: tree.cut(count) for count in counts if count > 1 and lengths[count] >= SHORTEST})


def _clearest_division(looks: list[Look]) -> tuple[Array | None, Array]:
    """The division into two or more parts with most evidence, and its lengths at every ``K``.

    Evidence is length, summed over ``K``, times the size of the smallest part.
    """
    best, lengths, most = None, np.zeros(len(looks)), 0.0
    for look in looks:
        for count, labels in look.labels.items():
            found = np.array([_length_in(other, count, labels) for other in looks])
            evidence = float(found.sum()) * _smallest(labels)
            if evidence > most:
                best, lengths, most = labels, found, evidence
    return best, lengths


def _needed(labels: Array) -> float:
    """The persistence from which on a division is believed: the less, the larger its smallest part."""
    return min(SIGNIFICANT / _smallest(labels), ALWAYS_SIGNIFICANT)


def _smallest(labels: Array) -> int:
    return int(np.bincount(labels).min())


def _length_in(look: Look, count: int, labels: Array) -> float:
    """Over how many decades a division persists at another ``K``: none if that divides otherwise."""
    if count not in look.labels or adjusted_rand_score(labels, look.labels[count]) < SAME:
        return 0.0
    return look.lengths[count]


def _coarsest_K(K_values: Array, lengths: Array) -> float:
    """The smallest of those that show the parts about best: solved accurately, larger ones may break them up."""
    return float(K_values[lengths >= AS_GOOD * lengths.max()][0])


def _finest_K(K_values: Array, lengths: Array, n: int) -> float:
    """The finest, up to the usual one, that leaves everything together about as clearly as any does."""
    good = (lengths >= AS_GOOD_FOR_ONE * lengths.max()) & (K_values <= usual_K(n))
    return float(K_values[good][-1]) if good.any() and lengths.max() > 0 else usual_K(n)
