"""One map of all manifolds: each unrolled in its own frame, all at one scale, none over another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .._files.records import saved
from .._numerics.arrays import Array, row_slices
from .._numerics.validation import check_integer, check_numbers
from .._program.gram import Gram
from .layout import lay_out
from .new_points import BLOCK_ENTRIES, Anchors, Correction, Extension, indicator, mean_of_anchors, training_features


@saved
@dataclass(frozen=True)
class Atlas:
    """Where the frame of each component lies on the map."""

    shifts: Array  # (m, 2) added to the unrolled coordinates of each component
    first: int = 0  # the first of the two columns of a point's coordinates that are unrolled

    def __post_init__(self) -> None:
        check_numbers(self.shifts, "places of manifolds on the map", (None, 2), finite=True)
        check_integer(self.first, "the first column of the map", 0)

    def place(self, parts: Array, coordinates: Array) -> Array:
        """Points of given components on the map, (n, 2), from their coordinates in the frames of these."""
        return coordinates[:, self.first : self.first + 2] + self.shifts[parts]


def make_atlas(gram: Gram, parts: Array, plane: Array, first: int = 0) -> Atlas:
    """The map for unrolled coordinates (n, 2) of the points of `gram`; `first` as in `Atlas`."""
    count = int(parts.max()) + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    np.minimum.at(low, parts, plane)
    np.maximum.at(high, parts, plane)
    middles = lay_out(high - low, lambda some: _distances(gram, parts, some))
    return Atlas(middles - (low + high) / 2, first)


def _distances(gram: Gram, parts: Array, some: Array) -> Array:
    """Root mean square distances between the points of some components: two rings about one centre are apart too."""
    weights = np.ones(gram.n) if gram.roots is None else gram.roots**2
    members = np.asarray((sp.diags(weights) @ indicator(parts)).tocsc()[:, some].toarray())
    members /= members.sum(axis=0)
    scaled = members if gram.roots is None else members / gram.roots[:, None]
    inner = scaled.T @ (gram @ scaled)
    squares = members.T @ gram.diagonal()
    distances = np.sqrt(np.maximum(squares + squares[:, None] - 2 * inner, 0))
    np.fill_diagonal(distances, 0.0)
    return np.asarray((distances + distances.T) / 2)


def carry(extension: Extension, gram: Gram, parts: Array, columns: Array) -> Extension:
    """`extension` with further coordinates, any `columns` (n, c) of the training points, behind those it has.

    Every anchor takes the mean of the points that it places; what is missed at the training points is carried over to
    points near them, so that training points keep theirs.
    """
    rows, anchors = training_features(gram), extension.anchors
    blocks = row_slices(gram.n, max(1, BLOCK_ENTRIES // len(anchors.offsets)))
    if len(anchors.coordinates) == gram.n and extension.correction is not None:  # the points are the anchors
        of_anchors = columns
    else:
        of_anchors = _means_of_cells(anchors, gram, parts, columns, blocks)
    bare = replace(anchors, coordinates=of_anchors)
    reached = [mean_of_anchors(bare, anchors.shares(rows[block]), parts[block]) for block in blocks]
    missed = columns - np.concatenate(reached)
    before = extension.correction
    residuals = np.zeros((gram.n, anchors.coordinates.shape[1])) if before is None else before.residuals
    given = extension.features.kind == "precomputed_distance"
    return replace(
        extension,
        anchors=replace(anchors, coordinates=np.hstack([anchors.coordinates, of_anchors])),
        correction=Correction(rows, parts, np.hstack([residuals, missed]), given),
    )


def _means_of_cells(anchors: Anchors, gram: Gram, parts: Array, columns: Array, blocks: list[slice]) -> Array:
    """The mean of the columns over the points of each cell's own component."""
    rows = training_features(gram)
    sums, sizes = np.zeros((len(anchors.offsets), columns.shape[1])), np.zeros(len(anchors.offsets))
    for block in blocks:
        own = np.where(anchors.parts == parts[block, None], anchors.shares(rows[block]), 0.0)
        own *= 1.0 if gram.roots is None else gram.roots[block, None] ** 2
        sums += own.T @ columns[block]
        sizes += own.sum(axis=0)
    return sums / np.where(sizes > 0, sizes, 1)[:, None]
