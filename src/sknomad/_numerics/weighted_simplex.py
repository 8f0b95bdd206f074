"""Rows ``w_j max(s_j - t, 0)`` of sum one: the projection on the simplex in a weighted norm, in two ways.

By sorting it is exact and needs no start; by Newton's method it runs in every array library and, warm-started, costs a
few passes. Both solve ``sum_j w_j max(s_j - t, 0) = 1`` for each row.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, namespace

# Newton steps for the threshold of each row; warm-started, three usually suffice.
NEWTON_STEPS = 12


def weighted_rows(scores: Array, weights: Array) -> Array:
    """Rows ``weights_j max(scores_j - t, 0)`` with ``t`` such that each sums to one; exact, row by row.

    Examples
    --------
    >>> weighted_rows(np.array([[3.0, 2.0, 0.0]]), np.array([0.5, 0.5, 0.5]))
    array([[0.75, 0.25, 0.  ]])
    """
    scores = scores - scores.max(axis=1, keepdims=True)  # the threshold is then not lost in large scores
    order = np.argsort(-scores, axis=1, kind="stable")
    sorted_scores, sorted_weights = np.take_along_axis(scores, order, axis=1), weights[order]
    totals = np.cumsum(sorted_weights, axis=1)
    candidates = (np.cumsum(sorted_weights * sorted_scores, axis=1) - 1) / totals
    last = np.maximum((sorted_scores > candidates).sum(axis=1), 1) - 1
    shares = np.maximum(scores - np.take_along_axis(candidates, last[:, None], axis=1), 0) * weights
    return shares / shares.sum(axis=1, keepdims=True)


def weighted_rows_by_newton(scores: Array, weights: Array, thresholds: Array | None) -> tuple[Array, Array]:
    """Rows ``v_j = weights_j max(scores_j - t, 0)`` with ``t`` such that each sums to one, and the thresholds ``t``.

    Newton's method on a convex decreasing piecewise linear function: from any start the first step lands left of the
    root and the rest increase to it, a finite number of pieces.
    """
    xp = namespace(scores)
    if thresholds is None:
        thresholds = (scores @ weights - 1) / xp.sum(weights)
    else:
        largest = xp.max(scores, axis=1)
        thresholds = xp.where(thresholds < largest, thresholds, largest - 1 / xp.sum(weights))
    tolerance = 8 * float(xp.finfo(scores.dtype).eps)
    for _ in range(NEWTON_STEPS):
        excess = xp.clip(scores - thresholds[:, None], min=0.0)
        surplus = excess @ weights - 1
        if float(xp.max(xp.abs(surplus))) <= tolerance:
            break
        slope = xp.astype(excess > 0, scores.dtype) @ weights
        thresholds = thresholds + surplus / xp.where(slope > 0, slope, xp.sum(weights))
    V = xp.clip(scores - thresholds[:, None], min=0.0) * weights
    total = xp.sum(V, axis=1)
    if bool(xp.any(total == 0)):  # weights so large that the threshold is rounded to the largest score: a hard row
        best = xp.astype(scores == xp.max(scores, axis=1)[:, None], scores.dtype)
        V = xp.where((total > 0)[:, None], V, best)
        total = xp.sum(V, axis=1)
    return V / total[:, None], thresholds
