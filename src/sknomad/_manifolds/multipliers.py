"""The multipliers of a solved program: of its trace, and of the sum of each row."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._certificate.iterate import Multiplier, NegativePart
from .._numerics.arrays import Array, like, row_slices, to_numpy
from .._solving.solution import Solution

# Rows of a multiplier summed at a time.
BLOCK_ROWS = 1024


class Multipliers(NamedTuple):
    """What one more unit of trace, and of each row, would be worth."""

    trace: float  # lam
    rows: Array  # y, (n,), of one point each where points have weights


def multipliers_of(solution: Solution) -> Multipliers | None:
    """``lam`` and ``y`` of the stationarity condition ``D + N + S = lam I + (y 1' + 1 y')/2``.

    The bound of the certificate is ``1'N1/n + (K - 1) lam``, which gives ``lam``; ``S 1 = 0`` turns the row sums of
    ``D + N`` into ``y``. With weights ``w = q^2`` the condition is that of ``w_i`` equal points each: ``q`` is in the
    place of 1, ``q_i y_i`` of ``y_i``, and the sums are those of ``N_ij / (q_i q_j)`` over equal points. None where the
    solver has no ``N``, or one too crude for a positive ``lam``.
    """
    problem, N = solution.problem, solution.iterate.N
    if N is None or problem.is_trivial:
        return None
    roots = np.ones(problem.n) if problem.gram.roots is None else problem.gram.roots
    weights, total = roots**2, float(np.sum(roots**2))
    sums = _times(N, roots) / roots
    upper = solution.certificate.upper
    value = upper if math.isfinite(upper) else solution.certificate.lower
    lam = (value - float(np.sum(weights * sums)) / total) / (problem.K - 1)
    if not (math.isfinite(lam) and lam > 0):
        return None
    excess = sums - lam  # the rows of D sum to zero
    return Multipliers(float(lam), (2 * excess - np.sum(weights * excess) / total) / total)


def _times(N: Multiplier, vector: Array) -> Array:
    if not isinstance(N, NegativePart):
        return np.sum(np.maximum(np.asarray(to_numpy(N), dtype=np.float64), 0) * vector, axis=1)
    column = like(vector[:, None], N.T[:0, :0])
    parts = [N.rows_times(block, column) for block in row_slices(len(vector), BLOCK_ROWS)]
    return np.concatenate([np.asarray(to_numpy(part), dtype=np.float64)[:, 0] for part in parts])
