"""Solvers: each proposes iterates for a `KMeansSDP`; `sknomad.certify` judges them and `sknomad.solve` stops."""

from __future__ import annotations

import numbers
from dataclasses import fields, replace
from typing import Any

from sklearn.utils import check_random_state

from .._numerics.validation import check_choice
from .._program.problem import KMeansSDP
from ._admm import ADMM
from ._auto import Auto
from ._burer_monteiro import BurerMonteiro
from ._conditional_gradient import ConditionalGradient
from ._reference import Reference
from ._soft import SoftAssignment

__all__ = [
    "ADMM",
    "SOLVERS",
    "Auto",
    "BurerMonteiro",
    "ConditionalGradient",
    "Reference",
    "SoftAssignment",
    "configured",
    "resolve",
    "takes_weights",
]

# What users choose by name.
SOLVERS: dict[str, Any] = {
    "auto": Auto,
    "admm": ADMM,
    "soft": SoftAssignment,
    "conditional_gradient": ConditionalGradient,
    "burer_monteiro": BurerMonteiro,
    "reference": Reference,
}
# Those of the paper and of others know the vector of ones only.
WITHOUT_WEIGHTS = (ConditionalGradient, BurerMonteiro, Reference)


def resolve(solver: Any, problem: KMeansSDP, tol: float = 0.0) -> Any:
    """The solver object for a name, ``"auto"``, or an object with an ``iterates`` method; `tol` is the gap in view.

    Parameters
    ----------
    solver : str or object
        A key of `SOLVERS`, or a solver.
    problem : KMeansSDP
        What it is to solve.
    tol : float, default=0
        The gap in view.

    Returns
    -------
    object
        The solver.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP
    >>> type(resolve("auto", KMeansSDP(Gram.from_data([[0.0], [1.0]]), 1))).__name__
    'Auto'
    """
    if not (hasattr(solver, "iterates") and not isinstance(solver, type)):
        check_choice(solver, "solver", SOLVERS)
        solver = Auto.for_tolerance(tol) if solver == "auto" else SOLVERS[solver]()
    if problem.direction is not None and not takes_weights(solver):
        raise ValueError(
            f"problem must have no weights for {type(solver).__name__}, got a Gram with weights. "
            'Use solver="auto", "admm" or "soft".'
        )
    return solver


def takes_weights(solver: Any) -> bool:
    """Whether a solver can be given the weighted program; those of other makers are taken at their word.

    Parameters
    ----------
    solver : object
        A solver.

    Returns
    -------
    bool
        Whether it may be given a `Gram` with weights.

    Examples
    --------
    >>> takes_weights(ADMM()), takes_weights(BurerMonteiro())
    (True, False)
    """
    return not isinstance(solver, WITHOUT_WEIGHTS)


def configured(solver: Any, tol: float, device: str, random_state: Any) -> Any:
    """A solver chosen by name with the device and the seed that an estimator was given; an object as it is.

    Parameters
    ----------
    solver : str or object
        A key of `SOLVERS`, or a solver, which is returned as it is.
    tol : float
        The gap in view.
    device : str
        Where to compute.
    random_state : int, RandomState or None
        A seed, or what one is drawn from.

    Returns
    -------
    object
        The solver, or what was passed if it is no name of one.

    Examples
    --------
    >>> configured("soft", 1e-3, "cpu", 7).random_state
    7
    """
    if not isinstance(solver, str) or solver not in SOLVERS:
        return solver
    seed = _seed(random_state)
    if solver == "auto":
        auto = Auto.for_tolerance(tol, device)
        return replace(auto, soft=replace(auto.soft, random_state=seed))
    settings = {"device": device, "random_state": seed}
    names = {field.name for field in fields(SOLVERS[solver])}
    return SOLVERS[solver](**{name: value for name, value in settings.items() if name in names})


def _seed(random_state: Any) -> int:
    """`random_state` itself where it is a seed, otherwise one drawn from it."""
    try:
        generator = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an integer >= 0, a RandomState or None, got {random_state!r}. The default is 0."
        ) from error
    return int(random_state) if isinstance(random_state, numbers.Integral) else int(generator.randint(2**31 - 1))
