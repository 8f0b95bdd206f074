"""The multipliers of a solved program: of its trace, and of the sum of each row."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ._arrays import Array, like, row_slices, to_numpy
from ._problem import KMeansSDP
from ._solution import NegativePart, Solution

# Rows of a multiplier summed at a time.
BLOCK_ROWS = 1024


class Multipliers(NamedTuple):
    """What one more unit of trace, and of each row, would be worth."""

    trace: float  # lam
    rows: Array  # y, (n,)


def multipliers_of(solution: Solution) -> Multipliers | None:
    """``lam`` and ``y`` of the stationarity condition ``D + N + S = lam I + (y 1' + 1 y')/2``.

    The bound of the certificate is ``1'N1/n + (K - 1) lam``, which gives ``lam``; ``S 1 = 0`` turns the row sums of
    ``D + N`` into ``y``. None where the solver has no ``N``, or one too crude for a positive ``lam``.
    """
    problem, N = solution.problem, solution.iterate.N
    if N is None or problem.is_trivial:
        return None
    sums = _row_sums(N, problem)
    upper = solution.certificate.upper
    value = upper if math.isfinite(upper) else solution.certificate.lower
    lam = (value - sums.sum() / problem.n) / (problem.K - 1)
    if not (math.isfinite(lam) and lam > 0):
        return None
    excess = sums - lam  # the rows of D sum to zero
    return Multipliers(float(lam), (2 * excess - excess.mean()) / problem.n)


def _row_sums(N: Array, problem: KMeansSDP) -> Array:
    if not isinstance(N, NegativePart):
        return np.maximum(np.asarray(to_numpy(N), dtype=np.float64), 0).sum(axis=1)
    ones = like(np.ones((problem.n, 1)), N.T[:0, :0])
    parts = [N.rows_times(block, ones) for block in row_slices(problem.n, BLOCK_ROWS)]
    return np.concatenate([np.asarray(to_numpy(part), dtype=np.float64)[:, 0] for part in parts])
