"""The proof of one part: a task that depends on nothing but its arguments, to be run wherever there is room."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._certificate.iterate import Iterate
from .._certificate.upper import upper_bound
from .._numerics.arrays import Array, Table, is_sparse, to_numpy
from .._points.forms import SoftPoint
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from .._solving.loop import Limits
from .._solving.options import SolveOptions
from .._solving.run_state import Progress, Run
from .._solving.solve import run_solver
from ..solvers import resolve
from ..solvers._admm_state import row_multipliers
from ..solvers._soft_stream import SMALLEST_CELL, Cells, assignments
from ..solvers._soft_updates import SoftState
from .inertia import least_inertia
from .part_proof import Triangle, bound_of_part, gram_of_part, in_units, pack_small, pack_whole
from .proof import prove

# What a solver is asked for at least, relative to the program's value.
SMALLEST_TOL = 1e-9
# Up to this many points the labels are the start: soft assignments gain nothing there.
SMALL_PART = 400


class PartTask(NamedTuple):
    """A part and how it is to be proven."""

    rows: Table  # its points, float64
    labels: Array  # their clusters
    weights: Array | None  # None: all 1
    K: int
    options: SolveOptions  # the tolerance is relative to the part's inertia
    seconds: float  # most; may be infinite
    cells: Cells | None  # soft assignments of all points, scaled to the part: where to begin
    centres: Array  # (K, d) means of the clusters of all points
    is_whole: bool  # whether the multiplier is kept without a loss
    target: float = math.inf  # a bound to stop at
    is_kept: bool = True  # whether the multiplier is kept at all


class PartBound(NamedTuple):
    """What was proven of a part."""

    bound: float  # in the units of the data
    triangle: Triangle | None  # what it rests on
    seconds: float
    cost: float  # squared distances of the part's points to the centres of all points
    is_rough: bool = False  # whether it is that of principal components alone, for want of time


def solve_part(task: PartTask) -> PartBound:
    """Bound the inertia of every clustering of a part, from its soft assignments or its labels."""
    budget = Budget(task.seconds)
    cost = cost_of(task.rows, task.labels, task.weights, task.centres)
    if task.rows.shape[0] <= task.K:
        return PartBound(0.0, None, budget.elapsed, cost)
    gram = gram_of_part(task.rows, task.weights)
    if budget.is_spent:
        return _rough(gram, task, budget, cost)
    bound, N = _plain(task, gram, budget) if task.weights is None else _weighted(task, gram, budget, cost)
    triangle = None if N is None else pack_whole(N) if task.is_whole else pack_small(N)
    if triangle is None or task.is_whole:
        bound = in_units(max(bound, 0.0), gram.unit)
    else:
        bound = bound_of_part(gram, task.K, triangle, task.options.grade)
    found = PartBound(bound, triangle, budget.elapsed, cost)
    if budget.left > 0:
        return found
    rough = _rough(gram, task, budget, cost)
    return rough if rough.bound > bound else found


def _rough(gram: Gram, task: PartTask, budget: Budget, cost: float) -> PartBound:
    """What takes hardly any time."""
    bound = bound_of_part(gram, task.K, None, task.options.grade)
    return PartBound(bound, None, budget.elapsed, cost, is_rough=True)


def cost_of(rows: Table, labels: Array, weights: Array | None, centres: Array) -> float:
    """What the points of a part add to the inertia of all."""
    squares = np.sum(np.square((rows.toarray() if is_sparse(rows) else rows) - centres[labels]), axis=1)
    return float(np.sum(squares) if weights is None else squares @ weights)


def _plain(task: PartTask, gram: Gram, budget: Budget) -> tuple[float, Array | None]:
    """A bound, in the units of `gram`, and its multiplier."""
    start = None
    if task.cells is not None and gram.n > SMALL_PART:
        start = _soft_start(task.rows, task.cells, gram.unit)
    # Where the multiplier loses digits at the end, only that end needs the stronger proof.
    options = task.options if task.is_whole or not task.is_kept else replace(task.options, grade="eigen")

    def is_reached(progress: Progress) -> bool:
        return in_units(max(progress.lower, 0.0), gram.unit) >= task.target

    callback = is_reached if math.isfinite(task.target) else None
    proof = prove(
        gram, task.labels, task.K, options, budget, start=start, callback=callback, keeps_multiplier=task.is_kept
    )[0]
    if proof.multipliers is not None:
        return proof.lower_bound, proof.multipliers.N
    if start is None or KMeansSDP(gram, task.K).is_trivial or proof.lower_bound > 0:
        return proof.lower_bound, None
    bound, N = _guessed(KMeansSDP(gram, task.K), start)
    return bound, N if task.is_kept else None


def _soft_start(rows: Table, cells: Cells, unit: float) -> Iterate:
    """The soft assignments of all points on these rows; a fair part has all cells, others may lack some."""
    V = assignments(rows.toarray() if is_sparse(rows) else rows, cells)
    V = V[:, V.sum(axis=0) > SMALLEST_CELL]
    return Iterate(SoftPoint(V / V.sum(axis=1, keepdims=True)), state=SoftState(cells.lam / unit))


def _guessed(problem: KMeansSDP, start: Iterate) -> tuple[float, Array]:
    """Where time was too short for a step: the multiplier that the soft assignments themselves suggest."""
    assert isinstance(start.point, SoftPoint)
    assert isinstance(start.state, SoftState)
    y = row_multipliers(problem, start.point.V, start.state.lam)
    N = np.maximum((y[:, None] + y) / 2 - problem.gram.dense(), 0)
    np.fill_diagonal(N, 0)
    return least_inertia(problem.gram, int(problem.K)).given(upper_bound(problem, N)), N


def _weighted(task: PartTask, gram: Gram, budget: Budget, cost: float) -> tuple[float, Array | None]:
    """The same for points with weights: no labels are needed for it."""
    problem = KMeansSDP(gram, task.K)
    # The tolerance is relative to the inertia; of the value, which is the rest of the trace, it is a smaller share.
    inertia = min(cost / gram.unit, gram.trace / 2)
    share = inertia / (gram.trace - inertia) if gram.trace > 0 else 1.0
    tol = max(task.options.tol * share, SMALLEST_TOL)
    run = Run(problem, tol, task.options.grade, keeps_multiplier=task.is_kept)
    limits = Limits(task.options.max_iter, budget.left)
    run_solver(run, resolve(task.options.solver, problem, tol), limits)
    N = None if run.multiplier is None else np.asarray(to_numpy(run.multiplier))
    return least_inertia(gram, task.K).given(run.upper), N
