"""Generic conic solvers through CVXPY: independent answers for small problems, judged like any other."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Array, Device
from .._points.forms import DensePoint
from .._program.problem import KMeansSDP

if TYPE_CHECKING:
    import cvxpy

# Peak bytes per squared number of entries of Q, seen with Clarabel at 60 and 80 points: interior point methods factor a
# system that is dense in these entries.
INTERIOR_POINT_BYTES = 85
# Peak bytes per entry of Q, seen with SCS at 1000 points: its factor stays sparse.
FIRST_ORDER_BYTES = 4000
FIRST_ORDER = ("SCS",)


@saved
@dataclass(frozen=True, init=False)
class Reference:
    """Any semidefinite solver that CVXPY knows, by name: ``"CLARABEL"``, ``"SCS"``, or another that is installed.

    It yields one iterate, the solver's ``Q`` and its multiplier of ``Q >= 0``. Neither is believed: `certify` makes
    ``Q`` feasible and computes the bound from the multiplier, so a solver that stops early shows as a wide gap.
    Time and memory grow fast: an interior point method handles about 100 points, SCS a few hundred.

    Parameters
    ----------
    solver : str, default="CLARABEL"
        Its name in CVXPY.
    **settings
        Passed on to the solver, e.g. ``eps=1e-7, max_iters=20000`` for SCS.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, Reference("CLARABEL"), tol=1e-6).is_certified
    True
    """

    solver: str  # name in CVXPY, upper case
    settings: tuple[tuple[str, object], ...]  # what is passed on, by name
    device: ClassVar[Device] = "cpu"
    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False

    def __init__(self, solver: str = "CLARABEL", **settings: object):
        if not isinstance(solver, str):
            raise TypeError(f"solver must be the name of a solver, got {solver!r} of type {type(solver).__name__}.")
        installed = semidefinite_solvers()
        if solver.upper() not in installed:
            raise ValueError(
                f"solver must be an installed semidefinite solver ({', '.join(installed)}), got {solver!r}. "
                "Install it, or name one of these."
            )
        object.__setattr__(self, "solver", solver.upper())
        object.__setattr__(self, "settings", tuple(sorted(settings.items())))

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes, roughly: quadratic in the number of entries of ``Q`` for interior point methods."""
        entries = problem.n * (problem.n + 1) // 2
        return entries * FIRST_ORDER_BYTES if self.solver in FIRST_ORDER else entries**2 * INTERIOR_POINT_BYTES

    def prepare(self, problem: KMeansSDP) -> None:
        """Have CVXPY translate `problem` now: it keeps the translation, and `iterates` is then the solver's time."""
        translated(problem).problem.get_problem_data(self.solver)

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the one answer of the solver; `start` is of no use to it."""
        import cvxpy

        program = translated(problem)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the solution may be inaccurate: the judge will say how much
                # A program is kept from call to call, its last answer must not be.
                program.problem.solve(solver=self.solver, **{"warm_start": False, **dict(self.settings)})
        except TypeError as error:
            names = ", ".join(name for name, _ in self.settings)
            raise TypeError(f"settings must be ones that {self.solver} knows, got {names}: {error}") from error
        except cvxpy.SolverError as error:
            raise ArithmeticError(f"{self.solver} must return a point, got none: {error}") from error
        if program.Q.value is None:
            raise ArithmeticError(
                f"{self.solver} must return a point, got none with status {program.problem.status!r}. "
                "Loosen its settings or raise its limits."
            )
        stats = program.problem.solver_stats
        yield Iterate(
            DensePoint(np.array(program.Q.value)),
            N=_symmetric(program.nonnegative.dual_value, problem.n, program.scale),
            residuals={"steps": float(stats.num_iters or 0), "claimed": float(program.problem.value * program.scale)},
        )


def semidefinite_solvers() -> list[str]:
    """Names of the installed solvers that CVXPY can send a semidefinite program to."""
    if find_spec("cvxpy") is None:
        raise ImportError("Reference needs cvxpy: pip install 'sknomad[reference]'.")
    import cvxpy
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

    def takes_matrices(name: str) -> bool:
        # Versions of CVXPY name the cone PSD or SvecPSD.
        cones = SOLVER_MAP_CONIC[name].SUPPORTED_CONSTRAINTS if name in SOLVER_MAP_CONIC else []
        return any(cone.__name__.endswith("PSD") for cone in cones)

    return [name for name in cvxpy.installed_solvers() if takes_matrices(name)]


@dataclass
class _Program:
    """The program with data and K as parameters, so that CVXPY translates it once per number of points."""

    problem: cvxpy.Problem
    pairs: cvxpy.Parameter  # twice the entries of D above the diagonal, row by row
    diagonal: cvxpy.Parameter
    K: cvxpy.Parameter
    Q: cvxpy.Variable
    nonnegative: cvxpy.Constraint  # the constraint on the upper triangle of Q, row by row
    scale: float = 1.0  # by which the data has been divided


def translated(problem: KMeansSDP) -> _Program:
    """The program of `problem`, with its numbers filled in."""
    program = _program(problem.n)
    D = problem.gram.dense()
    program.scale = float(np.abs(D).max()) or 1.0
    program.pairs.value = 2 / program.scale * D[np.triu_indices(problem.n, 1)]
    program.diagonal.value, program.K.value = np.diag(D) / program.scale, problem.K
    return program


@functools.lru_cache(maxsize=2)
def _program(n: int) -> _Program:
    import cvxpy

    Q = cvxpy.Variable((n, n), PSD=True)
    # Vectors of parameters: a matrix of them costs CVXPY memory of order n^4.
    pairs, diagonal, K = cvxpy.Parameter(max(n * (n - 1) // 2, 1)), cvxpy.Parameter(n), cvxpy.Parameter()
    nonnegative = cvxpy.upper_tri(Q) >= 0  # the diagonal is nonnegative anyway
    constraints = [nonnegative, cvxpy.sum(Q, axis=1) == 1, cvxpy.trace(Q) == K]
    value = pairs @ cvxpy.upper_tri(Q) + diagonal @ cvxpy.diag(Q)
    return _Program(cvxpy.Problem(cvxpy.Maximize(value), constraints), pairs, diagonal, K, Q, nonnegative)


def _symmetric(dual: Array | None, n: int, scale: float) -> Array | None:
    """The multiplier of ``Q >= 0``: each pair's number, shared between its two entries."""
    if dual is None:
        return None
    N = np.zeros((n, n))
    N[np.triu_indices(n, 1)] = np.maximum(np.ravel(dual), 0) * (scale / 2)
    return N + N.T
