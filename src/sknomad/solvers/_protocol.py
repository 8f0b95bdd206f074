"""`Solver`: what `solve` asks of a solver, and all it may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol, runtime_checkable

from .._certificate.iterate import Iterate
from .._numerics.arrays import Device
from .._program.problem import KMeansSDP


@runtime_checkable
class Solver(Protocol):
    """Proposes iterates for a problem; `certify` judges them and `solve` stops.

    A solver is mathematics only: no clock, no printing, no history. It need not inherit from this class; one that does
    has to write `iterates` alone.

    Attributes
    ----------
    device : str or array
        Where it computes, as `ADMM` has it; memory is checked there.
    matrix_free : bool
        Whether it makes do without n x n arrays.
    takes_weights : bool
        Whether it solves the weighted program; without it equal points stay apart.

    Examples
    --------
    >>> from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, solve
    >>> import numpy as np
    >>> class InTwoHalves(Solver):
    ...     def iterates(self, problem, start=None):
    ...         yield Iterate(SoftPoint(np.kron(np.eye(2), np.ones((2, 1)))), N=np.zeros((4, 4)))
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, InTwoHalves(), tol=0.01).is_certified
    True
    """

    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False

    @property
    def device(self) -> Device:
        """Where it computes."""
        return "cpu"

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data, judging included; 0 where that is not known."""
        return 0

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step, for ever or until there is no further one."""
        ...
