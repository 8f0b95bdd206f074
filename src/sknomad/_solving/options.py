"""`SolveOptions`: what estimators and functions pass on to `solve`, as one record."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .._certificate.iterate import Iterate
from .._program.problem import KMeansSDP
from ..solvers import Auto, Solver
from .loop import Callback
from .solution import Solution
from .solve import solve


@dataclass(frozen=True)
class SolveOptions:
    """How a program is to be solved, whatever the program."""

    solver: str | Solver
    tol: float  # certified relative gap
    max_iter: int
    max_seconds: float | None
    grade: str  # strength of proof
    smooth: bool = True  # whether the default solver's points are to be smooth

    def solve(
        self,
        problem: KMeansSDP,
        *,
        start: Iterate | None = None,
        callback: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Solution:
        """The solution of `problem` under these options.

        Examples
        --------
        >>> from sknomad import Gram
        >>> options = SolveOptions("auto", tol=1e-3, max_iter=100, max_seconds=None, grade="eigen")
        >>> options.solve(KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)).is_certified
        True
        """
        return solve(
            problem,
            self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
            start=start,
            callback=callback,
            grade=self.grade,
            checkpoint=checkpoint,
            smooth=self.smooth and (self.solver == "auto" or isinstance(self.solver, Auto)),
        )
