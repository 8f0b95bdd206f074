"""From a solution to its `Extension`: anchors, coordinates and what the training points miss."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from .._numerics.arrays import Array, Table, row_slices, to_numpy
from .._points.embedding import embed, leading_directions
from .._points.forms import SoftPoint
from .._program.centring import mean_of_rows
from .._program.gram import Gram
from .._solving.solution import Solution
from .multipliers import Multipliers, multipliers_of
from .new_points import (
    BLOCK_ENTRIES,
    Anchors,
    Correction,
    Extension,
    Features,
    centre_of,
    indicator,
    mean_of_anchors,
    training_features,
    with_exceptions,
)

# The least multiplier of the trace, as a share of the spread of scores: hard assignments do not determine theirs.
SMALLEST_MULTIPLIER = 1e-9
# Cells of fewer points than this are empty.
SMALLEST_CELL = 1e-9


def extend(solution: Solution, metric: str, parts: Array, n_components: int) -> tuple[Array, Extension]:
    """Coordinates of the training points, (n, n_components), and how to place others among them.

    Where the point is a soft assignment to few cells these are the anchors, and the coordinates are those of one
    further update of its rows, so that training points are placed by the very formula that places new ones. Otherwise
    the training points are the anchors.
    """
    gram = solution.problem.gram
    base, multipliers = solution.point.unmixed, multipliers_of(solution)
    features = Features(metric, gram.frame)
    if isinstance(base, SoftPoint) and (multipliers is None or 2 * base.V.shape[1] < gram.n):
        return _extend_cells(gram, np.asarray(to_numpy(base.V), dtype=np.float64), features, parts, n_components)
    coordinates = embed(solution.point, n_components, parts, gram.roots)
    return coordinates, _extend_points(gram, multipliers, features, parts, coordinates)


def _extend_points(
    gram: Gram, multipliers: Multipliers | None, features: Features, parts: Array, coordinates: Array
) -> Extension:
    """Anchors are the training points, scored by the multipliers of their rows."""
    rows, centre = training_features(gram), centre_of(gram)
    columns = None if gram.kernel is not None else cast("Table", rows.T)
    if multipliers is None:  # no multipliers, no scores: the nearest point decides
        size = max(gram.trace, gram.norm)
        multipliers = Multipliers(SMALLEST_MULTIPLIER * size if size > 0 else 1.0, gram.diagonal())
    offsets = -multipliers.rows - _centring(columns, centre)
    anchors = Anchors(columns, offsets, _weights(gram) / (2 * multipliers.trace), parts, coordinates)
    means = [
        mean_of_anchors(anchors, anchors.shares(rows[block]), parts[block])
        for block in row_slices(gram.n, max(1, BLOCK_ENTRIES // gram.n))
    ]
    given = features.kind == "precomputed_distance"
    correction = Correction(rows, parts, coordinates - np.concatenate(means), given)
    return with_exceptions(Extension(features, anchors, correction), rows, parts)


def _extend_cells(gram: Gram, V: Array, features: Features, parts: Array, n_components: int) -> tuple[Array, Extension]:
    """Anchors are the cells; the soft assignments `V` give their means, sizes and the multiplier of the trace."""
    rows = training_features(gram)
    anchors = _cells(gram, V)
    blocks = row_slices(gram.n, max(1, BLOCK_ENTRIES // V.shape[1]))
    V = np.concatenate([anchors.shares(rows[block]) for block in blocks])
    weighted = _weights(gram)[:, None] * V
    anchors = replace(anchors, parts=np.asarray((indicator(parts).T @ weighted).argmax(axis=0)).ravel())
    V[anchors.parts != parts[:, None]] = 0
    V /= np.maximum(V.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    anchors = replace(anchors, coordinates=_coordinates_of_cells(V, anchors.parts, parts, n_components, gram.roots))
    return V @ anchors.coordinates, with_exceptions(Extension(features, anchors), rows, parts)


def _cells(gram: Gram, V: Array) -> Anchors:
    """The closed-form row update of soft assignments: ``v = s/(2 lam) max(2 x.m - |m|^2 + lam c - t, 0)``."""
    rows, centre = training_features(gram), centre_of(gram)
    weighted = _weights(gram)[:, None] * V
    sizes = weighted.sum(axis=0)
    H = weighted / sizes
    G = H if gram.roots is None else H / gram.roots[:, None]  # the other factor is in the Gram matrix
    norms = np.einsum("ij,ij->j", G, gram @ G)
    costs = np.einsum("ij,ij->j", weighted, V) / sizes**2
    columns = H if gram.kernel is not None else rows.T @ H
    if gram.sparse is not None and centre is not None:
        columns = columns - centre[:, None]
    offsets = -norms - _centring(columns, centre)
    lam = _trace_multiplier(rows, V, columns, offsets, 2 / sizes, costs, _weights(gram))
    # Row sums of the constant parts of kernels and sparse data are the same for every cell, and drop out.
    parts, coordinates = np.zeros(len(sizes), dtype=np.int64), np.zeros((len(sizes), 0))  # not known yet
    return Anchors(columns, offsets + lam * costs, sizes / (2 * lam), parts, coordinates)


def _trace_multiplier(rows: Table, V: Array, columns: Array, offsets: Array, slopes: Array, costs: Array,
                      weights: Array) -> float:  # fmt: skip
    """The ``lam`` for which every row's gains are most nearly constant over its cells, as stationarity demands."""
    product = spread = size = 0.0
    for block in row_slices(len(V), max(1, BLOCK_ENTRIES // V.shape[1])):
        v = V[block]
        gains = np.asarray(2 * (rows[block] @ columns) + offsets)
        prices = slopes * v - costs
        gains = gains - np.sum(v * gains, axis=1, keepdims=True)
        prices = prices - np.sum(v * prices, axis=1, keepdims=True)
        share = weights[block, None] * v
        product += float(np.sum(share * gains * prices))
        spread += float(np.sum(share * prices**2))
        size = max(size, float(np.abs(gains).max()))
    least = SMALLEST_MULTIPLIER * max(size, np.finfo(float).tiny) * float(1 / slopes.max())
    return max(product / spread if spread > 0 else 0.0, least)


def _coordinates_of_cells(V: Array, cell_parts: Array, parts: Array, n_components: int, roots: Array | None) -> Array:
    """Coordinates whose means over soft assignments are the embedding: every component by its own cells."""
    coordinates = np.zeros((V.shape[1], n_components))
    sizes = V.sum(axis=0) if roots is None else roots**2 @ V
    is_occupied = sizes > SMALLEST_CELL * (1.0 if roots is None else float(np.mean(roots**2)))
    for part in np.unique(cell_parts):
        members, cells = np.flatnonzero(parts == part), np.flatnonzero((cell_parts == part) & is_occupied)
        root = V[np.ix_(members, cells)] / np.sqrt(sizes[cells])
        q = None if roots is None else roots[members]
        mean = mean_of_rows(root, q)
        directions = leading_directions(root - mean, n_components, q)
        coordinates[cells, : directions.shape[1]] = directions / np.sqrt(sizes[cells])[:, None] - mean @ directions
    return coordinates


def _centring(columns: Table | None, centre: Array | None) -> Array | float:
    """What centring the features takes off the scores of each anchor, the same for every point left out."""
    if centre is None:
        return 0.0
    return 2 * (centre if columns is None else np.asarray(columns.T @ centre).ravel())


def _weights(gram: Gram) -> Array:
    return np.ones(gram.n) if gram.roots is None else gram.roots**2
