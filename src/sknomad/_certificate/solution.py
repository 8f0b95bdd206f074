"""What solvers yield and `solve` returns: `Iterate`, `Certificate`, `Status`, `Solution`."""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._numerics.arrays import Array, namespace
from .._points.forms import DensePoint, MixedPoint, Point, dense
from .._program.problem import KMeansSDP


class CertificateError(ArithmeticError):
    """A bound contradicts a known feasible value: a defect or a broken linear algebra library, never a result.

    Examples
    --------
    >>> try:
    ...     Certificate(lower=2.0, upper=1.0)
    ... except CertificateError as error:
    ...     print(str(error).partition(":")[0])
    upper bound 1.0 is below the feasible value 2.0
    """


@dataclass(frozen=True)
class NegativePart:
    """The multiplier ``N = weight * max(-T, 0)``, read off a solver's state without a second n x n array."""

    T: Array  # (n, n)
    weight: float

    def formed(self) -> Array:
        """``N`` as an n x n array of the state's library and precision."""
        return namespace(self.T).clip(-self.T, min=0.0) * self.weight

    def rows(self, block: slice, stop: int) -> Array:
        """Some rows of ``N``, up to column `stop`."""
        return namespace(self.T).clip(-self.T[block, :stop], min=0.0) * self.weight

    def rows_times(self, block: slice, V: Array) -> Array:
        """Some rows of ``N V``: the fewest passes over the state, for products that are only suggestions."""
        return (namespace(self.T).clip(self.T[block, :], max=0.0) @ V) * -self.weight


@dataclass(frozen=True)
class Iterate:
    """One step of any solver: what `certify` judges, what `start` takes, what a checkpoint keeps.

    It may share memory with the solver's state and is then valid until the solver takes its next step.

    Parameters
    ----------
    Q : array of shape (n, n) or Point
        The primal point, dense or factored.
    N : array of shape (n, n), NegativePart or None
        Multiplier of ``Q >= 0`` in the units of ``D``; None if the solver has none.
    residuals : mapping of str to float
        What the solver knows of its own progress; recorded, never believed.
    extra : mapping
        Whatever the solver needs to continue from here.
    is_milestone : bool
        Whether the solver has worked towards this iterate: it then deserves a thorough look.

    Examples
    --------
    >>> iterate = Iterate(np.eye(3), N=np.zeros((3, 3)))
    >>> iterate.point.trace(), iterate.multiplier.shape
    (3.0, (3, 3))
    """

    Q: Any
    N: Any = None
    residuals: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_milestone: bool = False

    @property
    def point(self) -> Point:
        """``Q`` with the methods of a point, whatever form it came in."""
        return self.Q if hasattr(self.Q, "rows") else DensePoint(np.asarray(self.Q, dtype=np.float64))

    @property
    def multiplier(self) -> Array:
        """``N`` as an array, or None."""
        return self.N.formed() if isinstance(self.N, NegativePart) else self.N


@dataclass(frozen=True)
class Certificate:
    """Two proven numbers around the optimum: ``lower <= max <D, Q> <= upper``.

    Parameters
    ----------
    lower : float
        Value of an exactly feasible point; ``-inf`` if none is known.
    upper : float
        Bound on every feasible value; ``inf`` if none is known.
    grade : str
        How `upper` was obtained: ``"verified"`` (a proof that includes rounding), ``"eigen"`` (float64
        eigenvalues plus a rounding pad) or ``"estimated"`` (not a proof).

    Examples
    --------
    >>> Certificate(99.0, 100.0).gap
    0.01
    """

    lower: float
    upper: float
    grade: str = "eigen"

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise CertificateError(
                f"upper bound {self.upper!r} is below the feasible value {self.lower!r}: one of them is false. "
                "Please report this with the data."
            )

    @property
    def gap(self) -> float:
        """Relative gap ``(upper - lower)/|upper|``; 0 where the bounds meet, ``inf`` where one is unknown."""
        if self.upper == self.lower:
            return 0.0
        if not (math.isfinite(self.upper) and math.isfinite(self.lower)) or self.upper == 0:
            return math.inf
        return (self.upper - self.lower) / abs(self.upper)

    def __str__(self) -> str:
        return f"{self.lower:.10g} <= optimum <= {self.upper:.10g} (gap {self.gap:.1e}, grade {self.grade})"


class Status(enum.Enum):
    """Why `solve` stopped; each member's value is the sentence to show.

    Examples
    --------
    >>> Status.CERTIFIED.value
    'The certified gap reached the tolerance.'
    """

    CERTIFIED = "The certified gap reached the tolerance."
    MAX_ITER = "The iteration limit was reached before the tolerance; the bounds stand."
    MAX_SECONDS = "The time limit was reached before the tolerance; the bounds stand."
    STOPPED = "The callback asked to stop; the bounds stand."
    INTERRUPTED = "The run was interrupted; the bounds stand."
    EXHAUSTED = "The solver had no further step to offer; the bounds stand."


@dataclass(frozen=True)
class Solution:
    """The answer of `solve`, with its proof and its history.

    Examples
    --------
    >>> from sknomad import Gram, solve
    >>> solution = solve(KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2))
    >>> solution.is_certified, solution.Q.round(3).tolist()[0]
    (True, [0.5, 0.5, 0.0, 0.0])
    """

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
        return dense(self.point)

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
        from .._solving.certificate_file import write_solution_certificate

        write_solution_certificate(path, self)

    def __repr__(self) -> str:
        return f"Solution({self.status.name}: {self.certificate}, {self.n_iter} iterations, {self.seconds:.2f} s)"
