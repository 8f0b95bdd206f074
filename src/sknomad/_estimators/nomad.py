"""`NOMAD`: the estimator, from data to manifolds and their coordinates, with the certificate."""

from __future__ import annotations

import math
import os
from dataclasses import replace

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin

from .._certificate.iterate import Iterate
from .._files.models import Saveable
from .._manifolds.consensus import Consensus, solve_around
from .._manifolds.path import begins_best_anew
from .._manifolds.search import RecordedChoice, search_parts
from .._numerics.arrays import CAN_DISPATCH, Array, Data, Table, given_template, like_given
from .._numerics.dask_blocks import is_dask
from .._numerics.threads import limited_threads, suitable_threads
from .._numerics.validation import Seed, check_K
from .._program.duplicates import Groups, read_groups
from .._program.inputs import make_merged_gram, read_table
from .._program.problem import KMeansSDP
from .._solving.budget import SEARCH_SHARE, Budget
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.solution import raise_if_interrupted
from ..solvers import Solver, configured, takes_weights
from .callbacks import CallbackSupportMixin, FitTask, LineWriter, listen, with_callbacks
from .fitted import FittedManifolds
from .parameters import check_outlier_threshold, check_parameters
from .reading import place_absent, read_solution
from .streamed import fit_streamed


class NOMAD(
    Saveable, ClassNamePrefixFeaturesOutMixin, CallbackSupportMixin, FittedManifolds, ClusterMixin, BaseEstimator
):
    """Separate and unroll manifolds by the nonnegative K-means SDP, with a proven optimality gap.

    Solves ``max <D, Q>`` over ``Q 1 = 1``, ``tr Q = K``, ``Q`` psd, ``Q >= 0``. The solution is a learned kernel of
    about ``n/K`` neighbours per point: its connected components are the manifolds, its leading eigenvectors their
    coordinates. No kernel, no neighbour graph.

    Parameters
    ----------
    K : float or "auto", default="auto"
        Trace of ``Q``: about ``n/K`` neighbours per point. More than the number of manifolds; larger for strongly
        curved ones, smaller for noisy ones. "auto" first finds the manifolds by looks at several ``K``, the same that
        `MultiLayerNOMAD` finds, then takes the largest neighbourhoods their shape allows: ``docs/automatic_choice.md``.
    n_components : int, default=2
        Dimension of the embedding.
    coordinates : {"isometric", "spectral"}, default="isometric"
        Of the embedding: each manifold laid flat, in units of ``X``, or the leading eigenvectors of its block of ``Q``.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or a solver object.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
        What `X` is: data, a positive semidefinite kernel matrix, or a distance matrix.
    tol : float, default=1e-3
        Certified relative gap at which to stop.
    threshold : float, default=0.1
        Similarities ``Q_ij / sqrt(Q_ii Q_jj)`` above this connect two points. With a given ``K`` connected points are
        one manifold.
    allow_single_cluster : bool, default=True
        Whether ``K="auto"`` may find a single manifold; False where it is known that there are several.
    min_component_size : int or "auto", default="auto"
        Components of fewer points are no manifolds: their points are labelled -1. A point of weight three is three.
        "auto" is a fiftieth of the points, or one if no component has so many.
    outlier_threshold : float, optional
        Label points -1 whose `outlier_scores_` are higher, such as 0.5; None keeps all in their manifolds.
    consensus : int, default=1
        Odd number of neighbouring ``K`` over whose solutions ``Q`` is averaged, see ``docs/consensus.md``.
    affinity : {"dense", "sparse"}, default="dense"
        Form of `affinity_`: the whole feasible ``Q``, or a SciPy CSR matrix of the entries that connect points.
    max_iter : int, default=5000
        Most solver steps.
    max_seconds : float, optional
        Most seconds of all of `fit`, the search for ``K`` included, to within one step of the solver.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    warm_start : bool, default=False
        Begin where the last fit ended, if it had as many points.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where a solver chosen by name computes.
    n_threads : int, optional
        Most threads of the linear algebra libraries during `fit` and `transform`; the number before is restored. None
        changes nothing.
    random_state : int, RandomState or None, default=0
        Seed of the starting cells of soft assignments, which "auto" uses above 400 points. Nothing else is random.
    callback : callable, optional
        Called with a `Progress` after every step; returning True stops. From scikit-learn 1.9 on, `set_callbacks`
        takes its callbacks too.
    checkpoint : path, optional
        File that keeps the state of the solver, see `solve`: a fit that was cut short goes on from it.
    verbose : int, default=0
        Above zero, write a line to stderr whenever a bound moves.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Manifold of each point, numbered from the largest to the smallest; -1 in components below
        `min_component_size`, and for outliers above `outlier_threshold`.
    outlier_scores_ : array of shape (n_samples,)
        In [0, 1]: the share of the neighbours of a typical point of its manifold that each one lacks.
    embedding_ : array of shape (n_samples, n_components)
        Coordinates of each point; every manifold has its own coordinate system.
    map_ : array of shape (n_samples, 2)
        Each point on one plane of all manifolds: laid flat, at one scale, none over another; see ``docs/pictures.md``.
    order_ : array of shape (n_samples,)
        Position in [0, 1] along a one-dimensional manifold: the share of its points that come before. NaN where the
        label is -1.
    is_closed_ : array of shape (n_manifolds,)
        Whether each manifold is a curve that closes on itself.
    closedness_ : array of shape (n_manifolds,)
        How nearly it does: 1 where it closes, else 1 less twice the share of a circle between its ends; 0 on arcs.
    circular_coordinates_ : array of shape (n_samples,)
        Angle in [0, 2 pi) along manifolds that close, or have a closedness of 3/4 at least; NaN on the others.
    memberships_ : array of shape (n_samples, n_manifolds)
        Share of each point's row of ``Q`` on every manifold, made on request.
    affinity_ : array or CSR matrix of shape (n_samples, n_samples)
        The feasible ``Q``, made on request, in the form that `affinity` says.
    n_manifolds_ : int
        Number of manifolds.
    confidence_ : float
        With ``K="auto"``: the share of data like these on which the number of manifolds was right; NaN otherwise.
    search_ : Search or None
        With ``K="auto"``: the parts at every ``K`` and prominence looked at, which `plot.tree` draws.
    certificate_ : Certificate
        Proven bounds on the optimum, in units of ``X`` squared.
    certificates_ : list of Certificate
        Those of all ``K`` that `consensus` averages over, ascending.
    K_ : float
        The trace used.
    n_iter_ : int
        Solver steps taken.
    solution_ : Solution
        The full answer, with its history. Equal points are one point in it, with their number as weight, see
        ``docs/weights.md``; all other attributes have an entry for each point given.
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
    >>> model.predict([[0.0, 1.02], [0.5, 0.0]]), model.is_closed_
    (array([0, 1]), array([ True,  True]))
    """

    _takes_other_arrays = CAN_DISPATCH

    def __init__(
        self,
        K: float | str = "auto",
        *,
        n_components: int = 2,
        coordinates: str = "isometric",
        solver: str | Solver = "auto",
        metric: str = "euclidean",
        tol: float = 1e-3,
        threshold: float = 0.1,
        allow_single_cluster: bool = True,
        min_component_size: int | str = "auto",
        outlier_threshold: float | None = None,
        consensus: int = 1,
        affinity: str = "dense",
        max_iter: int = 5000,
        max_seconds: float | None = None,
        grade: str = "eigen",
        warm_start: bool = False,
        device: str = "auto",
        n_threads: int | None = None,
        random_state: Seed = 0,
        callback: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ):
        self.K = K
        self.n_components = n_components
        self.coordinates = coordinates
        self.solver = solver
        self.metric = metric
        self.tol = tol
        self.threshold = threshold
        self.allow_single_cluster = allow_single_cluster
        self.min_component_size = min_component_size
        self.outlier_threshold = outlier_threshold
        self.consensus = consensus
        self.affinity = affinity
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
        self.warm_start = warm_start
        self.device = device
        self.n_threads = n_threads
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Data, y: object = None, sample_weight: ArrayLike | None = None) -> NOMAD:
        """Solve the program for `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            Data, or what `metric` says. Of a Dask array or data frame, see ``docs/scaling.md``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights, any numbers >= 0. A weight of three is three equal points, at the cost of one; points of weight
            zero take no part and are placed like new ones.

        Returns
        -------
        NOMAD
            The fitted estimator.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. If the solver had begun, the model has kept the best feasible answer by then, with all fitted
            attributes and the status INTERRUPTED in `solution_`; if not, it is as it was before.
        """
        check_parameters(self)
        if is_dask(X):
            return fit_streamed(self, X, sample_weight)
        budget, choice = Budget.of(self.max_seconds), None
        with limited_threads(self.n_threads):
            table = read_table(self, X, reset=True)
            solver = configured(self.solver, self.tol, self.device, self.random_state)
            groups = read_groups(sample_weight, table, self.metric, takes_weights=takes_weights(solver))
            gram = make_merged_gram(table, self.metric, groups)
            if isinstance(self.K, str) and self.K == "auto":
                search, may_be_one = budget.share(SEARCH_SHARE), self.allow_single_cluster
                choice = search_parts(gram, allow_single=may_be_one, callback=self.callback, budget=search)
            n_present = int(table.shape[0]) if groups is None else len(groups.present)
            K = check_K(self.K, n_present) if choice is None else choice.K
            task = FitTask(self, X, self.max_iter)
            options = SolveOptions(solver, self.tol, self.max_iter, None, self.grade)
            # From as many on as there are distinct points every one of them is its own neighbour only.
            problem = KMeansSDP(gram, min(K, gram.n))
            hear = listen(self.callback, LineWriter(type(self).__name__) if self.verbose else None, task.listener)
            found = solve_around(
                options, problem, self.consensus,
                budget=budget, start=self._start(problem, options.solver), callback=hear, checkpoint=self.checkpoint,
            )  # fmt: skip
            with suitable_threads(gram.n):
                self._read(found, groups, K, choice, table, given_template(X))
            task.end()
        raise_if_interrupted(found.status)
        return self

    def _read(
        self, found: Consensus, groups: Groups | None, K: float, choice: RecordedChoice | None,
        table: Table, template: Array | None,
    ) -> None:  # fmt: skip
        """Set the fitted attributes, in the array library of `template`: all at the end, so that none are left half."""
        solution = found.solution
        reading = read_solution(
            replace(solution, point=found.point),
            groups,
            None if choice is None else choice.labels,
            self,
            outlier_threshold=check_outlier_threshold(self.outlier_threshold),
        )
        if groups is not None:
            place_absent(reading, groups, table, pairwise=self._is_pairwise)
        self.solution_, self._point, self._groups = solution, found.point, groups
        self.certificates_ = found.certificates
        self.confidence_ = math.nan if choice is None else choice.confidence
        self.search_ = None if choice is None else choice.search
        self.K_, self.n_iter_, self.certificate_ = K, solution.n_iter, solution.certificate
        self._names, self._extension, self._atlas = reading.names.tolist(), reading.extension, reading.atlas
        self.n_manifolds_, self._n_features_out = len(reading.is_closed), self.n_components
        self.labels_ = like_given(reading.labels, template)
        self.outlier_scores_ = like_given(reading.outlier_scores, template)
        self.embedding_ = like_given(reading.coordinates[:, : self.n_components], template)
        self.map_ = like_given(reading.atlas.place(reading.parts, reading.coordinates), template)
        self.order_ = like_given(reading.order, template)
        self.circular_coordinates_ = like_given(reading.angles, template)
        self.is_closed_ = like_given(reading.is_closed, template)
        self.closedness_ = like_given(reading.closedness, template)

    def fit_transform(self, X: Data, y: object = None, sample_weight: ArrayLike | None = None) -> Array:
        """Fit to `X` and return `embedding_`."""
        return self.fit(X, sample_weight=sample_weight).embedding_

    def fit_predict(self, X: Data, y: object = None, sample_weight: ArrayLike | None = None) -> Array:
        """Fit to `X` and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def _start(self, problem: KMeansSDP, solver: str | Solver) -> Iterate | None:
        """Where to begin: the last fit's end, if asked for and of the same size."""
        last = getattr(self, "solution_", None) if self.warm_start else None
        if last is None or last.problem.n != problem.n:
            return None
        return None if last.problem.K != problem.K and begins_best_anew(solver, problem.n) else last.iterate
