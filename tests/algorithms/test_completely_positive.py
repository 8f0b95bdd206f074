"""Complete positivity: factors where theorems give one, silence elsewhere, and the profile of errors against rank."""

import numpy as np
import pytest

from sknomad import circulance_factor, cp_rank_profile, diagonal_dominance_factor, symmetric_nmf
from sknomad.ring import ring_optimum


def assert_factor(B, Q):
    assert B.min() >= 0
    assert np.abs(B @ B.T - Q).max() < 1e-12


@pytest.mark.parametrize("n", [5, 12, 31])
def test_both_halves_of_the_proposition(n):
    for K in (1, 1.2, 1.5):
        Q = ring_optimum(n, K).Q
        assert_factor(circulance_factor(Q), Q)
    for K in (n / 2, 0.7 * n, n):
        Q = ring_optimum(n, K).Q
        assert_factor(diagonal_dominance_factor(Q), Q)


def test_silence_between():
    Q = ring_optimum(20, 4).Q
    assert circulance_factor(Q) is None
    assert diagonal_dominance_factor(Q) is None


def test_dominance_needs_neither_circulance_nor_unit_row_sums(rng):
    Q = rng.random((9, 9))
    Q = Q + Q.T
    np.fill_diagonal(Q, 0)
    Q += np.diag(Q.sum(axis=1) + rng.random(9))
    assert_factor(diagonal_dominance_factor(Q), Q)
    negative = Q.copy()
    negative[0, 1] = negative[1, 0] = -0.01
    assert diagonal_dominance_factor(negative) is None
    lean = Q.copy()
    lean[3, 3] = Q[3].sum() - Q[3, 3] - 0.01
    assert diagonal_dominance_factor(lean) is None


def test_circulance_asks_for_a_feasible_circulant():
    Q = ring_optimum(16, 1.4).Q
    order = np.random.default_rng(0).permutation(16)
    assert circulance_factor(Q[np.ix_(order, order)]) is None  # circulant only in the right order
    assert circulance_factor(2 * Q) is None
    indefinite = np.full((4, 4), 0.25) + 0.1 * np.array([[0, 1, -2, 1]] * 4)
    indefinite = np.array([np.roll(indefinite[0], k) for k in range(4)])
    assert circulance_factor(indefinite) is None


def test_profile_is_that_of_the_factorisations():
    Q = ring_optimum(24, 3).Q
    profile = cp_rank_profile(Q, [2, 6, 24], n_starts=4, random_state=5)
    assert profile.ranks.tolist() == [2, 6, 24]
    assert profile.errors.shape == (3, 4)
    assert np.array_equal(profile.errors[1], symmetric_nmf(Q, 6, n_starts=4, random_state=5).errors)
    assert np.allclose(profile.mean, profile.errors.mean(axis=1))
    assert np.allclose(profile.spread, profile.errors.std(axis=1))
    assert np.all(np.diff(profile.best) < 0)
    assert profile.best[-1] > 3e-3  # and no rank reaches 0: this Q is not completely positive


def test_profile_in_two_processes_is_the_same():
    Q = ring_optimum(24, 3).Q
    alone, shared = (cp_rank_profile(Q, [2, 12, 6], n_starts=3, n_jobs=n_jobs) for n_jobs in (None, 2))
    np.testing.assert_allclose(shared.errors, alone.errors, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ranks": []}, "ranks must hold at least one integer, got none"),
        ({"ranks": [0]}, "ranks must be an integer >= 1, got 0"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"Q": np.ones((2, 3))}, "Q must be square"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        cp_rank_profile(**({"Q": np.eye(3), "ranks": [2]} | arguments))
