"""Solvers: each proposes iterates for a `KMeansSDP`; `sknomad.certify` judges them and `sknomad.solve` stops."""

from __future__ import annotations

from typing import Any

from .._problem import KMeansSDP
from .._validation import check_choice
from ._admm import ADMM

__all__ = ["ADMM", "SOLVERS", "resolve"]

# What users choose by name.
SOLVERS: dict[str, Any] = {"admm": ADMM}


def resolve(solver: Any, problem: KMeansSDP) -> Any:
    """The solver object for a name, ``"auto"``, or an object with an ``iterates`` method.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP
    >>> resolve("auto", KMeansSDP(Gram.from_data([[0.0], [1.0]]), 1))
    ADMM(relaxation=1.6, penalty='auto', balance_every=10, balance_until=500, exact_below=400)
    """
    if hasattr(solver, "iterates") and not isinstance(solver, type):
        return solver
    check_choice(solver, "solver", ["auto", *SOLVERS])
    return SOLVERS["admm" if solver == "auto" else solver]()
