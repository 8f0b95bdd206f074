"""`NOMAD`: the estimator, from data to manifolds and their coordinates, with the certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from ._arrays import Array
from ._embedding import embed
from ._gram import Gram
from ._manifolds import find_manifolds
from ._problem import KMeansSDP
from ._solution import Solution
from ._solve import solve
from ._validation import check_choice, check_finite, check_integer, check_K, check_real

METRICS = ("euclidean", "precomputed", "precomputed_distance")


class NOMAD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Separate and unroll manifolds by the nonnegative K-means SDP, with a proven optimality gap.

    Solves ``max <D, Q>`` over ``Q 1 = 1``, ``tr Q = K``, ``Q`` psd, ``Q >= 0``. The solution is a learned kernel of
    about ``n/K`` neighbours per point: its connected components are the manifolds, its leading eigenvectors their
    coordinates. No kernel, no neighbour graph, no random start.

    Parameters
    ----------
    K : float or "auto", default="auto"
        Trace of ``Q``: about ``n/K`` neighbours per point. More than the number of manifolds; larger for strongly
        curved ones, smaller for noisy ones. "auto" is ``n_samples / 12`` between 2 and 32, and at most `n_samples`.
    n_components : int, default=2
        Dimension of the embedding.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or a solver object.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
        What `X` is: data, a positive semidefinite kernel matrix, or a distance matrix.
    tol : float, default=1e-3
        Certified relative gap at which to stop.
    threshold : float, default=1e-2
        Entries of ``Q`` above this share of the largest connect two points.
    max_iter : int, default=5000
        Most solver steps.
    max_seconds : float, optional
        Most seconds.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    callback : callable, optional
        Called with a `Progress` after every step; returning True stops.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Manifold of each point.
    embedding_ : array of shape (n_samples, n_components)
        Coordinates of each point; every manifold has its own coordinate system.
    affinity_ : array of shape (n_samples, n_samples)
        The feasible ``Q``.
    certificate_ : Certificate
        Proven bounds on the optimum, in units of ``X`` squared.
    K_ : float
        The trace used.
    n_iter_ : int
        Solver steps taken.
    solution_ : Solution
        The full answer, with its history.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> X, truth = two_rings(100)
    >>> model = NOMAD(K=16).fit(X)
    >>> sorted(set(zip(truth.tolist(), model.labels_.tolist())))
    [(0, 0), (1, 1)]
    >>> model.certificate_.gap <= 1e-3
    True
    """

    def __init__(
        self,
        K: Any = "auto",
        *,
        n_components: int = 2,
        solver: Any = "auto",
        metric: str = "euclidean",
        tol: float = 1e-3,
        threshold: float = 1e-2,
        max_iter: int = 5000,
        max_seconds: float | None = None,
        grade: str = "eigen",
        callback: Any = None,
    ):
        self.K = K
        self.n_components = n_components
        self.solver = solver
        self.metric = metric
        self.tol = tol
        self.threshold = threshold
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> NOMAD:
        """Solve the program for `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            Data, or what `metric` says.
        y : ignored

        Returns
        -------
        NOMAD
            The fitted estimator.
        """
        check_choice(self.metric, "metric", METRICS)
        n_components = check_integer(self.n_components, "n_components", 1)
        threshold = check_real(self.threshold, "threshold", 0, 1, "a real number in [0, 1]")
        gram = self._make_gram(X)
        K = automatic_K(gram.n) if isinstance(self.K, str) and self.K == "auto" else check_K(self.K, gram.n)
        self.solution_: Solution = solve(
            KMeansSDP(gram, K),
            self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
            callback=self.callback,
            grade=self.grade,
        )
        self.K_ = K
        # The mixing that makes Q feasible touches every entry, so components are read off the point before it.
        self.labels_ = find_manifolds(self.solution_.point.unmixed, threshold)
        self.embedding_ = embed(self.solution_.point, n_components, self.labels_)
        self.affinity_ = self.solution_.Q
        self.certificate_ = self.solution_.certificate
        self.n_iter_ = self.solution_.n_iter
        self._n_features_out = n_components
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit to `X` and return `embedding_`."""
        return self.fit(X).embedding_

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit to `X` and return `labels_`."""
        return self.fit(X).labels_

    def _make_gram(self, X: Any) -> Gram:
        if isinstance(X, str | bytes):
            raise TypeError(f"X must be a table of real numbers, got a {type(X).__name__}. Load the file first.")
        try:
            X = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
            )
        except (TypeError, ValueError) as error:
            raise type(error)(f"X must be a table of real numbers with at least 2 rows: {error}") from error
        check_finite(X, "X")
        if self.metric == "precomputed":
            return Gram.from_kernel(X)
        if self.metric == "precomputed_distance":
            return Gram.from_distances(X)
        return Gram.from_data(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric in METRICS[1:]
        return tags


def automatic_K(n_samples: int) -> float:
    """About twelve neighbours per point: ``n_samples / 12`` between 2 and 32, and at most `n_samples`."""
    return float(min(max(math.floor(n_samples / 12), 2), 32, n_samples))
