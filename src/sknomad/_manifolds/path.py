"""`nomad_path`: how the solution, its parts and its bounds change with ``K``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.parallel import Parallel, delayed

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._numerics.arrays import Array, Data
from .._numerics.threads import count_of_jobs
from .._numerics.validation import check_choice, check_K
from .._program.gram import Gram
from .._program.inputs import METRICS, make_gram
from .._program.problem import KMeansSDP
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.solution import Solution, raise_if_interrupted
from ..metrics import active_modes
from ..solvers import Auto, Solver
from .linkage import linkage_tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Points are in one part if similarities above a hundredth link them.
LINKED = 2.0


@dataclass(frozen=True)
class NOMADPath:
    """Solutions for several ``K``, in ascending order of ``K``, all arrays with one entry each.

    Parameters
    ----------
    K_values : array of shape (m,)
        The traces.
    certificates : list of Certificate
        Bounds on each optimum.
    labels : array of shape (m, n)
        Parts of each solution: points linked by similarities above a hundredth, sets of fewer than a twentieth of all
        points joined to the part they are most similar to.
    n_components : array of shape (m,)
        Number of parts.
    active_modes : array of shape (m,)
        Number of eigenvalues of ``Q`` of at least ``K/(10 n)``, see `sknomad.metrics.active_modes`.
    persistence : array of shape (m,)
        Decades of ``-log10`` similarity over which there are so many parts, at most 1.6: how clear they are.
    stability : array of shape (m,)
        Adjusted Rand index of the parts with those of the next larger ``K``; NaN at the last.

    Examples
    --------
    >>> from sknomad.datasets import two_rings
    >>> path = nomad_path(two_rings(60)[0], [4, 16])
    >>> bool((path.lower <= path.upper).all()), path.labels.shape
    (True, (2, 60))
    """

    K_values: Array
    certificates: list[Certificate]
    labels: Array
    n_components: Array
    active_modes: Array
    persistence: Array
    stability: Array

    @property
    def lower(self) -> Array:
        """Feasible value at each ``K``."""
        return np.array([proof.lower for proof in self.certificates])

    @property
    def upper(self) -> Array:
        """Bound on the optimum at each ``K``."""
        return np.array([proof.upper for proof in self.certificates])

    @property
    def largest_gap(self) -> float:
        """Largest certified gap of all ``K``."""
        return max(proof.gap for proof in self.certificates)

    def plot(self) -> Figure:
        """Draw bounds, parts, active modes and stability against ``K``; returns the figure."""
        from ..plot.path_panel import draw_path

        return draw_path(self)


def nomad_path(
    X: Data,
    K_values: Iterable[float],
    *,
    solver: str | Solver = "auto",
    metric: str = "euclidean",
    tol: float = 1e-3,
    max_iter: int = 5000,
    max_seconds: float | None = None,
    grade: str = "eigen",
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> NOMADPath:
    """Solve the program for several ``K``, each started from the solution before where that saves steps.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d) or (n, n)
        Data, or what `metric` says.
    K_values : sequence of float
        The traces, in any order.
    solver : str or object, default="auto"
        For each ``K``, as for `solve`; so are the parameters after `metric`.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
        What `X` is: data, a positive semidefinite kernel matrix, or a distance matrix.
    tol : float, default=1e-3
        Certified gap to reach.
    max_iter : int, default=5000
        Most steps.
    max_seconds : float, optional
        Most time.
    grade : {"eigen", "verified"}, default="eigen"
        Strength of the bounds.
    callback : callable, optional
        Called with a `Progress` after every step; a true answer ends this ``K``. Only without `n_jobs`.
    checkpoint : path, optional
        Where to keep the run, a file for each ``K`` with ``-K`` and its value behind this name, see `solve`: a path cut
        short goes on where it was.
    n_jobs : int, optional
        Processes, each with a run of neighbouring ``K``; its first one begins from nothing. None is one.

    Returns
    -------
    NOMADPath
        It plots itself: ``path.plot()``.

    Examples
    --------
    >>> from sknomad import nomad_path
    >>> from sknomad.datasets import two_rings
    >>> path = nomad_path(two_rings(60)[0], [4, 16])
    >>> path.n_components.tolist()
    [1, 2]
    """
    check_choice(metric, "metric", METRICS)
    gram = make_gram(X, metric)
    values = _check_values(K_values, gram.n)
    options = SolveOptions(solver, tol, max_iter, max_seconds, grade)
    count = min(count_of_jobs(n_jobs), len(values))
    if count > 1 and callback is not None:
        raise ValueError(f"callback must be None with several processes, got one with n_jobs={n_jobs}. Leave one out.")
    runs = [[float(K) for K in run] for run in np.array_split(values, count)]
    if count == 1:
        found = _solved(gram, runs[0], options, callback, checkpoint)
    else:
        solved = Parallel(n_jobs=count)(delayed(_solved)(gram, run, options, None, checkpoint) for run in runs)
        found = list(chain.from_iterable(solved))
    labels = np.array([facts.labels for facts in found])
    same = [adjusted_rand_score(one, other) for one, other in pairwise(labels)]
    return NOMADPath(
        K_values=np.array(values),
        certificates=[facts.certificate for facts in found],
        labels=labels,
        n_components=labels.max(axis=1) + 1,
        active_modes=np.array([facts.modes for facts in found]),
        persistence=np.array([facts.persistence for facts in found]),
        stability=np.array([*same, np.nan]),
    )


def _solved(
    gram: Gram,
    values: list[float],
    options: SolveOptions,
    callback: Callback | None,
    checkpoint: str | os.PathLike[str] | None,
) -> list[_Facts]:
    """What is kept of the solutions for some ``K``, each from the one before."""
    found: list[_Facts] = []
    start: Iterate | None = None
    for K in values:
        kept = None if checkpoint is None else f"{os.fspath(checkpoint)}-K{K:g}"
        solution = options.solve(KMeansSDP(gram, K), start=start, callback=callback, checkpoint=kept)
        raise_if_interrupted(solution.status)
        found.append(_facts(solution))
        start = None if begins_best_anew(options.solver, gram.n) else warm_start(solution)
    return found


def begins_best_anew(solver: str | Solver, n: int) -> bool:
    """Whether a start from another ``K`` costs more steps than it saves: a cell at every point is the better one."""
    auto = Auto() if solver == "auto" else solver
    return isinstance(auto, Auto) and n <= auto.points_below


def warm_start(solution: Solution) -> Iterate | None:
    """A start for the same data and another ``K``: the last point and, what saves most steps, its multiplier.

    ``N`` belongs to the data and changes slowly with ``K``; the solver's first projection mends the trace.
    """
    multiplier = solution.iterate.multiplier
    return None if multiplier is None else Iterate(solution.iterate.point, N=multiplier)


class _Facts(NamedTuple):
    """What is kept of one solution."""

    certificate: Certificate
    labels: Array  # (n,)
    modes: float
    persistence: float


def _facts(solution: Solution) -> _Facts:
    tree = linkage_tree(solution.point.unmixed)
    labels = tree.parts(LINKED)
    modes, persistence = active_modes(solution.point.dense()), tree.persistence(int(labels.max()) + 1)
    return _Facts(solution.certificate, labels, modes, persistence)


def _check_values(K_values: Iterable[object], n: int) -> list[float]:
    try:
        values = sorted({check_K(K, n) for K in K_values})
    except TypeError as error:
        raise TypeError(f"K_values must be a sequence of real numbers, got {K_values!r}: {error}") from None
    if not values:
        raise ValueError("K_values must have at least one K, got none. Pass for instance [4, 8, 16].")
    return values
