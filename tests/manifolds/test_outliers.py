"""Outlier scores and labels: strays, noise around rings, single-cell-like pieces, weights."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from sknomad import NOMAD, Gram, MultiLayerNOMAD, datasets
from sknomad._manifolds.choice import choose
from sknomad._manifolds.outliers import outlier_scores


def test_scores_are_the_neighbours_that_are_missing():
    diagonal, labels = np.array([0.1] * 4 + [0.2] + [0.5] * 4 + [0.8, 1.0]), np.repeat([0, 1, -1], (5, 5, 1))
    assert np.allclose(outlier_scores(diagonal, labels), [0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.375, 0.65])
    # Three points are too few to be typical of anything: they are compared with all others.
    assert np.allclose(outlier_scores(np.r_[[0.1] * 5, [0.5] * 3], np.repeat([0, 1], (5, 3))), [0] * 5 + [0.8] * 3)
    assert np.allclose(outlier_scores(np.array([0.5, 1.0]), np.array([-1, -1])), [0, 0.25])
    assert outlier_scores(np.zeros(3), np.zeros(3, dtype=int)).tolist() == [0, 0, 0]


def ring_in_noise(rng):
    """A ring of 150 points and 15 that are anywhere."""
    X = np.vstack([datasets.ring(150, noise=0.05, random_state=0)[0], rng.uniform(-3, 3, (15, 2))])
    return X, np.arange(165) >= 150


@pytest.mark.parametrize("model", [NOMAD(K=12), NOMAD(), MultiLayerNOMAD([12, 6])], ids=["K", "auto", "layers"])
def test_noise_has_higher_scores_than_the_ring(model, rng):
    X, is_noise = ring_in_noise(rng)
    scores = model.fit(X).outlier_scores_
    assert np.all((scores >= 0) & (scores <= 1))
    assert roc_auc_score(is_noise, scores) >= 0.8


def test_outliers_are_labelled_on_request_only(rng):
    X, is_noise = ring_in_noise(rng)
    plain = NOMAD(K=12, min_component_size=1).fit(X)
    marked = NOMAD(K=12, min_component_size=1, outlier_threshold=0.5).fit(X)
    assert plain.labels_.min() == 0
    assert np.array_equal(marked.labels_ == -1, plain.outlier_scores_ > 0.5)
    assert np.mean(marked.labels_[is_noise] == -1) > 0.2
    assert np.mean(marked.labels_[~is_noise] == -1) < 0.02
    assert np.isnan(marked.order_[marked.labels_ == -1]).all()
    assert np.isfinite(marked.order_[marked.labels_ >= 0]).all()
    assert np.array_equal(marked.embedding_, plain.embedding_)
    assert np.all(marked.predict(X) >= 0)
    layers = MultiLayerNOMAD([12, 6], outlier_threshold=0.5).fit(X)
    assert np.array_equal(layers.labels_ == -1, layers.outlier_scores_ > 0.5)
    assert layers.n_clusters_ == len(set(layers.labels_.tolist()) - {-1})


def test_strays_are_no_manifolds_by_default():
    X = np.vstack([datasets.ring(100)[0], [[9.0, 0.0], [0.0, 9.0]]])
    model = NOMAD(K=10).fit(X)
    assert model.labels_.tolist() == [0] * 100 + [-1, -1]
    assert model.outlier_scores_[-2:].min() > 0.8
    assert NOMAD(K=10, min_component_size=1).fit(X).labels_.tolist() == [0] * 100 + [1, 2]


def test_where_all_components_are_small_all_are_manifolds():
    X = np.arange(250.0)[:, None]
    model = NOMAD(K=250).fit(X)
    assert model.n_manifolds_ == 250
    assert model.outlier_scores_.tolist() == [0] * 250


def test_cells_like_single_cells_stay_together(rng):
    """A large cloud with a long tail and two small types: few pieces, not one for every cell far out."""
    types = [rng.standard_t(3, (150, 20)), 6 + rng.standard_normal((15, 20)), -6 + rng.standard_normal((12, 20))]
    choice = choose(Gram.from_data(np.vstack(types)))
    assert choice.n_parts <= 4
    assert np.bincount(choice.labels).min() >= 12


def test_weights_count_as_equal_points(rng):
    X, weights = rng.standard_normal((40, 2)), rng.integers(1, 4, 40)
    repeated = NOMAD(K=6).fit(np.repeat(X, weights, axis=0)).outlier_scores_
    found = NOMAD(K=6).fit(X, sample_weight=weights).outlier_scores_
    assert np.allclose(np.repeat(found, weights), repeated, atol=0.2)
    absent = NOMAD(K=6).fit(X, sample_weight=np.r_[0, weights[1:]]).outlier_scores_
    assert np.isnan(absent[0])
    assert np.isfinite(absent[1:]).all()


@pytest.mark.parametrize("model", [NOMAD, MultiLayerNOMAD])
@pytest.mark.parametrize("value", [-0.1, 1.5, "0.5", True])
def test_a_threshold_is_a_share(model, value):
    error = TypeError if isinstance(value, str | bool) else ValueError
    with pytest.raises(error, match=r"outlier_threshold must be a real number in \[0, 1\] or None"):
        model(outlier_threshold=value).fit(np.eye(4))
    with pytest.raises(ValueError, match="min_component_size"):
        NOMAD(min_component_size="large").fit(np.eye(4))
