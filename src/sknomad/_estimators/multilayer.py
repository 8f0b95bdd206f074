"""`MultiLayerNOMAD`: NOMAD applied to its own answer with falling ``K``, which sieves manifolds into clusters."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin

from .._certificate.iterate import Iterate
from .._files.models import Saveable
from .._manifolds.frames import COORDINATES
from .._manifolds.linkage import LinkageTree, cut_deepest, linkage_tree
from .._manifolds.search import RecordedChoice, search_parts
from .._numerics.arrays import Array, Data
from .._numerics.threads import suitable_threads
from .._numerics.validation import check_choice, check_integer
from .._program.gram import Gram
from .._program.inputs import METRICS, make_gram, read_table
from .._program.problem import KMeansSDP
from .._solving.budget import SEARCH_SHARE, Budget
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.run_state import Progress
from .._solving.solution import Solution, Status, raise_if_interrupted
from ..metrics import hardness
from ..solvers import Solver
from .layer_files import LayerFiles
from .layers import FittedLayers, make_layer
from .parameters import check_outlier_threshold
from .schedule import check_count, check_schedule, halving_schedule

# A layer is a hard clustering when |Q|_F^2 is at least this share of tr Q: about as close as a gap of 1e-3 gets.
HARD = 0.995
# Up to this many points a layer starts from the last one; beyond, soft assignments are the better start.
WARM_BELOW = 400
# Seconds that reading the tree of a layer takes for each pair of points: kept back where time is limited.
SECONDS_PER_PAIR = 2e-7


class MultiLayerNOMAD(Saveable, ClassNamePrefixFeaturesOutMixin, FittedLayers, ClusterMixin, BaseEstimator):
    """Sieve manifolds into clusters by NOMAD layer upon layer, each on the affinity that the last one learned.

    ``Q_1 = NOMAD(X X', K_1)``, then ``Q_2 = NOMAD(Q_1, K_2)`` and so on with falling ``K``. The first layer learns
    local neighbourhoods, the following ones widen them within each manifold, and the last has one block per cluster.

    Parameters
    ----------
    schedule : "auto" or sequence of float, default="auto"
        ``K`` of each layer, not increasing. "auto" chooses the first ``K`` and the number of clusters without labels,
        see ``docs/automatic_choice.md``; ``K`` is then halved from layer to layer down to that number.
    n_clusters : int, optional
        The number of clusters, if known. None leaves it to the data, which may answer one; with a given schedule, to
        the last layer: the number of parts that persists over the widest range of similarities.
    allow_single_cluster : bool, default=True
        Whether an automatic schedule may find a single cluster; False where it is known that there are several.
    outlier_threshold : float, optional
        Label points -1 whose `outlier_scores_` are higher, such as 0.5; None keeps all in their clusters.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
        What `X` is: data, a positive semidefinite kernel matrix, or a distance matrix.
    n_components : int, default=2
        Dimension of the embedding.
    coordinates : {"isometric", "spectral"}, default="isometric"
        Of the embedding: each cluster laid flat, in units of ``X``, or the leading eigenvectors of its block of the
        first layer's ``Q``.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, or a solver object.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof of each layer, see `certify`.
    tol : float, default=1e-3
        Certified relative gap of each layer.
    max_iter : int, default=5000
        Most solver steps of each layer.
    max_seconds : float, optional
        Most seconds of all of `fit`, the automatic choice included, to within one step of the solver; each layer gets
        an equal share of what is left.
    checkpoint : path, optional
        Where a long run is kept, see `solve`: files of this name and the layer's number. The same call goes on from
        them after a stop, and only the automatic choice is made again.
    callback : callable, optional
        Called with a `Progress` after every step of every layer; returning True stops.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each point; -1 for outliers above `outlier_threshold`.
    outlier_scores_ : array of shape (n_samples,)
        In [0, 1]: the share of the neighbours of a typical point of its cluster that each one lacks in the first layer.
    n_clusters_ : int
        Their number.
    embedding_ : array of shape (n_samples, n_components)
        Coordinates of each point along its manifold: those of the first layer, each cluster by itself.
    map_ : array of shape (n_samples, 2)
        Each point on one plane of all clusters: laid flat, at one scale, none over another; see ``docs/pictures.md``.
    order_ : array of shape (n_samples,)
        Position in [0, 1] along a one-dimensional cluster: the share of its points that come before. NaN for outliers.
    is_closed_ : array of shape (n_clusters,)
        Whether each cluster is a curve that closes on itself.
    layers_ : list of Layer
        ``K``, ``Q``, certificate and components of each layer solved.
    schedule_ : list of float
        ``K`` of each layer solved: shorter than planned when a layer was a hard clustering already.
    confidence_ : float
        Of an automatic schedule: the share of data like these on which the number was right (with `n_clusters` given,
        on which that division was); NaN where the schedule was given.
    search_ : Search or None
        Of an automatic schedule: the parts at every ``K`` and prominence looked at, which `plot.tree` draws.
    n_iter_ : int
        Solver steps of all layers.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from sknomad import MultiLayerNOMAD
    >>> from sknomad.datasets import linked_rings
    >>> X, truth = linked_rings(80)
    >>> adjusted_rand_score(truth, MultiLayerNOMAD([8, 4, 2]).fit(X).labels_)
    1.0
    """

    def __init__(
        self,
        schedule: str | Iterable[float] = "auto",
        *,
        n_clusters: int | None = None,
        allow_single_cluster: bool = True,
        outlier_threshold: float | None = None,
        metric: str = "euclidean",
        n_components: int = 2,
        coordinates: str = "isometric",
        solver: str | Solver = "auto",
        grade: str = "eigen",
        tol: float = 1e-3,
        max_iter: int = 5000,
        max_seconds: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callback | None = None,
    ):
        self.schedule = schedule
        self.n_clusters = n_clusters
        self.allow_single_cluster = allow_single_cluster
        self.outlier_threshold = outlier_threshold
        self.n_components = n_components
        self.coordinates = coordinates
        self.solver = solver
        self.metric = metric
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
        self.checkpoint = checkpoint
        self.callback = callback

    def fit(self, X: Data, y: object = None) -> MultiLayerNOMAD:
        """Solve all layers for `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            Data, or what `metric` says.
        y : ignored

        Returns
        -------
        MultiLayerNOMAD
            The fitted estimator.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. If a layer had been begun, the model has kept what the layers so far tell, with all fitted
            attributes; if not, it is as it was before.
        """
        check_choice(self.metric, "metric", METRICS)
        check_choice(self.coordinates, "coordinates", COORDINATES)
        check_integer(self.n_components, "n_components", 1)
        outliers_from = check_outlier_threshold(self.outlier_threshold)
        budget = Budget.of(self.max_seconds)
        gram = make_gram(read_table(self, X, reset=True), self.metric)
        budget = budget.without(SECONDS_PER_PAIR * gram.n**2)
        count = None if self.n_clusters is None else check_count(self.n_clusters, gram.n)
        choice = None
        if isinstance(self.schedule, str):
            check_choice(self.schedule, "schedule", ("auto",))
            search = budget.share(SEARCH_SHARE)
            choice = search_parts(
                gram, n_parts=count, allow_single=self.allow_single_cluster, callback=self.callback, budget=search
            )
            schedule = halving_schedule(choice.K, choice.n_parts)
        else:
            schedule = check_schedule(self.schedule, gram.n)
        with suitable_threads(gram.n):
            solutions, trees = self._solve_layers(gram, schedule, budget)
            labels = self._clusters(choice, trees, count)
            self._read_first_layer(solutions[0], trees[0], labels, outliers_from)
        self.layers_ = [make_layer(solution, tree) for solution, tree in zip(solutions, trees, strict=True)]
        self.schedule_ = [layer.K for layer in self.layers_]
        self.confidence_ = float("nan") if choice is None else choice.confidence
        self.search_ = None if choice is None else choice.search
        self.n_clusters_ = int(labels.max()) + 1
        self.n_iter_ = sum(solution.n_iter for solution in solutions)
        raise_if_interrupted(solutions[-1].status)
        return self

    def _clusters(self, choice: RecordedChoice | None, trees: list[LinkageTree], count: int | None) -> Array:
        """The parts that were chosen; where a schedule or a number was given instead, those of the layers."""
        if choice is not None and choice.was_found:
            return choice.labels
        if count is None:
            return trees[-1].cut(trees[-1].clearest())
        if choice is not None:
            warnings.warn(
                f"n_clusters={count}: the data show no division into so many parts, so that the links of the deepest "
                "layer were cut where they are weakest. Leave n_clusters out to see which number they show.",
                UserWarning,
                stacklevel=3,
            )
        return cut_deepest(trees, count)

    def fit_transform(self, X: Data, y: object = None) -> Array:
        """Fit to `X` and return `embedding_`."""
        return self.fit(X).embedding_

    def fit_predict(self, X: Data, y: object = None) -> Array:
        """Fit to `X` and return `labels_`."""
        return self.fit(X).labels_

    def _solve_layers(
        self, gram: Gram, schedule: list[float], budget: Budget
    ) -> tuple[list[Solution], list[LinkageTree]]:
        """Solve layer after layer until schedule or time is used up, a layer is hard, or somebody asks to stop.

        Of the time left the solver of a layer gets its share, or the first layers would leave none for those that bring
        the clusters, and one share is left for reading. A layer is not begun if all around the solver's work on the
        last one has taken longer than what is left.
        """
        solutions: list[Solution] = []
        trees: list[LinkageTree] = []
        watch, files = _Watch(self.callback), LayerFiles(self.checkpoint)
        for position, K in enumerate(schedule):
            began, time_for_it = budget.elapsed, budget.share(1 / (len(schedule) - position + 1)).max_seconds
            # The last layer is to be a hard clustering, so its points are best as near to the optimum as they come.
            is_last = position == len(schedule) - 1
            options = SolveOptions(self.solver, self.tol, self.max_iter, time_for_it, self.grade, smooth=not is_last)
            start = Iterate(solutions[-1].point.with_trace(K)) if solutions and gram.n <= WARM_BELOW else None
            hear = watch if self.callback is not None else None
            solution = options.solve(
                KMeansSDP(gram, K), start=start, callback=hear, checkpoint=files.checkpoint(position)
            )
            solutions.append(solution)
            trees.append(linkage_tree(solution.point.unmixed, None if solutions[1:] else gram))
            if watch.stopped or solution.status is Status.INTERRUPTED or budget.is_spent:
                break
            if hardness(solution.point.unmixed.dense()) >= HARD:
                break
            gram = Gram.from_kernel(files.affinity(position + 1, solution.Q), allow_indefinite=True)
            if budget.left < budget.elapsed - began - solution.seconds:
                break
        return solutions, trees


class _Watch:
    """A callback that remembers whether it asked to stop."""

    def __init__(self, callback: Callback | None):
        self.callback, self.stopped = callback, False

    def __call__(self, progress: Progress) -> bool:
        assert self.callback is not None
        self.stopped = bool(self.callback(progress))
        return self.stopped
