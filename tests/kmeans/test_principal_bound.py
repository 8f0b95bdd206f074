"""The bound of principal components: never above the best clustering, and what the dense judge proves without N."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sknomad import Gram, KMeansSDP, inertia_bound, kmeans_objective, upper_bound
from sknomad._kmeans import principal_bound as module
from sknomad._kmeans.principal_bound import principal_bound


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(30, 5), (8, 20), (40, 40)])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_it_is_the_bound_of_the_dense_judge_without_a_multiplier(shape, K, weighted):
    rng = np.random.default_rng(sum(shape) + K)
    gram = Gram.from_data(rng.standard_normal(shape) + 50, weights=rng.uniform(0.1, 3, shape[0]) if weighted else None)
    dense = inertia_bound(gram, upper_bound(KMeansSDP(gram, K), np.zeros((gram.n, gram.n)), grade="verified"))
    assert principal_bound(gram, K) == pytest.approx(dense, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_it_is_below_every_clustering(seed):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(2, 30)), int(rng.integers(1, 12)), int(rng.integers(1, 6))
    places = rng.standard_normal((K, d)) * rng.choice([0.0, 1.0, 1e4])
    labels = rng.integers(0, K, n)
    X = (places[labels] + rng.standard_normal((n, d)) * rng.choice([0.0, 1e-8, 1.0])) * 10.0 ** rng.integers(-20, 20)
    gram = Gram.from_data(X + rng.choice([0.0, 1e3]) * np.abs(X).max())
    bound = principal_bound(gram, K) * gram.unit
    assert 0 <= bound <= kmeans_objective(X, labels) * (1 + 1e-9) + 1e-9 * float(np.sum(X**2))


def test_rounding_is_on_the_safe_side():
    """Points on two axes, in rational numbers: the larger spread is explained, the smaller one is the bound."""
    X = np.array([[3.0, 0.1], [-3.0, 0.1], [3.0, -0.1], [-3.0, -0.1]])
    exact = 4 * Fraction(0.1) ** 2
    bound = principal_bound(Gram.from_data(X), 2)
    assert Fraction(bound) <= exact
    assert bound == pytest.approx(float(exact), rel=1e-10)


def test_what_it_cannot_say_is_zero(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 3))
    assert principal_bound(Gram.from_data(X), 4) == 0  # three components explain all of three columns
    assert principal_bound(Gram.from_data(np.ones((5, 2))), 1) == 0
    monkeypatch.setattr(module, "LARGEST_SIDE", 2)
    assert principal_bound(Gram.from_data(X), 2) == 0
    assert math.isfinite(principal_bound(Gram.from_data(X[:, :2]), 2))
