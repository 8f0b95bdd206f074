"""Metrics against scikit-learn, closed forms, and what must not change them."""

import numpy as np
import pytest
from sklearn import manifold

from oracles import ring_points
from sknomad import assignment_matrix, metrics
from sknomad.ring import ring_optimum


@pytest.mark.parametrize("k", [1, 5, 19])
@pytest.mark.parametrize("block", [1, 200, 10**6])
def test_trustworthiness_is_scikit_learns(rng, monkeypatch, k, block):
    monkeypatch.setattr(metrics, "BLOCK_ENTRIES", block)
    X, Y = rng.standard_normal((40, 5)), rng.standard_normal((40, 2))
    assert metrics.trustworthiness(X, Y, k) == pytest.approx(manifold.trustworthiness(X, Y, n_neighbors=k), abs=1e-12)
    assert metrics.continuity(X, Y, k) == pytest.approx(manifold.trustworthiness(Y, X, n_neighbors=k), abs=1e-12)


def test_trustworthiness_survives_duplicates(rng):
    X = np.repeat(rng.standard_normal((10, 3)), 2, axis=0)
    assert metrics.trustworthiness(X, X, 3) == pytest.approx(1)


def test_geodesics_of_a_ring_are_arcs_of_chords():
    n, chord = 24, 2 * np.sin(np.pi / 24)
    steps = np.minimum(np.arange(n), n - np.arange(n))
    np.testing.assert_allclose(metrics.graph_geodesics(ring_points(n), 3)[0], steps * chord, atol=1e-12)


def test_geodesics_between_parts_are_infinite():
    D = metrics.graph_geodesics([[0.0], [1.0], [50.0], [51.0]], 2)
    assert np.isinf(D[0, 2])
    assert D[2, 3] == 1


def test_bullseye_counts_what_is_shared():
    line = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    assert metrics.bullseye_score(line, line, [1, 5, 50, 100]).tolist() == [1, 1, 1, 1]
    # Every distance reversed: beside itself, a point shares only what two halves of a line have in common.
    reverse = line.max() - line
    scores = metrics.bullseye_score(line, reverse, [10, 20, 100])
    assert scores[0] == 1
    assert scores[1] == 0.5
    assert scores[2] == 1


def test_bullseye_does_not_see_scale_or_monotone_change(rng):
    D = rng.random((15, 15))
    D = D + D.T
    other = rng.random((15, 15))
    expected = metrics.bullseye_score(D, other, [10, 30, 60])
    np.testing.assert_array_equal(metrics.bullseye_score(np.exp(3 * D), other, [10, 30, 60]), expected)


def test_circular_rank_correlation_ignores_rotation_and_reflection(rng):
    true = rng.permutation(50)
    angle = 2 * np.pi * true / 50
    for recovered in (angle, (angle + 1.3) % (2 * np.pi), (-angle) % (2 * np.pi), 5 * angle - 7):
        assert metrics.circular_rank_correlation(recovered, true) == pytest.approx(1)
    assert metrics.circular_rank_correlation(rng.permutation(50), np.arange(50)) < 0.5


def test_hardness_is_one_for_clusterings_alone(rng):
    assert metrics.hardness(assignment_matrix(rng.integers(0, 4, 30))) == pytest.approx(1)
    assert metrics.hardness(np.full((5, 5), 0.2)) == pytest.approx(1)  # one cluster
    assert metrics.hardness(ring_optimum(20, 4).Q) < 0.9


@pytest.mark.parametrize(("K", "modes"), [(3, 9), (5, 15), (8, 19), (16, 33), (50, 85)])
def test_active_modes_are_the_papers(K, modes):
    assert metrics.active_modes(ring_optimum(100, K).Q) == modes


BAD = [
    (lambda: metrics.trustworthiness([[0.0]] * 6, [[0.0]] * 5, 2), "as many rows"),
    (lambda: metrics.trustworthiness([[0.0]] * 6, [[0.0]] * 6, 3), r"less than n_samples / 2 = 3.0, got 3"),
    (lambda: metrics.graph_geodesics([[0.0], [1.0]], 3), "at most n_samples=2, got 3"),
    (lambda: metrics.bullseye_score(np.eye(3), np.eye(4), [5]), "shape of true_distances"),
    (lambda: metrics.bullseye_score(np.eye(3), np.full((3, 3), np.nan), [5]), "must not hold NaN, got 9"),
    (lambda: metrics.bullseye_score(np.eye(3), np.eye(3), [0]), r"real numbers in \(0, 100\], got 0"),
    (lambda: metrics.circular_rank_correlation([1, 2], [1]), "same length, got 2 and 1"),
    (lambda: metrics.circular_rank_correlation([], []), "non-empty vector"),
    (lambda: metrics.hardness(np.ones((2, 3))), "square matrix"),
    (lambda: metrics.active_modes(np.eye(2), -1), "nonnegative real number, got -1"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_gets_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
