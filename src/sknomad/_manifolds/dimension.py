"""How many dimensions the points fill, read off the spectra of smooth solutions.

The rates ``-log`` of the eigenvalues of ``Q`` behave as those of a Laplacian: by Weyl's law the j-th grows as
``j^(2/d)`` on a piece of d dimensions. Leading rates tell parts and shape, so the slope is taken over later ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .look import MOST_SPECTRAL, SMALLEST_RATE, Look

# Rates between a third and the whole of this share of K are used, if there are so many of them.
SHARE_OF_K, FEWEST_RATES = 0.6, 4
# The smallest slope that is told from zero.
SMALLEST_SLOPE = 0.02


def intrinsic_dimension(looks: Sequence[Look]) -> float:
    """The median over looks of the dimension that Weyl's law gives; infinity where no look has enough patches.

    Examples
    --------
    >>> from sknomad._manifolds.look import make_look
    >>> angles = 2 * np.pi * np.arange(60) / 60
    >>> rates = np.r_[0, np.repeat(np.arange(1, 30), 2) ** 2, 900] / 50
    >>> waves = [np.ones(60), *(f(k * angles) for k in range(1, 30) for f in (np.cos, np.sin)), np.cos(30 * angles)]
    >>> vectors = np.array([wave / np.linalg.norm(wave) for wave in waves])
    >>> ring = make_look(20.0, (vectors.T * np.exp(-rates)) @ vectors)
    >>> round(intrinsic_dimension([ring]), 1)
    1.0
    """
    slopes = [slope for slope in map(_slope_of_rates, looks) if slope is not None]
    return 2 / max(float(np.median(slopes)), SMALLEST_SLOPE) if slopes else math.inf


def _slope_of_rates(look: Look) -> float | None:
    """The slope of log rates over the log of their number."""
    last = min(round(SHARE_OF_K * look.K), MOST_SPECTRAL + 1, len(look.rates) - 1)
    first = max(2, last // 3)
    if last - first + 1 < FEWEST_RATES:
        return None
    rates = np.log(np.maximum(look.rates[first : last + 1], SMALLEST_RATE))
    return float(np.polyfit(np.log(np.arange(first, last + 1)), rates, 1)[0])
