"""What `solve` returns: `Status` says why it stopped, `Solution` holds the answer with its proof and its history."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._certificate.upper import state_of
from .._files.records import saved
from .._landmark.multiplier import LandmarkMultiplier
from .._numerics.arrays import Array
from .._points.components import find_manifolds
from .._points.embedding import embed
from .._points.mixed import MixedPoint
from .._points.unweighted import PlainPoint
from .._program.problem import KMeansSDP


@saved
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


def raise_if_interrupted(status: Status) -> None:
    """Let an interrupt that `solve` has turned into an answer be one again, once that answer is kept."""
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt(status.value)


@saved
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
    landmarks: LandmarkMultiplier | None = None  # what the upper bound rests on where dense arrays do not fit

    def __post_init__(self) -> None:
        for name, point in (("point", self.point), ("iterate", self.iterate.point)):
            if point.n != self.problem.n:
                raise ValueError(f"{name} must have the {self.problem.n} rows of its problem, got {point.n}.")
        if self.iterate.N is not None:
            state_of(self.problem, self.iterate.N)
        if self.landmarks is not None:
            self.landmarks.check_space(self.problem.gram)

    @property
    def Q(self) -> Array:
        """The feasible ``Q`` as a dense n x n array, made on request."""
        return self.point.dense()

    @property
    def is_certified(self) -> bool:
        """Whether the requested gap was proven."""
        return self.status is Status.CERTIFIED

    @property
    def unmixed_Q(self) -> Array:
        """``Q`` before the mixing that made it feasible, which touches every entry, as a dense n x n array."""
        return self.point.unmixed.dense()

    def manifolds(self, threshold: float = 0.1) -> Array:
        """Label of each point's manifold: its component in the graph of the entries of ``Q`` that count.

        Parameters
        ----------
        threshold : float, default=0.1
            Points whose similarity ``Q_ij / sqrt(Q_ii Q_jj)`` is above this are connected.

        Returns
        -------
        array of shape (n,)
            Labels from 0, in the order in which the manifolds first appear.

        Examples
        --------
        >>> from sknomad import Gram, KMeansSDP, solve
        >>> solve(KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)).manifolds().tolist()
        [0, 0, 1, 1]
        """
        point, roots = self.point.unmixed, self.problem.gram.roots
        return find_manifolds(point if roots is None else PlainPoint(point, roots), threshold)

    def embedding(self, n_components: int = 2, labels: Array | None = None) -> Array:
        """Coordinates of the points: the leading eigenvectors of ``Q - J``, scaled by the roots of their eigenvalues.

        Parameters
        ----------
        n_components : int, default=2
        labels : array of shape (n,), optional
            Manifolds to be embedded each by itself, such as those of `manifolds`; by default all points together.

        Returns
        -------
        array of shape (n, n_components)

        Examples
        --------
        >>> from sknomad import Gram, KMeansSDP, solve
        >>> solution = solve(KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0], [12.0]]), 2))
        >>> solution.embedding(1).round(2).tolist()
        [[0.55], [0.55], [-0.37], [-0.37], [-0.37]]
        """
        return embed(self.point, n_components, labels, self.problem.gram.roots)

    def save_certificate(self, path: str | os.PathLike[str]) -> None:
        """Write bounds and what proves them to a file that others check from the data: ``sknomad verify FILE DATA``.

        The upper bound claimed is that of the last multiplier; up to 500 points of the best one, which is kept there.

        Parameters
        ----------
        path : path
        """
        from .certificate_file import write_solution_certificate

        write_solution_certificate(path, self)

    def __repr__(self) -> str:
        return f"Solution({self.status.name}: {self.certificate}, {self.n_iter} iterations, {self.seconds:.2f} s)"
