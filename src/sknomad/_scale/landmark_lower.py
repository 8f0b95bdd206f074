"""A lower bound for any number of rows: cells found on a sample, then bettered by passes over all rows."""

from __future__ import annotations

import math
import time

from .._landmark.rows import CentredRows
from .._program.data_rows import Sums
from ..solvers._soft_stream import Cells, value_of
from .cells import TRACE_AIM, cells_of_sample, rounding_of_value, sums_after, with_trace, without_empty

# Rows of the sample: so many, and so many for each of the K neighbourhoods.
SMALLEST_SAMPLE, SAMPLE_PER_K = 10_000, 50
# Passes that raise the value by less than this share, and how many of them end the search: the first ones find the
# right multiplier of the trace.
IMPROVEMENT, PATIENCE = 5e-6, 2


def find_cells(rows: CentredRows, K: float, seed: int, *, max_passes: int, deadline: float) -> tuple[float, Cells]:
    """A proven lower bound on the optimum, and the cells whose assignments of all rows have that value.

    After the deadline, on the monotonic clock, no further pass is begun; one is always made.
    """
    sample = rows.sample(max(SMALLEST_SAMPLE, math.ceil(SAMPLE_PER_K * K)), seed)
    cells = cells_of_sample(sample, K, seed, seconds=deadline - time.monotonic()).scaled(rows.n / len(sample))
    best, found, off, stalled = -math.inf, cells, 1.0, 0
    for _ in range(max_passes):
        # Rows of the sample tell the trace of all rows but for a factor, which hardly changes from pass to pass.
        cells = with_trace(cells, K / off, sample)
        sums = sums_after(cells, rows.blocks())
        further = Cells.of(sums, cells.lam, cells.origin)
        off *= further.trace / (K * TRACE_AIM)
        bound = _proven(rows, sums, K)
        stalled = 0 if bound - best > IMPROVEMENT * abs(bound) else stalled + 1
        if bound > best:
            best, found = bound, cells
        if stalled >= PATIENCE or time.monotonic() > deadline:
            break
        cells = without_empty(further)
    return best, found


def _proven(rows: CentredRows, sums: Sums, K: float) -> float:
    """The value of the feasible point that these are the sums of, less what its arithmetic can have lost."""
    error = rounding_of_value(len(sums.sizes), K, rows.squares, rows.depth)
    return value_of(sums, rows.n, K, rows.squares) - error - rows.centring.of_value
