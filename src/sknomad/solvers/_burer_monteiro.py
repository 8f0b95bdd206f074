"""The paper's low-rank solver: Burer and Monteiro's factorisation with a nonnegative factor, by L-BFGS-B.

``Q = Y Y'`` with ``Y >= 0`` (n x r); ``tr Y'Y = K`` and ``Y Y'1 = 1`` are left to an augmented Lagrangian.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
import scipy.linalg as la
from scipy.optimize import Bounds, minimize

from .._algorithms.symmetric_nmf import symmetric_nmf
from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Array, Device, to_numpy
from .._numerics.validation import check_integer, check_moderate, check_real
from .._points.forms import FactorPoint, SoftPoint
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP

MULTIPLE = re.compile(r"(\d+)?K")
# n x r arrays alive in L-BFGS-B: ten pairs of corrections, and what a gradient needs.
ARRAYS_OF_A_STEP = 30
# The data are divided by their norm: beyond this a number is no multiplier.
LARGEST_MULTIPLIER = 1e30
Stop: TypeAlias = Literal["feasible", "change"]
STOPS: tuple[Stop, ...] = get_args(Stop)


@saved
@dataclass(frozen=True)
class BurerMonteiroState:
    """The multipliers of the augmented Lagrangian."""

    rows: Array  # (n,) mu, of Y Y'1 = 1
    trace: float  # lambda, of tr Y'Y = K

    def check(self, n: int) -> None:
        """Refuse what no step of `n` points can have left: a file may hold anything."""
        check_moderate(self.rows, "the multipliers of rows", (n,), LARGEST_MULTIPLIER)
        rule = f"a real number of at most {LARGEST_MULTIPLIER:.1e}"
        check_real(self.trace, "the multiplier of the trace", -LARGEST_MULTIPLIER, LARGEST_MULTIPLIER, rule)


@saved
@dataclass(frozen=True)
class BurerMonteiro:
    """The paper's low-rank method. It solves a tighter, non-convex problem: ``Q = Y Y'`` with ``Y >= 0`` (n x r).

    Such ``Q`` are completely positive, so its value may stay below the optimum at every rank (on a ring of 100 points
    with K = 3 by one per cent), and it may end in a local solution: there is no guarantee, and no upper bound. Its
    value is a lower bound after an exact repair, through soft assignments. ``rank="K"`` gives nearly hard clusters; the
    larger the rank the closer to the optimum, and the slower. `SoftAssignment` solves the same problem much faster.

    Each iterate is one step of the multipliers, after a minimisation over ``0 <= Y <= 1`` by L-BFGS-B with its default
    limits. ``D`` is divided by its Frobenius norm. Deterministic for a given `random_state`.

    Parameters
    ----------
    rank : int or str, default="8K"
        Columns ``r`` of ``Y``: a number, which may exceed that of the points, or a multiple of K such as "K" or "4K",
        rounded up, and cut to the number of points.
    row_penalty, trace_penalty : float, default=1
        The paper's sigma and phi.
    step : float, default=1
        The paper's eta, by which multipliers move.
    tol : float, default=1e-5
        Accuracy of the test that ends the run.
    stop : {"feasible", "change"}, default="feasible"
        The test. "change": ``Y`` moved by less than `tol` relative to its norm, as in the authors' code. "feasible":
        it did, *and* the constraints hold to the same relative accuracy, which takes many more steps.
    random_state : int, default=0
        Seed of the symmetric factorisation of ``D`` that is the start.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, certify
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> *_, last = BurerMonteiro(rank="K").iterates(problem)
    >>> round(certify(problem, last).lower, 3)
    100.0
    """

    rank: int | str = "8K"
    row_penalty: float = 1.0
    trace_penalty: float = 1.0
    step: float = 1.0
    tol: float = 1e-5
    stop: Stop = "feasible"
    random_state: int = 0
    device: ClassVar[Device] = "cpu"
    matrix_free: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.rank, str):
            match = MULTIPLE.fullmatch(self.rank)
            if match is None or (match[1] is not None and int(match[1]) < 1):
                raise ValueError(f'rank must be an integer >= 1 or a multiple of K such as "4K", got {self.rank!r}.')
        else:
            check_integer(self.rank, "rank", 1)
        positive = "a positive real number"
        check_real(self.row_penalty, "row_penalty", 1e-12, 1e12, positive)
        check_real(self.trace_penalty, "trace_penalty", 1e-12, 1e12, positive)
        check_real(self.step, "step", 1e-12, 1e12, positive)
        check_real(self.tol, "tol", 0, 1, "a real number in [0, 1]")
        if self.stop not in STOPS:
            raise ValueError(f"stop must be one of {', '.join(STOPS)}, got {self.stop!r}.")
        check_integer(self.random_state, "random_state", 0)

    def columns(self, problem: KMeansSDP) -> int:
        """The rank as a number."""
        if isinstance(self.rank, str):
            multiple = int(MULTIPLE.fullmatch(self.rank)[1] or 1)  # type: ignore[index]
            return min(math.ceil(multiple * problem.K), problem.n)
        return int(self.rank)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data."""
        factors = ARRAYS_OF_A_STEP * problem.n * self.columns(problem) * 8
        return factors if _short_factor(problem) is not None else factors + 3 * 8 * problem.n**2

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step of the multipliers, until neither they nor ``Y`` move."""
        apply = _scaled_gram(problem)
        Y, multipliers = self._initial_state(problem, start)
        bounds = Bounds(0.0, 1.0)
        while True:
            before = Y
            state = (problem, apply, multipliers)
            answer = minimize(self._objective, Y.ravel(), state, method="L-BFGS-B", jac=True, bounds=bounds)
            Y = answer.x.reshape(Y.shape)
            e, t = _errors(problem, Y)
            multipliers = BurerMonteiroState(
                multipliers.rows - self.step * self.row_penalty * e,
                multipliers.trace - self.step * self.trace_penalty * t,
            )
            move = float(la.norm(Y - before)) / max(float(la.norm(before)), 1e-300)
            row_error, trace_error = float(np.abs(e).max()), abs(t) / problem.K
            yield Iterate(
                FactorPoint(Y),
                residuals={
                    "row_error": row_error,
                    "trace_error": trace_error,
                    "move": move,
                    "inner": float(answer.nit),
                },
                state=multipliers,
            )
            if (move if self.stop == "change" else max(move, row_error, trace_error)) <= self.tol:
                return

    def _objective(
        self, y: Array, problem: KMeansSDP, apply: Callable[[Array], Array], multipliers: BurerMonteiroState
    ) -> tuple[float, Array]:
        """The augmented Lagrangian and its gradient at the flattened ``Y``."""
        Y = y.reshape(problem.n, -1)
        DY = apply(Y)
        e, t = _errors(problem, Y)
        value = -float(np.vdot(DY, Y)) + self.row_penalty / 2 * float(e @ e) - float(multipliers.rows @ e)
        value += self.trace_penalty / 2 * t**2 - multipliers.trace * t
        w = self.row_penalty * e - multipliers.rows
        gradient = 2 * (self.trace_penalty * t - multipliers.trace) * Y - 2 * DY
        gradient += w[:, None] * Y.sum(axis=0)
        gradient += w @ Y
        return value, gradient.ravel()

    def _initial_state(self, problem: KMeansSDP, start: Iterate | None) -> tuple[Array, BurerMonteiroState]:
        """Continue an iterate of this solver, take the factor of another, or factor ``D`` without its signs."""
        fresh = BurerMonteiroState(np.zeros(problem.n), 0.0)
        if start is not None and (Y := _factor_of(start)) is not None:
            if not isinstance(start.state, BurerMonteiroState):
                return Y, fresh
            start.state.check(problem.n)
            return Y, start.state
        gram, rank = problem.gram, self.columns(problem)
        size = gram.norm or 1.0
        X = _short_factor(problem)
        if X is not None:
            fit = symmetric_nmf(X / math.sqrt(size), rank, factored=True, random_state=self.random_state)
        else:
            fit = symmetric_nmf(gram.dense() / size, rank, random_state=self.random_state)
        return np.minimum(fit.Y, 1.0), fresh


def _short_factor(problem: KMeansSDP) -> Array | None:
    """``X`` where products with ``D`` go through it, because it has fewer columns than ``D``; None elsewhere."""
    X = problem.gram.factor
    return X if X is not None and X.shape[1] < problem.n else None


def _scaled_gram(problem: KMeansSDP) -> Callable[[Array], Array]:
    """``Y -> D Y / |D|_F``."""
    size = problem.gram.norm or 1.0
    X = _short_factor(problem)
    if X is not None:
        scaled = X / math.sqrt(size)
        return lambda Y: scaled @ (scaled.T @ Y)
    D = problem.gram.dense() / size
    return lambda Y: D @ Y


def _errors(problem: KMeansSDP, Y: Array) -> tuple[Array, float]:
    """``Y Y'1 - 1`` and ``tr Y'Y - K``."""
    return Y @ Y.sum(axis=0) - 1, float(np.vdot(Y, Y)) - problem.K


def _factor_of(start: Iterate) -> Array | None:
    """The nonnegative factor that a start holds, or None."""
    point = start.point.base if isinstance(start.point, MixedPoint) else start.point
    if isinstance(point, FactorPoint):
        return np.clip(np.array(to_numpy(point.Y), dtype=np.float64), 0, 1)
    if isinstance(point, SoftPoint):
        V = np.asarray(to_numpy(point.V), dtype=np.float64)
        return V / np.sqrt(V.sum(axis=0))
    return None
