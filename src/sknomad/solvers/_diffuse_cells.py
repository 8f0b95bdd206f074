"""Cells that have spread over many points, and how soft assignments get rid of them.

A cell that holds a little of every point lowers the trace at the cost of value, as mixing with ``J`` does. Row updates
never leave such a state: the points of the cell keep it where it is. All 7,877 ones of MNIST with ``K = 64`` ended a
tenth below their optimum because of two of 252 cells. Without them, points are shared by the other cells, and these
become softer instead.
"""

from __future__ import annotations

from .._numerics.arrays import namespace
from .._program.data_rows import Rows, Sums
from .._program.problem import KMeansSDP
from ._soft_updates import Assignments, settle_trace, sweep, value_and_trace

# A cell this many times as large as the mean may be diffuse. Those of dense regions may be as large: the value tells.
LARGE_CELL = 5.0


def without_diffuse_cells(problem: KMeansSDP, rows: Rows, current: Assignments, sweeps: int) -> Assignments:
    """The same without its diffuse cells, after so many sweeps, where that raises the value.

    At first it does not: the trace is too large, and a new diffuse cell forms on the way to the right one and vanishes.
    """
    sums = rows.sums(current.V)
    thinned = _thinned(rows, current, sums)
    if thinned is None:
        return current
    settled = settle_trace(problem, rows, sweep(problem, rows, thinned, sweeps))
    is_better = value_and_trace(problem, rows.sums(settled.V))[0] > value_and_trace(problem, sums)[0]
    return settled if is_better else current


def _thinned(rows: Rows, current: Assignments, sums: Sums) -> Assignments | None:
    """Assignments to the other cells alone; None where no cell is large, or all are."""
    xp = namespace(current.V)
    stays = sums.sizes <= LARGE_CELL * rows.total / sums.sizes.shape[0]
    if bool(xp.all(stays)) or not bool(xp.any(stays)):
        return None
    V = xp.take(current.V, xp.nonzero(stays)[0], axis=1)
    left = xp.sum(V, axis=1)[:, None]
    V = xp.where(left > 0, V / xp.where(left > 0, left, 1.0), 1.0 / V.shape[1])
    return Assignments(V, current.lam, None)
