"""Solvers by name: what users choose with a string, and how the options of an estimator reach them."""

from __future__ import annotations

import numbers
from collections.abc import Callable

from sklearn.utils import check_random_state

from .._numerics.arrays import Device
from .._numerics.validation import Seed, check_choice
from .._program.problem import KMeansSDP
from ._admm import ADMM
from ._auto import Auto
from ._burer_monteiro import BurerMonteiro
from ._conditional_gradient import ConditionalGradient
from ._protocol import Solver
from ._reference import Reference
from ._soft import SoftAssignment

# What users choose by name.
SOLVERS: dict[str, type[Solver]] = {
    "auto": Auto,
    "admm": ADMM,
    "soft": SoftAssignment,
    "conditional_gradient": ConditionalGradient,
    "burer_monteiro": BurerMonteiro,
    "reference": Reference,
}
MEMBERS = ("device", "matrix_free", "takes_weights", "memory", "iterates")


def resolve(solver: str | Solver, problem: KMeansSDP, tol: float = 0.0) -> Solver:
    """The solver object for a name, or a solver as it is.

    Parameters
    ----------
    solver : str or Solver
        A key of `SOLVERS`, or a solver.
    problem : KMeansSDP
        What it is to solve.
    tol : float, default=0
        The gap in view.

    Returns
    -------
    Solver
        One that can solve `problem`.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP
    >>> type(resolve("auto", KMeansSDP(Gram.from_data([[0.0], [1.0]]), 1))).__name__
    'Auto'
    """
    solver = check_solver(solver)
    if isinstance(solver, str):
        solver = Auto.for_tolerance(tol) if solver == "auto" else SOLVERS[solver]()
    if problem.fixed.is_weighted and not solver.takes_weights:
        raise ValueError(
            f"problem must have no weights for {type(solver).__name__}, got a Gram with weights. "
            'Use solver="auto", "admm" or "soft".'
        )
    return solver


def check_solver(solver: object) -> str | Solver:
    """`solver` if it is a name of one or has all that a `Solver` has, otherwise an error that says what is missing."""
    if isinstance(solver, Solver) and not isinstance(solver, type):
        return solver
    missing = [name for name in MEMBERS if name not in dir(solver)]
    if isinstance(solver, type) or "iterates" in missing:
        return str(check_choice(solver, "solver", SOLVERS))
    raise TypeError(
        f"solver must be one of {', '.join(map(repr, SOLVERS))} or a Solver, got {type(solver).__name__} without "
        f"{', '.join(missing)}. Let its class inherit from sknomad.solvers.Solver."
    )


def takes_weights(solver: str | Solver) -> bool:
    """Whether a solver can be given the weighted program.

    Parameters
    ----------
    solver : str or Solver
        A key of `SOLVERS`, or a solver.

    Returns
    -------
    bool
        Whether it may be given a `Gram` with weights.

    Examples
    --------
    >>> takes_weights(ADMM()), takes_weights(BurerMonteiro())
    (True, False)
    """
    solver = check_solver(solver)
    return SOLVERS[solver].takes_weights if isinstance(solver, str) else solver.takes_weights


def configured(solver: str | Solver, tol: float, device: Device, random_state: Seed) -> Solver:
    """A solver chosen by name with the device and the seed that an estimator was given; an object as it is.

    Parameters
    ----------
    solver : str or Solver
        A key of `SOLVERS`, or a solver, which is returned as it is.
    tol : float
        The gap in view.
    device : str
        Where to compute.
    random_state : int, RandomState or None
        A seed, or what one is drawn from.

    Returns
    -------
    Solver
        With these options where it has them.

    Examples
    --------
    >>> configured("soft", 1e-3, "cpu", 7).random_state
    7
    """
    solver = check_solver(solver)
    if not isinstance(solver, str):
        return solver
    seed = _seed(random_state)
    makers: dict[str, Callable[[], Solver]] = {
        "auto": lambda: Auto.for_tolerance(tol, device).seeded(seed),
        "admm": lambda: ADMM(device=device),
        "soft": lambda: SoftAssignment(device=device, random_state=seed),
        "burer_monteiro": lambda: BurerMonteiro(random_state=seed),
    }
    return makers.get(solver, SOLVERS[solver])()


def _seed(random_state: Seed) -> int:
    """`random_state` itself where it is a seed, otherwise one drawn from it."""
    try:
        generator = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an integer >= 0, a RandomState or None, got {random_state!r}. The default is 0."
        ) from error
    return int(random_state) if isinstance(random_state, numbers.Integral) else int(generator.randint(2**31 - 1))
