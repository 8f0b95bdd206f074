"""`MultiLayerNOMAD`: NOMAD applied to its own answer with falling ``K``, which sieves manifolds into clusters."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.metrics import adjusted_rand_score

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._files.models import Saveable
from .._files.records import saved
from .._manifolds.choice import SAME, Choice, choose
from .._manifolds.extend import extend
from .._manifolds.linkage import LinkageTree, linkage_tree
from .._numerics.arrays import Array, Data
from .._numerics.validation import check_choice, check_integer, check_K
from .._program.gram import Gram
from .._program.inputs import METRICS, make_gram, read_table
from .._program.problem import KMeansSDP
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.run_state import Progress
from .._solving.solution import Solution
from ..metrics import hardness
from ..solvers import Solver
from .fitted import PlacesNewPoints

if TYPE_CHECKING:
    from sklearn.utils import Tags

# Points of one component of a layer are linked by similarities above a hundredth.
LINKED = 2.0
# A layer is a hard clustering when |Q|_F^2 is at least this share of tr Q: about as close as a gap of 1e-3 gets.
HARD = 0.995
# Up to this many points a layer starts from the last one; beyond, soft assignments are the better start.
WARM_BELOW = 400


@saved
@dataclass(frozen=True)
class Layer:
    """One layer: the program it solved and what it found.

    Examples
    --------
    >>> from sknomad import MultiLayerNOMAD
    >>> from sknomad.datasets import two_rings
    >>> model = MultiLayerNOMAD([16, 8, 4, 2]).fit(two_rings(60)[0])
    >>> [layer.K for layer in model.layers_]
    [16.0, 8.0, 4.0, 2.0]
    """

    K: float  # trace of Q
    Q: Array  # (n, n), the feasible affinity, which is the next layer's Gram matrix
    certificate: Certificate  # bounds on this layer's optimum
    labels: Array  # (n,) its components
    n_components_found: int  # their number


class MultiLayerNOMAD(Saveable, ClassNamePrefixFeaturesOutMixin, PlacesNewPoints, ClusterMixin, BaseEstimator):
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
    n_components : int, default=2
        Dimension of the embedding.
    solver : str or solver, default="auto"
        A key of `sknomad.solvers.SOLVERS`, "auto", or a solver object.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
        What `X` is: data, a positive semidefinite kernel matrix, or a distance matrix.
    tol : float, default=1e-3
        Certified relative gap of each layer.
    max_iter : int, default=5000
        Most solver steps of each layer.
    max_seconds : float, optional
        Most seconds of all layers together, the automatic choice not counted.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of proof, see `certify`.
    callback : callable, optional
        Called with a `Progress` after every step of every layer; returning True stops.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each point.
    n_clusters_ : int
        Their number.
    embedding_ : array of shape (n_samples, n_components)
        Coordinates of each point along its manifold: those of the first layer, each cluster by itself.
    layers_ : list of Layer
        ``K``, ``Q``, certificate and components of each layer solved.
    schedule_ : list of float
        ``K`` of each layer solved: shorter than planned when a layer was a hard clustering already.
    confidence_ : float
        Of an automatic schedule, between 0.5, undecided, and 1; NaN where the schedule was given.
    n_iter_ : int
        Solver steps of all layers.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sknomad import MultiLayerNOMAD
    >>> from sknomad.datasets import two_rings
    >>> X, truth = two_rings(100)
    >>> model = MultiLayerNOMAD([16, 8, 4, 2]).fit(X)
    >>> sorted(set(zip(truth.tolist(), model.labels_.tolist())))
    [(0, 0), (1, 1)]
    """

    def __init__(
        self,
        schedule: str | Iterable[float] = "auto",
        *,
        n_clusters: int | None = None,
        n_components: int = 2,
        solver: str | Solver = "auto",
        metric: str = "euclidean",
        tol: float = 1e-3,
        max_iter: int = 5000,
        max_seconds: float | None = None,
        grade: str = "eigen",
        callback: Callback | None = None,
    ):
        self.schedule = schedule
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.solver = solver
        self.metric = metric
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.grade = grade
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
        """
        check_choice(self.metric, "metric", METRICS)
        n_components = check_integer(self.n_components, "n_components", 1)
        gram = make_gram(read_table(self, X, reset=True), self.metric)
        count = None if self.n_clusters is None else _check_count(self.n_clusters, gram.n)
        choice = None
        if isinstance(self.schedule, str):
            check_choice(self.schedule, "schedule", ("auto",))
            choice = choose(gram, n_parts=count, callback=self.callback)
            schedule = halving_schedule(choice.K, choice.n_parts)
        else:
            schedule = check_schedule(self.schedule, gram.n)
        solutions = self._solve_layers(gram, schedule)
        trees = [linkage_tree(solution.point.unmixed) for solution in solutions]
        self.layers_ = [_layer(solution, tree) for solution, tree in zip(solutions, trees, strict=True)]
        self.schedule_ = [layer.K for layer in self.layers_]
        self.confidence_ = float("nan") if choice is None else choice.confidence
        if choice is not None and choice.labels.any():
            self.labels_ = follow(choice, trees)
        elif count is None:
            self.labels_ = trees[-1].cut(1 if choice is not None else trees[-1].clearest())
        else:
            self.labels_ = cut_deepest(trees, count)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.embedding_, self._extension = extend(solutions[0], self.metric, self.labels_, n_components)
        self.n_iter_ = sum(solution.n_iter for solution in solutions)
        self._n_features_out = n_components
        return self

    def fit_transform(self, X: Data, y: object = None) -> Array:
        """Fit to `X` and return `embedding_`."""
        return self.fit(X).embedding_

    def fit_predict(self, X: Data, y: object = None) -> Array:
        """Fit to `X` and return `labels_`."""
        return self.fit(X).labels_

    def _solve_layers(self, gram: Gram, schedule: list[float]) -> list[Solution]:
        """Solve layer after layer until schedule or time is used up, a layer is hard, or the callback says so."""
        began = time.perf_counter()
        solutions: list[Solution] = []
        watch = _Watch(self.callback)
        for K in schedule:
            left = None if self.max_seconds is None else max(self.max_seconds - (time.perf_counter() - began), 0.0)
            options = SolveOptions(self.solver, self.tol, self.max_iter, left, self.grade)
            start = Iterate(solutions[-1].point.with_trace(K)) if solutions and gram.n <= WARM_BELOW else None
            hear = watch if self.callback is not None else None
            solution = options.solve(KMeansSDP(gram, K), start=start, callback=hear)
            solutions.append(solution)
            if watch.stopped or left == 0.0 or hardness(solution.point.unmixed.dense()) >= HARD:
                break
            gram = Gram.from_kernel(solution.Q, allow_indefinite=True)
        return solutions

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise
        return tags


class _Watch:
    """A callback that remembers whether it asked to stop."""

    def __init__(self, callback: Callback | None):
        self.callback, self.stopped = callback, False

    def __call__(self, progress: Progress) -> bool:
        assert self.callback is not None
        self.stopped = bool(self.callback(progress))
        return self.stopped


def halving_schedule(K: float, count: int) -> list[float]:
    """From ``K`` by halves down to `count`, which ends it unless it is one: a layer of trace one knows nothing."""
    schedule = [max(K, float(count))]
    while count > 1 and schedule[-1] > count:
        schedule.append(max(schedule[-1] / 2, float(count)))
    return schedule


def check_schedule(schedule: Iterable[object], n: int) -> list[float]:
    """`schedule` as a list of valid ``K``, not increasing."""
    try:
        given = list(schedule)
    except TypeError:
        raise TypeError(
            f'schedule must be "auto" or a sequence of numbers, got {schedule!r} of type {type(schedule).__name__}.'
        ) from None
    if not given:
        raise ValueError("schedule must have at least one K, got none. Pass for instance [16, 8, 4, 2].")
    values = [check_K(K, n) for K in given]
    if any(later > earlier for earlier, later in pairwise(values)):
        raise ValueError(f"schedule must not increase, got {values}. Sort it in descending order.")
    return values


def follow(choice: Choice, trees: list[LinkageTree]) -> Array:
    """The parts of the layer that agrees best with the chosen division, the deepest of equals.

    Should the accurately solved layers all have broken that division up, it is itself the answer.
    """
    cuts = [tree.cut(choice.n_parts) for tree in reversed(trees)]
    agreement = [adjusted_rand_score(choice.labels, labels) for labels in cuts]
    best = int(np.argmax(agreement))
    return cuts[best] if agreement[best] >= SAME else choice.labels


def cut_deepest(trees: list[LinkageTree], count: int) -> Array:
    """Exactly `count` parts, from the deepest layer that still has links enough to tell what belongs together.

    A layer that has fallen into more sets than that does not know how to join them.
    """
    for tree in reversed(trees):
        if int(np.sum(np.isinf(tree.heights) & tree.joins_parts)) < count:
            return tree.cut(count)
    return trees[0].cut(count)


def _layer(solution: Solution, tree: LinkageTree) -> Layer:
    labels = tree.components(LINKED)
    return Layer(solution.problem.K, solution.Q, solution.certificate, labels, int(labels.max()) + 1)


def _check_count(value: object, n: int) -> int:
    count = check_integer(value, "n_clusters", 1)
    if count > n:
        raise ValueError(f"n_clusters must be at most n_samples={n}, got {count}.")
    return count
