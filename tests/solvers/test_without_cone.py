"""The nearest matrix without the cone: what it must satisfy, and data that could keep Newton's method from it."""

import numpy as np
import pytest

from sknomad import Gram
from sknomad.solvers._without_cone import (
    ACCURACY,
    NEAR_ENOUGH,
    SHARE_OF_NORM,
    nearest_within_ball,
    nearest_without_cone,
)

RIDGES = (0.002, 0.02, 0.2)


def gram(X):
    """Inner products of norm one."""
    D = Gram.from_data(X).dense()
    return D / np.linalg.norm(D)


def ring(n):
    angles = np.arange(n) * 2 * np.pi / n
    return np.column_stack([np.cos(angles), np.sin(angles)])


RNG = np.random.default_rng(0)
DATA = {
    "normal": RNG.standard_normal((60, 5)),
    "heavy tails": RNG.standard_t(1.5, size=(50, 3)),
    "a far point": np.r_[RNG.standard_normal((40, 2)), [[1e6, 0.0]]],
    "ring": ring(48),
    "two values": np.repeat([[0.0], [1.0]], [30, 10], axis=0),
    "more columns than rows": RNG.standard_normal((20, 200)),
}


@pytest.fixture(params=DATA)
def D(request):
    return gram(DATA[request.param])


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("K", [1.5, 4.0, 15.0])
def test_rows_sum_to_one_and_the_trace_is_K(D, ridge, K):
    Q = np.maximum(nearest_without_cone(D, ridge, K), 0) / ridge
    assert np.allclose(Q, Q.T, atol=1e-12)
    assert np.allclose(Q.sum(axis=1), 1, atol=2 * ACCURACY)
    assert np.trace(Q) == pytest.approx(K, rel=2 * ACCURACY)


def test_what_is_added_are_multipliers_of_rows_and_trace(D):
    """``M - D`` is ``y 1' + 1 y' + t I``: with nonnegative ``Q`` that is all that an optimum asks for."""
    added = nearest_without_cone(D, 0.02, 4.0) - D
    n = len(D)
    off = added - np.diag(np.diag(added))
    # Of y 1' + 1 y' off the diagonal, y follows from the sums of rows.
    sums = off.sum(axis=1)
    y = (sums - sums.sum() / (2 * (n - 1))) / (n - 2)
    t = np.diag(added) - 2 * y
    assert np.allclose(off, y[:, None] + y - np.diag(2 * y), atol=1e-9)
    assert np.allclose(t, t[0], atol=1e-9)


def test_it_is_nearer_to_the_data_than_any_mixture_of_clusterings():
    D, ridge, K = gram(DATA["normal"]), 0.02, 6
    Q = np.maximum(nearest_without_cone(D, ridge, K), 0) / ridge
    for _ in range(200):
        labels = RNG.permutation(np.r_[np.arange(K), RNG.integers(0, K, len(D) - K)])
        V = np.eye(K)[labels]
        other = V / V.sum(axis=0) @ V.T
        assert np.sum((D / ridge - Q) * (other - Q)) < 2 * ACCURACY * np.linalg.norm(D / ridge - Q) * np.linalg.norm(Q)


def test_points_in_another_order_give_the_same():
    D, order = gram(DATA["heavy tails"]), RNG.permutation(50)
    one = nearest_without_cone(D, 0.02, 5.0)
    other = nearest_without_cone(D[np.ix_(order, order)], 0.02, 5.0)
    assert np.allclose(one[np.ix_(order, order)], other, atol=1e-9)


def test_an_indefinite_kernel_is_taken_too():
    A = RNG.standard_normal((30, 30))
    A = A + A.T
    Q = np.maximum(nearest_without_cone(A / np.linalg.norm(A), 0.02, 5.0), 0) / 0.02
    assert np.allclose(Q.sum(axis=1), 1, atol=2 * ACCURACY)


@pytest.mark.parametrize("K", [1.0, 1.5, 4.0, 15.0])
@pytest.mark.parametrize("ridge", RIDGES)
def test_within_the_ball_it_is_the_solution_of_the_ridge_that_is_said(D, ridge, K):
    """With next to one patch no ridge may bring it there in time: what comes is a start all the same."""
    M, larger = nearest_within_ball(D, ridge, K)
    assert larger >= ridge
    assert np.array_equal(M, nearest_without_cone(D, larger, K))
    assert K < 2 or np.sum((np.maximum(M, 0) / larger) ** 2) <= 1.01 * NEAR_ENOUGH[1] * (1 + SHARE_OF_NORM * (K - 1))


def test_a_solution_within_the_ball_is_left_as_it_is():
    D = gram(ring(48))
    M, larger = nearest_within_ball(D, 1.0, 4.0)
    assert larger == 1.0
    assert np.array_equal(M, nearest_without_cone(D, 1.0, 4.0))


def test_the_ridge_is_hardly_larger_than_the_ball_asks_for():
    M, larger = nearest_within_ball(gram(DATA["more columns than rows"]), 0.002, 4.0)
    assert larger > 0.002
    assert np.sum((np.maximum(M, 0) / larger) ** 2) >= 0.99 * NEAR_ENOUGH[0] * (1 + SHARE_OF_NORM * 3.0)
