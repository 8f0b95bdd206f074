"""Which penalty finds the bound, and which finds the point as well, in the fewest steps of ADMM.

A large penalty moves the multiplier in long strides, a small one lets it settle where the bound is low: while only the
bound is sought the penalty glides from large to small, as the steps of a subgradient method do. The fewer points a
patch has, the smaller the last one may be. A point that is nearly feasible takes a larger one, above all in few large
patches, where a small residual in every entry makes up much of a row. All are in units of ``|D|_F / sqrt(K)``.
"""

from __future__ import annotations

import math

# Where the glide begins at most, how many steps it waits, and what is left after each of those that follow.
LARGEST_FIRST, WAIT, GLIDE = 2.0, 4, 0.88
# Where it ends, as a multiple of the root of the points per patch, and at most.
LAST, LARGEST_LAST = 0.06, 0.7
# The penalty for point and bound together, likewise; patches of more than so many points take more than that.
FOR_BOTH, LARGE_PATCH, LARGEST_FOR_BOTH = 0.35, 60, 30.0
# From so many points on soft assignments are thorough, bounds are what is left, and a penalty above this sets them back
# (all 6,903 zeros of MNIST with K = 16 on an H200, to 1e-4: 24 s instead of 16).
MANY_POINTS, LARGEST_FOR_MANY = 2000, 2.0
# Points per patch from which on primal residuals are kept below dual ones, and by how much at most.
BALANCED_PATCH, LARGEST_BIAS = 20, 6.0
# In noise, where soft assignments fall short, Q has after ten steps more than so many eigenvectors per patch of ten
# points (1000 points: 5.5 in noise, 4.6 at most elsewhere); more in larger patches, as the third root, and fewer in
# smaller ones. From many points on, images have as many.
MOST_PER_PATCH, POINTS_OF_A_PATCH = 5.0, 10
FEWER_IN_SMALL_ONES, MORE_IN_LARGE_ONES = 3 / 4, 1 / 3
# Rows keep their sums in patches of fewer points than the first number, and of fewer than the second outside noise; up
# to so many points, beyond which it was not tried.
SMALL_PATCH, MIDDLING_PATCH, ROWS_UP_TO = 10, 40, 4000


def gliding_penalty(step: int, n: int, K: float) -> float:
    """The penalty of a step, counted from 1, that seeks the bound alone."""
    last = min(LAST * math.sqrt(n / K), LARGEST_LAST)
    return max(last, min(penalty_for_both(n, K), LARGEST_FIRST) * GLIDE ** max(step - WAIT, 0))


def penalty_for_both(n: int, K: float) -> float:
    """The penalty for point and bound together."""
    size = n / K
    if n >= MANY_POINTS:
        return min(FOR_BOTH * math.sqrt(size), LARGEST_FOR_MANY)
    return min(FOR_BOTH * math.sqrt(size * max(1.0, size / LARGE_PATCH)), LARGEST_FOR_BOTH)


def balance_bias(n: int, K: float) -> float:
    """How much smaller than dual residuals primal ones should be where point and bound are sought together."""
    return min(max(1.0, n / K / BALANCED_PATCH), LARGEST_BIAS) if n < MANY_POINTS else 1.0


def is_noise(rank: int, n: int, K: float) -> bool:
    """Whether a point of this rank, early in a run, tells that the data have no patches that soft assignments find."""
    size = n / (POINTS_OF_A_PATCH * K)
    most = MOST_PER_PATCH * size ** (MORE_IN_LARGE_ONES if size > 1 else FEWER_IN_SMALL_ONES)
    return n < MANY_POINTS and rank > most * K


def rows_matter(rank: int, n: int, K: float) -> bool:
    """Whether a row's sum matters beside its entries, see `keep_row_sums`; `rank` is that of a point early in a run.

    In patches of ten points and more noise is better off with a penalty that is balanced.
    """
    limit = MIDDLING_PATCH if not is_noise(rank, n, K) else SMALL_PATCH
    return n < limit * K and n <= ROWS_UP_TO
