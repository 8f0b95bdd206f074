"""Parts of equal make: points dealt along a tree, then exchanged until every part has its share of the soft sums.

If every part has ``1/T`` of the three sums of soft assignments ``V`` (``X'V``, ``V'1``, ``|v_j|^2``), then ``V`` on the
part satisfies the part's own conditions, with the multiplier ``lam/T``, and nothing is lost by the division. What is
lost otherwise is of second order in how unequal the sums are. With ``s_j = 1'v_j`` and ``q_j = |v_j|^2`` it is about
``T sum_t |F_t - mean F|^2``, where ``F_t`` is the sum over the part of

    phi_i = [ sqrt(lam q_j / s_j^3) v_ij,  sqrt(lam / (s_j q_j)) v_ij^2,  v_ij (x_i - m_j) / sqrt(s_j) ]  over cells j:

relative errors of a cell's size and of its norm cost ``lam q_j/s_j`` times their squares, and a centroid that is moved
by ``e`` costs ``s_j |e|^2``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array
from ..solvers._soft_stream import Cells

# Rounds of exchanges, at most; each halves what is unequal at first.
ROUNDS = 12
# Pairs of points that are looked at together, for speed alone.
PAIRS_TOGETHER = 256
# Rounds end where the loss is about this share of the inertia: random parts of s points lose some 2 K/s of it.
NEGLIGIBLE, RANDOM_LOSS = 1e-5, 2.0
# Numbers per point that exchanges look at, at most: coordinates beyond are left out, those of least variance.
MOST_FEATURES = 2400
FEWEST_COORDINATES = 4


class Sketch(NamedTuple):
    """What exchanges know of the points: soft assignments and leading coordinates, in single precision."""

    V: Array  # (n, r)
    Z: Array  # (n, p)


class Lens(NamedTuple):
    """How sums over parts are weighed: cells, seen through the leading coordinates."""

    unit: float  # of length, a power of two: single precision then has room for all data
    axes: Array  # (d, p) orthonormal
    centroids: Array  # (p, r), relative to the origin of the cells
    of_size: Array  # (r,) weights of v_ij
    of_square: Array  # (r,) weights of v_ij^2
    of_place: Array  # (r,) weights of v_ij (x_i - m_j)

    def features(self, sketch: Sketch, points: Array) -> Array:
        """``phi_i`` of some points, (points, p r + 2 r)."""
        V, Z = sketch.V[points], sketch.Z[points]
        places = (V * self.of_place)[:, None, :] * (Z[:, :, None] - self.centroids)
        return np.concatenate([V * self.of_size, V * V * self.of_square, places.reshape(len(V), -1)], axis=1)


def lens_of(cells: Cells, sample: Array) -> Lens:
    """The lens of some cells; the leading coordinates are those of a sample of the rows."""
    d, r = cells.centroids.shape
    count = min(d, max(FEWEST_COORDINATES, MOST_FEATURES // r - 2))
    axes = np.eye(d)
    if count < d:
        centred = sample - sample.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2][:count].T
    s, q = cells.sizes, cells.squares
    unit = math.ldexp(1.0, math.frexp(math.sqrt(cells.lam / float(s.sum())))[1])
    lam = cells.lam / unit**2
    weights = np.sqrt(lam * q / s**3), np.sqrt(lam / (s * q)), 1 / np.sqrt(s)
    single = [np.asarray(array, dtype=np.float32) for array in (axes, axes.T @ cells.centroids / unit, *weights)]
    return Lens(unit, *single)


def balanced_parts(sketch: Sketch, labels: Array, lens: Lens, count: int, generator: np.random.Generator) -> Array:
    """A part number below `count` for each point: parts of equal size, to within one, and of equal make.

    Parameters
    ----------
    sketch : Sketch
    labels : array of shape (n,)
        Points are exchanged for points of the same cluster, but for one pair per cluster and part.
    lens : Lens
    count : int
    generator : numpy.random.Generator

    Returns
    -------
    array of shape (n,), int32
    """
    table = deal(sketch.Z, labels, count, generator)
    share = NEGLIGIBLE * len(table) / (RANDOM_LOSS * len(np.unique(labels)))
    exchange(table, sketch, lens, generator, share)
    numbers = np.empty(len(labels), dtype=np.int32)
    is_point = table >= 0
    numbers[table[is_point]] = np.broadcast_to(np.arange(count, dtype=np.int32), table.shape)[is_point]
    return numbers


def deal(Z: Array, labels: Array, count: int, generator: np.random.Generator) -> Array:
    """A table of points, (rows, count), whose columns are parts: those in a row are of one cluster and near each other.

    A row that spans two clusters, and the last one, filled up with -1, are the exceptions.
    """
    clusters = (np.flatnonzero(labels == cluster) for cluster in np.unique(labels))
    order = np.concatenate([members[tree_order(Z[members], count, generator)] for members in clusters])
    table = np.full(-(-len(order) // count) * count, -1)
    table[: len(order)] = order
    return generator.permuted(table.reshape(-1, count), axis=1)


def tree_order(Z: Array, leaf: int, generator: np.random.Generator) -> Array:
    """An order of rows in which neighbours are near: halved along the leading direction, again and again."""
    pending, leaves = [np.arange(len(Z))], []
    while pending:
        points = pending.pop()
        if len(points) <= leaf:
            leaves.append(points)
            continue
        rows = Z[points] - Z[points].mean(axis=0)
        order = points[np.argsort(rows @ _leading_direction(rows, generator), kind="stable")]
        half = len(points) // 2
        pending += [order[half:], order[:half]]
    return np.concatenate(leaves)


def _leading_direction(rows: Array, generator: np.random.Generator) -> Array:
    """About the direction of largest variance: three steps of the power method are enough to sort by."""
    direction = np.asarray(generator.standard_normal(rows.shape[1]))
    for _ in range(3):
        following = rows.T @ (rows @ direction)
        size = float(np.linalg.norm(following))
        if not size > 0:
            break
        direction = np.asarray(following / size)
    return direction


def exchange(table: Array, sketch: Sketch, lens: Lens, generator: np.random.Generator, share: float) -> None:
    """Exchange points within rows of `table`, in place, where that makes sums over columns more equal.

    In each round columns are paired. For two of them with the difference ``f`` of their sums, exchanging two points
    whose features differ by ``g`` leaves ``f - 2 g``: it pays where ``f.g > |g|^2``. All pairs go through the rows
    together, so a round costs one pass over the points. Rounds end when columns are as unequal as `share` of what
    they would be at random.
    """
    count = table.shape[1]
    sums, squares = _column_sums(table, sketch, lens)
    for _ in range(ROUNDS):
        if float(np.sum((sums - sums.mean(axis=0)) ** 2)) <= share * squares:
            break
        columns = generator.permutation(count)
        left, right = columns[: count // 2], columns[count // 2 : 2 * (count // 2)]
        difference = sums[left] - sums[right]
        rows = generator.permutation(len(table))
        for some in np.array_split(rows, -(-len(rows) * len(left) // PAIRS_TOGETHER)):
            _exchange_rows(table, some, (left, right), difference, sketch, lens)
        total = sums[left] + sums[right]
        sums[left], sums[right] = (total + difference) / 2, (total - difference) / 2


def _exchange_rows(
    table: Array, rows: Array, columns: tuple[Array, Array], difference: Array, sketch: Sketch, lens: Lens
) -> None:
    """Exchange points in some rows, one row after the other, and keep `difference` up to date."""
    left, right = (np.ix_(rows, side) for side in columns)
    ours, theirs = table[left], table[right]
    steps = lens.features(sketch, ours.ravel()) - lens.features(sketch, theirs.ravel())
    steps = steps.reshape(*ours.shape, -1).astype(np.float64)
    squares = np.where((ours >= 0) & (theirs >= 0), np.einsum("rpf,rpf->rp", steps, steps), np.inf)
    pays = np.zeros(ours.shape, dtype=bool)
    for row, step in enumerate(steps):
        pays[row] = np.einsum("pf,pf->p", step, difference) > squares[row]
        difference[pays[row]] -= 2 * step[pays[row]]
    table[left], table[right] = np.where(pays, theirs, ours), np.where(pays, ours, theirs)


def _column_sums(table: Array, sketch: Sketch, lens: Lens) -> tuple[Array, float]:
    """Sums of features over each column, and of their squares over all: what columns at random would differ by."""
    sums, squares = np.zeros((table.shape[1], len(lens.of_size) * (len(lens.centroids) + 2))), 0.0
    for row in table:
        there = np.flatnonzero(row >= 0)
        features = lens.features(sketch, row[there])
        sums[there] += features
        squares += float(np.sum(features * features))
    return sums, squares
