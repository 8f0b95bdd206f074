"""Programs whose optimum is known without a solver."""

from __future__ import annotations

from .._numerics.arrays import UNIT_ROUNDOFF
from .._program.problem import KMeansSDP


def trivial_value(problem: KMeansSDP, rounding: int) -> float:
    """The optimum where it is known: ``K = n`` keeps the trace of ``D``, the other cases keep nothing.

    `rounding` is +1 for a number that is not below it, -1 for one that is not above.
    """
    gram = problem.gram
    if problem.n != problem.K:
        return 0.0
    return gram.trace + rounding * (4 * problem.n * UNIT_ROUNDOFF * abs(gram.trace) + problem.n * gram.forming_error)
