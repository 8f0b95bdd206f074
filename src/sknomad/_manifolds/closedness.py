"""How nearly a manifold closes on itself, and angles along those that do.

A ring that is sampled with a gap wider than a neighbourhood is an arc to ``Q``, and yet an angle describes it better
than a position between two ends. Both the gap and the angle are measured in the data: points are gathered into bins
along the order, whose means have less noise than points. The distance between the two ends is that of bins so many
steps apart, and the angle is the length of the way from mean to mean. See docs/order.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from .._numerics.arrays import Array
from .._program.gram import Gram
from .order import Order

# Bins along a manifold, if it has six points for each, and the fewest, of three points each.
FEWEST_BINS, MOST_BINS, POINTS_PER_BIN, FEWEST_POINTS = 6, 16, 6, 18
# A ring with a gap is the better model of a manifold that is closed to this extent: at most an eighth is missing.
CLOSED_ENOUGH = 0.75
# Bins around the far end among which the nearest one to the near end must be.
NEIGHBOURING_BINS = 1
# Longest step from bin to bin, as a share of the largest mean distance: the side of a hexagon is half its diameter.
LONGEST_STEP = 0.5
# By how much more than on a circle the way from an end to the other may turn from the last step to that end. Rings with
# noise of a tenth stay below .6; the ends of one turn of a spiral lie beside each other, an excess of 1.
EXCESS_OF_TURN = np.pi / 4
# What is left at least of the square of a step when the noise of the means is taken off.
LEAST_OF_A_STEP = 0.05


@dataclass(frozen=True)
class Bins:
    """Points of one manifold in bins along it."""

    members: Array  # (m,) its points
    places: Array  # (count,) mean position of each bin, in [0, 1]
    squares: Array  # (count, count) squared distances between the means of bins
    noise: Array  # (count,) squared distance of each mean from the curve that is to be expected

    @property
    def distances(self) -> Array:
        """Distances between the means."""
        return np.sqrt(self.squares)


def measure_closedness(gram: Gram, found: Order, labels: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Closedness of every manifold, in [0, 1], and angles in [0, 2 pi), NaN where no ring is the better model.

    Closedness is 1 where ``Q`` goes all the way round. Elsewhere it is one less twice the share of the circle that is
    missing: 0 for a half ring, a line, and whatever has ends that are not next to each other.

    Parameters
    ----------
    gram : Gram
    found : Order
        The order along the manifolds.
    labels : array of shape (n,)
        Manifold of each point, or -1.
    weights : array of shape (n,), optional
    """
    counts = np.ones(len(labels)) if weights is None else weights
    closedness, angles = found.is_closed.astype(np.float64), found.circular_coordinates.copy()
    for label, is_closed in enumerate(found.is_closed):
        bins = _bins(gram, found.order, np.flatnonzero(labels == label), counts)
        if bins is None:
            continue
        missing = 0.0 if is_closed else missing_share(bins.distances)
        closedness[label] = max(0.0, 1 - 2 * missing)
        if closedness[label] >= CLOSED_ENOUGH:
            way = _way_round(bins) if is_closed else _way_between_ends(bins, missing)
            angles[bins.members] = _angles(found.order[bins.members], *way)
    return closedness, angles


def ends_that_meet(gram: Gram, along: Array, parts: Array, weights: Array | None = None) -> list[Array]:
    """The first and the last point of every part that closes but for a gap, given a coordinate `along` it."""
    members = [np.flatnonzero(parts == part) for part in range(int(parts.max(initial=-1)) + 1)]
    order = np.zeros(len(along))
    for mine in members:
        order[mine] = (rankdata(along[mine], method="ordinal") - 1) / max(len(mine) - 1, 1)
    as_arcs = Order(order, np.full(len(along), np.nan), np.zeros(len(members), dtype=bool))
    closedness, _ = measure_closedness(gram, as_arcs, parts, weights)
    nearly = [members[part] for part in np.flatnonzero(closedness >= CLOSED_ENOUGH)]
    return [mine[[np.argmin(along[mine]), np.argmax(along[mine])]] for mine in nearly]


def missing_share(distances: Array) -> float:
    """The share of a circle between the last and the first of bins along it, from all distances between bins.

    One, if the ends are not each other's neighbours or do not head for each other, or bins that follow each other are
    not neighbours.

    Examples
    --------
    >>> angle = 2 * np.pi * np.arange(9) / 12
    >>> points = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> round(missing_share(np.linalg.norm(points[:, None] - points, axis=2)), 3)
    0.25
    """
    count = len(distances)
    by_steps = np.array([np.mean(np.diagonal(distances, steps)) for steps in range(1, count)])
    as_far = np.flatnonzero(by_steps >= distances[0, -1])
    if not len(as_far) or by_steps[0] > LONGEST_STEP * by_steps.max():
        return 1.0
    k = int(as_far[0])
    # Between k and k + 1 steps: along the chord of the mean distances.
    steps = 1.0 if k == 0 else k + (distances[0, -1] - by_steps[k - 1]) / (by_steps[k] - by_steps[k - 1])
    nearby = int(np.ceil(steps)) + 1
    for row in (distances[0], distances[-1, ::-1]):
        far = row[nearby:]
        if len(far) == 0 or int(np.argmin(far)) < len(far) - 1 - NEIGHBOURING_BINS:
            return 1.0
    turn = np.pi * (steps + 1) / (count + steps - 1)
    if max(_turn(distances), _turn(distances[::-1, ::-1])) > turn + EXCESS_OF_TURN:
        return 1.0
    return float((steps - 1) / (count + steps - 1))


def _turn(distances: Array) -> float:
    """The angle between the step to the first bin, from the second, and the way on from there to the last."""
    step, on, both = distances[0, 1], distances[0, -1], distances[1, -1]
    if step * on == 0:
        return 0.0
    return float(np.arccos(np.clip((both**2 - step**2 - on**2) / (2 * step * on), -1, 1)))


def _bins(gram: Gram, order: Array, members: Array, counts: Array) -> Bins | None:
    """Bins of as many points each along one manifold; None where there are too few."""
    if len(members) < FEWEST_POINTS:
        return None
    count = int(np.clip(len(members) // POINTS_PER_BIN, FEWEST_BINS, MOST_BINS))
    columns = np.minimum((order[members] * count).astype(int), count - 1)
    weights = counts[members]
    sizes = np.bincount(columns, weights=weights, minlength=count)
    if not sizes.all():
        return None
    shares = np.zeros((gram.n, count))
    shares[members, columns] = weights / sizes[columns]
    scaled = shares if gram.roots is None else shares / gram.roots[:, None]  # the other factor is in the Gram matrix
    products = scaled.T @ (gram @ scaled)
    norms = np.diag(products)
    squared_norms = gram.diagonal() if gram.roots is None else gram.diagonal() / gram.roots**2
    return Bins(
        members,
        np.bincount(columns, weights=weights * order[members]) / sizes,
        np.maximum(norms[:, None] + norms - 2 * products, 0),
        np.maximum(shares.T @ squared_norms - norms, 0) / sizes,
    )


def _steps(bins: Bins) -> Array:
    """Lengths of the steps from each mean to the next, the last to the first, without what noise adds to them."""
    following = np.roll(np.arange(len(bins.places)), -1)
    squares = bins.squares[np.arange(len(following)), following]
    return np.sqrt(np.maximum(squares - bins.noise - bins.noise[following], LEAST_OF_A_STEP * squares))


def _way_round(bins: Bins) -> tuple[Array, Array]:
    """Positions along a ring, a little more than once round, and the share of the circle up to each."""
    steps = _steps(bins)
    places = np.r_[bins.places[-1] - 1, bins.places, bins.places[0] + 1]
    return places, np.cumsum(np.r_[-steps[-1], steps[-1], steps]) / max(steps.sum(), np.finfo(float).tiny)


def _way_between_ends(bins: Bins, missing: float) -> tuple[Array, Array]:
    """Positions along a ring with a gap, from 0 to 1, and the share of the circle up to each."""
    lengths = np.r_[0.0, np.cumsum(_steps(bins)[:-1])]
    first, last = bins.places[:2], bins.places[-2:]
    begin = lengths[0] - (lengths[1] - lengths[0]) / (first[1] - first[0]) * first[0]
    end = lengths[-1] + (lengths[-1] - lengths[-2]) / (last[1] - last[0]) * (1 - last[1])
    whole = max((end - begin) / (1 - missing), np.finfo(float).tiny)
    return np.r_[0.0, bins.places, 1.0], (np.r_[begin, lengths, end] - begin) / whole


def _angles(order: Array, places: Array, shares: Array) -> Array:
    """Angles of points at positions in [0, 1], 0 for the first."""
    turns = np.interp(order, places, shares) - np.interp(0.0, places, shares)
    return np.clip(2 * np.pi * turns, 0.0, np.nextafter(2 * np.pi, 0))
