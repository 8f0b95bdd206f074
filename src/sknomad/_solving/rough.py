"""Rough solutions: a solver's steps under the same loop, with nothing proven of them."""

from __future__ import annotations

import math

from .._certificate.iterate import Iterate
from .._program.problem import KMeansSDP
from ..solvers import Solver
from .judging import NoJudge
from .loop import Callback, Limits, take_steps
from .run_state import Run
from .solution import Status


def rough_iterate(
    problem: KMeansSDP, solver: Solver, limits: Limits, callback: Callback | None = None
) -> tuple[Iterate, Status]:
    """The last step that a solver takes within `limits`, and why it was the last; bounds are neither known nor sought.

    Examples
    --------
    >>> from sknomad import Gram
    >>> from sknomad.solvers import ADMM
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> iterate, status = rough_iterate(problem, ADMM(), Limits(5, math.inf))
    >>> status.name, abs(iterate.point.rows(0, 1).round(1)).tolist()
    ('MAX_ITER', [[0.5, 0.5, 0.0, 0.0]])
    """
    run = Run(problem, math.inf, "eigen")
    status = take_steps(run, solver.iterates(problem), NoJudge(), limits, callback=callback)
    assert run.iterate is not None, "a solver takes at least one step"
    return run.iterate, status
