"""Cells for any number of rows: found on a sample, moved by a pass over all rows, their multiplier set for a trace.

What cells are, and how a row of soft assignments follows from them, is in `solvers._soft_stream`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF, Array, row_slices
from .._numerics.threads import side_by_side
from .._points.forms import SoftPoint
from .._program.data_rows import Sums
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.loop import Limits
from .._solving.rough import rough_iterate
from ..solvers import SoftAssignment
from ..solvers._soft_stream import Cells, add_in_order, sums_of, sweep
from ..solvers._soft_updates import SoftState

# Cells of less than this share of the mean cell are dropped.
SMALLEST_SHARE = 1e-9
# Shortfall of the trace that is aimed at: mending a trace that is too small costs far less than one too large.
TRACE_AIM, TRACE_TOLERANCE = 1 - 1e-4, 1e-5
# Secant steps towards it, on a sample, and the least slope they believe in.
SECANT_STEPS, STEEPEST = 8, -0.05
# Rows of a sample that are swept by one thread.
SAMPLE_PIECE = 1000
# Most steps, of ten sweeps each, on a sample.
MOST_STEPS = 100


def sums_after(cells: Cells, blocks: Iterable[Array]) -> Sums:
    """The sums of one pass over all rows, without cells that hold nothing."""
    sums = add_in_order(side_by_side(partial(sweep, cells=cells), blocks))
    held = sums.sizes > 0
    return Sums(sums.products[:, held], sums.sizes[held], sums.squares[held])


def without_empty(cells: Cells) -> Cells:
    """The same without cells that hold next to nothing."""
    return cells.only(cells.sizes > SMALLEST_SHARE * cells.sizes.mean())


def with_trace(cells: Cells, K: float, sample: Array) -> Cells:
    """The same with the multiplier for which rows like those of the sample will have a trace just below ``K``.

    A larger multiplier makes rows softer and the trace smaller; secant steps in logarithms find it.
    """
    aim, position, slope = math.log(K * TRACE_AIM), math.log(cells.lam), -1.0
    excess = math.log(_trace_of(cells, sample, position)) - aim
    for _ in range(SECANT_STEPS):
        if abs(excess) <= TRACE_TOLERANCE:
            break
        step = max(min(-excess / slope, 1.0), -1.0)
        further = math.log(_trace_of(cells, sample, position + step)) - aim
        slope = min((further - excess) / step, STEEPEST)
        position, excess = position + step, further
    return replace(cells, lam=math.exp(position))


def _trace_of(cells: Cells, rows: Array, log_lam: float) -> float:
    """The trace that the rows alone would have."""
    pieces = (rows[piece] for piece in row_slices(len(rows), SAMPLE_PIECE))
    _, sizes, squares = sums_after(replace(cells, lam=math.exp(log_lam)), pieces)
    return float(np.sum(squares / sizes))


def rounding_of_value(r: int, K: float, trace_D: float, depth: int) -> float:
    """Bound on how far `value_of` can be above the value of an exactly feasible point, for rows about their mean.

    Sums over rows have `depth` roundings. A column of ``X'V`` is off by ``g |X|_F |v_j|``, so that the value, at most
    ``tr D``, is off by ``2 g sqrt(K) tr D``; sizes and squares are off by the share ``g``; that rows of ``V`` sum to
    one but for ``r`` roundings is as much again. A trace that is off by ``g K`` moves the shares of ``I`` and ``J`` by
    so little that the value loses at most ``g K |D|``. The factor 8 covers all of them.
    """
    return 8 * (depth + r + 16) * UNIT_ROUNDOFF * (math.sqrt(K) + K) * trace_D


def cells_of_sample(sample: Array, K: float, seed: int, max_growth: int = 1, seconds: float = math.inf) -> Cells:
    """Cells that are right for a sample of centred points, from the solver for points in memory."""
    solver = SoftAssignment(random_state=seed, device="cpu", max_growth=max_growth)
    problem = KMeansSDP(Gram.from_data(sample), K)
    if problem.is_trivial:
        return one_cell(sample)
    iterate, _ = rough_iterate(problem, solver, Limits(MOST_STEPS, max(seconds, 0.0)))
    assert isinstance(iterate.point, SoftPoint)
    assert isinstance(iterate.state, SoftState)
    return without_empty(Cells.of(sums_of(sample, iterate.point.V), iterate.state.lam, np.zeros(sample.shape[1])))


def one_cell(rows: Array) -> Cells:
    """All rows in one cell, where there is nothing to tell them apart by."""
    return Cells.of(sums_of(rows, np.ones((len(rows), 1))), 1.0, np.zeros(rows.shape[1]))
