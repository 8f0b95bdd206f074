"""The judge: turns any iterate of any solver into proven bounds, from scratch, in float64.

Nothing here knows a solver. Upper bounds come from one nonnegative matrix ``N``, lower bounds from a point made
exactly feasible. A poor ``N`` or ``Q`` makes the bounds loose, never false.
"""

from __future__ import annotations

import math
from typing import Any

from .._numerics.validation import check_choice, check_integer
from .._program.problem import KMeansSDP
from .certificate import Certificate
from .iterate import Iterate
from .lower import feasible_value, make_feasible
from .upper import GRADES, upper_bound


def certify(problem: KMeansSDP, iterate: Iterate, *, grade: str = "eigen", repair_steps: int = 15) -> Certificate:
    """Bounds on the optimum of `problem` from one iterate.

    Parameters
    ----------
    problem : KMeansSDP
    iterate : Iterate
        Its ``Q`` gives the lower bound (after `repair`), its ``N`` the upper one. Anything may be in them.
    grade : {"eigen", "verified"}, default="eigen"
        ``"eigen"``: float64 eigenvalues plus a pad for rounding. ``"verified"``: one Cholesky factorisation
        proves the bound including every rounding error.
    repair_steps : int, default=15
        Alternating projections spent on the lower bound, one eigendecomposition each; 0 for a quick look.

    Returns
    -------
    Certificate
        With ``upper = inf`` where there is no multiplier to bound with, ``lower = -inf`` where ``Q`` is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sknomad import Gram, Iterate, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> Q = np.kron(np.eye(2), np.full((2, 2), 0.5))
    >>> certify(problem, Iterate(Q, N=np.zeros((4, 4)))).lower.__round__(6)
    100.0
    """
    check_choice(grade, "grade", GRADES)
    check_integer(repair_steps, "repair_steps", 0)
    check_question(problem, iterate)
    point = make_feasible(problem, iterate.point, steps=repair_steps)
    lower = -math.inf if point is None else feasible_value(problem, point)
    return Certificate(lower, upper_bound(problem, iterate.N, grade=grade), grade)


def check_question(problem: Any, iterate: Any) -> None:
    """Refuse what is no problem, and what is no iterate."""
    if not isinstance(problem, KMeansSDP):
        raise TypeError(
            f"problem must be a KMeansSDP, got {type(problem).__name__}. Make one with KMeansSDP(Gram.from_data(X), K)."
        )
    if not isinstance(iterate, Iterate):
        raise TypeError(f"iterate must be an Iterate, got {type(iterate).__name__}. Make one with Iterate(Q, N=N).")
