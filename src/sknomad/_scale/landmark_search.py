"""One run by landmarks over rows that are read block by block: lower bound, landmarks, then the upper bound."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from .._certificate.certificate import Certificate
from .._landmark.choice import choose_landmarks
from .._landmark.rows import CentredRows
from .._numerics.arrays import UNIT_ROUNDOFF, Array, Device
from .._solving.landmark_steps import RESIDUAL_SHARE, Goal, bound_from_above, trace_bound
from .._solving.solution import Status
from ..solvers._soft_stream import Cells
from .landmark_lower import find_cells

# Passes over all rows for the lower bound.
MAX_PASSES = 15


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


def search(rows: CentredRows, K: float, goal: Goal, seed: int, n_landmarks: int | str, device: Device) -> Answer:
    """Find bounds; at most as many steps, and about as long, as the goal allows."""
    if K in (1, rows.n) or rows.largest == 0:
        return _known_answer(rows, K, goal)
    lower, cells = find_cells(rows, K, seed, max_passes=MAX_PASSES, deadline=goal.deadline)
    if time.monotonic() > goal.deadline:
        return _without_landmarks(rows, lower, trace_bound(rows), Status.MAX_SECONDS, cells)
    landmarks = choose_landmarks(rows, n_landmarks, RESIDUAL_SHARE * goal.tol, seed, goal.deadline)
    end = bound_from_above(rows, landmarks, cells, lower, goal, K=K, device=device)
    proof = end.multiplier
    return Answer(lower, end.upper, end.status, cells, proof.places, proof.M, end.residual, end.n_iter)


def _known_answer(rows: CentredRows, K: float, goal: Goal) -> Answer:
    """``K = 1`` and equal points keep nothing, ``K = n`` keeps the trace; the vector of ones is the one cell."""
    n, lower, upper = rows.n, 0.0, 0.0
    if n == K and rows.largest > 0:
        error = 4 * rows.depth * UNIT_ROUNDOFF * rows.squares + rows.centring.of_value
        lower, upper = max(rows.squares - error, 0.0), trace_bound(rows)
    cells = Cells(np.zeros((rows.d, 1)), np.full(1, float(n)), np.full(1, float(n)), 1.0, np.zeros(rows.d))
    status = Status.CERTIFIED if Certificate(lower, upper).gap <= goal.tol else Status.EXHAUSTED
    return _without_landmarks(rows, lower, upper, status, cells)


def _without_landmarks(rows: CentredRows, lower: float, upper: float, status: Status, cells: Cells) -> Answer:
    """One landmark, the mean, which says nothing: the upper bound is known without it."""
    residual = 1.0 if status is Status.MAX_SECONDS else 0.0
    return Answer(lower, upper, status, cells, np.zeros((1, rows.d)), np.zeros((1, 1)), residual, 0)
