"""What a solution says about the points that were given: parts, coordinates, order, outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._manifolds.closedness import measure_closedness
from .._manifolds.extend import extend
from .._manifolds.new_points import Extension
from .._manifolds.order import RING_COORDINATES, find_order
from .._numerics.arrays import Array, Table
from .._points.components import find_manifolds, name_manifolds
from .._points.unweighted import PlainPoint
from .._program.duplicates import Groups
from .._solving.solution import Solution


@dataclass(frozen=True)
class Reading:
    """All arrays have an entry for each point given, those of manifolds one for each manifold."""

    parts: Array  # (n,) component of each point
    names: Array  # label of each component, -1 for those too small
    coordinates: Array  # (n, 5 or more)
    order: Array  # (n,) in [0, 1]
    angles: Array  # (n,) in [0, 2 pi), NaN where no ring is the better model
    is_closed: Array  # (n_manifolds,)
    closedness: Array  # (n_manifolds,) in [0, 1]
    extension: Extension  # how new points are placed


def read_solution(
    solution: Solution,
    metric: str,
    groups: Groups | None,
    chosen: Array | None,
    *,
    threshold: float,
    min_component_size: int,
    n_components: int,
) -> Reading:
    """Read manifolds, coordinates and order off a solution.

    Parameters
    ----------
    solution : Solution
    metric : str
        What the data are.
    groups : Groups, optional
        Where points have weights or are equal: the points of the solution are groups of those given. Points of weight
        zero have no place yet, see `place_absent`.
    chosen : array, optional
        The parts, where they are known already; otherwise the components of ``Q``.
    threshold : float
        Entries of ``Q`` above this share of the largest connect two points.
    min_component_size : int
        Components of fewer points are no manifolds.
    n_components : int
        Coordinates asked for.
    """
    weights = None if groups is None else groups.weights
    # The mixing that makes Q feasible touches every entry, so components are read off the point before it.
    base = solution.point.unmixed if groups is None else PlainPoint(solution.point.unmixed, groups.roots)
    gram = solution.problem.gram
    parts = find_manifolds(base, threshold) if chosen is None else chosen
    coordinates, extension = extend(solution, metric, parts, max(n_components, RING_COORDINATES))
    names = name_manifolds(parts, min_component_size, gram.diagonal(), weights)
    found = find_order(base, coordinates[:, :RING_COORDINATES], names[parts], threshold, weights)
    patches = base.diagonal() if weights is None else base.diagonal() * weights
    closedness, angles = measure_closedness(gram, found, names[parts], patches, weights)
    order = found.order
    if groups is not None:
        parts, coordinates = groups.given(parts, 0), groups.given(coordinates, 0.0)
        order, angles = groups.given(order, np.nan), groups.given(angles, np.nan)
    return Reading(parts, names, coordinates, order, angles, found.is_closed, closedness, extension)


def place_absent(reading: Reading, groups: Groups, table: Table, *, pairwise: bool) -> None:
    """Give points of weight zero the part and the coordinates of new points."""
    if len(absent := groups.absent):
        new = groups.columns(table[absent], pairwise=pairwise)
        reading.parts[absent], reading.coordinates[absent] = reading.extension.place(new)
