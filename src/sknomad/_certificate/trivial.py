"""Programs whose optimum is known without a solver."""

from __future__ import annotations

import numpy as np

from .._numerics.arrays import UNIT_ROUNDOFF
from .._numerics.equal_rows import equal_rows
from .._program.gram import Gram
from .._program.problem import KMeansSDP


def trivial_value(problem: KMeansSDP, rounding: int) -> float:
    """The optimum where it is known: ``K = n`` keeps the trace of ``D``, the other cases keep nothing.

    That ``D`` was computed as zero does not make it zero: unless all points are equal, a bound is then what computing
    it may have lost, ``K`` times the largest eigenvalue that nobody sees. `rounding` is +1 for a number that is not
    below the optimum, -1 for one that is not above.
    """
    gram, n, K = problem.gram, problem.n, problem.K
    if K == 1 or is_zero(gram):
        return 0.0
    if n == K:
        value, error = gram.trace, gram.trace_error
    else:
        value, error = 0.0, K * (8 * n * UNIT_ROUNDOFF * gram.magnitude + gram.forming_error)
    bound = value + rounding * error
    return max(bound, 0.0) if gram.is_of_points else bound


def is_zero(gram: Gram) -> bool:
    """Whether all points are equal, known without any rounding: ``D`` is then exactly zero.

    Dense rows are differences to one of them, and a difference is zero only between equal numbers. A kernel is taken
    for zero only if it is constant, which may miss some.
    """
    if gram.factor is not None:
        return not gram.factor.any()
    if gram.sparse is None:
        return bool(np.all(gram.table == gram.table[0, 0]))
    # Numbers that a division has brought to zero may have told rows apart.
    is_whole = bool(np.all(np.abs(gram.sparse.data) >= np.finfo(float).tiny))
    return is_whole and len(equal_rows(gram.table)[1]) == 1
