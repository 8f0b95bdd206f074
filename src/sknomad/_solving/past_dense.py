"""The upper bound where no dense array fits: by landmarks, if points lie near enough to curves or surfaces."""

from __future__ import annotations

import math
import time

import numpy as np

from .._landmark.choice import choose_landmarks
from .._landmark.rows import GramRows, what_landmarks_need
from .._numerics.arrays import to_numpy
from .._points.forms import SoftPoint
from ..solvers import Auto
from ..solvers._soft_stream import Cells, sums_of
from ..solvers._soft_updates import SoftState
from .landmark_steps import RESIDUAL_SHARE, Goal, bound_from_above
from .loop import Callback, Limits
from .run_state import Run
from .solution import Status

# Landmarks that leave out more than this share of the data close no gap worth the time.
LARGEST_RESIDUAL = 1e-3


def lacks_memory_alone(run: Run, status: Status) -> bool:
    """Whether a run of `Auto` has come to the end of soft assignments, and ADMM for the bound did not fit."""
    return status is Status.EXHAUSTED and math.isinf(run.upper)


def bound_by_landmarks(run: Run, solver: Auto, limits: Limits, callback: Callback | None) -> Status:
    """Enter the upper bound that landmarks prove; where they leave out too much of the data, how much, and no bound."""
    try:
        return _bound_by_landmarks(run, solver, limits, callback)
    except KeyboardInterrupt:  # soft assignments are an answer too
        return Status.INTERRUPTED


def _bound_by_landmarks(run: Run, solver: Auto, limits: Limits, callback: Callback | None) -> Status:
    gram, iterate = run.problem.gram, run.iterate
    if iterate is None or not isinstance(iterate.state, SoftState) or not isinstance(iterate.point, SoftPoint):
        return Status.EXHAUSTED
    if what_landmarks_need(gram) is not None:
        return Status.EXHAUSTED
    rows, deadline = GramRows.of(gram), time.monotonic() + limits.max_seconds - run.seconds
    landmarks = choose_landmarks(rows, "auto", RESIDUAL_SHARE * run.tol, solver.soft.random_state, deadline)
    if time.monotonic() > deadline:
        return Status.MAX_SECONDS
    if landmarks.residual > LARGEST_RESIDUAL:
        run.left_out = landmarks.residual
        return Status.EXHAUSTED
    V = np.asarray(to_numpy(iterate.point.V), dtype=np.float64)
    cells = Cells.of(sums_of(rows.X, V), iterate.state.lam, np.zeros(rows.d))
    before = run.iteration

    def listen(steps: int, bound: float) -> bool:
        run.iteration = before + steps
        if run.grade == "eigen":
            run.enter_upper(bound)
        run.record()
        return callback is not None and bool(callback(run.progress))

    goal = Goal(run.grade, run.tol, max(limits.max_iter - before, 1), deadline)
    end = bound_from_above(
        rows, landmarks, cells, run.lower, goal, K=run.problem.K, device=solver.device, listener=listen
    )
    run.iteration, run.landmarks = before + end.n_iter, end.multiplier
    run.enter_upper(end.upper)
    run.record()
    return end.status
