"""Soft assignments of rows in blocks: solved on a sample, then swept over all rows, with one block in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array, is_sparse
from .._numerics.row_blocks import Blocks
from .._program.data_rows import Sums
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from ..solvers import SoftAssignment
from ..solvers._soft import FIRST_RANK, SAMPLE_PER_CELL, SMALLEST_SAMPLE
from ..solvers._soft_stream import Cells, add_in_order, next_cells, sums_of, sweep, value_of
from ..solvers._soft_updates import SoftState
from .budget import Budget
from .loop import Limits
from .rough import rough_iterate

# Where the solver on the sample stops: sweeps over all rows follow.
SAMPLE_IMPROVEMENT = 1e-4
# Sweeps end when one raises the value by less than this share, or after so many.
IMPROVEMENT, MOST_SWEEPS = 1e-4, 50


class Streamed(NamedTuple):
    """Where sweeps over all rows have ended."""

    cells: Cells  # of which every row's assignments are a function
    sums: Sums  # of those assignments, over all rows
    sweeps: int


def sample_rows(blocks: Blocks, rank: int, seed: int) -> Array:
    """Some rows, dense, chosen by `seed` alone: all of them where there are few."""
    count = min(blocks.n, max(SAMPLE_PER_CELL * rank, SMALLEST_SAMPLE))
    chosen = np.arange(blocks.n)
    if count < blocks.n:
        chosen = np.sort(np.random.default_rng(seed).choice(blocks.n, count, replace=False))
    rows = blocks.take(chosen)
    return rows.toarray() if is_sparse(rows) else np.asarray(rows)


def cells_of_sample(sample: Array, n: int, K: float, rank: int, seed: int, budget: Budget) -> Cells:
    """The cells that the soft solver finds for a sample of `n` rows, as cells of all of them."""
    origin = sample.mean(axis=0)
    rows = sample - origin
    gram = Gram.from_data(sample)
    problem = KMeansSDP(gram, K)
    if problem.is_trivial:  # one cell, or a cell for each point
        V, lam = (np.eye(len(rows)) if K > 1 else np.ones((len(rows), 1))), gram.trace * gram.unit
    else:
        solver = SoftAssignment(
            rank=rank, improvement=SAMPLE_IMPROVEMENT, max_growth=0, random_state=seed, device=np.empty(0)
        )
        iterate = rough_iterate(problem, solver, Limits(10**6, budget.left))[0]
        assert isinstance(iterate.state, SoftState)
        V, lam = iterate.point.V, iterate.state.lam * gram.unit  # type: ignore[attr-defined]
    lam = lam if lam > 0 else 1.0  # points that are all equal do not mind
    return Cells.of(sums_of(rows, V), lam, origin).scaled(n / len(rows))


def stream_soft(
    blocks: Blocks,
    K: float,
    *,
    rank: int | None = None,
    seed: int = 0,
    most_sweeps: int = MOST_SWEEPS,
    budget: Budget | None = None,
    spread: float = 0.0,
    on_sweep: Callable[[int, float], object] | None = None,
) -> Streamed:
    """Sweep over all rows, from the cells of a sample, until the value no longer rises.

    Parameters
    ----------
    blocks : Blocks
    K : float
        The trace of ``Q``.
    rank : int, optional
        Number of cells; None is four times K.
    seed : int, default=0
        Of the sample and of the cells to begin with.
    most_sweeps : int, default=50
        Passes over the data, at most; the sums need one more.
    budget : Budget, optional
        No sweep is begun after it is spent.
    spread : float, default=0.0
        ``tr D``, which repairs of the trace add a share of.
    on_sweep : callable, optional
        Told the number of sweeps and the value after each; returning True ends them.

    Returns
    -------
    Streamed
    """
    budget = Budget.of(None) if budget is None else budget
    rank = min(max(math.ceil(FIRST_RANK * K), 8), blocks.n) if rank is None else rank
    cells = cells_of_sample(sample_rows(blocks, rank, seed), blocks.n, K, rank, seed, budget.share(0.5))
    best, count = -math.inf, 0
    while True:
        sums = add_in_order(blocks.each(sweep, cells))
        value = value_of(sums, blocks.n, K, spread)
        is_told_to_stop = on_sweep is not None and bool(on_sweep(count, value))
        is_over = value - best <= IMPROVEMENT * abs(value) or count >= most_sweeps or budget.is_spent
        if is_told_to_stop or is_over:
            return Streamed(cells, sums, count)
        best, count = max(best, value), count + 1
        cells = next_cells(cells, sums, K)
