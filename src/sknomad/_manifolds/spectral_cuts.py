"""Spectral cuts of a look: parts that touch show in the spectrum of its jumps where no valley runs between them."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import qr

from .._numerics.arrays import Array
from .._points.components import in_order
from .look import MOST_SPECTRAL, Look

# Rounds of spherical K-means: after pivots have been chosen well, few are needed.
ROUNDS = 20
SMALLEST_NORM = 1e-12


def spectral_gaps(look: Look) -> tuple[Array, Array]:
    """Numbers of parts, all below ``K``, and by how many decades the next rate exceeds what one piece would have.

    A single piece cut into c parts has rates that grow as c squared; beyond that, ``log10(r_{c+1} / r_c)`` tells parts.
    """
    most = min(MOST_SPECTRAL, math.ceil(look.K) - 1, len(look.rates) - 1)
    counts = np.arange(2, most + 1)
    gaps = np.log10(look.rates[counts] / look.rates[counts - 1]) - 2 * np.log10(counts / (counts - 1))
    return counts, gaps


def spectral_cut(look: Look, n_parts: int) -> Array | None:
    """Points by the directions of their rows of the leading eigenvectors; None where fewer parts come out.

    Pivoted QR chooses points that lie apart, spherical K-means does the rest: nothing is random.

    Examples
    --------
    >>> from sknomad._manifolds.look import make_look
    >>> spectral_cut(make_look(2.0, np.kron(np.eye(2), np.full((3, 3), 1 / 3))), 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if n_parts > look.jumps.vectors.shape[1]:
        return None
    rows = _directions(look.jumps.vectors[:, :n_parts])
    centres = rows[qr(rows.T, pivoting=True, mode="r")[1][:n_parts]]
    labels = np.argmax(rows @ centres.T, axis=1)
    for _ in range(ROUNDS):
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, rows)
        is_empty = np.linalg.norm(sums, axis=1, keepdims=True) <= 0
        moved = np.where(is_empty, centres, _directions(sums))
        if np.allclose(moved, centres):
            break
        centres = moved
        labels = np.argmax(rows @ centres.T, axis=1)
    return in_order(labels) if len(np.unique(labels)) == n_parts else None


def _directions(rows: Array) -> Array:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), SMALLEST_NORM)
