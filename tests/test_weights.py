"""Weights are repetitions: the same answer as a fit to repeated rows, for every kind of input."""

import numpy as np
import pytest
import scipy.sparse as sp

from sknomad import NOMAD, datasets


@pytest.fixture
def weighted(rng):
    X, _ = datasets.moons(50, noise=0.05, random_state=0)
    weights = rng.integers(0, 4, size=50)
    return X, weights, np.repeat(np.arange(50), weights)


@pytest.mark.parametrize("kind", ["data", "sparse", "kernel", "distances"])
def test_weights_are_repetitions(kind, weighted):
    X, weights, copies = weighted
    given, repeated, metric = {
        "data": (X, X[copies], "euclidean"),
        "sparse": (sp.csr_matrix(X), sp.csr_matrix(X[copies]), "euclidean"),
        "kernel": (X @ X.T, X[copies] @ X[copies].T, "precomputed"),
        "distances": (pairwise(X), pairwise(X[copies]), "precomputed_distance"),
    }[kind]
    one = NOMAD(K=6, metric=metric).fit(given, sample_weight=weights)
    many = NOMAD(K=6, metric=metric).fit(repeated)
    present = weights > 0
    assert one.certificate_ == many.certificate_
    assert np.array_equal(one.labels_[copies], many.labels_)
    assert np.allclose(one.embedding_[copies], many.embedding_, atol=1e-10)
    assert np.allclose(one.order_[copies], many.order_)
    assert np.isnan(one.order_[~present]).all()
    mean = (copies == np.flatnonzero(present)[:, None]) / weights[present][:, None]
    assert np.allclose(one.affinity_[np.ix_(present, present)], mean @ many.affinity_ @ mean.T, atol=1e-12)
    assert np.allclose(one.memberships_[copies], many.memberships_, atol=1e-10)
    assert np.allclose(one.geodesic_distances()[np.ix_(copies, copies)], many.geodesic_distances(), atol=1e-4)
    assert np.allclose(one.transform(given), one.embedding_, atol=1e-10)
    assert np.array_equal(one.predict(given), one.labels_)


def pairwise(X):
    return np.linalg.norm(X[:, None] - X[None], axis=-1)


def test_rows_of_Q_sum_to_one_with_their_weights(weighted):
    X, weights, _ = weighted
    model = NOMAD(K=6).fit(X, sample_weight=weights)
    present = weights > 0
    assert np.allclose(model.affinity_[present] @ weights, 1)
    assert np.all(model.affinity_[~present] == 0)
    sparse = model.set_params(affinity="sparse").affinity_
    assert sparse.shape == (50, 50)
    assert np.allclose(sparse.toarray()[np.ix_(present, present)] @ weights[present], 1, atol=0.05)


def test_points_without_weight_are_placed_like_new_ones(weighted):
    X, weights, _ = weighted
    absent = weights == 0
    model = NOMAD(K=6).fit(X, sample_weight=weights)
    without = NOMAD(K=6).fit(np.repeat(X[~absent], weights[~absent], axis=0))
    assert np.allclose(model.embedding_[absent], without.transform(X[absent]), atol=1e-12)
    assert np.array_equal(model.labels_[absent], without.predict(X[absent]))


def test_only_ratios_matter():
    X, _ = datasets.moons(40, noise=0.05, random_state=0)
    plain, doubled = NOMAD(K=5, tol=1e-5).fit(X), NOMAD(K=5, tol=1e-5).fit(X, sample_weight=np.full(40, 2))
    assert doubled.certificate_.upper == pytest.approx(2 * plain.certificate_.upper, rel=1e-4)
    assert np.array_equal(plain.labels_, doubled.labels_)
    assert np.allclose(2 * doubled.affinity_, plain.affinity_, atol=0.02 * plain.affinity_.max())


def test_ones_change_nothing():
    X, _ = datasets.ring(30)
    plain, weighted = NOMAD(K=4).fit(X), NOMAD(K=4).fit(X, sample_weight=np.ones(30))
    assert np.array_equal(plain.embedding_, weighted.embedding_)
    assert np.array_equal(NOMAD(K=4).fit_predict(X, sample_weight=[2] * 30), plain.labels_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1.5, 1], r"sample_weight must hold whole numbers >= 0.* got 1\.5 at index 1"),
        ([1, -1, 2], r"got -1\.0 at index 1"),
        ([1, 0, 0], "must leave at least 2 points"),
        ([1, 2], "sample_weight"),
    ],
)
def test_other_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        NOMAD(K=1).fit([[0.0], [1.0], [2.0]], sample_weight=weights)
