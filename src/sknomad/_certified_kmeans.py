"""A proof for a clustering: how much better any other could be."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import UNIT_ROUNDOFF
from ._certify import GRADES
from ._gram import Gram
from ._kmeans import kmeans_objective, lloyd_iterate, memberships
from ._problem import KMeansSDP
from ._run import Progress
from ._solution import Status
from ._solve import solve
from ._validation import check_choice, check_integer, check_real


@dataclass(frozen=True)
class KMeansCertificate:
    """What is proven of a clustering: no clustering into `n_clusters` groups has an inertia below `lower_bound`."""

    inertia: float  # sum of squared distances to the means, of the clustering
    lower_bound: float  # at least 0
    grade: str  # strength of the proof, see `certify`
    n_clusters: int
    status: Status  # why the search for a better bound ended
    seconds: float

    @property
    def gap(self) -> float:
        """Share of the inertia that a better clustering might save, at most: ``(inertia - lower_bound) / inertia``."""
        if self.inertia <= 0:
            return 0.0
        return max(0.0, (self.inertia - self.lower_bound) / self.inertia)


def certify_kmeans(
    X: Any,
    labels: Any,
    *,
    n_clusters: int | None = None,
    tol: float = 1e-3,
    grade: str = "eigen",
    max_iter: int = 5000,
    max_seconds: float | None = None,
) -> KMeansCertificate:
    """Prove how close to optimal a k-means clustering is, wherever its labels come from.

    The K-means SDP bounds the inertia of every clustering from below. It is solved from the dual guess that the labels
    themselves suggest, until their inertia is proven to be within `tol` of the best possible, or until the bound is
    within `tol` of the best that this relaxation can give: on overlapping clusters some per cent stay open.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Gram
    labels : array-like of shape (n,)
        Cluster of each point, any values.
    n_clusters : int, optional
        The bound holds for clusterings into at most this many groups; None is the number of distinct labels.
    tol : float, default=1e-3
        Relative to the inertia.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    max_iter : int, default=5000
    max_seconds : float, optional

    Returns
    -------
    KMeansCertificate

    Examples
    --------
    >>> from sknomad import certify_kmeans
    >>> proof = certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    >>> proof.inertia, round(proof.lower_bound, 3), proof.gap < 1e-3
    (1.0, 1.0, True)
    """
    check_choice(grade, "grade", GRADES)
    check_real(tol, "tol", 0, 1, "a real number in [0, 1]")
    gram = X if isinstance(X, Gram) else Gram.from_data(X)
    found = memberships(labels, gram.n).shape[1]
    K = found if n_clusters is None else check_integer(n_clusters, "n_clusters", 1)
    if not found <= K <= gram.n:
        raise ValueError(
            f"n_clusters must lie between the {found} distinct labels and n_samples={gram.n}, got {n_clusters}."
        )
    problem, inertia = KMeansSDP(gram, K), kmeans_objective(gram, labels)

    def is_proven(progress: Progress) -> bool:
        return inertia - inertia_bound(gram, progress.upper) <= tol * inertia

    explained = max(gram.trace - inertia, np.finfo(float).tiny)
    start = None if problem.is_trivial else lloyd_iterate(problem, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what remains open is what this function reports
        solution = solve(
            problem,
            # An error of tol in the inertia is this one in the value of the program.
            tol=min(tol * inertia / explained, 1.0),
            grade=grade,
            max_iter=max_iter,
            max_seconds=max_seconds,
            start=start,
            callback=is_proven,
        )
    proof = solution.certificate
    bound = min(inertia_bound(gram, proof.upper), inertia)
    return KMeansCertificate(inertia, bound, proof.grade, K, solution.status, solution.seconds)


def inertia_bound(gram: Gram, upper: float) -> float:
    """The least inertia that an upper bound on ``<D, Q>`` allows, ``tr D`` rounded down; 0 where nothing is known."""
    if math.isinf(upper):
        return 0.0
    rounding = 4 * gram.n * UNIT_ROUNDOFF * abs(gram.trace) + gram.n * gram.forming_error
    return max(0.0, gram.trace - rounding - upper)
