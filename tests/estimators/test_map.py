"""`map_` and the coordinates of `NOMAD`: flat, apart, the same for new points, and kept in files."""

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.stats import spearmanr
from sklearn.datasets import make_s_curve

from sknomad import NOMAD, MultiLayerNOMAD, datasets, load
from sknomad.solvers import SoftAssignment


@pytest.fixture(scope="module")
def spirals():
    X, truth = datasets.double_swiss_roll(120)
    return X, truth, NOMAD(K=40, tol=1e-2).fit(X)


def test_spirals_become_lines(spirals):
    X, _, model = spirals
    for label in (0, 1):
        mine = model.labels_ == label
        steps = np.linalg.norm(np.diff(X[mine], axis=0), axis=1)
        along = np.r_[0, np.cumsum(steps)]
        assert abs(np.corrcoef(model.embedding_[mine, 0], along)[0, 1]) > 0.9999
        assert np.ptp(model.embedding_[mine, 1]) < 0.02 * np.ptp(model.embedding_[mine, 0])
        assert abs(spearmanr(model.order_[mine], along)[0]) == pytest.approx(1)


def test_the_map_holds_every_manifold_unchanged_and_none_over_another(spirals):
    _, _, model = spirals
    boxes = []
    for label in (0, 1):
        mine = model.labels_ == label
        moved = model.map_[mine] - model.embedding_[mine]
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
        boxes.append((model.map_[mine].min(axis=0), model.map_[mine].max(axis=0)))
    (low, high), (other_low, other_high) = boxes
    assert np.any((low > other_high) | (other_low > high))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("coordinates", ["isometric", "spectral"])
@pytest.mark.parametrize("solver", ["admm", SoftAssignment(rank=40, sweeps=60)])
def test_training_points_keep_their_places_and_new_ones_lie_among_them(coordinates, solver):
    X, _ = datasets.two_rings(80, noise=0.02, random_state=0)
    model = NOMAD(K=16, solver=solver, coordinates=coordinates, tol=1.0, max_iter=80).fit(X)
    np.testing.assert_allclose(model.transform_to_map(X), model.map_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    near = model.transform_to_map(X + 1e-6)
    assert np.linalg.norm(near - model.map_, axis=1).max() < 0.02
    assert model.transform_to_map(X[:1]).shape == (1, 2)


def test_both_kinds_have_the_same_map_and_other_coordinates():
    X, t = make_s_curve(200, random_state=0)
    flat, waves = (NOMAD(K=16, tol=1e-2, coordinates=kind).fit(X) for kind in ("isometric", "spectral"))
    np.testing.assert_array_equal(flat.map_, waves.map_)
    truth = np.column_stack([t, X[:, 1]])
    assert procrustes(truth, flat.embedding_)[2] < 0.05 < procrustes(truth, waves.embedding_)[2]


def test_more_dimensions_begin_with_the_same_ones(spirals):
    X, _, model = spirals
    wide = NOMAD(K=40, tol=1e-2, n_components=3).fit(X)
    assert wide.embedding_.shape == (120, 3)
    np.testing.assert_allclose(wide.embedding_[:, :2], model.embedding_, atol=1e-9)
    one = NOMAD(K=40, tol=1e-2, n_components=1).fit(X)
    np.testing.assert_allclose(one.embedding_, model.embedding_[:, :1], atol=1e-9)
    np.testing.assert_allclose(one.map_, model.map_, atol=1e-9)


def test_the_map_survives_a_file(spirals, tmp_path):
    X, _, model = spirals
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.map_, model.map_)
    np.testing.assert_array_equal(again.transform_to_map(X[:5] + 0.1), model.transform_to_map(X[:5] + 0.1))


def test_other_coordinates_are_refused():
    with pytest.raises(ValueError, match="coordinates must be one of 'isometric', 'spectral', got 'flat'"):
        NOMAD(coordinates="flat").fit([[0.0], [1.0], [2.0]])


@pytest.fixture(scope="module")
def clusters():
    X, truth = datasets.two_rings(80, noise=0.02, random_state=0)
    return X, truth, MultiLayerNOMAD([16, 8, 4, 2]).fit(X)


def test_clusters_of_layers_are_on_a_map_too(clusters):
    X, _, model = clusters
    boxes = [
        (model.map_[mine].min(axis=0), model.map_[mine].max(axis=0))
        for mine in (model.labels_ == 0, model.labels_ == 1)
    ]
    assert np.any((boxes[0][0] > boxes[1][1]) | (boxes[1][0] > boxes[0][1]))
    np.testing.assert_allclose(model.transform_to_map(X), model.map_, atol=1e-9)
    assert model.is_closed_.tolist() == [True, True]
    for label in (0, 1):
        mine = model.labels_ == label
        angle = np.sort(np.arctan2(*(model.map_[mine] - model.map_[mine].mean(axis=0)).T))
        assert np.diff(angle, append=angle[0] + 2 * np.pi).max() < 0.5  # a ring stays one
        assert sorted(model.order_[mine]) == pytest.approx(np.arange(40) / 40)


def test_layers_answer_what_plots_ask(clusters, tmp_path):
    _, _, model = clusters
    Q = model.layers_[0].Q
    np.testing.assert_allclose(model.mean_affinity(np.arange(80) % 80), Q, atol=1e-12)
    tree = model.division_tree()
    assert {0, 1} <= set(tree.labels[tree.ends >= 1].tolist())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.map_, model.map_)
    np.testing.assert_array_equal(again.division_tree().ends, tree.ends)


def test_outliers_of_layers_have_no_position():
    X = np.vstack([datasets.two_rings(60)[0], [[4.0, 4.0]]])
    model = MultiLayerNOMAD([12, 6, 3], n_clusters=2, outlier_threshold=0.5).fit(X)
    assert model.labels_[-1] == -1
    assert np.isnan(model.order_[-1])
    assert np.isfinite(model.map_).all()
