"""A proof for a clustering: how much better any other could be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .._certificate.cuts import Multipliers, clustering_upper_bound
from .._certificate.iterate import Iterate
from .._certificate.upper import GRADES
from .._files.records import saved
from .._numerics.arrays import Array, Data, to_numpy
from .._numerics.validation import check_choice, check_integer, check_numbers, check_real
from .._points.point import Point
from .._program.gram import Gram
from .._program.inputs import check_unweighted
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
from .certificate_file import write_kmeans_certificate
from .clustering import lloyd_iterate
from .cutting_planes import LARGEST_FOR_CUTS, ClusteringJudge, CuttingPlanes
from .inertia import LeastInertia, check_no_noise, kmeans_objective, least_inertia, memberships
from .listener import InertiaListener

# With cuts to come, the program without them is solved to this multiple of the tolerance only.
CUTS_FROM = 10
# The share of the time left in which a start is sought in the labels, and how many looks at a bound the first cuts
# take: with less time than that they are not begun.
START_SHARE, FIRST_CUTS = 0.25, 10
# Cuts aim a little below the tolerance, so that rounding does not spoil it.
CAUTIOUS_SHARE = 0.99


@saved
@dataclass(frozen=True)
class KMeansCertificate:
    """What is proven of a clustering: no clustering into `n_clusters` groups has an inertia below `lower_bound`.

    Examples
    --------
    >>> from sknomad import certify_kmeans
    >>> proof = certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    >>> proof.inertia, proof.gap < 1e-3
    (1.0, True)
    """

    inertia: float  # sum of squared distances to the means, of the clustering
    lower_bound: float  # at least 0; -inf where a kernel with negative squared distances tells nothing
    grade: str  # strength of the proof, see `certify`
    n_clusters: int  # most clusters that a clustering may have
    status: Status  # why the search for a better bound ended
    seconds: float  # spent on the search
    labels: Array = field(repr=False, compare=False)  # (n,) integers, the clustering
    multipliers: Multipliers | None = field(repr=False, compare=False)  # what the bound rests on; None: on nothing
    data: str = field(default="", repr=False, compare=False)  # digest of the data and of `n_clusters`

    def __post_init__(self) -> None:
        n = len(check_numbers(self.labels, "labels", (None,)))
        if self.multipliers is not None:
            check_numbers(self.multipliers.N, "N", (n, n))
        if not self.lower_bound <= self.inertia:
            raise ValueError(f"lower_bound must be at most the inertia {self.inertia!r}, got {self.lower_bound!r}.")

    @property
    def gap(self) -> float:
        """Share of the inertia that a better clustering may save: ``(inertia - lower_bound) / |inertia|``."""
        if self.inertia == self.lower_bound:
            return 0.0
        return (self.inertia - self.lower_bound) / abs(self.inertia) if self.inertia else math.inf

    def __str__(self) -> str:
        return (
            f"inertia {self.inertia:.10g}, no clustering into {self.n_clusters} groups has one below "
            f"{self.lower_bound:.10g} (gap {self.gap:.1e}, grade {self.grade})"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write claim and proof to a file that others check from the data alone: ``sknomad verify FILE DATA``.

        Parameters
        ----------
        path : path
        """
        claimed = {"inertia": self.inertia, "lower_bound": self.lower_bound}
        write_kmeans_certificate(path, self.data, claimed, self.n_clusters, self.grade, self.labels, self.multipliers)


def certify_kmeans(
    X: Data | Gram,
    labels: ArrayLike,
    *,
    n_clusters: int | None = None,
    tol: float = 1e-3,
    cuts: bool = False,
    grade: str = "eigen",
    max_iter: int = 5000,
    max_seconds: float | None = None,
    callback: Callback | None = None,
) -> KMeansCertificate:
    """Prove how close to optimal a k-means clustering is, wherever its labels come from.

    The K-means SDP bounds the inertia of every clustering from below. It is solved from the dual guess that the labels
    themselves suggest, until their inertia is proven to be within `tol` of the best possible, or until the bound is
    within `tol` of the best that this relaxation can give: on overlapping clusters some per cent stay open.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Gram
    labels : array-like of shape (n,)
        Cluster of each point, any values; -1 beside 0 is what others call noise, and refused: leave those points out.
    n_clusters : int, optional
        The bound holds for clusterings into at most this many groups; None is the number of distinct labels.
    tol : float, default=1e-3
        Relative to the inertia.
    cuts : bool, default=False
        Whether to close what the relaxation leaves open by inequalities that only clusterings obey: often all of it,
        in many times the time. Up to 5000 points.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    max_iter : int, default=5000
        Most steps without cuts, and as many again with them.
    max_seconds : float, optional
        Most seconds in all, to within one step of the solver.
    callback : callable, optional
        Called after every step with a `Progress` whose bounds are those of the best inertia; returning True stops.

    Returns
    -------
    KMeansCertificate
        Also after Ctrl-C, with what is proven so far and the status INTERRUPTED.

    Examples
    --------
    >>> from sknomad import certify_kmeans
    >>> proof = certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    >>> proof.inertia, round(proof.lower_bound, 3), proof.gap < 1e-3
    (1.0, 1.0, True)
    """
    budget = Budget.of(max_seconds)
    check_choice(grade, "grade", GRADES)
    check_real(tol, "tol", 0, 1, "a real number in [0, 1]")
    gram = X if isinstance(X, Gram) else Gram.from_data(X)
    check_unweighted(gram, "certify_kmeans")
    check_no_noise(labels)
    found = memberships(labels, gram.n).shape[1]
    K = found if n_clusters is None else check_integer(n_clusters, "n_clusters", 1)
    if not found <= K <= gram.n:
        raise ValueError(
            f"n_clusters must lie between the {found} distinct labels and n_samples={gram.n}, got {n_clusters}."
        )
    check_cuts_option(cuts, gram.n)
    options = SolveOptions("auto", tol, max_iter, None, grade)
    return prove(gram, labels, K, options, budget, cuts=cuts, callback=callback)[0]


def check_cuts_option(cuts: object, n: int) -> None:
    """Refuse anything but True and False, and True for too many points."""
    if not isinstance(cuts, bool | np.bool_):
        raise TypeError(f"cuts must be True or False, got {cuts!r}.")
    if cuts and n > LARGEST_FOR_CUTS:
        raise ValueError(f"cuts must be False for more than {LARGEST_FOR_CUTS} points, got True for {n}.")


def unproven(gram: Gram, labels: ArrayLike, K: int, grade: str) -> KMeansCertificate:
    """What is known of a clustering before anything is proven: that its inertia is at least 0."""
    codes = _codes(labels)
    inertia, digest = kmeans_objective(gram, codes), fingerprint(KMeansSDP(gram, K))
    known = min(least_inertia(gram, K).known, inertia)
    return KMeansCertificate(inertia, known, grade, K, Status.INTERRUPTED, 0.0, codes, None, digest)


def _codes(labels: ArrayLike) -> Array:
    """Labels as integers from 0."""
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int32)


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
) -> tuple[KMeansCertificate, Point, int]:
    """The certificate of a clustering into at most `K` groups, the ``Q`` behind it, and the steps taken.

    The tolerance of `options` is relative to the inertia; the time is that of `budget`. `improve` may find better
    labels in a ``Q`` with cuts; it returns the least inertia known.
    """
    problem, inertia, tol = KMeansSDP(gram, K), kmeans_objective(gram, labels), options.tol
    least, explained = least_inertia(gram, K), abs(gram.trace - inertia)
    # An error of tol in the inertia is this one in the value of the program.
    allowed = (CUTS_FROM * tol if cuts else tol) * abs(inertia)
    tol_of_value = allowed / explained if allowed < explained else 1.0
    start = None
    if not problem.is_trivial:
        start = lloyd_iterate(problem, labels, max_seconds=budget.share(START_SHARE).max_seconds)
    run = Run(problem, tol_of_value, options.grade, iterate=start, keeps_multiplier=True)
    limits = Limits(options.max_iter, budget.left)

    listener = InertiaListener(least, inertia, tol, callback)

    def is_over(progress: Progress) -> bool:
        return listener(progress) or inertia - least.given(progress.upper) <= tol * abs(inertia)

    ended = run_solver(run, resolve(options.solver, problem, tol_of_value), limits, callback=is_over)
    solution = run.solution(ended)
    bound = min(least.given(run.upper), inertia)
    multipliers = None if run.multiplier is None else Multipliers(np.asarray(to_numpy(run.multiplier)))
    certificate = KMeansCertificate(
        inertia, bound, run.grade, K, _status(inertia, bound, tol, ended), solution.seconds, _codes(labels),
        multipliers, fingerprint(problem),
    )  # fmt: skip
    cannot_go_on = budget.is_spent or ended is Status.INTERRUPTED or listener.asked_to_stop
    if not cuts or certificate.gap <= tol or multipliers is None or cannot_go_on:
        return certificate, solution.point.unmixed, solution.n_iter
    return _with_cuts(certificate, solution, least, tol, options.max_iter, budget, improve, listener)


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
