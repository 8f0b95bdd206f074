"""One run by landmarks: lower bound, landmarks, then steps of ADMM until the gap is closed or nothing more comes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._certificate.certificate import Certificate
from .._numerics.arrays import UNIT_ROUNDOFF, Array, Device, choose_device, float64_template, gamma, like, to_numpy
from .._solving.solution import Status
from ..solvers._soft_stream import Cells
from .landmark_admm import multipliers, start_from_cells
from .landmark_basis import find_basis
from .landmark_choice import Landmarks, choose_landmarks
from .landmark_lower import find_cells
from .landmark_rows import CentredRows
from .landmark_sums import LandmarkSums, sum_rows
from .landmark_upper import LandmarkProgram

# The bound is looked at after every so many steps; where so many looks together close less than this share of the gap
# there is no more to come.
LOOK_EVERY, LOOKS_TO_STALL, LEAST_SHARE = 10, 5, 0.02
# "auto" is content with landmarks that leave out this share of the tolerance.
RESIDUAL_SHARE = 0.05
# Passes over all rows for the lower bound.
MAX_PASSES = 15


class Goal(NamedTuple):
    """What is asked for, and how long it may take."""

    grade: str
    tol: float
    max_iter: int
    deadline: float  # on the monotonic clock


class Answer(NamedTuple):
    """Bounds, in the units of the centred rows, and what they rest on."""

    lower: float
    upper: float
    status: Status
    cells: Cells
    landmarks: Array  # (m, d), centred
    multiplier: Array  # (m, m)
    residual: float
    n_iter: int


@dataclass
class Search:
    """Rows and a goal, and the best bounds so far."""

    rows: CentredRows
    K: float
    goal: Goal
    seed: int
    lower: float = -math.inf
    upper: float = math.inf
    n_iter: int = 0

    def run(self, n_landmarks: int | str, device: Device) -> Answer:
        """Find bounds; at most as many steps, and about as long, as the goal allows."""
        rows = self.rows
        if self.K in (1, rows.n) or rows.largest == 0:
            return self._trivial()
        self.upper = trace_bound(rows)
        self.lower, cells = find_cells(rows, self.K, self.seed, max_passes=MAX_PASSES)
        landmarks = choose_landmarks(rows, n_landmarks, RESIDUAL_SHARE * self.goal.tol, self.seed)
        sums = sum_rows(rows, landmarks)
        M, status = self._improve(sums, landmarks, cells, device)
        multiplier = np.zeros((landmarks.weights.m, landmarks.weights.m))
        multiplier[np.ix_(sums.used, sums.used)] = M * sums.scale[:, None] * sums.scale
        places = landmarks.weights.landmarks
        return Answer(self.lower, self.upper, status, cells, places, multiplier, sums.residual, self.n_iter)

    def _improve(self, sums: LandmarkSums, landmarks: Landmarks, cells: Cells, device: Device) -> tuple[Array, Status]:
        """Steps of ADMM; the multiplier behind the best bound, and why they ended."""
        best = np.zeros((sums.m, sums.m))
        basis = find_basis(sums, float64_template(choose_device(device, sums.k)))
        if basis is None:
            return best, Status.CERTIFIED if self._is_done(self.upper) else Status.EXHAUSTED
        program = LandmarkProgram(sums, basis, self.K, self.rows.off_mean_error)
        start = start_from_cells(cells, landmarks.C[sums.used])
        screen, screens, status = math.inf, [math.inf], Status.MAX_ITER
        for self.n_iter, M in enumerate(multipliers(program, start)):
            if self.n_iter % LOOK_EVERY == 0 or self.n_iter == self.goal.max_iter:
                bound = program.upper_bound(M)
                if bound < screen:
                    screen, best = bound, to_numpy(M)
                screens.append(screen)
                if self._is_done(screen):
                    break
                if self._has_stalled(screens):
                    status = Status.EXHAUSTED
                    break
            if self.n_iter == self.goal.max_iter:
                break
            if time.monotonic() > self.goal.deadline:
                status = Status.MAX_SECONDS
                break
        verified = self.goal.grade == "verified"
        self.upper = min(self.upper, program.upper_bound(like(best, basis.L), "verified") if verified else screen)
        return best, Status.CERTIFIED if self._is_done(self.upper) else status

    def _is_done(self, upper: float) -> bool:
        """Whether the gap is closed; a bound that contradicts the lower one is for `Certificate` to refuse."""
        return Certificate(self.lower, upper).gap <= self.goal.tol

    def _has_stalled(self, screens: list[float]) -> bool:
        if len(screens) <= LOOKS_TO_STALL + 1:
            return False
        before, now = screens[-1 - LOOKS_TO_STALL], screens[-1]
        return before - now < LEAST_SHARE * (now - self.lower)

    def _trivial(self) -> Answer:
        """``K = 1`` and equal points keep nothing, ``K = n`` keeps the trace; the vector of ones is the one cell."""
        rows, n = self.rows, self.rows.n
        if n == self.K and rows.largest > 0:
            self.upper = trace_bound(rows)
            error = 4 * rows.depth * UNIT_ROUNDOFF * rows.squares + rows.value_error
            self.lower = max(rows.squares - error, 0.0)
        else:
            self.lower = self.upper = 0.0
        cells = Cells(np.zeros((rows.d, 1)), np.full(1, float(n)), np.full(1, float(n)), 1.0, np.zeros(rows.d))
        status = Status.CERTIFIED if self._is_done(self.upper) else Status.EXHAUSTED
        return Answer(self.lower, self.upper, status, cells, np.zeros((1, rows.d)), np.zeros((1, 1)), 0.0, 0)


def trace_bound(rows: CentredRows) -> float:
    """``tr D``, rounded up: no feasible ``Q`` is larger than the identity, so no value is larger than this."""
    return rows.squares * (1 + gamma(2 * rows.depth + rows.d + 8)) + rows.value_error
