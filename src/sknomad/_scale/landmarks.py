"""Both bounds on the program for any number of points on curves and surfaces, by landmarks: `solve_by_landmarks`."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._certificate.certificate import Certificate
from .._certificate.upper import GRADES
from .._landmark.rows import CentredRows, read_rows
from .._numerics.arrays import Array, Device
from .._numerics.ieee import check_arithmetic
from .._numerics.validation import check_choice, check_integer, check_K, check_real
from .._program.centring import Frame
from .._solving.landmark_steps import Goal
from .._solving.solution import Status
from ..solvers._soft_stream import Cells, assignments
from .landmark_search import search

# Landmarks that leave out more than this share of the data cannot pay.
LARGEST_RESIDUAL = 3e-3


@dataclass(frozen=True)
class LandmarkSolution:
    """The answer of `solve_by_landmarks`: proven bounds, and what every point's soft assignments follow from.

    Examples
    --------
    >>> from sknomad import solve_by_landmarks
    >>> from sknomad.datasets import double_swiss_roll
    >>> X = double_swiss_roll(2000)[0]
    >>> solution = solve_by_landmarks(X, 8, n_landmarks=100, tol=0.02)
    >>> solution.certificate.gap < 0.02, solution.assign(X[:3]).sum(axis=1).round(6).tolist()
    (True, [1.0, 1.0, 1.0])
    """

    n: int  # number of points
    K: float  # the trace of Q
    certificate: Certificate  # bounds on the optimum over all n points
    status: Status  # why the run ended
    residual: float  # share of the data, |X - Phi C|^2 / |X|^2, that barycentric weights on the landmarks leave out
    landmarks: Array  # (m, d), in the units of X
    multiplier: Array  # (m, m), M >= 0 of N = Phi M Phi', which the upper bound rests on
    cells: Cells  # what soft assignments, and with them the lower bound, follow from
    frame: Frame  # how rows of X become the centred ones of the cells
    n_iter: int  # steps of ADMM
    seconds: float  # wall-clock time

    @property
    def is_certified(self) -> bool:
        """Whether the requested gap was proven."""
        return self.status is Status.CERTIFIED

    def assign(self, X: Any) -> Array:
        """Soft assignments of points, old or new, to the cells.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n, r)
            Nonnegative rows of sum one; ``Q`` is about ``V diag(V'1)^-1 V'``.
        """
        rows = self.frame.place(read_rows(X, self.landmarks.shape[1]))
        return assignments(np.asarray(rows), self.cells)

    def __repr__(self) -> str:
        return f"LandmarkSolution({self.status.name}: {self.certificate}, {len(self.landmarks)} landmarks)"


def solve_by_landmarks(
    X: Any,
    K: float,
    *,
    n_landmarks: int | str = "auto",
    tol: float = 1e-3,
    grade: str = "eigen",
    max_iter: int = 500,
    max_seconds: float | None = None,
    random_state: int = 0,
    device: Device = "auto",
) -> LandmarkSolution:
    """Bound the optimum of the program for any number of points near curves or surfaces.

    With barycentric weights ``Phi >= 0`` of all points on a few landmarks, ``N = Phi M Phi'`` with ``M >= 0`` is a
    nonnegative multiplier for all points, and the upper bound it proves follows from matrices as large as the number
    of landmarks. The lower bound is the value of soft assignments. Rows are read block by block, several times:
    memory beside the data does not depend on their number. Points that fill many dimensions need more landmarks than
    there can be; `LandmarkSolution.residual` tells. See ``docs/landmarks.md``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points; an array, a memory map, or whatever gives an array for a slice of rows.
    K : float
        The trace of ``Q``, any real number between 1 and the number of points.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks; "auto" takes 250, 500 or 1000, by what they leave out of a sample.
    tol : float, default=1e-3
        Relative gap ``(upper - lower)/|upper|`` between proven bounds at which to stop.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof demanded of the upper bound, see `certify`.
    max_iter : int, default=500
        Most steps of ADMM.
    max_seconds : float, optional
        Most wall-clock seconds, checked between passes over the rows and between steps of ADMM. Where they are over
        before landmarks are placed, the upper bound is the trace of ``D``.
    random_state : int, default=0
        Seed of samples, landmarks and the cells' start.
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where the matrices of the landmarks are; rows are read by NumPy.

    Returns
    -------
    LandmarkSolution
        Where the gap is not reached, with a `ConvergenceWarning` that says what keeps it open. After Ctrl-C during
        steps of ADMM, with the best bounds so far.

    Examples
    --------
    >>> from sknomad.datasets import double_swiss_roll
    >>> solution = solve_by_landmarks(double_swiss_roll(3000)[0], 8, n_landmarks=150, tol=0.01)
    >>> solution.is_certified, solution.certificate.grade
    (True, 'eigen')
    """
    began = time.monotonic()
    _check_arguments(n_landmarks, tol, grade, max_iter, max_seconds, random_state)
    rows = CentredRows.of(X)
    K = check_K(K, rows.n)
    if grade == "verified":
        check_arithmetic(np.empty(0))  # lower bounds are of that grade too
    deadline = math.inf if max_seconds is None else began + max_seconds
    answer = search(rows, K, Goal(grade, tol, max_iter, deadline), random_state, n_landmarks, device)
    solution = LandmarkSolution(
        n=rows.n,
        K=K,
        certificate=Certificate(answer.lower, answer.upper, grade),
        status=answer.status,
        residual=answer.residual,
        landmarks=rows.unplace(answer.landmarks),
        multiplier=answer.multiplier,
        cells=answer.cells,
        frame=rows.frame,
        n_iter=answer.n_iter,
        seconds=time.monotonic() - began,
    )
    _warn_unless_certified(solution, tol)
    return solution


def _check_arguments(
    n_landmarks: object, tol: object, grade: object, max_iter: object, max_seconds: object, random_state: object
) -> None:
    if n_landmarks != "auto":
        check_integer(n_landmarks, "n_landmarks", 2)
    check_real(tol, "tol", 0, math.inf, "a real number >= 0")
    check_choice(grade, "grade", GRADES)
    check_integer(max_iter, "max_iter", 1)
    if max_seconds is not None:
        check_real(max_seconds, "max_seconds", 0, math.inf, "a number of seconds >= 0 or None")
    check_integer(random_state, "random_state", 0)


def _warn_unless_certified(solution: LandmarkSolution, tol: float) -> None:
    if solution.status in (Status.CERTIFIED, Status.INTERRUPTED):
        return
    proof, m = solution.certificate, len(solution.landmarks)
    if m > 1 and solution.residual > LARGEST_RESIDUAL:
        advice = (
            f"Landmarks do not pay here: {m} of them leave out {solution.residual:.1e} of the data, which fill too "
            "many dimensions. Use solve, or certify_kmeans for labels."
        )
    elif solution.status is Status.EXHAUSTED:
        advice = f"Raise n_landmarks beyond {m}."
    else:
        advice = "Raise the limit."
    warnings.warn(
        f"ended with certified gap {proof.gap:.1e} > tol={tol:.1e}. The bounds stand: {proof.lower:.6g} <= optimum <= "
        f"{proof.upper:.6g}. {advice}",
        ConvergenceWarning,
        stacklevel=3,
    )
