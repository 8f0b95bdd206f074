"""Solvers: each proposes iterates for a `KMeansSDP`; `sknomad.certify` judges them and `sknomad.solve` stops."""

from __future__ import annotations

from .._numerics.arrays import cuda_is_available
from ._admm import ADMM
from ._auto import Auto
from ._burer_monteiro import BurerMonteiro
from ._conditional_gradient import ConditionalGradient
from ._protocol import Solver
from ._reference import Reference
from ._registry import SOLVERS, configured, resolve, takes_weights
from ._soft import SoftAssignment

__all__ = [
    "ADMM",
    "SOLVERS",
    "Auto",
    "BurerMonteiro",
    "ConditionalGradient",
    "Reference",
    "SoftAssignment",
    "Solver",
    "configured",
    "cuda_is_available",
    "resolve",
    "takes_weights",
]
