"""`OnlineNOMAD`: a stream is described as well as all of its points at once, in memory that does not grow."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from sknomad import Gram, KMeansSDP, OnlineNOMAD, load, solve
from sknomad.datasets import moons, two_rings


def shuffled(sample, n, seed=0, noise=0.02):
    X, truth = sample(n, noise=noise, random_state=seed)
    order = np.random.default_rng(seed).permutation(n)
    return X[order], truth[order]


@pytest.fixture(scope="module")
def rings():
    return shuffled(two_rings, 2000)


@pytest.fixture(scope="module")
def model(rings):
    return OnlineNOMAD(K=16).fit(rings[0])


def value(model, X):
    """Lower bound of the model's own assignments, with an upper one that costs nothing."""
    return model.certify(X, tol=1.0, max_iter=1).lower


@pytest.mark.filterwarnings("ignore:.*without an upper bound")
@pytest.mark.parametrize(("sample", "noise"), [(two_rings, 0.02), (moons, 0.05)])
def test_one_pass_comes_within_one_percent_of_the_batch(sample, noise):
    X, truth = shuffled(sample, 1500, seed=3, noise=noise)
    batch = solve(KMeansSDP(Gram.from_data(X), 16), "soft", max_iter=40).certificate.lower
    model = OnlineNOMAD(K=16)
    for start in range(0, len(X), 100):
        model.partial_fit(X[start : start + 100])
    assert value(model, X) >= 0.99 * batch
    assert adjusted_rand_score(truth, model.predict(X)) == 1


def test_bounds_of_a_window_are_proven_from_the_model(rings, model):
    X, _ = rings
    window = X[:300]
    proof = model.certify(window, tol=1e-2, grade="verified")
    dense = solve(KMeansSDP(Gram.from_data(window), 16), tol=5e-3).certificate
    assert proof.grade == "verified"
    assert proof.lower <= dense.upper
    assert proof.upper >= dense.lower
    assert proof.gap < 0.05


def test_assignments_are_rows_of_sum_one(rings, model):
    V = model.assign(rings[0][:50])
    assert V.min() >= 0
    assert V.sum(axis=1) == pytest.approx(1)
    assert model.cell_sizes_.sum() == pytest.approx(1)
    assert V.shape[1] == len(model.cells_) == len(model.cell_labels_)


def test_cells_lie_on_the_rings(model):
    radii = np.linalg.norm(model.cells_, axis=1)
    outer = model.cell_labels_ == model.predict([[0.0, 1.0]])[0]
    assert radii[outer] == pytest.approx(1, abs=0.1)
    assert radii[~outer] == pytest.approx(0.5, abs=0.1)


def test_coordinates_go_round_each_ring(rings, model):
    X, truth = rings
    ring = X[truth == 0]
    coordinates = model.transform(ring)
    turned = np.unwrap(np.arctan2(*coordinates[np.argsort(np.arctan2(ring[:, 1], ring[:, 0]))].T))
    assert abs(abs(turned[-1] - turned[0]) - 2 * np.pi) < 0.2
    assert coordinates.shape == (len(ring), 2)


def test_a_stream_is_the_same_however_it_is_cut():
    X, _ = shuffled(two_rings, 1200)
    whole = OnlineNOMAD(K=8, warm_up=400, batch_size=100).partial_fit(X)
    parts = OnlineNOMAD(K=8, warm_up=400, batch_size=100)
    for part in np.split(X, 12):
        parts.partial_fit(part)
    assert np.array_equal(whole.cells_, parts.cells_)
    assert whole.n_seen_ == parts.n_seen_ == 1200


def test_batches_of_one_row_are_as_good(rings):
    X, truth = rings
    model = OnlineNOMAD(K=16, batch_size=1).partial_fit(X[:1500])
    assert adjusted_rand_score(truth, model.predict(X)) == 1
    whole = OnlineNOMAD(K=16).partial_fit(X[:1500])
    assert value(model, X[1500:]) == pytest.approx(value(whole, X[1500:]), rel=5e-3)


def test_rows_are_held_until_there_are_enough():
    X, _ = shuffled(two_rings, 300)
    model = OnlineNOMAD(K=4, warm_up=200).partial_fit(X[:150])
    with pytest.raises(NotFittedError, match="at least 200 rows before it can answer, got 150"):
        model.predict(X)
    assert len(model.partial_fit(X[150:201]).predict(X)) == 300


def test_a_far_origin_changes_nothing(rings, model):
    moved = OnlineNOMAD(K=16).fit(rings[0] + 1e6)
    assert moved.cells_ - 1e6 == pytest.approx(model.cells_, abs=1e-4)


def test_it_is_saved_and_cloned(rings, model, tmp_path):
    model.save(tmp_path / "online.sknomad")
    again = load(tmp_path / "online.sknomad")
    assert np.array_equal(again.predict(rings[0]), model.labels_)
    assert np.array_equal(
        again.partial_fit(rings[0]).cells_, load(tmp_path / "online.sknomad").partial_fit(rings[0]).cells_
    )
    assert clone(model).get_params() == model.get_params()


def test_it_follows_a_stream_that_moves():
    X, _ = shuffled(two_rings, 3000)
    model = OnlineNOMAD(K=8, decay=0.5).partial_fit(X)
    model.partial_fit(np.tile(X, (4, 1)) + np.array([0.3, 0.0]))
    assert model.cells_[:, 0] @ model.cell_sizes_ == pytest.approx(0.3, abs=0.08)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"K": 0.5}, "K must be"), ({"K": 400}, "K must be"), ({"n_passes": 0}, "n_passes must be"),
        ({"batch_size": 0}, "batch_size must be"), ({"decay": 0.2}, "decay must be"),
        ({"warm_up": 1}, "warm_up must be"),
        ({"threshold": 2}, "threshold must be"), ({"n_components": 0}, "n_components must be"),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        OnlineNOMAD(**options).fit(np.random.default_rng(0).random((100, 2)))


def test_what_is_not_finite_is_refused(rings, model):
    with pytest.raises(ValueError, match="non-finite"):
        OnlineNOMAD().fit([[0.0, 1.0], [np.nan, 2.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="non-finite"):
        clone(model).fit(rings[0]).partial_fit([[np.inf, 0.0]])


def test_a_window_smaller_than_K_is_refused(rings, model):
    with pytest.raises(ValueError, match="K must be a real number in"):
        model.certify(rings[0][:5])


def test_equal_points_are_one_manifold():
    model = OnlineNOMAD(K=2).fit(np.ones((50, 3)))
    assert model.labels_.tolist() == [0] * 50
    assert model.transform(np.ones((2, 3))).tolist() == [[0.0, 0.0]] * 2


def test_equal_rows_at_the_start_of_a_stream_are_passed_over(rings):
    X, _ = rings
    model = OnlineNOMAD(K=8, warm_up=200).partial_fit(np.repeat(X[:1], 450, axis=0))
    assert len(model.partial_fit(X).cells_) > 8


@pytest.mark.parametrize(("size", "words"), [(1e-90, "differ by more than 1e-70"), (1e90, "numbers up to 1e\\+70")])
def test_sizes_whose_squares_leave_float64_are_refused(rings, size, words):
    with pytest.raises(ValueError, match=words):
        OnlineNOMAD(K=8).fit(rings[0] * size)
