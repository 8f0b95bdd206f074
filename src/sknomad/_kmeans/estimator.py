"""`CertifiedKMeans`: k-means that says how much better any clustering could be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._certificate.upper import GRADES
from .._files.models import Saveable
from .._numerics.arrays import Array
from .._numerics.exact_input import check_exact
from .._numerics.validation import check_choice, check_finite, check_integer, check_real
from .._points.point import Point
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.loop import Limits
from .._solving.options import SolveOptions
from .._solving.rough import rough_iterate
from .._solving.solution import Status
from ..solvers import SoftAssignment
from .labels import Clustering, best_clustering, cluster_means, labels_of_data, labels_of_point
from .proof import KMeansCertificate, check_cuts_option, prove

# Soft assignments are rounded to labels, so they need no more accuracy than this.
SOFT_IMPROVEMENT = 1e-4
# They end by themselves long before.
MOST_SOFT_STEPS = 10**6


class CertifiedKMeans(Saveable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means clustering with a proven bound on how much better any clustering could be.

    Labels come from k-means++ starts, from soft assignments and from the K-means SDP itself, rounded in several ways;
    each is polished by Lloyd's algorithm and by exchanges of single points, and the best is kept. The SDP then proves
    a lower bound on the inertia of every clustering into `n_clusters` groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    tol : float, default=1e-3
        Share of the inertia that may be left unproven: the search for a better bound ends there.
    cuts : bool, default=False
        Whether to close what the relaxation leaves open by inequalities that only clusterings obey: often all of it,
        in many times the time. Up to 5000 points.
    n_init : int, default=10
        Number of k-means++ starts beside the roundings.
    random_state : int, RandomState instance or None, default=None
        Of those starts and of the roundings; the proof holds whatever it is.
    max_iter : int, default=5000
        Most steps of the solver, and as many again with cuts.
    max_seconds : float, optional
        Most seconds for the proof.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or a solver object.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each point, numbered in the order of first appearance.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Means of the clusters. Fewer where the points have fewer distinct values.
    inertia_ : float
        Sum of squared distances of the points to their centres.
    lower_bound_ : float
        No clustering into `n_clusters` groups has an inertia below this.
    gap_ : float
        ``(inertia_ - lower_bound_) / inertia_``.
    certificate_ : KMeansCertificate
        All of it together, with the multipliers that prove it.
    n_iter_ : int
        Steps of the solver.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sknomad import CertifiedKMeans
    >>> model = CertifiedKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.labels_.tolist(), model.inertia_, model.gap_ <= 1e-3
    ([0, 0, 1, 1], 1.0, True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tol: float = 1e-3,
        cuts: bool = False,
        n_init: int = 10,
        random_state: Any = None,
        max_iter: int = 5000,
        max_seconds: float | None = None,
        grade: str = "eigen",
        solver: Any = "auto",
    ):
        self.n_clusters = n_clusters
        self.tol = tol
        self.cuts = cuts
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
        self.solver = solver

    def fit(self, X: Any, y: Any = None) -> CertifiedKMeans:
        """Cluster `X` and prove how good the clustering is.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        CertifiedKMeans
            The fitted estimator.
        """
        K, n_init = check_integer(self.n_clusters, "n_clusters", 1), check_integer(self.n_init, "n_init", 1)
        tol = check_real(self.tol, "tol", 0, 1, "a real number in [0, 1]")
        check_choice(self.grade, "grade", GRADES)
        X = self._validated(X, reset=True)
        if X.shape[0] < K:
            raise ValueError(f"n_clusters must be at most n_samples={X.shape[0]}, got {K}.")
        check_cuts_option(self.cuts, X.shape[0])
        random, gram = check_random_state(self.random_state), Gram.from_data(X)
        X_centred = gram.factor if gram.is_factored else gram.sparse
        problem = KMeansSDP(gram, K)

        clustering = best_clustering(gram, X_centred, K, [labels_of_data(X_centred, K, n_init, random)])

        def improve(point: Point | None) -> float:
            nonlocal clustering
            if point is not None:
                proposals = [clustering.labels, *labels_of_point(point, X_centred, K, random)]
                clustering = best_clustering(gram, X_centred, K, proposals)
            return clustering.inertia

        improve(_soft_point(problem))
        options = SolveOptions(self.solver, tol, self.max_iter, self.max_seconds, self.grade)
        proof, point, self.n_iter_ = prove(gram, clustering.labels, K, options, cuts=self.cuts, improve=improve)
        if proof.gap > tol:
            improve(point)
        self._keep(X, clustering, proof)
        return self

    def _keep(self, X: Array, clustering: Clustering, proof: KMeansCertificate) -> None:
        bound = min(proof.lower_bound, clustering.inertia)
        labels = clustering.labels.astype(np.int32)
        is_proven = clustering.inertia - bound <= self.tol * clustering.inertia
        status = Status.CERTIFIED if is_proven else proof.status
        self.certificate_ = replace(proof, inertia=clustering.inertia, lower_bound=bound, labels=labels, status=status)
        self.labels_, self.inertia_ = labels, clustering.inertia
        self.lower_bound_, self.gap_ = bound, self.certificate_.gap
        self.cluster_centers_ = cluster_means(X, labels)
        self._n_features_out = len(self.cluster_centers_)

    def predict(self, X: Any) -> Array:
        """Nearest centre of each row of `X`."""
        return np.argmin(self.transform(X), axis=1).astype(np.int32)

    def transform(self, X: Any) -> Array:
        """Distances of the rows of `X` to the centres, shape (n_samples, n_clusters)."""
        check_is_fitted(self)
        return euclidean_distances(self._validated(X, reset=False), self.cluster_centers_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances of the rows of `X` to their nearest centres."""
        return -float(np.sum(np.min(self.transform(X), axis=1) ** 2))

    def _validated(self, X: Any, *, reset: bool) -> Array:
        # Two points make a problem; one is enough to be told where it belongs.
        table = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=reset,
            ensure_all_finite=False, ensure_min_samples=2 if reset else 1,
        )  # fmt: skip
        check_finite(table, "X")
        if reset:  # centres are in the units of X: what cannot be represented there is refused
            check_exact(X, table, "X")
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _soft_point(problem: KMeansSDP) -> Point | None:
    """The soft assignments that their own solver ends with; None where there is nothing to solve."""
    if problem.is_trivial:
        return None
    solver = SoftAssignment(improvement=SOFT_IMPROVEMENT, max_growth=0)
    return rough_iterate(problem, solver, Limits(MOST_SOFT_STEPS, math.inf))[0].point
