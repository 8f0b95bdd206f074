"""A proof for a clustering: how much better any other could be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .._certificate.cuts import Multipliers, clustering_upper_bound
from .._certificate.iterate import Iterate
from .._numerics.arrays import to_numpy
from .._points.point import Point
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from .._solving.checkpoint import fingerprint
from .._solving.loop import Callback, Limits, take_steps
from .._solving.options import SolveOptions
from .._solving.run_state import Progress, Run
from .._solving.solution import Solution, Status
from .._solving.solve import run_solver
from ..solvers import resolve
from ..solvers._admm_state import ADMMState
from .certificate import KMeansCertificate
from .clustering import lloyd_iterate
from .cutting_planes import LARGEST_FOR_CUTS, ClusteringJudge, CuttingPlanes
from .inertia import LeastInertia, cluster_codes, kmeans_objective, least_inertia, memberships
from .listener import InertiaListener

# With cuts to come, the program without them is solved to this multiple of the tolerance only.
CUTS_FROM = 10
# The share of the time left in which a start is sought in the labels, and how many looks at a bound the first cuts
# take: with less time than that they are not begun.
START_SHARE, FIRST_CUTS = 0.25, 10
# Steps of Lloyd's algorithm that tell poor labels, and the share of their inertia that it then leaves.
LLOYD_STEPS, POOR_SHARE = 10, 0.9
# Cuts aim a little below the tolerance, so that rounding does not spoil it.
CAUTIOUS_SHARE = 0.99


def check_cuts_option(cuts: object, n: int) -> None:
    """Refuse anything but True and False, and True for too many points."""
    if not isinstance(cuts, bool | np.bool_):
        raise TypeError(f"cuts must be True or False, got {cuts!r}.")
    if cuts and n > LARGEST_FOR_CUTS:
        raise ValueError(f"cuts must be False for more than {LARGEST_FOR_CUTS} points, got True for {n}.")


def unproven(gram: Gram, labels: ArrayLike, K: int, grade: str) -> KMeansCertificate:
    """What is known of a clustering before anything is proven: that its inertia is at least 0."""
    codes = cluster_codes(labels)
    inertia, digest = kmeans_objective(gram, codes), fingerprint(KMeansSDP(gram, K))
    known = min(least_inertia(gram, K).known, inertia)
    return KMeansCertificate(inertia, known, grade, K, Status.INTERRUPTED, 0.0, codes, None, digest)


def prove(
    gram: Gram,
    labels: ArrayLike,
    K: int,
    options: SolveOptions,
    budget: Budget,
    *,
    cuts: bool = False,
    improve: Callable[[Point], float] | None = None,
    callback: Callback | None = None,
    start: Iterate | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    keeps_multiplier: bool = True,
) -> tuple[KMeansCertificate, Point, int]:
    """The certificate of a clustering into at most `K` groups, the ``Q`` behind it, and the steps taken.

    The tolerance of `options` is relative to the inertia; the time is that of `budget`. `improve` may find better
    labels in a ``Q`` with cuts; it returns the least inertia known. Without a `start`, and without a run that
    `checkpoint` has kept, the labels themselves are one. Without its multiplier a certificate has the bound alone, and
    cuts cannot follow.
    """
    problem, inertia, tol = KMeansSDP(gram, K), kmeans_objective(gram, labels), options.tol
    least, explained = least_inertia(gram, K), abs(gram.trace - inertia)
    # An error of tol in the inertia is this one in the value of the program.
    allowed = (CUTS_FROM * tol if cuts else tol) * _inertia_to_aim_at(gram, labels, inertia)
    tol_of_value = allowed / explained if allowed < explained else 1.0
    is_kept = checkpoint is not None and os.path.exists(checkpoint)
    if start is None and not problem.is_trivial and not is_kept:
        start = lloyd_iterate(problem, labels, max_seconds=budget.share(START_SHARE).max_seconds)
    run = Run(problem, tol_of_value, options.grade, iterate=start, keeps_multiplier=keeps_multiplier)
    limits = Limits(options.max_iter, budget.left)

    listener = InertiaListener(least, inertia, tol, callback)

    def is_over(progress: Progress) -> bool:
        return listener(progress) or inertia - least.given(progress.upper) <= tol * abs(inertia)

    ended = run_solver(
        run, resolve(options.solver, problem, tol_of_value), limits, callback=is_over, checkpoint=checkpoint
    )
    solution = run.solution(ended)
    bound = min(least.given(run.upper), inertia)
    multipliers = None if run.multiplier is None else Multipliers(np.asarray(to_numpy(run.multiplier)))
    certificate = KMeansCertificate(
        inertia, bound, run.grade, K, _status(inertia, bound, tol, ended), solution.seconds, cluster_codes(labels),
        multipliers, fingerprint(problem),
    )  # fmt: skip
    cannot_go_on = budget.is_spent or ended is Status.INTERRUPTED or listener.asked_to_stop
    if not cuts or certificate.gap <= tol or multipliers is None or cannot_go_on:
        return certificate, solution.point.unmixed, solution.n_iter
    return _with_cuts(certificate, solution, least, tol, options.max_iter, budget, improve, listener)


def _inertia_to_aim_at(gram: Gram, labels: ArrayLike, inertia: float) -> float:
    """The inertia that the tolerance is a share of: that of the labels, or what Lloyd's algorithm makes of poor ones.

    The bound is one for all labels, so that poor ones are no reason for a poor bound.
    """
    best, codes = inertia, cluster_codes(labels)
    for _ in range(LLOYD_STEPS):
        V = memberships(codes, gram.n)
        sizes = V.sum(axis=0)
        products = (gram @ V) / sizes
        codes = np.argmax(2 * products - (V * products).sum(axis=0) / sizes, axis=1)
        nearer = kmeans_objective(gram, codes)
        if not nearer < best:
            break
        best = nearer
    return abs(best if best < POOR_SHARE * inertia else inertia)


class _InertiaTarget:
    """The bound on ``<D, Z>`` that proves the least inertia known to be within `tol` of the best possible."""

    def __init__(self, trace: float, inertia: float, tol: float, improve: Callable[[Point], float] | None):
        self.trace, self.inertia, self.tol, self.improve = trace, inertia, tol, improve

    @property
    def upper(self) -> float:
        return self.trace - (1 - CAUTIOUS_SHARE * self.tol) * self.inertia

    def revise(self, point: Point) -> None:
        if self.improve is not None:
            self.inertia = self.improve(point)


def _with_cuts(
    plain: KMeansCertificate, solution: Solution, least: LeastInertia, tol: float, max_iter: int, budget: Budget,
    improve: Callable[[Point], float] | None, listener: InertiaListener,
) -> tuple[KMeansCertificate, Point, int]:  # fmt: skip
    """A better certificate from cuts, in the grade of the plain one; the plain one where that fails."""
    assert plain.multipliers is not None
    problem, gram, state = solution.problem, solution.problem.gram, solution.iterate.state
    penalty = state.rho if isinstance(state, ADMMState) else gram.norm / math.sqrt(problem.K)
    start = Iterate(solution.point.unmixed, state=Multipliers(np.asarray(plain.multipliers.N, dtype=np.float64)))
    target, judge = _InertiaTarget(gram.trace, plain.inertia, tol, improve), ClusteringJudge(problem)
    run, limits = Run(problem, tol, plain.grade, iterate=start), Limits(max_iter, budget.left)
    try:
        judge.begin(run)
        if budget.left < FIRST_CUTS * run.seconds:
            ended = Status.MAX_SECONDS
        else:
            steps = CuttingPlanes(target, judge.bound_of, penalty).iterates(problem, start)
            ended = take_steps(
                run, steps, judge, limits, callback=lambda told: listener(told) or told.upper <= target.upper
            )
    except KeyboardInterrupt:
        ended = Status.INTERRUPTED
    upper = run.upper if plain.grade == "eigen" else clustering_upper_bound(problem, judge.best, grade=plain.grade)
    bound = min(least.given(upper), plain.inertia)
    status, n_iter = _status(plain.inertia, bound, tol, ended), solution.n_iter + run.iteration
    seconds = plain.seconds + run.seconds
    if bound <= plain.lower_bound:
        return replace(plain, status=status, seconds=seconds), solution.point.unmixed, n_iter
    better = replace(plain, lower_bound=bound, status=status, seconds=seconds, multipliers=judge.best)
    return better, run.iterate.point if run.iterate is not None else solution.point.unmixed, n_iter


def _status(inertia: float, bound: float, tol: float, ended: Status) -> Status:
    """Of the clustering: a program solved to its end that leaves a gap open has no more to offer."""
    if ended is Status.INTERRUPTED:
        return ended
    if inertia - bound <= tol * abs(inertia):
        return Status.CERTIFIED
    return Status.EXHAUSTED if ended in (Status.CERTIFIED, Status.STOPPED) else ended
