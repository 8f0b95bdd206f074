"""Manifolds: the connected components of the graph of the similarities ``Q_ij / sqrt(Q_ii Q_jj)``.

Entries themselves are small where points lie close and large where they are few: beside one point alone, whose entry is
one, all links of a dense region would be too weak to count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .._numerics.arrays import Array, Sparse, row_slices, to_numpy
from .point import Point
from .product_components import join, product_components
from .unweighted import PlainPoint

# Entries of Q looked at together.
BLOCK_ENTRIES = 2**22
# Digits of the mean squared norm that tell components apart.
NORM_DIGITS = 9


def find_manifolds(point: Point, threshold: float) -> Array:
    """Label of each point's component in the graph of similarities above `threshold`.

    Labels count from 0 in the order in which components first appear.
    """
    factors = None if isinstance(point, PlainPoint) else point.sparse_factors()
    if factors is not None:
        over_norms = sp.diags(1 / row_norms(point))
        left, right = (over_norms @ factors[0]).tocsr(), (factors[1] @ over_norms).tocsr()
        return in_order(product_components(left, right, threshold))
    labels: Array = np.arange(point.n)
    for block, rows in rows_above(point, threshold):
        edges = rows.tocoo()
        labels = join(labels, edges.row + block.start, edges.col)
    return in_order(_with_light_points(point, labels) if isinstance(point, PlainPoint) else labels)


def _with_light_points(point: PlainPoint, labels: Array) -> Array:
    """Light points that nothing links join the one they share most with: alone they are no manifold."""
    for i in np.flatnonzero(point.is_light & (np.bincount(labels)[labels] == 1)):
        shared = np.array(to_numpy(point.base.rows(int(i), int(i) + 1)), dtype=np.float64)[0]
        shared[i] = -np.inf
        labels[i] = labels[np.argmax(shared)]
    return labels


def rows_above(point: Point, threshold: float) -> Iterator[tuple[slice, Sparse]]:
    """Blocks of rows of ``Q``, sparse: the entries whose similarity is above `threshold`, and no other."""
    norms = row_norms(point)
    noise = point.noise() if isinstance(point, PlainPoint) else 0.0
    factors = point.sparse_factors()
    for block in row_slices(point.n, max(1, BLOCK_ENTRIES // point.n)):
        if factors is None:
            rows = sp.csr_matrix(np.asarray(to_numpy(point.rows(block.start, block.stop)), dtype=np.float64))
        else:
            rows = (factors[0][block] @ factors[1]).tocsr()
        of_rows = np.repeat(norms[block], np.diff(rows.indptr))
        rows.data[rows.data <= threshold * of_rows * norms[rows.indices]] = 0
        rows.eliminate_zeros()
        yield block, _above_noise(rows, point, block, noise) if isinstance(point, PlainPoint) else rows


def row_norms(point: Point) -> Array:
    """The roots of ``Q_ii``, what entries are measured by; a row of nothing has no similarity to any."""
    diagonal = point.diagonal()
    return np.sqrt(np.where(diagonal > 0, diagonal, np.inf))


def _above_noise(rows: Sparse, point: PlainPoint, block: slice, noise: float) -> Sparse:
    """Entries that stand out of the noise of ``Z``."""
    found = rows.tocoo()
    rows.data[found.data * point.roots[found.row + block.start] * point.roots[found.col] <= noise] = 0
    rows.eliminate_zeros()
    return rows


def name_manifolds(parts: Array, min_size: float, squared_norms: Array, weights: Array | None = None) -> Array:
    """The label of every component: -1 below `min_size` points, the others counted from 0.

    With weights a point counts as many as its weight says, and one at least.

    Larger ones come first, then those farther from the mean of the data, so that labels do not depend on the order of
    the points; what is left to tell apart comes in the order of appearance.
    """
    sizes = np.bincount(parts, weights=weights)
    counts = sizes if weights is None else np.bincount(parts, weights=np.maximum(weights, 1))
    spread = np.bincount(parts, weights=squared_norms if weights is None else weights * squared_norms) / sizes
    spread = np.round(spread / max(float(spread.max()), np.finfo(float).tiny), NORM_DIGITS)
    names = np.full(len(sizes), -1)
    ranked = [part for part in np.lexsort((-spread, -sizes)) if counts[part] >= min_size]
    names[ranked] = np.arange(len(ranked))
    return names


def in_order(labels: Array) -> Array:
    """The same labels, counted from 0 in the order in which they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
