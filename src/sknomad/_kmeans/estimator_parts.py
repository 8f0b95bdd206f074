"""`CertifiedKMeans` by parts: labels of k-means++ starts, and a proof that needs no array of all points by all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._numerics.arrays import Array, Table
from .._numerics.dask_blocks import DaskBlocks
from .._points.components import in_order
from .._solving.budget import Budget
from .._solving.solution import raise_if_interrupted
from .certificate import KMeansCertificate
from .certify import certify_kmeans
from .labels import Clustering, labels_of_data
from .row_inertia import clusters_of
from .row_lloyd import lloyd_rows, nearest

if TYPE_CHECKING:
    from .estimator import CertifiedKMeans

ADVICE = "Fewer parts lose less; cuts and more starts need all points at once."


def fit_parts(model: CertifiedKMeans, table: Table, K: int, n_init: int, budget: Budget) -> None:
    """Fit `model` to a table in memory."""
    labels = in_order(labels_of_data(table, K, n_init, check_random_state(model.random_state)))
    proof = _proof(model, table, labels, K, budget)
    model._keep(table, Clustering(labels, proof.inertia), proof, 1)
    _end(model)


def fit_dask(model: CertifiedKMeans, X: Any, K: int, n_init: int, budget: Budget) -> None:
    """Fit `model` to a Dask collection; `labels_` is a Dask array."""
    blocks = DaskBlocks(X)
    if blocks.n < K:
        raise ValueError(f"n_clusters must be at most n_samples={blocks.n}, got {K}.")
    centres = lloyd_rows(blocks, K, n_init, check_random_state(model.random_state), budget)
    codes = np.concatenate(list(blocks.each(nearest, centres)))
    present = np.unique(codes)
    codes = np.searchsorted(present, codes)
    proof, clusters = _proof(model, X, codes, K, budget), clusters_of(blocks, codes)
    means = clusters.means + clusters.origin
    model.certificate_, model.inertia_, model.lower_bound_ = proof, proof.inertia, proof.lower_bound
    model.gap_, model.n_iter_, model.n_features_in_ = proof.gap, 1, blocks.d
    model.cluster_centers_, model._n_features_out = means, len(means)
    model.labels_ = blocks.per_row(nearest, centres[present], width=None, dtype=np.int32)
    _end(model)


def _proof(model: CertifiedKMeans, X: Any, labels: Array, K: int, budget: Budget) -> KMeansCertificate:
    return certify_kmeans(
        X, labels, n_clusters=K, tol=model.tol, cuts=model.cuts, grade=model.grade, max_iter=model.max_iter,
        max_seconds=budget.max_seconds, callback=model.callback, parts=model.parts, n_jobs=model.n_jobs,
        checkpoint=model.checkpoint,
    )  # fmt: skip


def _end(model: CertifiedKMeans) -> None:
    raise_if_interrupted(model.certificate_.status)
    if model.gap_ > model.tol:
        model._tell(ADVICE)
