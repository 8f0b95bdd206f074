"""The certificate of cells on a window of points: their own feasible value, and ADMM's bound started from them."""

from __future__ import annotations

import math

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._certificate.lower import feasible_value, make_feasible
from .._numerics.arrays import Array
from .._points.forms import SoftPoint
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.loop import Limits
from .._solving.run_state import Run
from .._solving.solve import run_solver
from ..solvers import ADMM
from ..solvers._soft_stream import Cells, assignments
from ..solvers._soft_updates import SoftState
from .cells import with_trace


def certify_window(cells: Cells, rows: Array, K: float, *, tol: float, max_iter: int, grade: str) -> Certificate:
    """Bounds on the optimum for some rows, in the frame of cells whose sizes add up to one.

    The multiplier of the trace is set to what these rows ask for: it is one number, and any is as feasible.
    """
    problem = KMeansSDP(Gram.from_data(rows), K)
    cells = with_trace(cells.scaled(len(rows)), problem.K, rows)
    point = SoftPoint(assignments(rows, cells)).as_soft()
    run = Run(problem, tol, grade, iterate=Iterate(point, state=SoftState(cells.lam)))
    run_solver(run, ADMM(), Limits(max_iter, math.inf))
    mixed = make_feasible(problem, point, steps=0)
    assert mixed is not None, "assignments are finite"
    return Certificate(feasible_value(problem, mixed), run.certificate.upper, run.certificate.grade)
