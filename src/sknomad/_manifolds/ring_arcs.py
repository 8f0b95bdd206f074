"""Whether the parts of a division are arcs of one ring that the looks show.

Every gap in the sample of a ring is a valley, so that rings come closest to being cut wrongly. But looks at all patch
sizes show them whole, all around a hole, and their would-be parts follow each other on the way round. Several rings or
spirals around one centre may look like a ring too, but each of their parts goes round it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._numerics.arrays import Array
from .look import Look
from .order import looks_like_a_ring
from .patches import part_coordinates

# The share of looks that must show arcs of a ring.
SHARE_OF_LOOKS = 0.5
# On the way round arcs change as often as there are arcs; noise where they meet adds a few more changes.
CHANGES_PER_ARC = 2


def are_arcs_of_a_ring(looks: Sequence[Look], labels: Array) -> bool:
    """Whether at least half of the looks show the parts as arcs of one ring.

    Examples
    --------
    >>> from sknomad._manifolds.look import make_look
    >>> angles = 2 * np.pi * np.arange(40) / 40
    >>> ring = make_look(8.0, (1 + np.cos(angles[:, None] - angles)) / 40)
    >>> are_arcs_of_a_ring([ring], np.arange(40) // 10), are_arcs_of_a_ring([ring], np.arange(40) % 4)
    (True, False)
    """
    return bool(np.mean([_shows_arcs(look, labels) for look in looks]) >= SHARE_OF_LOOKS)


def _shows_arcs(look: Look, labels: Array) -> bool:
    coordinates = part_coordinates(look, np.zeros(look.n, dtype=np.int64))[0]
    if coordinates.shape[1] < 2 or not looks_like_a_ring(coordinates):
        return False
    on_the_way = labels[np.argsort(np.arctan2(coordinates[:, 1], coordinates[:, 0]), kind="stable")]
    changes = np.sum(on_the_way != np.roll(on_the_way, 1))
    return bool(changes <= CHANGES_PER_ARC * (int(labels.max()) + 1))
