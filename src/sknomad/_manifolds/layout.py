"""Where the manifolds lie on one map: near each other where the data are, and none over another.

Each manifold is a rectangle, the extent of its own unrolled coordinates. Classical scaling of the distances between
manifolds says where their middles would lie; then they are set down one by one, the largest first, each at the free
place nearest to that. Sizes are to scale; of what lies between manifolds only the neighbourhoods are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._numerics.arrays import Array

# Free space around a manifold, as a share of the typical side of a rectangle.
MARGIN = 0.3
# The thinnest a rectangle may be, as a share of the longest side of all: lines and single points are seen apart.
THINNEST = 0.04
# Manifolds laid out by their distances; smaller ones lie in rows below, from the largest to the smallest.
MOST_BY_DISTANCE = 60
# For up to so many manifolds: turns of the plane tried, and shares that its distances are drawn together to.
TRIALS = ((12, 8, (1.0, 0.7, 0.5, 0.3)), (30, 4, (1.0, 0.6, 0.3)), (MOST_BY_DISTANCE, 2, (1.0, 0.4)))
# Width of a map over its height.
PAGE = 1.4


def lay_out(sizes: Array, distances_among: Callable[[Array], Array]) -> Array:
    """Middles (m, 2) of rectangles with the given `sizes` (m, 2), so that no two overlap.

    Distances between the manifolds, which `distances_among` gives for some of them, decide which lie near which.
    Nothing is random; the largest rectangles come first and move least.

    Examples
    --------
    >>> middles = lay_out(np.array([[2.0, 1.0], [2.0, 1.0]]), lambda some: np.array([[0.0, 5.0], [5.0, 0.0]]))
    >>> bool(np.abs(middles[0] - middles[1]).max() > 1)
    True
    """
    unit = float(sizes.max(initial=0.0))
    if unit == 0:  # all manifolds are single points
        unit, sizes = 1.0, np.ones_like(sizes)
    sizes = np.maximum(sizes / unit, THINNEST)
    margin = MARGIN * float(np.sqrt(np.mean(sizes.prod(axis=1))))
    halves = (sizes + margin) / 2
    order = np.argsort(-sizes.prod(axis=1), kind="stable")
    near, rest = order[:MOST_BY_DISTANCE], order[MOST_BY_DISTANCE:]
    middles = np.zeros_like(sizes)
    middles[near] = _best_plane(distances_among(near), halves[near])
    _add_rows(middles, halves, near, rest)
    return unit * middles


def _best_plane(distances: Array, halves: Array) -> Array:
    """Of the plane of the distances, turned and drawn together in several ways, the one that reads best.

    That is small, in the shape of a page, and true: distances on it go with those given.
    """
    plane, count = classical_plane(distances), len(halves)
    turns, pulls = next((turns, pulls) for most, turns, pulls in TRIALS if count <= most)
    best = (np.inf, plane)
    for turn in np.linspace(0, np.pi, turns, endpoint=False):
        turned = plane @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        spread = _spread(turned, halves)
        for pull in pulls:
            middles = _place_all(pull * spread, halves)
            width, height = (middles + halves).max(axis=0) - (middles - halves).min(axis=0)
            cost = max(width / PAGE, height) * (2 - _agreement(middles, distances))
            if cost < best[0] * (1 - 1e-9):
                best = (cost, middles)
    return best[1]


def _place_all(wanted: Array, halves: Array) -> Array:
    """Rectangles set down one by one, each at the free place nearest to the one wanted."""
    middles = np.zeros_like(wanted)
    for k in range(len(wanted)):
        middles[k] = _nearest_free(wanted[k], halves[k], middles[:k], halves[:k])
    return middles


def _agreement(middles: Array, distances: Array) -> float:
    """Correlation of the distances between middles with those given; 1 where there is nothing to compare."""
    pairs = np.triu_indices(len(middles), 1)
    shown, given = np.linalg.norm(middles[pairs[0]] - middles[pairs[1]], axis=1), distances[pairs]
    if len(given) < 2 or np.ptp(given) <= 1e-9 * given.max() or np.ptp(shown) <= 1e-9 * shown.max():
        return 1.0
    return float(np.corrcoef(shown, given)[0, 1])


def classical_plane(distances: Array) -> Array:
    """Classical scaling of a matrix of distances, (m, 2), with signs that make the largest coordinates positive."""
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    columns = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    columns = np.pad(columns, ((0, 0), (0, 2 - columns.shape[1])))
    signs = np.sign(np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None], axis=0))
    return columns * np.where(signs == 0, 1, signs)


def _spread(middles: Array, halves: Array) -> Array:
    """Middles scaled until half of the rectangles are clear of all others; distances beyond that are only distance."""
    if len(middles) < 2:
        return middles
    apart = np.abs(middles[:, None] - middles[None])
    needed = halves[:, None] + halves[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(apart > 0, needed / apart, np.inf).min(axis=2)  # from which on each pair is clear
    np.fill_diagonal(scale, 0.0)
    clear_from = scale.max(axis=1)
    finite = clear_from[np.isfinite(clear_from)]
    return middles * (float(np.median(finite)) if len(finite) else 0.0)


def _nearest_free(wanted: Array, half: Array, middles: Array, halves: Array) -> Array:
    """The place nearest to `wanted` where a rectangle touches none of the others."""
    low, high = middles - halves - half, middles + halves + half  # what its middle must stay out of
    xs = np.concatenate([[wanted[0]], low[:, 0], high[:, 0]])
    ys = np.concatenate([[wanted[1]], low[:, 1], high[:, 1]])
    places = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    far = np.sum((places - wanted) ** 2, axis=1)
    slack = 1e-9 * (np.abs(half).max() + np.abs(halves).max(initial=0.0))
    inside = np.ones((len(places), len(low)), dtype=bool)
    for axis in (0, 1):
        at = places[:, axis, None]
        inside &= (at > low[:, axis] + slack) & (at < high[:, axis] - slack)
    # Beyond the outermost rectangle there is always a free place.
    return np.asarray(places[np.argmin(np.where(inside.any(axis=1), np.inf, far))])


def _add_rows(middles: Array, halves: Array, placed: Array, rest: Array) -> None:
    """Set the rest down in rows below, as wide as what lies above."""
    if not len(rest):
        return
    left, right = (middles[placed] - halves[placed])[:, 0].min(), (middles[placed] + halves[placed])[:, 0].max()
    x, top = left, (middles[placed] - halves[placed])[:, 1].min()
    height = 0.0
    for index in rest:
        width, depth = 2 * halves[index]
        if x > left and x + width > right:
            x, top, height = left, top - height, 0.0
        middles[index] = x + width / 2, top - depth / 2
        x, height = x + width, max(height, depth)
