"""What a solution says about the points that were given: parts, coordinates, order, outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._manifolds.atlas import Atlas
from .._manifolds.closedness import measure_closedness
from .._manifolds.frames import FrameOptions, make_frames
from .._manifolds.new_points import Extension
from .._manifolds.order import find_order
from .._manifolds.outliers import outlier_scores
from .._numerics.arrays import Array, Table
from .._points.components import find_manifolds, name_manifolds
from .._points.unweighted import PlainPoint
from .._program.duplicates import Groups
from .._solving.solution import Solution

# Components of fewer than one in so many points are strays and no manifolds, unless told otherwise.
POINTS_PER_STRAY = 50


class ReadingOptions(FrameOptions, Protocol):
    """What is asked of a reading, as in the estimator `NOMAD`."""

    min_component_size: int | str


@dataclass(frozen=True)
class Reading:
    """All arrays have an entry for each point given, those of manifolds one for each manifold."""

    parts: Array  # (n,) component of each point
    names: Array  # label of each component, -1 for those too small
    outlier_scores: Array  # (n,) in [0, 1], NaN for points of weight zero
    is_outlier: Array  # (n,) whether the score is above what was asked for
    coordinates: Array  # (n, 5 or more)
    order: Array  # (n,) in [0, 1]
    angles: Array  # (n,) in [0, 2 pi), NaN where no ring is the better model
    is_closed: Array  # (n_manifolds,)
    closedness: Array  # (n_manifolds,) in [0, 1]
    extension: Extension  # how new points are placed
    atlas: Atlas  # where each part lies on the map

    @property
    def labels(self) -> Array:
        """Manifold of each point, -1 for strays and outliers."""
        return np.where(self.is_outlier, -1, self.names[self.parts])


def read_solution(
    solution: Solution,
    groups: Groups | None,
    chosen: Array | None,
    asked: ReadingOptions,
    *,
    outlier_threshold: float,
) -> Reading:
    """Read manifolds, coordinates and order off a solution.

    Parameters
    ----------
    solution : Solution
    groups : Groups, optional
        Where points have weights or are equal: the points of the solution are groups of those given. Points of weight
        zero have no place yet, see `place_absent`.
    chosen : array, optional
        The parts, where they are known already; otherwise the components of ``Q``.
    asked : ReadingOptions
        The estimator, or whatever has these parameters of it.
    outlier_threshold : float
        Points with a higher score are outliers, which have no position along their manifold.
    """
    weights = None if groups is None else groups.weights
    # The mixing that makes Q feasible touches every entry, so components are read off the point before it.
    base = solution.point.unmixed if groups is None else PlainPoint(solution.point.unmixed, groups.roots)
    gram = solution.problem.gram
    parts = find_manifolds(base, asked.threshold) if chosen is None else chosen
    frames = make_frames(base, solution, parts, asked)
    coordinates = frames.coordinates
    least = asked.min_component_size
    smallest = _fewest_points(parts, weights) if isinstance(least, str) else least
    names = name_manifolds(parts, smallest, gram.diagonal(), weights)
    scores = outlier_scores(base.diagonal(), names[parts])
    is_outlier = scores > outlier_threshold
    labels = np.where(is_outlier, -1, names[parts])
    found = find_order(base, frames.spectral, labels, asked.threshold, weights, frames.along, frames.is_opened)
    closedness, angles = measure_closedness(gram, found, labels, weights)
    order = found.order
    if groups is not None:
        parts, coordinates = groups.given(parts, 0), groups.given(coordinates, 0.0)
        order, angles = groups.given(order, np.nan), groups.given(angles, np.nan)
        scores, is_outlier = groups.given(scores, np.nan), groups.given(is_outlier, False)
    return Reading(
        parts, names, scores, is_outlier, coordinates, order, angles, found.is_closed, closedness,
        frames.extension, frames.atlas,
    )  # fmt: skip


def _fewest_points(parts: Array, weights: Array | None) -> float:
    """A fiftieth of all points, as in the automatic choice; one, if no component has so many."""
    sizes = np.bincount(parts, weights=weights)
    smallest = sizes.sum() / POINTS_PER_STRAY
    return float(smallest) if sizes.max() >= smallest else 1.0


def place_absent(reading: Reading, groups: Groups, table: Table, *, pairwise: bool) -> None:
    """Give points of weight zero the part and the coordinates of new points."""
    if len(absent := groups.absent):
        new = groups.columns(table[absent], pairwise=pairwise)
        reading.parts[absent], reading.coordinates[absent] = reading.extension.place(new)
