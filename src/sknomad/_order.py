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

from ._arrays import Array
from ._points import Point, entries

# Widest gap between neighbouring angles on a closed curve; 0 in theory, a right angle on an open one.
WIDEST_GAP = 0.4 * np.pi
# Share of neighbours in the circular order that must be linked by Q: on surfaces the order is none of Q's.
LINKED = 0.98
# The hole: the distance from the origin that 95 % of the points exceed, in units of its root mean square. Up to seven
# patches (six around one) may lie in a circle even on a disc, so that the hole itself must be clear.
HOLE, CLEAR_HOLE, FEW_PATCHES = 1 / 3, 0.8, 7
# Fewer points than this have no shape.
FEWEST_POINTS = 5


class Order(NamedTuple):
    """What is known of the positions along the manifolds."""

    order: Array  # (n,) in [0, 1]
    circular_coordinates: Array  # (n,) in [0, 2 pi), NaN on manifolds that do not close
    is_closed: Array  # (n_manifolds,)


def find_order(point: Point, coordinates: Array, labels: Array, threshold: float) -> Order:
    """Order the points of every manifold, given their first two `coordinates`; points labelled -1 have no position."""
    n = len(labels)
    diagonal = entries(point, np.arange(n), np.arange(n))
    cut = threshold * diagonal.max()
    order, angles = np.full(n, np.nan), np.full(n, np.nan)
    is_closed = np.zeros(int(labels.max(initial=-1)) + 1, dtype=bool)
    for label in range(len(is_closed)):
        members = np.flatnonzero(labels == label)
        angle, radius = _polar(coordinates[members])
        is_closed[label] = _closes(point, members, angle, radius, diagonal[members].sum(), cut)
        if is_closed[label]:
            angles[members] = angle
            order[members] = (rankdata(angle, method="average") - 1) / len(members)
        else:
            order[members] = (rankdata(coordinates[members, 0], method="average") - 1) / max(len(members) - 1, 1)
    return Order(order, angles, is_closed)


def _polar(coordinates: Array) -> tuple[Array, Array]:
    """Angle in [0, 2 pi) and radius of coordinates scaled to unit variance."""
    sizes = np.sqrt(np.mean(coordinates**2, axis=0))
    scaled = coordinates / np.where(sizes > 0, sizes, 1)
    angle = np.arctan2(scaled[:, 1], scaled[:, 0]) % (2 * np.pi)
    return np.where(angle < 2 * np.pi, angle, 0.0), np.hypot(scaled[:, 0], scaled[:, 1])


def _closes(point: Point, members: Array, angle: Array, radius: Array, patches: float, cut: float) -> bool:
    """Whether the points go once round the origin: no gap, a hole, and neighbours in angle linked by ``Q``."""
    if len(members) < FEWEST_POINTS or not radius.any():
        return False
    around = np.argsort(angle, kind="stable")
    gaps = np.diff(angle[around], append=angle[around[0]] + 2 * np.pi)
    hole = np.quantile(radius, 0.05) / np.sqrt(np.mean(radius**2))
    if gaps.max() > WIDEST_GAP or hole < (CLEAR_HOLE if patches <= FEW_PATCHES else HOLE):
        return False
    ring = members[around]
    return bool(np.mean(entries(point, ring, np.roll(ring, -1)) > cut) >= LINKED)
