"""Solvers: each proposes iterates for a `KMeansSDP`; `sknomad.certify` judges them and `sknomad.solve` stops."""

from __future__ import annotations

from typing import Any

from .._problem import KMeansSDP
from .._validation import check_choice
from ._admm import ADMM
from ._auto import Auto
from ._burer_monteiro import BurerMonteiro
from ._conditional_gradient import ConditionalGradient
from ._reference import Reference
from ._soft import SoftAssignment

__all__ = ["ADMM", "SOLVERS", "Auto", "BurerMonteiro", "ConditionalGradient", "Reference", "SoftAssignment", "resolve"]

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
