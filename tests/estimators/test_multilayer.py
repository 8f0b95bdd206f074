"""Layers, schedules and the choice without labels: known manifolds, exact answers, and scikit-learn's contract."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from sknomad import NOMAD, Gram, KMeansSDP, MultiLayerNOMAD, datasets, load, solve
from sknomad._estimators.schedule import halving_schedule
from sknomad.metrics import hardness
from spread_blobs import blobs


@parametrize_with_checks([MultiLayerNOMAD()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


SCHEDULES = {
    "circles": (lambda: datasets.two_rings(200), [16, 8, 4, 2]),
    "moons": (lambda: datasets.moons(200, random_state=0), [16, 8, 4, 2]),
    "double Swiss roll": (lambda: datasets.double_swiss_roll(200), [64, 32, 16, 8, 4, 2]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_papers_schedules(name):
    sample, schedule = SCHEDULES[name]
    X, truth = sample()
    model = MultiLayerNOMAD(schedule).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.schedule_ == schedule
    for layer, K in zip(model.layers_, schedule, strict=True):
        assert layer.certificate.gap <= 1e-3
        assert np.trace(layer.Q) == pytest.approx(K)
        assert np.allclose(layer.Q.sum(axis=1), 1)
        assert layer.Q.min() >= -1e-15
    assert model.layers_[-1].n_components_found == 2
    assert hardness(model.layers_[-1].Q) == pytest.approx(1, abs=1e-2)


def test_each_layer_solves_the_program_of_the_last_affinity():
    X, _ = datasets.moons(60, random_state=0)
    first, second = MultiLayerNOMAD([8, 4]).fit(X).layers_
    alone = solve(KMeansSDP(Gram.from_kernel(first.Q), 4)).certificate
    assert second.certificate.lower <= alone.upper
    assert alone.lower <= second.certificate.upper


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_separated_blobs_are_counted(count):
    X, truth = blobs(count)
    model = MultiLayerNOMAD().fit(X)
    assert model.n_clusters_ == count
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert 0.5 < model.confidence_ <= 1


@pytest.mark.parametrize("count", [2, 3, 5])
def test_K_of_the_number_of_components_returns_exactly_them(count):
    X, truth = blobs(count)
    Q = MultiLayerNOMAD([2 * count, count]).fit(X).layers_[-1].Q
    exact = (truth[:, None] == truth[None]) / 15
    assert np.allclose(Q, exact, atol=1e-3)


@pytest.mark.parametrize("K", [8, 12, 16, 24])
def test_two_far_rings_are_two_for_every_K(K):
    X, truth = datasets.two_rings(80)
    X = X + 6 * truth[:, None]
    model = MultiLayerNOMAD([K, K / 2, 2]).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_order_of_points_only_renames():
    X, truth = datasets.moons(80, noise=0.03, random_state=0)
    order = np.random.default_rng(1).permutation(80)
    labels, permuted = MultiLayerNOMAD().fit_predict(X), MultiLayerNOMAD().fit_predict(X[order])
    assert adjusted_rand_score(labels, truth) == 1.0
    assert adjusted_rand_score(labels[order], permuted) == 1.0
    assert labels[0] == permuted[0] == 0  # labels count by first appearance


def test_duplicates_stay_together():
    X, truth = datasets.two_rings(60)
    labels = MultiLayerNOMAD([16, 8, 4, 2]).fit_predict(np.vstack([X, X]))
    assert np.array_equal(labels[:60], labels[60:])
    assert adjusted_rand_score(truth, labels[:60]) == 1.0


def test_a_hard_layer_is_the_last():
    X, truth = blobs(3)
    model = MultiLayerNOMAD([3, 2, 2]).fit(X)
    assert model.schedule_ == [3]
    assert adjusted_rand_score(truth, model.labels_) == 1.0


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_as_many_clusters_as_asked_for(count):
    X, _ = datasets.moons(60, random_state=0)
    for schedule in ("auto", [10, 5]):
        model = MultiLayerNOMAD(schedule, n_clusters=count).fit(X)
        assert model.n_clusters_ == count
        assert np.array_equal(np.unique(model.labels_), np.arange(count))


def test_fewer_clusters_than_hard_components_join_the_near_ones():
    """The last layer has three blocks and no link between them; the first still knows which two are close."""
    X = np.r_[np.arange(20) / 20, 1.5 + np.arange(20) / 20, 30 + np.arange(20) / 20][:, None]
    labels = MultiLayerNOMAD([6, 3], n_clusters=2).fit_predict(X)
    assert labels.tolist() == [0] * 40 + [1] * 20


def test_kernel_distances_and_sparse_data_give_the_same():
    X, truth = datasets.two_rings(60)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    schedule = [12, 6, 2]
    for given, metric in (
        (sp.csr_array(X), "euclidean"),
        (X @ X.T, "precomputed"),
        (distances, "precomputed_distance"),
    ):
        assert adjusted_rand_score(truth, MultiLayerNOMAD(schedule, metric=metric).fit_predict(given)) == 1.0


def test_embedding_is_that_of_the_first_layer_by_cluster():
    X, _ = datasets.two_rings(60)
    model = MultiLayerNOMAD([12, 6, 2]).fit(X)
    for label in (0, 1):
        block = model.embedding_[model.labels_ == label]
        assert np.allclose(block.mean(axis=0), 0, atol=1e-10)
        assert np.allclose(np.linalg.norm(block, axis=1), np.linalg.norm(block, axis=1).mean(), rtol=0.1)  # a circle
    assert np.array_equal(MultiLayerNOMAD([12, 6, 2]).fit_transform(X), model.embedding_)


def test_callback_stops_all_layers():
    calls = []
    model = MultiLayerNOMAD([8, 4, 2], callback=lambda progress: calls.append(progress) or len(calls) == 7)
    model.fit(datasets.two_rings(40)[0])
    assert len(calls) == 7
    assert len(model.layers_) == 1


BAD = {
    "empty": ({"schedule": []}, ValueError, "schedule must have at least one K"),
    "rising": ({"schedule": [4, 8]}, ValueError, "schedule must not increase"),
    "too large": ({"schedule": [100]}, ValueError, "K must be a real number"),
    "number": ({"schedule": 8}, TypeError, "schedule must be"),
    "word": ({"schedule": "some"}, ValueError, "schedule must be one of 'auto'"),
    "clusters": ({"n_clusters": 0}, ValueError, "n_clusters must be"),
    "many clusters": ({"n_clusters": 99}, ValueError, "n_clusters must be at most"),
    "components": ({"n_components": 0}, ValueError, "n_components must be"),
    "callback": ({"callback": "print"}, TypeError, "callback must be callable"),
    "metric": ({"metric": "cosine"}, ValueError, "metric must be one of"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named(case):
    parameters, error, message = BAD[case]
    with pytest.raises(error, match=message):
        MultiLayerNOMAD(**parameters).fit(datasets.ring(20)[0])


def test_a_single_piece_has_one_layer_and_no_cut():
    model = MultiLayerNOMAD().fit(datasets.ring(80)[0])
    assert model.n_clusters_ == 1
    assert len(model.layers_) == 1
    assert MultiLayerNOMAD(allow_single_cluster=False).fit(datasets.ring(80)[0]).n_clusters_ > 1


@pytest.mark.parametrize(
    "sample",
    [
        lambda: datasets.two_rings(100)[0],
        lambda: datasets.moons(300, noise=0.05, random_state=0)[0],
        lambda: blobs(4)[0],
        lambda: np.random.default_rng(0).normal(size=(120, 5)),
    ],
    ids=["rings", "moons", "blobs", "cloud"],
)
def test_both_estimators_find_the_same_parts(sample):
    X = sample()
    one, other = NOMAD().fit(X), MultiLayerNOMAD().fit(X)
    assert adjusted_rand_score(one.labels_, other.labels_) == 1.0
    assert one.n_manifolds_ == other.n_clusters_
    assert one.confidence_ == pytest.approx(other.confidence_)


def test_both_estimators_find_the_same_parts_of_copies():
    """Which of equal points a cut leaves out is up to rounding, and `NOMAD`, which merges them, takes another order."""
    X = np.repeat(blobs(3)[0], 3, axis=0)
    one, other = NOMAD().fit(X), MultiLayerNOMAD().fit(X)
    assert adjusted_rand_score(one.labels_, other.labels_) == 1.0
    assert one.n_manifolds_ == other.n_clusters_
    assert one.confidence_ == pytest.approx(other.confidence_, abs=1e-4)


def test_a_division_that_is_not_there_is_warned_of():
    with pytest.warns(UserWarning, match=r"n_clusters=40: the data show no division into so many parts"):
        labels = MultiLayerNOMAD(n_clusters=40).fit_predict(blobs(3, size=20)[0])
    assert len(np.unique(labels)) == 40


def test_halving_schedule():
    assert halving_schedule(16, 2) == [16, 8, 4, 2]
    assert halving_schedule(20, 3) == [20, 10, 5, 3]
    assert halving_schedule(12, 1) == [12]
    assert halving_schedule(2, 3) == [3]


@pytest.mark.parametrize("K", [3, 8, 15])
def test_start_has_the_trace_asked_for(K):
    point = solve(KMeansSDP(Gram.from_data(datasets.two_rings(40)[0]), 8)).point
    Q = point.with_trace(K).dense()
    assert np.trace(Q) == pytest.approx(K)
    assert np.allclose(Q.sum(axis=1), 1)


def test_new_points_join_the_clusters_and_training_points_stay():
    X, _ = datasets.two_rings(80)
    model = MultiLayerNOMAD([16, 8, 4, 2]).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    between = np.array([(X[i] + X[i + 1]) / 2 for i in (3, 50)])
    np.testing.assert_array_equal(model.predict(between), model.labels_[[3, 50]])
    np.testing.assert_allclose(model.transform(between)[:1], model.transform(between[:1]), atol=1e-12)


def test_a_saved_model_is_the_same(tmp_path):
    X, _ = datasets.two_rings(60)
    model = MultiLayerNOMAD([8, 4, 2]).fit(X)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.transform(X + 0.01), model.transform(X + 0.01))
    assert [layer.certificate for layer in again.layers_] == [layer.certificate for layer in model.layers_]
