"""Coordinates of a solution: those of each manifold's own frame, their places on one map, and both for new points."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from .._numerics.arrays import Array, row_slices
from .._points.forms import DensePoint, SoftPoint
from .._points.point import Point
from .._program.gram import Gram
from .._solving.solution import Solution
from .atlas import Atlas, carry, make_atlas
from .closedness import ends_that_meet
from .extend import extend
from .new_points import BLOCK_ENTRIES, Anchors, Extension, mean_of_anchors, training_features
from .order import RING_COORDINATES, find_rings
from .unroll import measure_links, unroll

# Beyond so many points the links of soft assignments are too many to measure: their cells are laid flat instead.
MOST_MEASURED = 5_000
# Cells lie as wide apart as neighbourhoods are: ways over few of them would zigzag.
CELL_LENGTHS = 8
# Within a manifold ways lead over links so much weaker than those that make manifolds.
WEAKEST_FOR_WAYS = 0.1
COORDINATES = ("isometric", "spectral")


class Frames(NamedTuple):
    """Coordinates of the points of a program, and what places others among them."""

    coordinates: Array  # (n, c) those asked for; beside them, where they are spectral, the plane of the map
    spectral: Array  # (n, 5) the first eigenvectors of each component, which tell rings
    plane: Array  # (n, 2) what the map shows of each component
    along: Array  # (n,) the coordinate along manifolds of one dimension that do not close
    is_opened: Array  # (n,) of a component that is no ring, whatever its spectrum: links of Q jump to another turn
    extension: Extension  # gives these coordinates to new points
    atlas: Atlas  # where the frames lie on the map


class FrameOptions(Protocol):
    """What is asked of frames, as in the estimator `NOMAD`."""

    metric: str
    threshold: float
    coordinates: str
    n_components: int


def make_frames(point: Point, solution: Solution, parts: Array, asked: FrameOptions) -> Frames:
    """The frames of the components `parts`; `point` is the ``Q`` of single points that links are read off."""
    gram, width = solution.problem.gram, max(asked.n_components, 2)
    spectral, extension = extend(solution, asked.metric, parts, max(width, RING_COORDINATES))
    if gram.n > MOST_MEASURED and isinstance(solution.point.unmixed, SoftPoint):
        flat = unroll_by_cells(extension.anchors, gram, parts, width)
        along, is_opened = flat[:, 0], np.zeros(gram.n, dtype=bool)
    else:
        weights = None if gram.roots is None else gram.roots**2
        links = measure_links(point, gram, parts, WEAKEST_FOR_WAYS * asked.threshold)
        is_opened = np.isin(parts, parts[links.jumped])
        rings = find_rings(point, spectral[:, :RING_COORDINATES], parts, asked.threshold, weights, is_opened)
        flat = unroll(point, gram, parts, asked.threshold, width, weights, rings, links=links)
        along = flat[:, 0]
        closed = {int(parts[ring[0]]) for ring in rings}
        meeting = [ends for ends in ends_that_meet(gram, along, parts, weights) if int(parts[ends[0]]) not in closed]
        if meeting:  # a gap in the sample, wider than a neighbourhood, has opened them
            flat = unroll(point, gram, parts, asked.threshold, width, weights, rings, meeting, links=links)
            is_opened &= ~np.isin(parts, parts[np.concatenate(meeting)])
    if asked.coordinates == "isometric":
        extension, coordinates, first = carry(_bare(extension), gram, parts, flat), flat, 0
    else:
        extension = carry(extension, gram, parts, flat[:, :2])
        coordinates, first = np.hstack([spectral, flat[:, :2]]), spectral.shape[1]
    return Frames(
        coordinates, spectral[:, :RING_COORDINATES], flat[:, :2], along, is_opened, extension,
        make_atlas(gram, parts, flat[:, :2], first),
    )  # fmt: skip


def unroll_by_cells(anchors: Anchors, gram: Gram, parts: Array, n_components: int) -> Array:
    """Isometric coordinates by way of the cells of soft assignments: cells that share points are neighbours.

    Every point is the mean of its cells, so that no link between points is needed.
    """
    rows, r = training_features(gram), len(anchors.offsets)
    V = np.concatenate([anchors.shares(rows[block]) for block in row_slices(gram.n, max(1, BLOCK_ENTRIES // r))])
    V[anchors.parts != parts[:, None]] = 0
    weighted = V if gram.roots is None else V * gram.roots[:, None] ** 2
    sizes = np.maximum(weighted.sum(axis=0), np.finfo(float).tiny)
    means = weighted / sizes if gram.roots is None else weighted / sizes / gram.roots[:, None]
    between = Gram.from_kernel(means.T @ (gram @ means), allow_indefinite=True)
    flat = unroll(DensePoint(V.T @ weighted), between, anchors.parts, 0.0, n_components, sizes, n_lengths=CELL_LENGTHS)
    return mean_of_anchors(replace(anchors, coordinates=flat), V, parts)


def _bare(extension: Extension) -> Extension:
    """`extension` without coordinates."""
    anchors, correction = extension.anchors, extension.correction
    return replace(
        extension,
        anchors=replace(anchors, coordinates=anchors.coordinates[:, :0]),
        correction=None if correction is None else replace(correction, residuals=correction.residuals[:, :0]),
    )
