"""Lloyd's algorithm on rows in blocks: begun on a sample, then passes over all rows."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .._numerics.arrays import Array
from .._numerics.row_blocks import Blocks
from .._solving.budget import Budget
from .._solving.streaming import sample_rows
from .row_inertia import cluster_sums

# Passes end when one lowers the inertia by less than this share, or after so many.
LEAST_GAIN, MOST_PASSES = 1e-5, 50


class Pass(NamedTuple):
    """What a block says of centres: sums and sizes of what is nearest to each, and the squared distances."""

    totals: Array  # (K, d)
    sizes: Array  # (K,)
    inertia: float


def nearest(block: Array, centres: Array) -> Array:
    """The nearest centre of each row; distances from a common origin, so that large coordinates lose no digits."""
    rows, places = block - centres[0], centres - centres[0]
    return np.argmin(np.sum(places**2, axis=1) - 2 * (rows @ places.T), axis=1).astype(np.int32)


def one_pass(block: Array, centres: Array) -> Pass:
    """A block's share in one step of Lloyd's algorithm."""
    codes = nearest(block, centres)
    sums = cluster_sums(block, codes, len(centres), centres[0])
    return Pass(sums.totals, sums.sizes, float(np.sum((block - centres[codes]) ** 2)))


def lloyd_rows(blocks: Blocks, K: int, n_init: int, random: np.random.RandomState, budget: Budget) -> Array:
    """Centres (K, d) of the best of `n_init` starts on a sample, improved on all rows."""
    sample = sample_rows(blocks, K, int(random.randint(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
        centres = KMeans(K, n_init=n_init, random_state=random).fit(sample).cluster_centers_
    before = np.inf
    for _ in range(MOST_PASSES):
        shares = list(blocks.each(one_pass, centres))
        inertia = sum(share.inertia for share in shares)
        if before - inertia <= LEAST_GAIN * inertia or budget.is_spent:
            break
        before, sizes = inertia, np.sum([share.sizes for share in shares], axis=0)
        moved = np.sum([share.totals for share in shares], axis=0) / np.maximum(sizes, 1)[:, None] + centres[0]
        centres = np.where(sizes[:, None] > 0, moved, centres)
    return np.asarray(centres)
