"""`CertifiedKMeans`: k-means that says how much better any clustering could be."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._certificate.upper import GRADES
from .._files.models import Saveable
from .._numerics.arrays import Array, Data, Table
from .._numerics.dask_blocks import is_dask
from .._numerics.exact_input import check_exact
from .._numerics.sparse_input import well_formed
from .._numerics.validation import Seed, check_choice, check_finite, check_integer, check_real, refuse_complex
from .._points.point import Point
from .._program.gram import Gram
from .._program.inputs import column_names, refuse_text
from .._program.problem import KMeansSDP
from .._solving.advice import for_a_bound, for_a_smaller_gap, how_it_ended
from .._solving.budget import Budget
from .._solving.loop import Callback, Limits
from .._solving.options import SolveOptions
from .._solving.rough import rough_iterate
from .._solving.solution import Status, raise_if_interrupted
from ..solvers import SoftAssignment, Solver
from .certificate import KMeansCertificate
from .cutting_planes import LARGEST_FOR_CUTS
from .estimator_parts import fit_dask, fit_parts
from .labels import Clustering, best_clustering, cluster_means, labels_of_data, labels_of_point
from .proof import check_cuts_option, prove, unproven

if TYPE_CHECKING:
    from sklearn.utils import Tags

# Soft assignments are rounded to labels, so they need no more accuracy than this.
SOFT_IMPROVEMENT = 1e-4
# They end by themselves long before.
MOST_SOFT_STEPS = 10**6
# The share of a fit's time that they may take, where it is limited.
SOFT_SHARE = 0.25


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
        Most seconds of all of `fit`, to within one step of the solver.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    parts : "auto", int or array-like, optional
        How to divide the points for the proof, see `certify_kmeans`: for more points than the proof of all at once has
        memory or time for. None does not.
    n_jobs : int, optional
        Processes for parts; None is one.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or a solver object.
    checkpoint : path, optional
        What keeps a long proof, see `certify_kmeans`: the same call goes on from it after a stop.
    callback : callable, optional
        Called after every step with a `Progress` whose bounds are those of the best inertia; returning True stops.

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
        Steps of the solver; 1 also where the labels themselves suggested the proof and no step was needed.
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
        random_state: Seed = None,
        max_iter: int = 5000,
        max_seconds: float | None = None,
        grade: str = "eigen",
        parts: str | int | ArrayLike | None = None,
        n_jobs: int | None = None,
        solver: str | Solver = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callback | None = None,
    ):
        self.n_clusters = n_clusters
        self.tol = tol
        self.cuts = cuts
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
        self.parts = parts
        self.n_jobs = n_jobs
        self.solver = solver
        self.checkpoint = checkpoint
        self.callback = callback

    def fit(self, X: Data, y: object = None) -> CertifiedKMeans:
        """Cluster `X` and prove how good the clustering is.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask array or data frame
        y : ignored

        Returns
        -------
        CertifiedKMeans
            The fitted estimator; a `ConvergenceWarning` says so where the gap stayed above `tol`, and what would help.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. Once there were labels, the model has kept the best ones and what is proven of them so far,
            with all fitted attributes; before, it is as it was.
        """
        budget = Budget.of(self.max_seconds)
        K, n_init = check_integer(self.n_clusters, "n_clusters", 1), check_integer(self.n_init, "n_init", 1)
        tol = check_real(self.tol, "tol", 0, 1, "a real number in [0, 1]")
        check_choice(self.grade, "grade", GRADES)
        if is_dask(X):
            fit_dask(self, X, K, n_init, budget)
            return self
        table = self._validated(X, reset=True)
        if table.shape[0] < K:
            raise ValueError(f"n_clusters must be at most n_samples={table.shape[0]}, got {K}.")
        check_cuts_option(self.cuts, table.shape[0])
        if self.parts is not None:
            fit_parts(self, table, K, n_init, budget)
            return self
        random, gram = check_random_state(self.random_state), Gram.from_data(table)
        X_centred = gram.table

        clustering = best_clustering(gram, X_centred, K, [labels_of_data(X_centred, K, n_init, random)])

        def proposals(point: Point) -> Iterator[Array]:
            yield clustering.labels
            for labels in labels_of_point(point, X_centred, K, random):
                yield labels
                if budget.is_spent:
                    return

        def improve(point: Point | None) -> float:
            nonlocal clustering
            if point is not None and not budget.is_spent:
                clustering = best_clustering(gram, X_centred, K, proposals(point))
            return clustering.inertia

        proof, n_iter = unproven(gram, clustering.labels, K, self.grade), 0
        options = SolveOptions(self.solver, tol, self.max_iter, None, self.grade)
        try:
            improve(_soft_point(KMeansSDP(gram, K), budget.share(SOFT_SHARE)))
            proof, point, n_iter = prove(
                gram, clustering.labels, K, options, budget, cuts=self.cuts, improve=improve, callback=self.callback,
                checkpoint=self.checkpoint,
            )  # fmt: skip
            if proof.gap > tol and proof.status is not Status.INTERRUPTED:
                improve(point)
            status = proof.status
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        self._keep(table, clustering, proof, n_iter)
        raise_if_interrupted(status)
        if self.gap_ > tol:
            self._warn(KMeansSDP(gram, K))
        return self

    def _warn(self, problem: KMeansSDP) -> None:
        """Say how far the proof has come and what would bring it further."""
        proof = self.certificate_
        if proof.multipliers is None:
            advice = for_a_bound(problem, self.solver, proof.status)
        elif self.cuts or proof.status is not Status.EXHAUSTED:
            advice = for_a_smaller_gap(problem, proof.status)
        elif problem.n <= LARGEST_FOR_CUTS:
            advice = "Pass cuts=True, which closes what the relaxation leaves open."
        else:
            advice = f"cuts=True closes what the relaxation leaves open, for at most {LARGEST_FOR_CUTS} points."
        self._tell(advice)

    def _tell(self, advice: str) -> None:
        """Warn of a gap that is left, with some advice."""
        proof = self.certificate_
        warnings.warn(
            f"{how_it_ended(proof.status)} with gap {proof.gap:.1e} > tol={self.tol:.1e}: the inertia is "
            f"{proof.inertia:.6g}, and no clustering into {proof.n_clusters} groups has an inertia below "
            f"{proof.lower_bound:.6g}. {advice}",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _keep(self, X: Table, clustering: Clustering, proof: KMeansCertificate, n_iter: int) -> None:
        bound = min(proof.lower_bound, clustering.inertia)
        labels = clustering.labels.astype(np.int32)
        is_proven = clustering.inertia - bound <= self.tol * clustering.inertia
        status = Status.CERTIFIED if is_proven else proof.status
        self.certificate_ = replace(proof, inertia=clustering.inertia, lower_bound=bound, labels=labels, status=status)
        self.labels_, self.inertia_, self.n_iter_ = labels, clustering.inertia, max(n_iter, 1)
        self.lower_bound_, self.gap_ = bound, self.certificate_.gap
        self.cluster_centers_ = cluster_means(X, labels)
        self._n_features_out = len(self.cluster_centers_)

    def predict(self, X: Data) -> Array:
        """Nearest centre of each row of `X`."""
        return np.argmin(self.transform(X), axis=1).astype(np.int32)

    def transform(self, X: Data) -> Array:
        """Distances of the rows of `X` to the centres, shape (n_samples, n_clusters)."""
        check_is_fitted(self)
        return euclidean_distances(self._validated(X, reset=False), self.cluster_centers_)

    def score(self, X: Data, y: object = None) -> float:
        """Minus the sum of squared distances of the rows of `X` to their nearest centres."""
        return -float(np.sum(np.min(self.transform(X), axis=1) ** 2))

    def _validated(self, X: Data, *, reset: bool) -> Table:
        X = well_formed(X, "X")
        # Two points make a problem; one is enough to be told where it belongs.
        try:
            table: Table = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, reset=reset,
                ensure_all_finite=False, ensure_min_samples=2 if reset else 1,
            )  # fmt: skip
        except (TypeError, ValueError):
            refuse_complex(X, "X")
            refuse_text(X)
            raise
        check_finite(table, "X", column_names(X))
        if reset:  # centres are in the units of X: what cannot be represented there is refused
            check_exact(X, table, "X")
        return table

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _soft_point(problem: KMeansSDP, budget: Budget) -> Point | None:
    """The soft assignments that their own solver ends with; None where there is nothing to solve."""
    if problem.is_trivial:
        return None
    solver = SoftAssignment(improvement=SOFT_IMPROVEMENT, max_growth=0)
    return rough_iterate(problem, solver, Limits(MOST_SOFT_STEPS, budget.left))[0].point
