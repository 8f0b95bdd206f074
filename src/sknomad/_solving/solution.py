"""What `solve` returns: `Status` says why it stopped, `Solution` holds the answer with its proof and its history."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Array
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP


@saved
class Status(enum.Enum):
    """Why `solve` stopped; each member's value is the sentence to show."""

    CERTIFIED = "The certified gap reached the tolerance."
    MAX_ITER = "The iteration limit was reached before the tolerance; the bounds stand."
    MAX_SECONDS = "The time limit was reached before the tolerance; the bounds stand."
    STOPPED = "The callback asked to stop; the bounds stand."
    INTERRUPTED = "The run was interrupted; the bounds stand."
    EXHAUSTED = "The solver had no further step to offer; the bounds stand."


@saved
@dataclass(frozen=True)
class Solution:
    """The answer of `solve`, with its proof and its history."""

    problem: KMeansSDP  # the question
    point: MixedPoint  # the best exactly feasible Q found, factored where the solver is
    certificate: Certificate  # bounds on the optimum; lower is the value of `point`
    status: Status  # why the run ended
    iterate: Iterate  # the solver's last step: pass it as `start` to continue
    trace: Mapping[str, Array]  # equal-length columns, one row per judged iteration
    n_iter: int  # steps taken
    seconds: float  # wall-clock time

    @property
    def Q(self) -> Array:
        """The feasible ``Q`` as a dense n x n array, made on request."""
        return self.point.dense()

    @property
    def is_certified(self) -> bool:
        """Whether the requested gap was proven."""
        return self.status is Status.CERTIFIED

    def save_certificate(self, path: str | os.PathLike[str]) -> None:
        """Write bounds and what proves them to a file that others check from the data: ``sknomad verify FILE DATA``.

        The upper bound claimed is that of the last multiplier, the only one kept.

        Parameters
        ----------
        path : path
        """
        from .certificate_file import write_solution_certificate

        write_solution_certificate(path, self)

    def __repr__(self) -> str:
        return f"Solution({self.status.name}: {self.certificate}, {self.n_iter} iterations, {self.seconds:.2f} s)"
