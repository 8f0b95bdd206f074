"""Where landmarks go, and the rows that barycentric weights are then best multiplied with: both from a sample."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from .._numerics.arrays import Array
from .barycentric import Barycentric
from .rows import Rows

# Rows of the sample: so many per landmark, and never fewer than the second.
SAMPLE_PER_LANDMARK, SMALLEST_SAMPLE = 30, 20_000
# Steps of k-means; landmarks that are spread a little less evenly do as well.
KMEANS_STEPS = 15
# Beyond this many landmarks k-means compares every row with every one for too long; a tree finds the nearest, and
# fewer steps, from rows drawn at random, spread so many well enough.
MOST_SPREAD_BY_KMEANS, STEPS_BY_TREE = 2000, 6
# Landmarks with a weight in one row, at most.
N_NEIGHBOURS = 4
# Weight of one row that keeps each landmark's own row where it is, where the sample says nothing about it.
ANCHOR = 1e-2
# "auto" begins with so many landmarks and doubles them, up to the second.
FIRST_COUNT, LAST_COUNT = 250, 1000
# A residual beyond this stays too large: twice as many landmarks leave out more than a third of it on surfaces.
HOPELESS = 0.02


@dataclass(frozen=True)
class Landmarks:
    """Landmarks and the rows ``C`` with which ``X`` is about ``Phi C``."""

    weights: Barycentric  # Phi, row by row
    C: Array  # (m, d)
    residual: float  # |X - Phi C|^2 as a share of |X|^2, on the sample


def choose_landmarks(rows: Rows, count: int | str, enough: float, seed: int, deadline: float = math.inf) -> Landmarks:
    """So many landmarks, or, for "auto", twice as many as before until the residual is small enough.

    After the deadline, on the monotonic clock, they are not doubled again.
    """
    if isinstance(count, int):
        return _from_sample(_sample(rows, count, seed), count, seed)
    sample, m = _sample(rows, LAST_COUNT, seed), FIRST_COUNT
    landmarks = _from_sample(sample, m, seed)
    while enough < landmarks.residual < HOPELESS and 2 * m <= min(LAST_COUNT, len(sample)):
        if time.monotonic() > deadline:
            break
        m *= 2
        landmarks = _from_sample(sample, m, seed)
    return landmarks


def _sample(rows: Rows, count: int, seed: int) -> Array:
    return rows.sample(max(SAMPLE_PER_LANDMARK * count, SMALLEST_SAMPLE), seed)


def _from_sample(sample: Array, count: int, seed: int) -> Landmarks:
    places = _spread(sample, count, seed)
    weights = Barycentric(places, N_NEIGHBOURS)
    Phi = weights.matrix(sample)
    inner = (Phi.T @ Phi + ANCHOR * sp.identity(len(places))).tocsc()
    C = splu(inner).solve(np.asarray(Phi.T @ sample + ANCHOR * places))
    size = float(np.sum(sample * sample))
    return Landmarks(weights, C, float(np.sum((sample - Phi @ C) ** 2)) / size if size > 0 else 0.0)


def _spread(sample: Array, count: int, seed: int) -> Array:
    """Centres of k-means, or all different rows where there are no more of them than asked for."""
    distinct = np.unique(sample, axis=0)
    if len(distinct) <= count:
        return distinct
    # Equal rows would be drawn more than once, and leave fewer landmarks than asked for.
    if count > MOST_SPREAD_BY_KMEANS:
        return np.unique(_spread_by_tree(distinct, count, seed), axis=0)
    start = KMeans(count, n_init=1, max_iter=KMEANS_STEPS, random_state=seed)
    return np.unique(start.fit(distinct).cluster_centers_, axis=0)


def _spread_by_tree(rows: Array, count: int, seed: int) -> Array:
    """Some steps of k-means, each with a tree of the centres to find the nearest one in; empty centres stay."""
    centres = rows[np.random.default_rng(seed).choice(len(rows), count, replace=False)]
    for _ in range(STEPS_BY_TREE):
        nearest = NearestNeighbors(n_neighbors=1).fit(centres).kneighbors(rows, return_distance=False)[:, 0]
        sizes = np.bincount(nearest, minlength=count)
        totals = np.stack([np.bincount(nearest, weights=column, minlength=count) for column in rows.T], axis=1)
        centres = np.where(sizes[:, None] > 0, totals / np.maximum(sizes, 1)[:, None], centres)
    return centres
