"""Positions along one-dimensional manifolds, and whether a manifold closes on itself.

On a curve ``Q`` is nearly invariant under shifts along it, so its leading eigenvectors are waves. Scaled to unit
variance the first two are ``(cos t, sin t)`` on a closed curve: the points go once round the origin, at a constant
distance and without a gap. On an open one they are ``(cos t, cos 2t)``, a parabola: seen from the origin its ends are
a right angle apart. See docs/order.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._numerics.arrays import Array
from .._points.components import row_norms
from .._points.point import Point

# Widest gap between neighbouring angles on a closed curve; 0 in theory, a right angle on an open one.
WIDEST_GAP = 0.4 * np.pi
# Share of neighbours in the circular order that must be linked by Q: on surfaces the order is none of Q's. Noise breaks
# links, so that fewer suffice where the spectrum is a ring's. In units of the mean rate of the first two coordinates
# the third and the fifth have 4 and 9 on a ring, 2.8 and 4.3 on a disc, 2 and 4 on a square, 1 and 3 on a sphere; on an
# arc the second has four times the rate of the first.
LINKED, LINKED_IN_NOISE = 0.98, 0.75
RATE_OF_THIRD, RATE_OF_FIFTH, RATE_OF_SECOND = 2.4, 4.8, 2.0
# The hole: the distance from the origin that 95 % of the points exceed, in units of its root mean square. Up to seven
# patches (six around one) may lie in a circle even on a disc, so that the hole itself must be clear.
HOLE, CLEAR_HOLE, FEW_PATCHES = 1 / 3, 0.8, 7
# The same in a rough look: rings had .6 and more, clouds and surfaces all around the origin .2 and less.
HOLE_OF_A_LOOK = 0.5
# Coordinates whose rates tell a ring, and how near to 0 and 1 an eigenvalue is told from them.
RING_COORDINATES, SMALLEST_SIZE = 5, 1e-9
# Digits of a position that tell points apart.
ORDER_DIGITS = 9
# Fewer points than this have no shape.
FEWEST_POINTS = 5


class Order(NamedTuple):
    """What is known of the positions along the manifolds."""

    order: Array  # (n,) in [0, 1]
    circular_coordinates: Array  # (n,) in [0, 2 pi), NaN on manifolds that do not close
    is_closed: Array  # (n_manifolds,)


def find_order(
    point: Point,
    coordinates: Array,
    labels: Array,
    threshold: float,
    weights: Array | None = None,
    along: Array | None = None,
    is_opened: Array | None = None,
) -> Order:
    """Order the points of every manifold, given their first two to five `coordinates`; those labelled -1 have none.

    With `weights`, positions are those of as many equal points. `along`, a coordinate, orders manifolds that do not
    close; without it the first of `coordinates` does. Manifolds with points that are `is_opened` do not close.
    """
    n = len(labels)
    counts = np.ones(n) if weights is None else weights
    diagonal = point.diagonal()
    line = coordinates[:, 0] if along is None else along
    rings: dict[int, Array] = {}
    needed: dict[int, float] = {}
    angles = np.full(n, np.nan)
    count = int(labels.max(initial=-1)) + 1
    for label, members in enumerate(_members(labels, count)):
        part_weights = None if weights is None else weights[members]
        angles[members], radius = _polar(coordinates[members, :2], part_weights)
        around = np.argsort(angles[members], kind="stable")
        if is_opened is not None and is_opened[members].any():
            continue
        if _goes_round(angles[members][around], radius, float(np.sum(diagonal[members] * counts[members]))):
            rings[label] = members[around]
            needed[label] = _links_needed(coordinates[members], counts[members])
    is_closed = np.zeros(count, dtype=bool)
    is_closed[[label for label, share in _linked(point, rings, threshold) if share >= needed[label]]] = True
    order = np.full(n, np.nan)
    for label, members in enumerate(_members(labels, count)):
        position = angles[members] if is_closed[label] else line[members]
        order[members] = _shares_before(_rounded(position), counts[members], bool(is_closed[label]))
    angles[(labels < 0) | ~np.append(is_closed, False)[labels]] = np.nan
    return Order(order, angles, is_closed)


def find_rings(
    point: Point, coordinates: Array, parts: Array, threshold: float, weights: Array | None, is_opened: Array
) -> list[Array]:
    """The points of every component that closes, in their order around it; parameters as of `find_order`."""
    found = find_order(point, coordinates, parts, threshold, weights, is_opened=is_opened)
    members = (np.flatnonzero(parts == part) for part in np.flatnonzero(found.is_closed))
    return [mine[np.argsort(found.circular_coordinates[mine], kind="stable")] for mine in members]


def _shares_before(position: Array, weights: Array, is_closed: bool) -> Array:
    """The share of points that come before each, equal ones half of each other; a point's own weight is left out.

    What counts as one point is a weight of one, or the smallest weight where that is less.
    """
    place = rankdata(position, method="dense").astype(int) - 1
    level = np.bincount(place, weights=weights)
    one = min(1.0, float(weights.min()))
    before = np.cumsum(level) - level + (level - one) / 2
    total = float(weights.sum())
    return before[place] / (total if is_closed else max(total - one, np.finfo(float).tiny))


def _rounded(position: Array) -> Array:
    """Positions without their last digits, so that equal points share a rank."""
    size = np.abs(position).max()
    return np.round(position / size, ORDER_DIGITS) if size > 0 else position


def _members(labels: Array, count: int) -> list[Array]:
    """The points of every manifold."""
    by_label = np.argsort(labels, kind="stable")
    return np.split(by_label, np.searchsorted(labels[by_label], np.arange(count + 1)))[1:-1]


def _polar(coordinates: Array, weights: Array | None) -> tuple[Array, Array]:
    """Angle in [0, 2 pi) and radius of coordinates scaled to unit variance."""
    sizes = np.sqrt(np.average(coordinates**2, axis=0, weights=weights))
    scaled = coordinates / np.where(sizes > 0, sizes, 1)
    angle = np.arctan2(scaled[:, 1], scaled[:, 0]) % (2 * np.pi)
    return np.where(angle < 2 * np.pi, angle, 0.0), np.hypot(scaled[:, 0], scaled[:, 1])


def widest_gap(coordinates: Array) -> float:
    """The widest gap between the angles of points in the plane of their first two coordinates."""
    angles = np.sort(_polar(coordinates[:, :2], None)[0])
    return float(np.diff(angles, append=angles[0] + 2 * np.pi).max())


def looks_like_a_ring(coordinates: Array) -> bool:
    """Whether points lie all around the origin and a hole, in the plane of their first two coordinates.

    Examples
    --------
    >>> angles = 2 * np.pi * np.arange(12) / 12
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> looks_like_a_ring(ring), looks_like_a_ring(ring[:6])
    (True, False)
    """
    hole = _hole(_polar(coordinates[:, :2], None)[1])
    return widest_gap(coordinates) <= WIDEST_GAP and hole >= HOLE_OF_A_LOOK


def _goes_round(angles: Array, radius: Array, patches: float) -> bool:
    """Whether points of ascending `angles` lie all around the origin, and around a hole."""
    if len(angles) < FEWEST_POINTS or not radius.any():
        return False
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    return bool(gaps.max() <= WIDEST_GAP and _hole(radius) >= (CLEAR_HOLE if patches <= FEW_PATCHES else HOLE))


def _hole(radius: Array) -> float:
    """The distance from the origin that nearly all points exceed, in units of its root mean square."""
    return float(np.quantile(radius, 0.05) / max(np.sqrt(np.mean(radius**2)), np.finfo(float).tiny))


def _links_needed(coordinates: Array, counts: Array) -> float:
    """The share of links that a ring needs: fewer if the spectrum is that of a ring."""
    sizes = np.sort(counts @ coordinates**2)[::-1]
    if len(sizes) < RING_COORDINATES:
        return LINKED
    rates = -np.log(np.clip(sizes, SMALLEST_SIZE, 1 - SMALLEST_SIZE))
    first, second, third, _, fifth = rates[:RING_COORDINATES]
    unit = (first + second) / 2
    is_ring = second <= RATE_OF_SECOND * first and third >= RATE_OF_THIRD * unit and fifth >= RATE_OF_FIFTH * unit
    return LINKED_IN_NOISE if is_ring else LINKED


def _linked(point: Point, rings: dict[int, Array], threshold: float) -> list[tuple[int, float]]:
    """The manifolds in `rings`, and the share of their points that ``Q`` links to the next."""
    if not rings:
        return []
    norms = row_norms(point)
    starts = np.concatenate(list(rings.values()))
    ends = np.concatenate([np.roll(ring, -1) for ring in rings.values()])
    links = point.entries(starts, ends) > threshold * norms[starts] * norms[ends]
    parts = np.split(links, np.cumsum([len(ring) for ring in rings.values()])[:-1])
    return [(label, float(part.mean())) for label, part in zip(rings, parts, strict=True)]
