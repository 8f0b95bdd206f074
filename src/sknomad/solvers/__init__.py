"""Solvers: each proposes iterates for a `KMeansSDP`; `sknomad.certify` judges them and `sknomad.solve` stops."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from sklearn.utils import check_random_state

from .._problem import KMeansSDP
from .._validation import check_choice
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


def resolve(solver: Any, problem: KMeansSDP, tol: float = 0.0) -> Any:
    """The solver object for a name, ``"auto"``, or an object with an ``iterates`` method; `tol` is the gap in view.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP
    >>> type(resolve("auto", KMeansSDP(Gram.from_data([[0.0], [1.0]]), 1))).__name__
    'Auto'
    """
    if hasattr(solver, "iterates") and not isinstance(solver, type):
        return solver
    check_choice(solver, "solver", SOLVERS)
    return Auto.for_tolerance(tol) if solver == "auto" else SOLVERS[solver]()


def configured(solver: Any, tol: float, device: str, random_state: Any) -> Any:
    """A solver chosen by name with the device and the seed that an estimator was given; an object as it is.

    Examples
    --------
    >>> configured("soft", 1e-3, "cpu", 7).random_state
    7
    """
    if not isinstance(solver, str) or solver not in SOLVERS:
        return solver
    is_seed = isinstance(random_state, int) and random_state >= 0
    seed = random_state if is_seed else int(check_random_state(random_state).randint(2**31 - 1))
    if solver == "auto":
        auto = Auto.for_tolerance(tol, device)
        return replace(auto, soft=replace(auto.soft, random_state=seed))
    settings = {"device": device, "random_state": seed}
    names = {field.name for field in fields(SOLVERS[solver])}
    return SOLVERS[solver](**{name: value for name, value in settings.items() if name in names})
