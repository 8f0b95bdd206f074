"""One smooth solution made ready for dividing: the density of its points, the links between them, its spectrum.

Density needs no dimension: ``f_i = -log Q_ii``, because a point shares its row with the more others the more there are
around it. A link joins two points at the level ``min(f_i, f_j) + a log s_ij``, with the similarity
``s_ij = Q_ij / sqrt(Q_ii Q_jj)``: the lower of both densities, less so much for a faint link.

``Q`` is also where a random walk goes. A point far from all others is hardly ever left, and so has an eigenvalue near
one of its own. What divides many points shows in the spectrum of the walk's *jumps*, its steps from one point to
another.

Where points stand for groups, they lie more evenly than what they stand for. Density is then
``f_i = -log Q_ii + .65 log m_i``, with ``m_i`` the mean mass over the row of `i`: neighbours per point grow as a power
of density (``2/(d+2)`` in d dimensions), and the density of all is that of the groups times their mass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from .._numerics.arrays import Array, leading_eigh

# Similarities below this are zero: nothing fainter means anything in a look.
FAINTEST = 1e-4
# Spectral cuts into more parts than these are not tried, and so many eigenvalues are looked at.
MOST_SPECTRAL = 30
MOST_PAIRS = MOST_SPECTRAL + 2
# Smallest entry of the diagonal, and smallest rate -log(eigenvalue), that are told from zero.
SMALLEST_DIAGONAL, SMALLEST_RATE = 1e-12, 1e-3
# Neighbours per point grow as density to this power, along curves.
POWER_OF_MASS = 0.65


class Landscape(Enum):
    """How density is read off a solution; the value is the weight ``a`` of a link's log similarity."""

    PLAIN = 0.55  # as it is
    SMOOTH = 0.7  # averaged once over each point's row of Q


@dataclass(frozen=True)
class Links:
    """The n - 1 links of a maximum spanning tree of levels, highest first."""

    first: Array  # (n - 1,) ends of the links
    second: Array  # (n - 1,)
    levels: Array  # (n - 1,) at which they join


@dataclass(frozen=True)
class Modes:
    """The leading eigenvalues of a symmetric matrix, and their eigenvectors."""

    values: Array  # (p,) descending; of a solution that of the ones comes first, if it is known
    vectors: Array  # (n, p)


@dataclass(frozen=True)
class Look:
    """A smooth solution for one ``K``."""

    K: float
    Q: Array  # (n, n) the solution itself
    first: Array  # (m,) ends of the links
    second: Array  # (m,) the other ends, larger
    density: dict[Landscape, Array]  # (n,) of each point
    levels: dict[Landscape, Array]  # (m,) at which each link joins
    jumps: Modes  # of the walk's jumps
    known: Modes | None  # of the solution, where its solver knows them
    masses: Array  # (n,) how much each point stands for, one on average

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.Q)

    def within(self, points: Array) -> Look:
        """The look at some of the points alone; their ``K`` is how many of the patches are theirs."""
        Q, masses = self.Q[np.ix_(points, points)], self.masses[points]
        return make_look(float(np.trace(Q)), Q, masses / masses.mean())

    @cached_property
    def modes(self) -> Modes:
        """The solution's own; some eigenvalues may be above one, because it is rough."""
        return _modes(self.Q) if self.known is None else self.known

    @cached_property
    def rates(self) -> Array:
        """How fast the walk leaves what each of its modes divides, ascending; the first divides nothing."""
        rates = np.maximum(-np.log(np.clip(self.jumps.values, SMALLEST_DIAGONAL, 1)), SMALLEST_RATE)
        rates[0] = SMALLEST_RATE
        return rates

    @cached_property
    def spanning_trees(self) -> dict[Landscape, Links]:
        """The links that matter: where sets of points join first never depends on any other."""
        return {landscape: _spanning_tree(self, landscape) for landscape in Landscape}


def make_look(K: float, Q: Array, masses: Array | None = None, pairs: tuple[Array, Array] | None = None) -> Look:
    """The dense ``Q`` (n, n) of a smooth solution, made ready; points stand for one each unless `masses` are given.

    Eigenvalues and eigenvectors of ``Q - J``, where they are known (`pairs`), need not be computed again.

    Examples
    --------
    >>> look = make_look(2.0, np.kron(np.eye(2), np.full((3, 3), 1 / 3)))
    >>> look.n, len(look.first), look.rates.round(2)[:3].tolist()
    (6, 6, [0.0, 0.0, 27.63])
    """
    diagonal = np.maximum(np.diag(Q), SMALLEST_DIAGONAL)
    root = np.sqrt(diagonal)
    similarity = np.minimum(Q / np.outer(root, root), 1.0)
    first, second = np.nonzero(np.triu(similarity, 1) > FAINTEST)
    log_similarity = np.log(similarity[first, second])
    masses = np.ones(len(Q)) if masses is None else masses
    density = _densities(diagonal, np.maximum(Q, 0), masses)
    levels = {kind: np.minimum(f[first], f[second]) + kind.value * log_similarity for kind, f in density.items()}
    known = None if pairs is None else _with_ones(*pairs)
    return Look(K, Q, first, second, density, levels, _modes(_jumps(Q)), known, masses)


def _modes(A: Array) -> Modes:
    return Modes(*leading_eigh(A, min(MOST_PAIRS, len(A))))


def _jumps(Q: Array) -> Array:
    """The walk's steps from one point to another, ``Q_ij / (1 - Q_ii)``, as a symmetric matrix of the same spectrum."""
    moves = np.maximum(Q, 0)
    np.fill_diagonal(moves, 0)
    root = np.sqrt(np.maximum(moves.sum(axis=1), SMALLEST_DIAGONAL))
    return moves / np.outer(root, root)


def _densities(diagonal: Array, shares: Array, masses: Array) -> dict[Landscape, Array]:
    """The density of each point in both landscapes, from the nonnegative rows of ``Q`` and what points stand for."""
    of_all = shares @ masses
    plain = POWER_OF_MASS * np.log(of_all / shares.sum(axis=1)) - np.log(diagonal)
    return {Landscape.PLAIN: plain, Landscape.SMOOTH: shares @ (masses * plain) / of_all}


def _spanning_tree(look: Look, landscape: Landscape) -> Links:
    """Maximum spanning tree of the levels; what no link joins to the densest point hangs on it, faintly."""
    density = look.density[landscape]
    n, hub = look.n, int(np.argmax(density))
    is_joined = np.zeros(n, dtype=bool)
    is_joined[[hub, *look.second[look.first == hub], *look.first[look.second == hub]]] = True
    others = np.flatnonzero(~is_joined)
    first = np.r_[look.first, np.minimum(others, hub)]
    second = np.r_[look.second, np.maximum(others, hub)]
    levels = np.r_[look.levels[landscape], density[others] + landscape.value * math.log(FAINTEST)]
    top = levels.max()
    # scipy takes a zero for a missing link, so lengths start at one.
    graph = sp.csr_array((top - levels + 1, (first, second)), shape=(n, n))
    graph.sort_indices()
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.argsort(tree.data, kind="stable")
    return Links(tree.row[order].astype(np.int64), tree.col[order].astype(np.int64), top + 1 - tree.data[order])


def _with_ones(values: Array, vectors: Array) -> Modes:
    """The leading modes of ``Q`` from those of ``Q - J``: the vector of ones comes first."""
    order = np.argsort(-values, kind="stable")[: MOST_PAIRS - 1]
    n = len(vectors)
    return Modes(np.r_[1.0, values[order]], np.column_stack([np.full(n, 1 / math.sqrt(n)), vectors[:, order]]))
