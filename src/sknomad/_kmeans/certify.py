"""`certify_kmeans`: the door to all proofs of a clustering, of all points at once or by parts."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import ArrayLike

from .._certificate.upper import GRADES
from .._numerics.arrays import Array, Data
from .._numerics.dask_blocks import DaskBlocks, is_dask
from .._numerics.row_blocks import RowBlocks
from .._numerics.threads import count_of_jobs
from .._numerics.validation import check_choice, check_integer, check_real
from .._program.gram import Gram
from .._program.inputs import check_unweighted
from .._solving.budget import Budget
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from . import part_verify as part_verify  # enters the check of files by parts
from .certificate import KMeansCertificate
from .dask_parts import run_on_dask, threads_of_cluster
from .inertia import check_no_noise, cluster_codes
from .parts import certify_parts
from .proof import check_cuts_option, prove


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
    parts: str | int | ArrayLike | None = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> KMeansCertificate:
    """Prove how close to optimal a k-means clustering is, wherever its labels come from.

    The K-means SDP bounds the inertia of every clustering from below. It is solved from the dual guess that the labels
    themselves suggest, until their inertia is proven to be within `tol` of the best possible, or until the bound is
    within `tol` of the best that this relaxation can give: on overlapping clusters some per cent stay open.

    With `parts` the points are divided, a bound is proven for each part, and the sum of these bounds is one for all
    points: for any number of points, in time proportional to it, see ``docs/scaling.md``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Gram
        With `parts` also anything that can be sliced by rows, such as a memory map or a zarr array, but no Gram. A Dask
        array or data frame is proven by parts, on the scheduler in charge.
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
        Most steps without cuts, and as many again with them; with `parts`, of each part.
    max_seconds : float, optional
        Most seconds in all, to within one step of the solver. Parts get equal shares of them; those that none are left
        for count the bound of their principal components, which may take a tenth of the time more.
    callback : callable, optional
        Called after every step with a `Progress` whose bounds are those of the best inertia, or after every part with
        a `PartsProgress`; returning True stops.
    parts : "auto", int or array-like, optional
        None proves all points at once. A number of parts, or "auto": 1000 points or more in each, 50 for each cluster
        and 20 of the smallest cluster, dealt so that all parts are alike. An array of shape (n,) has the part of
        each point, one of shape (n, parts) the share of each point's weight in each part; the division need not be
        trusted, a poor one only makes the bound loose.
    n_jobs : int, optional
        Processes for parts, as joblib counts them; None is one.
    checkpoint : path, optional
        A file that keeps the run, as of `solve`; cuts are searched for anew. With `parts`: a folder that keeps every
        finished part. Where it exists the work goes on from it; its bounds are not believed but proven again.

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

    Each half of the same points by itself:

    >>> X = [[0.0], [1.0], [10.0], [11.0], [0.0], [1.0], [10.0], [11.0]]
    >>> proof = certify_kmeans(X, [0, 0, 1, 1, 0, 0, 1, 1], parts=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> proof.inertia, round(proof.lower_bound, 3), proof.parts.count
    (2.0, 2.0, 2)
    """
    budget = Budget.of(max_seconds)
    check_choice(grade, "grade", GRADES)
    check_real(tol, "tol", 0, 1, "a real number in [0, 1]")
    labels = np.asarray(labels) if is_dask(labels) else labels
    check_no_noise(labels)
    count_of_jobs(n_jobs)
    options = SolveOptions("auto", tol, check_integer(max_iter, "max_iter", 1), None, grade)
    if parts is not None or is_dask(X):
        blocks = DaskBlocks(X) if is_dask(X) else RowBlocks(_refuse_gram(X))
        codes, K = _codes_and_count(labels, blocks.n, n_clusters)
        if cuts:
            raise ValueError("cuts must be False with parts, got True. Leave one of the two out.")
        runner, at_once = (run_on_dask, threads_of_cluster()) if is_dask(X) else (None, None)
        return certify_parts(
            blocks, codes, K, "auto" if parts is None else parts, options, budget,
            n_jobs=n_jobs, checkpoint=checkpoint, callback=callback, runner=runner, at_once=at_once,
        )  # fmt: skip
    gram = X if isinstance(X, Gram) else Gram.from_data(X)
    check_unweighted(gram, "certify_kmeans")
    _, K = _codes_and_count(labels, gram.n, n_clusters)
    check_cuts_option(cuts, gram.n)
    return prove(gram, labels, K, options, budget, cuts=cuts, callback=callback, checkpoint=checkpoint)[0]


def _refuse_gram(X: Data | Gram) -> Data:
    if isinstance(X, Gram):
        raise TypeError("X must be the points themselves for a bound by parts, got a Gram. Pass the rows of the data.")
    return X


def _codes_and_count(labels: ArrayLike, n: int, n_clusters: int | None) -> tuple[Array, int]:
    """Clusters as integers from 0, and the most clusters that the bound is to hold for."""
    codes = cluster_codes(labels, n)
    found = int(codes.max()) + 1
    K = found if n_clusters is None else check_integer(n_clusters, "n_clusters", 1)
    if not found <= K <= n:
        raise ValueError(
            f"n_clusters must lie between the {found} distinct labels and n_samples={n}, got {n_clusters}."
        )
    return codes, K
