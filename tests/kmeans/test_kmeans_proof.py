"""Certified K-means: no bound above any clustering, and as good a bound as the relaxation has."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from sknomad import Gram, Status, certify_kmeans, kmeans_objective

# Best known inertia of iris, and the least inertia that the relaxation allows.
IRIS = {2: (152.347952, 150.68307), 3: (78.851441, 75.53709), 4: (57.228473, 54.84661)}


def best_inertia(X, K):
    """By trying every clustering into at most K groups."""
    n = len(X)
    labelings = itertools.product(range(K), repeat=n - 1)
    return min(kmeans_objective(X, [0, *labels]) for labels in labelings)


@given(st.integers(0, 2**32 - 1), st.integers(3, 7), st.integers(1, 4))
@settings(max_examples=40)
def test_bound_is_below_every_clustering(seed, n, K):
    rng = np.random.default_rng(seed)
    K = min(K, n)
    X = rng.standard_normal((n, 2)) * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e3])
    labels = rng.integers(0, K, n)
    proof = certify_kmeans(X, labels, n_clusters=K, max_iter=int(rng.choice([1, 10, 300])))
    best = best_inertia(X, K)
    assert 0 <= proof.lower_bound <= best * (1 + 1e-9) + 1e-9 * kmeans_objective(X, np.zeros(n))
    assert proof.inertia == pytest.approx(kmeans_objective(X, labels))
    assert 0 <= proof.gap <= 1


@pytest.mark.parametrize("K", IRIS)
def test_iris(K):
    X = load_iris().data
    best, relaxed = IRIS[K]
    labels = KMeans(K, n_init=10, random_state=0).fit_predict(X)
    proof = certify_kmeans(X, labels)
    assert proof.inertia == pytest.approx(best, rel=1e-6)
    assert relaxed - 1e-3 * best <= proof.lower_bound <= best
    assert proof.gap == pytest.approx((proof.inertia - proof.lower_bound) / proof.inertia)
    assert proof.n_clusters == K
    assert proof.status is Status.EXHAUSTED  # the relaxation leaves percents open


def test_poor_labels_get_the_same_bound_and_a_larger_gap(rng):
    X = load_iris().data
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    poor = np.where(rng.random(150) < 0.2, rng.integers(0, 3, 150), labels)
    proof = certify_kmeans(X, poor)
    assert proof.inertia > 90
    assert IRIS[3][1] - 0.2 <= proof.lower_bound <= IRIS[3][0]


def test_separated_blobs_are_proven_optimal(rng):
    X = np.repeat(100 * np.eye(4), 15, axis=0) + rng.standard_normal((60, 4))
    labels = np.repeat(list("abcd"), 15)
    proof = certify_kmeans(X, labels, grade="verified")
    assert proof.gap <= 1e-3
    assert proof.grade == "verified"
    assert proof.status is Status.CERTIFIED


def test_bound_for_more_clusters_is_lower(rng):
    X = rng.standard_normal((40, 3))
    labels = rng.integers(0, 2, 40)
    assert certify_kmeans(X, labels, n_clusters=4).lower_bound < certify_kmeans(X, labels).lower_bound


def test_extreme_cases():
    X = [[0.0], [1.0], [5.0]]
    assert certify_kmeans(X, [0, 1, 2]).gap == 0
    one = certify_kmeans(X, [0, 0, 0])
    assert one.lower_bound == pytest.approx(one.inertia)
    assert certify_kmeans([[2.0], [2.0], [2.0]], [0, 0, 1]).gap == 0
    assert certify_kmeans(Gram.from_data(X), [0, 0, 1]).inertia == pytest.approx(0.5)


BAD = {
    "labels must be 3 labels": {"labels": [0, 1]},
    "n_clusters must lie between the 2 distinct labels and n_samples=3, got 1": {"n_clusters": 1},
    "n_samples=3, got 4": {"n_clusters": 4},
    r"tol must be a real number in \[0, 1\], got 2": {"tol": 2},
    "grade must be one of": {"grade": "guess"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_gets_a_sentence(message):
    with pytest.raises(ValueError, match=message):
        certify_kmeans([[0.0], [1.0], [5.0]], **{"labels": [0, 0, 1], **BAD[message]})
