"""Steps towards the multiplier of landmarks, looked at now and then, until the gap is closed or nothing more comes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._certificate.certificate import Certificate
from .._landmark.admm import Start, multipliers, start_from_cells
from .._landmark.basis import find_basis
from .._landmark.choice import Landmarks
from .._landmark.multiplier import LandmarkMultiplier
from .._landmark.rows import Rows
from .._landmark.sums import sum_rows
from .._landmark.upper import LandmarkProgram
from .._numerics.arrays import Array, Device, choose_device, float64_template, gamma, like, to_numpy
from ..solvers._soft_stream import Cells
from .solution import Status

# The bound is looked at after every so many steps; where so many looks together close less than this share of the gap
# there is no more to come.
LOOK_EVERY, LOOKS_TO_STALL, LEAST_SHARE = 10, 5, 0.02
# "auto" is content with landmarks that leave out this share of the tolerance.
RESIDUAL_SHARE = 0.05

# Told the number of steps and the best bound so far, of grade "eigen"; True asks for an end.
Listener = Callable[[int, float], bool]


class Goal(NamedTuple):
    """What is asked for, and how long it may take."""

    grade: str
    tol: float
    max_iter: int
    deadline: float  # on the monotonic clock


class Ending(NamedTuple):
    """The upper bound, what it rests on, and why steps ended."""

    upper: float
    multiplier: LandmarkMultiplier
    residual: float  # |X - Phi C|^2 as a share of |X|^2, over all rows
    status: Status
    n_iter: int


def bound_from_above(
    rows: Rows, landmarks: Landmarks, cells: Cells, lower: float, goal: Goal,
    *, K: float, device: Device, listener: Listener | None = None,
) -> Ending:  # fmt: skip
    """Upper bound on the optimum for all rows, by a multiplier between landmarks.

    Parameters
    ----------
    rows : Rows
    landmarks : Landmarks
    cells : Cells
        Soft assignments of all rows, about the mean: what the multiplier begins from.
    lower : float
        A proven lower bound.
    goal : Goal
    K : float
        The trace of ``Q``.
    device : {"auto", "cpu", "cuda"} or array
        Where the matrices of the landmarks are.
    listener : callable, optional

    Returns
    -------
    Ending
        Where nothing is proven of the multiplier, with the trace of ``D``, which is always a bound.
    """
    sums = sum_rows(rows, landmarks)
    search = _Search(lower, trace_bound(rows), goal, np.zeros((sums.m, sums.m)))
    basis, status = find_basis(sums, float64_template(choose_device(device, sums.k))), Status.EXHAUSTED
    if basis is not None:
        program = LandmarkProgram(sums, basis, K, rows.centring.off_mean)
        status = search.run(program, start_from_cells(cells, landmarks.C[sums.used]), listener)
    multiplier = LandmarkMultiplier.of(landmarks, sums, np.asarray(to_numpy(search.best)))
    return Ending(search.upper, multiplier, sums.residual, status, search.n_iter)


@dataclass
class _Search:
    lower: float
    upper: float
    goal: Goal
    best: Array  # (m, m), the multiplier behind the best bound, where the steps are taken
    n_iter: int = 0
    screens: list[float] = field(default_factory=lambda: [math.inf])  # the best bound at every look

    def run(self, program: LandmarkProgram, start: Start, listener: Listener | None) -> Status:
        """Take steps, prove the best bound, and say why they ended."""
        try:
            status = self._take_steps(program, start, listener)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        proven = self.screens[-1]
        if self.goal.grade == "verified":
            proven = program.upper_bound(like(self.best, program.basis.L), "verified")
        self.upper = min(self.upper, proven)
        # Whoever interrupted a program wants to hear that it was, even if all was just proven.
        return Status.CERTIFIED if self._is_done(self.upper) and status is not Status.INTERRUPTED else status

    def _take_steps(self, program: LandmarkProgram, start: Start, listener: Listener | None) -> Status:
        for self.n_iter, M in enumerate(multipliers(program, start)):
            is_last = self.n_iter >= self.goal.max_iter
            if self.n_iter % LOOK_EVERY == 0 or is_last:
                self._look(program, M)
                if self._is_done(self.screens[-1]):
                    return Status.CERTIFIED
                if listener is not None and listener(self.n_iter, self.screens[-1]):
                    return Status.STOPPED
                if self._has_stalled():
                    return Status.EXHAUSTED
            if is_last:
                return Status.MAX_ITER
            if time.monotonic() > self.goal.deadline:
                return Status.MAX_SECONDS
        raise AssertionError("there is always another step")

    def _look(self, program: LandmarkProgram, M: Array) -> None:
        bound = program.upper_bound(M)
        if bound < self.screens[-1]:
            self.best = M
        self.screens.append(min(bound, self.screens[-1]))

    def _is_done(self, upper: float) -> bool:
        """Whether the gap is closed; a bound that contradicts the lower one is for `Certificate` to refuse."""
        return Certificate(self.lower, upper).gap <= self.goal.tol

    def _has_stalled(self) -> bool:
        if len(self.screens) <= LOOKS_TO_STALL + 1:
            return False
        before, now = self.screens[-1 - LOOKS_TO_STALL], self.screens[-1]
        return before - now < LEAST_SHARE * (now - self.lower)


def trace_bound(rows: Rows) -> float:
    """``tr D``, rounded up: no feasible ``Q`` is larger than the identity, so no value is larger than this."""
    return rows.squares * (1 + gamma(2 * rows.depth + rows.d + 8)) + rows.centring.of_value
