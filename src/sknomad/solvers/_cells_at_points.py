"""Soft assignments with a cell at every point: a start that needs nothing random and does not depend on their order.

Each row then is the projection of ``(2 x_i.x_j - |x_j|^2) / (2 lam)`` on the simplex: the nearest points share it, with
less the farther they are, and none beyond some distance. On manifolds this point alone is within a thousandth or so of
the optimum; and it is smooth, where the optimum breaks into clumps that follow the accidents of the sample.
"""

from __future__ import annotations

import numpy as np

from .._numerics.arrays import Array, like, namespace
from .._numerics.weighted_simplex import weighted_rows
from .._program.data_rows import Rows
from .._program.problem import KMeansSDP
from ._soft_updates import TRACE_TOLERANCE, Assignments, Cells, natural_multiplier, settle_trace_of

# Rows that the multiplier is first told by, evenly spread over the points in the order of their squared lengths.
SAMPLE = 64
# Halvings of the range of its logarithm, which is so wide on either side of the natural multiplier.
HALVINGS, LOG_RANGE = 16, 30.0
# Searches with all rows, of a few secant steps each, for the trace.
SEARCHES = 3


def cells_at_points(problem: KMeansSDP, rows: Rows, template: Array) -> Assignments:
    """Soft assignments of trace ``K``, or just below, to cells that lie at the points.

    A unit of each cell costs the same, as it does where a point of weight m is m equal points with a cell at each.
    """
    cells, found = _cells(rows, template), Assignments(template, _rough_multiplier(problem, rows), None)
    for _ in range(SEARCHES):
        found = settle_trace_of(problem, rows, cells, found.lam, found.thresholds)
        if abs(_trace(rows, found.V) / problem.K - 1) <= 2 * TRACE_TOLERANCE:
            break
    return found


def _cells(rows: Rows, template: Array) -> Cells:
    """A cell at every point, as large as its weight."""
    X = rows.take(np.arange(rows.n))
    xp, squares = namespace(template), like(np.sum(X * X, axis=1), template)
    sizes = xp.ones_like(squares) if rows.weights is None else rows.weights
    return Cells(2 * rows.scores(like(X.T, template)) - squares, xp.zeros_like(squares), sizes)


def _rough_multiplier(problem: KMeansSDP, rows: Rows) -> float:
    """The multiplier for which a sample of rows has its share of the trace, cells being as large as the points."""
    X = rows.take(np.arange(rows.n))
    weights = np.ones(rows.n) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    squares = np.sum(X * X, axis=1)
    sample = np.argsort(squares, kind="stable")[np.unique(np.linspace(0, rows.n - 1, SAMPLE).astype(int))]
    gains = 2 * X[sample] @ X.T - squares
    low, high = -LOG_RANGE, LOG_RANGE
    natural = natural_multiplier(problem, rows.n)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        lam = natural * np.exp(middle)
        V = weighted_rows(gains, weights / (2 * lam))
        share = float(np.mean(np.sum(V * V / weights, axis=1) * weights[sample])) * rows.n
        low, high = (middle, high) if share > problem.K else (low, middle)
    return float(natural * np.exp((low + high) / 2))


def _trace(rows: Rows, V: Array) -> float:
    return float(namespace(V).sum(rows.sums_of_squares(V) / rows.sizes(V)))
