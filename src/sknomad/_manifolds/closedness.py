"""How nearly a manifold closes on itself: the share of a circle that is missing between its ends.

A ring that is sampled with a gap wider than a neighbourhood is an arc to ``Q``, and yet an angle describes it better
than a position between two ends. The gap is measured in the data: points are gathered into bins along the order, and
the distance between the two ends is that of bins so many steps apart. See docs/order.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array
from .._program.gram import Gram
from .order import Order

# Bins along a manifold: as many as it has patches within these bounds, with three points each at least.
FEWEST_BINS, MOST_BINS, POINTS_PER_BIN = 6, 24, 3
# A ring with a gap is the better model of a manifold that is closed to this extent: at most an eighth is missing.
CLOSED_ENOUGH = 0.75
# Bins around the far end among which the nearest one to the near end must be.
NEIGHBOURING_BINS = 1
# Longest step from bin to bin, as a share of the largest mean distance: the side of a hexagon is half its diameter.
LONGEST_STEP = 0.5


@dataclass(frozen=True)
class Bins:
    """Points of one manifold in bins along it."""

    members: Array  # (m,) its points
    columns: Array  # (m,) the bin of each
    count: int  # its bins


def measure_closedness(
    gram: Gram, found: Order, labels: Array, diagonal: Array, weights: Array | None = None
) -> tuple[Array, Array]:
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
    diagonal : array of shape (n,)
        That of ``Q``, times the weights: the patches that each point counts for.
    weights : array of shape (n,), optional
    """
    counts = np.ones(len(labels)) if weights is None else weights
    closedness, angles = found.is_closed.astype(np.float64), found.circular_coordinates.copy()
    for label in np.flatnonzero(~found.is_closed):
        bins = _bins(found, labels, int(label), diagonal)
        if bins is None:
            continue
        missing = missing_share(_distances_between_bins(gram, bins, counts))
        closedness[label] = max(0.0, 1 - 2 * missing)
        if closedness[label] >= CLOSED_ENOUGH:
            angles[bins.members] = 2 * np.pi * (1 - missing) * found.order[bins.members]
    return closedness, angles


def missing_share(distances: Array) -> float:
    """The share of a circle between the last and the first of bins along it, from all distances between bins.

    One, if the ends are not each other's neighbours, or bins that follow each other are not.

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
    return float((steps - 1) / (count + steps - 1))


def _bins(found: Order, labels: Array, label: int, diagonal: Array) -> Bins | None:
    """Bins of as many points each along one manifold; None where there are too few."""
    members = np.flatnonzero(labels == label)
    count = min(max(round(float(diagonal[members].sum())), FEWEST_BINS), MOST_BINS, len(members) // POINTS_PER_BIN)
    if count < FEWEST_BINS:
        return None
    columns = np.minimum((found.order[members] * count).astype(int), count - 1)
    return Bins(members, columns, count) if len(np.unique(columns)) == count else None


def _distances_between_bins(gram: Gram, bins: Bins, counts: Array) -> Array:
    """Distances between the means of bins, in any form of data."""
    columns = np.zeros((gram.n, bins.count))
    columns[bins.members, bins.columns] = counts[bins.members]
    columns /= columns.sum(axis=0)
    if gram.roots is not None:  # the other factor is in the Gram matrix
        columns /= gram.roots[:, None]
    products = columns.T @ (gram @ columns)
    norms = np.diag(products)
    return np.sqrt(np.maximum(norms[:, None] + norms - 2 * products, 0))
