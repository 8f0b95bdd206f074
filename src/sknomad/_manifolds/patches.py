"""The ``K`` to read coordinates off, once the parts are known: patches as large as the shape allows.

Large patches average noise away, but patches wider than the space between two turns of a roll join them. Looks at finer
and finer patches show where that happens: the leading coordinates of a part stay nearly the same from look to look,
until patches are small enough to lie within one turn, and then they are others. So the coarsest look is taken whose
coordinates are still those of all finer ones. See ``docs/automatic_choice.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .._numerics.arrays import Array
from .._points.embedding import leading_directions
from .look import Look
from .order import WIDEST_GAP, looks_like_a_ring, widest_gap

# Neighbours per point where looks do not tell, and the most patches; parts want two patches each.
POINTS_PER_PATCH_UNTOLD, MOST_PATCHES_UNTOLD, PATCHES_PER_PART = 10, 32, 2
# Patches have so many points at least, even if parts then have fewer than eight.
FEWEST_POINTS_PER_PATCH = 9
# Fewer patches than this do not show the shape of a part.
PATCHES_OF_A_SHAPE = 8
# Coordinates compared, and the share of the variance of each that those of another look explain if they agree.
COMPARED_COORDINATES, AGREEING_SHARE, SHARE_FOR_NEW_ARCS = 2, 0.6, 0.9


def coordinates_K(n: int, n_parts: int = 1, looks: Sequence[Look] = (), labels: Array | None = None) -> float:
    """The ``K`` for the coordinates of `n` points in `n_parts` parts.

    Parameters
    ----------
    n : int
        Points, equal ones counted each.
    n_parts : int
        Parts.
    looks : sequence of Look
        Looks at the points, or at groups of them, from large patches to small ones.
    labels : array
        The part of each point of the looks.

    Returns
    -------
    float
        That of a look with eight patches per part or more. Where there is none, or the finest looks differ, and not by
        rings that close in the last: ten points per patch, ``n/10`` between 2 and 32; more for many parts, eight
        patches each if they have nine points.
    """
    fine_enough = [look for look in looks if n_parts * PATCHES_OF_A_SHAPE <= look.K]
    if labels is not None and len(fine_enough) > 1:
        coordinates = [part_coordinates(look, labels) for look in fine_enough]
        agreed = _coarsest_agreed(coordinates)
        if agreed < len(fine_enough) - 1 or _closes(*coordinates[-2:]):
            return min(fine_enough[agreed].K, float(n))
    usual = max(2, PATCHES_PER_PART * n_parts, min(n // POINTS_PER_PATCH_UNTOLD, MOST_PATCHES_UNTOLD))
    of_shapes = min(PATCHES_OF_A_SHAPE * n_parts, n // FEWEST_POINTS_PER_PATCH)
    return float(min(max(usual, of_shapes), n))


def _coarsest_agreed(coordinates: Sequence[list[Array]]) -> int:
    """Which of the coordinates, from coarse to fine, is the first that hangs together with the finest.

    Two looks hang together if the coordinates of every part agree, and with those between them.
    """
    coarsest = len(coordinates) - 1
    for coarse, fine in reversed(list(pairwise(range(len(coordinates))))):
        if not all(_agree(*pair) for pair in zip(coordinates[coarse], coordinates[fine], strict=True)):
            break
        coarsest = coarse
    return coarsest


def _agree(coarse: Array, fine: Array) -> bool:
    """Whether the coordinates of a part are the same in two looks; an arc that was a ring must be so more clearly.

    A ring may be turned within the plane of its two coordinates, but the first alone orders an arc.
    """
    is_new_arc = coarse.shape[1] > 1 and widest_gap(coarse) < WIDEST_GAP <= widest_gap(fine)
    return shared_variance(coarse, fine) >= (SHARE_FOR_NEW_ARCS if is_new_arc else AGREEING_SHARE)


def _closes(coarse: Sequence[Array], fine: Sequence[Array]) -> bool:
    """Whether all that two looks differ in are rings, which the finer one shows and the coarser one does not.

    Noise breaks rings and makes none, so that they are believed even if no other look has them.
    """
    differing = [pair for pair in zip(coarse, fine, strict=True) if not _agree(*pair)]
    return all(looks_like_a_ring(finer) and not looks_like_a_ring(coarser) for coarser, finer in differing)


def part_coordinates(look: Look, labels: Array) -> list[Array]:
    """The leading coordinates of every part, from its rows of the leading part of ``Q``."""
    root = look.modes.vectors * np.sqrt(np.maximum(look.modes.values, 0))
    blocks = [root[labels == part] for part in range(int(labels.max()) + 1)]
    centred = [block - block.mean(axis=0) for block in blocks]
    return [block @ leading_directions(block, COMPARED_COORDINATES) for block in centred]


def shared_variance(coordinates: Array, others: Array) -> float:
    """The share of the variance of each coordinate that linear functions of `others` explain; the smallest, in [0, 1].

    Examples
    --------
    >>> round(shared_variance(np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-1.0], [0.0]])), 9)
    0.25
    """
    basis, sizes, _ = np.linalg.svd(others, full_matrices=False)
    basis = basis[:, sizes > np.finfo(float).eps * max(others.shape) * sizes.max(initial=0.0)]
    total = np.sum(coordinates**2, axis=0)
    explained = np.sum((basis.T @ coordinates) ** 2, axis=0)
    return float(np.min(np.divide(explained, total, out=np.ones_like(total), where=total > 0)))
