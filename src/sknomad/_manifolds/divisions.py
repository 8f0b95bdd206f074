"""Divisions of the points into parts, gathered from several looks, and how much speaks for each.

The score of a division into c >= 2 parts is the log of its evidence, plus how even its parts are, plus how clearly they
stand apart, less what many parts with shallow valleys lose. Evidence is how far all cuts, of plain valley trees, smooth
ones and spectral ones, agree with the division.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._numerics.arrays import Array
from .look import Landscape, Look
from .spectral_cuts import spectral_cut, spectral_gaps
from .valley_tree import ValleyTree, prominences_between, smallest_part, valley_tree

# Prominences at which trees are cut, and the most parts less one of a cut that is looked at.
PROMINENCES = np.geomspace(0.05, 3.0, 22)
MOST_VALLEYS = 40
# Spectral cuts taken from each look, those with the widest gaps.
SPECTRAL_CUTS = 3
# Two divisions agree by their adjusted Rand index to this power: an index of .9 counts half, one of .5 nearly nothing.
POWER_OF_AGREEMENT = 6
# Weights in the evidence of plain trees, smooth trees and spectral cuts, and what a division without any counts.
EVIDENCE_WEIGHTS, LEAST_EVIDENCE = np.array([0.4, 0.4, 0.2]), 0.005
# Weights of evenness, log(c smallest / n), and of clearness, the mean log of the prominences between parts.
EVENNESS_WEIGHT, CLEARNESS_WEIGHT, LEAST_PROMINENCE = 1.5, 0.3, 0.01
# So many parts with little evidence and shallow valleys (mean log prominence) are rather pieces of curves, which fall
# apart at the gaps of a sample: fewer parts are taken that score nearly as much.
MANY_PARTS, LITTLE_EVIDENCE, SHALLOW, LESS_FOR_PIECES = 8, 0.15, -0.7, 0.8
# A valley that counts for the highest one has this share of the points on either side.
SHARE_ON_EITHER_SIDE = 0.05
# With the number of parts given, trees are cut for several smallest shares of a part.
SHARES_WHEN_TOLD = (0.01, 0.02, 0.05)
PLAIN_CUT, SMOOTH_CUT, SPECTRAL_CUT = 0, 1, 2
LANDSCAPES = ((PLAIN_CUT, Landscape.PLAIN), (SMOOTH_CUT, Landscape.SMOOTH))


@dataclass(frozen=True)
class Scored:
    """A division and its score."""

    labels: Array  # (n,) parts from 0, by first appearance
    score: float  # -inf for a single part

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return int(self.labels.max()) + 1


class Pool:
    """Different divisions of the points of some looks, and the votes of each kind of cut for each.

    Looks may come one after another: what was found out about the earlier ones is kept.
    """

    def __init__(self, looks: Sequence[Look] = ()) -> None:
        self.looks = list(looks)
        self.divisions: list[Array] = []
        self.votes: list[Array] = []
        self._clearness: list[list[float]] = []  # of every division, in every look so far
        self._highest: list[float] = []  # the log prominence of the highest valley between two large sides of each look
        self._index: dict[bytes, int] = {}

    def add(self, labels: Array | None, kind: int, weight: float) -> None:
        """Enter a division, if there is one, with a vote."""
        if labels is None:
            return
        place = self._index.setdefault(labels.astype(np.int32).tobytes(), len(self.divisions))
        if place == len(self.divisions):
            self.divisions.append(labels)
            self.votes.append(np.zeros(len(EVIDENCE_WEIGHTS)))
            self._clearness.append([])
        self.votes[place][kind] += weight

    def see(self, look: Look) -> None:
        """Enter all divisions that a further look suggests."""
        self.looks.append(look)
        for kind, landscape in LANDSCAPES:
            tree = valley_tree(look, landscape, smallest_part(look.n))
            _add_cuts(self, tree, kind)
            if kind == PLAIN_CUT:
                self._highest.append(math.log(LEAST_PROMINENCE + tree.highest_prominence(SHARE_ON_EITHER_SIDE)))
        _add_spectral_cuts(self, look)

    @property
    def highest_valley(self) -> float:
        """The mean log prominence of the highest valley between two large sides."""
        return sum(self._highest) / len(self._highest)

    def scored(self) -> list[Scored]:
        """All divisions with their scores, the best first."""
        if not self.divisions:
            return []
        masses, votes = self.looks[0].masses, np.array(self.votes) / len(self.looks)
        evidence = _agreement(self.divisions, masses) @ votes @ EVIDENCE_WEIGHTS
        found = [
            Scored(labels, self._score(place, float(evidence[place]))) for place, labels in enumerate(self.divisions)
        ]
        return sorted(found, key=lambda division: -division.score)

    def _score(self, place: int, evidence: float) -> float:
        """Evidence, evenness and clearness, less what pieces of curves lose; minus infinity for a single part."""
        labels, clearness = self.divisions[place], self._clearness[place]
        sizes = np.bincount(labels, self.looks[0].masses)
        if len(sizes) == 1:
            return -math.inf
        for look in self.looks[len(clearness) :]:
            clearness.append(float(np.mean(np.log(LEAST_PROMINENCE + prominences_between(look, labels)))))
        evenness, clear = math.log(len(sizes) * sizes.min() / len(labels)), float(np.mean(clearness))
        are_pieces = len(sizes) >= MANY_PARTS and evidence < LITTLE_EVIDENCE and clear < SHALLOW
        score = math.log(LEAST_EVIDENCE + evidence) + EVENNESS_WEIGHT * evenness + CLEARNESS_WEIGHT * clear
        return score - (LESS_FOR_PIECES if are_pieces else 0.0)


def gather(looks: Sequence[Look], pool: Pool | None = None) -> Pool:
    """All divisions that looks suggest; of a pool that has seen the first of them, with the others."""
    pool = Pool() if pool is None else pool
    for look in looks[len(pool.looks) :]:
        pool.see(look)
    return pool


def gather_told(looks: Sequence[Look], n_parts: int) -> Pool:
    """Divisions into `n_parts` parts: the clearest of every tree, for several smallest sizes, and spectral ones."""
    pool = Pool(looks)
    shares = [share for share in SHARES_WHEN_TOLD if share * n_parts <= 1]
    for look in looks:
        for kind, landscape in LANDSCAPES:
            for share in shares:
                tree = valley_tree(look, landscape, smallest_part(look.n, share))
                pool.add(tree.cut(n_parts), kind, 1 / len(SHARES_WHEN_TOLD))
        pool.add(spectral_cut(look, n_parts), SPECTRAL_CUT, 1.0)
    return pool


def _add_cuts(pool: Pool, tree: ValleyTree, kind: int) -> None:
    """Every division that some prominence leaves, with the share of prominences that leave it."""
    ranked = np.sort(tree.prominence[tree.prominence >= PROMINENCES[0]])[::-1][:MOST_VALLEYS]
    valleys = np.searchsorted(-ranked, -PROMINENCES, side="right")
    for count in np.unique(valleys):
        lowest = ranked[count - 1] if count else math.inf
        pool.add(tree.without(tree.prominence >= lowest), kind, float(np.mean(valleys == count)))


def _add_spectral_cuts(pool: Pool, look: Look) -> None:
    counts, gaps = spectral_gaps(look)
    for k in np.argsort(-gaps, kind="stable")[:SPECTRAL_CUTS]:
        labels = spectral_cut(look, int(counts[k]))
        if labels is not None and np.bincount(labels, look.masses).min() >= smallest_part(look.n):
            pool.add(labels, SPECTRAL_CUT, float(np.clip(gaps[k], 0, 1)))


def _agreement(divisions: Sequence[Array], masses: Array) -> Array:
    """How far divisions agree, (count, count), from 0 to 1: a power of their adjusted Rand index.

    The index comes from pairs of points in the same part of both, a pair counting as the product of its masses. What
    any two parts share, for all divisions at once, is one sparse product, small however many parts there are.
    """
    n, count = len(masses), len(divisions)
    widths = [int(labels.max()) + 1 for labels in divisions]
    parts = np.array(divisions) + np.cumsum([0, *widths[:-1]])[:, None]
    entries = (np.repeat(np.sqrt(masses), count), parts.T.ravel(), np.arange(n + 1) * count)
    members = sp.csr_array(entries, shape=(n, sum(widths)))
    shared, of_part = (members.T @ members).tocoo(), np.repeat(np.arange(count), widths)
    pairs = of_part[shared.row] * count + of_part[shared.col]
    alone = float(masses @ masses)
    in_both = np.bincount(pairs, shared.data**2, minlength=count**2).reshape(count, count) - alone
    together = np.diag(in_both)
    expected = np.outer(together, together) / (float(masses.sum()) ** 2 - alone)
    largest = np.add.outer(together, together) / 2
    # Two divisions that are all one part, or all alone, leave nothing to compare: they are the same.
    room = np.where(largest == expected, np.inf, largest - expected)
    return np.clip(1 + (in_both - largest) / room, 0, 1) ** POWER_OF_AGREEMENT
