"""How nearly manifolds close: arcs of known length, noise, every form of data."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from sknomad import NOMAD, datasets
from sknomad._manifolds.closedness import missing_share
from sknomad.metrics import circular_rank_correlation


def arc(n, share, rng=None, noise=0.0):
    """Points of part of the unit circle, and their angles."""
    angle = np.linspace(0, 2 * np.pi * share, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return (X if rng is None else X + noise * rng.standard_normal(X.shape)), angle


def distances(X):
    return pairwise_distances(X)


@pytest.mark.parametrize("missing", [0.0, 0.05, 0.1, 0.25, 0.4])
def test_the_missing_share_of_a_circle(missing):
    """Twenty bins that are even steps apart on the part that is there; the ends are half a step from its border."""
    angle = 2 * np.pi * (1 - missing) * (np.arange(20) + 0.5) / 20
    found = missing_share(distances(np.column_stack([np.cos(angle), np.sin(angle)])))
    assert found == pytest.approx(missing, abs=0.01)


def spiral(turns):
    t = np.linspace(1, 1 + 2 * np.pi * turns, 24)
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


@pytest.mark.parametrize(
    "points",
    [
        np.column_stack([np.linspace(0, 1, 12), np.zeros(12)]),
        spiral(1.0),
        spiral(1.5),
        spiral(2.5),
        np.random.default_rng(0).standard_normal((12, 3)),
    ],
    ids=["line", "one turn", "one and a half", "two and a half", "no order"],
)
def test_what_has_ends_apart_is_not_closed(points):
    assert 1 - 2 * missing_share(distances(points)) < 0.75


def test_one_turn_of_a_spiral_lies_straight():
    """Its ends lie beside each other, as near as those of a ring with a gap, and do not head for each other."""
    X, which = datasets.three_spirals(240)
    assert missing_share(distances(X[which == 0])) == 1
    model = NOMAD(K=60, tol=1e-2).fit(X)
    assert model.closedness_.tolist() == [0, 0, 0]
    extents = [np.ptp(model.embedding_[model.labels_ == k], axis=0) for k in range(3)]
    assert all(across <= 0.02 * along for along, across in extents)


@pytest.mark.parametrize("noise", [0.05, 0.1])
def test_a_noisy_ring_with_a_gap_still_closes(noise):
    for seed in range(3):
        X, _ = arc(200, 0.9, np.random.default_rng(seed), noise)
        means = X.reshape(20, 10, -1).mean(axis=1)
        assert missing_share(distances(means)) == pytest.approx(0.1, abs=0.06)


def test_a_ring_with_a_gap_has_an_angle(rng):
    X, angle = arc(150, 0.9, rng, 0.05)
    model = NOMAD(K=12, tol=2e-3).fit(X)
    assert model.is_closed_.tolist() == [False]
    assert model.closedness_[0] == pytest.approx(0.8, abs=0.05)
    found = model.circular_coordinates_
    assert np.all((found >= 0) & (found < 2 * np.pi))
    assert abs(circular_rank_correlation(angle, found)) >= 0.99
    assert np.ptp(found) == pytest.approx(0.9 * 2 * np.pi, rel=0.03)


@pytest.mark.parametrize("metric", ["precomputed", "precomputed_distance"])
def test_closedness_is_the_same_for_kernels_and_distances(metric, rng):
    X, _ = arc(90, 0.85, rng, 0.03)
    given = X @ X.T if metric == "precomputed" else pairwise_distances(X)
    given = (given + given.T) / 2
    expected = NOMAD(K=9).fit(X).closedness_
    assert expected[0] == pytest.approx(0.7, abs=0.06)
    assert np.allclose(NOMAD(K=9, metric=metric).fit(given).closedness_, expected, atol=1e-3)


def test_weights_count_as_equal_points(rng):
    X, _ = arc(60, 0.8, rng, 0.02)
    weights = rng.integers(1, 4, 60)
    plain = NOMAD(K=8).fit(np.repeat(X, weights, axis=0)).closedness_
    assert np.allclose(NOMAD(K=8).fit(X, sample_weight=weights).closedness_, plain, atol=1e-6)


def test_half_rings_and_few_points_have_no_closedness():
    X, _ = datasets.moons(120, noise=0.05, random_state=0)
    assert NOMAD(K=12).fit(X).closedness_.tolist() == [0, 0]
    assert NOMAD(K=2).fit(np.arange(6.0)[:, None]).closedness_.tolist() == [0]


def noisy_ring_of_neurons(rng, n=200):
    """Counts of forty neurons, each with its own preferred angle."""
    angle, preferred = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 2 * np.pi, 40)
    rate = 0.1 + 3 * np.exp(3 * (np.cos(angle[:, None] - preferred) - 1))
    return np.sqrt(rng.poisson(rate)), angle


def test_a_noisy_ring_of_neurons_has_its_angle_by_default(rng):
    X, angle = noisy_ring_of_neurons(rng)
    model = NOMAD().fit(X)
    assert model.n_manifolds_ == 1
    assert abs(circular_rank_correlation(angle, model.circular_coordinates_)) >= 0.9
