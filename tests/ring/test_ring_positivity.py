"""Complete positivity on the ring: factors, and the best completely positive value."""

import re

import numpy as np
import pytest
from scipy.linalg import circulant

from ring_cases import CASES, assert_feasible, tolerance
from sknomad.ring import (
    best_completely_positive,
    best_completely_positive_value,
    completely_positive_factor,
    ring_optimum,
    ring_points,
)

# Digits beyond the sixth decimal are ours; the reference's own last digit is one too low at n=40 and n=160.
COMPLETELY_POSITIVE_VALUES = [
    (100, 1.5, 25),
    (100, 1.6, 29.95098),
    (100, 2, 47.28661),
    (100, 3, 72.38607),
    (40, 4, 33.413998),
    (80, 8, 76.513995),
    (100, 8, 95.642455),
    (160, 16, 158.231916),
    (320, 32, 319.112793),
    (100, 50, 99.901336),
    (5, 5**0.5, 2.7950850),
]


@pytest.mark.parametrize(
    ("n", "K"), [(30, 1.0), (30, 1.3), (31, 1.5), (30, 1.5), (8, 4), (30, 15), (31, 15.5), (31, 20.2), (30, 30)]
)
def test_factor_reproduces_Q_and_is_nonnegative(n, K):
    Q = ring_optimum(n, K).Q
    B = completely_positive_factor(Q)
    assert B.min() >= 0
    assert np.abs(B @ B.T - Q).max() <= 1e-12


@pytest.mark.parametrize("n", [16, 17])
def test_factor_of_a_circulant_with_many_modes(n):
    q = np.random.default_rng(0).random(n)
    q = q + np.roll(q[::-1], 1)
    q[0], q[1:] = 1, 0.45 * q[1:] / q[1:].sum()
    Q = circulant(np.fft.ifft(q).real)
    B = completely_positive_factor(Q)
    assert B.min() >= 0
    assert np.abs(B @ B.T - Q).max() <= 1e-12


def test_factor_of_a_dominant_matrix_that_is_not_circulant():
    swaps = np.random.default_rng(0).permuted(np.tile(np.arange(9), (6, 1)), axis=1)
    P = sum(np.eye(9)[swap] + np.eye(9)[swap].T for swap in swaps) / 12
    Q = 0.6 * np.eye(9) + 0.4 * P
    B = completely_positive_factor(Q)
    assert B.min() >= 0
    assert np.abs(B @ B.T - Q).max() <= 1e-12


@pytest.mark.parametrize(("n", "K"), [(30, 1.51), (30, 14.9), (100, 8)])
def test_factor_says_that_the_proposition_is_silent(n, K):
    with pytest.raises(ValueError, match="The proposition is silent"):
        completely_positive_factor(ring_optimum(n, K).Q)


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.ones(3), "Q must be a square matrix, got shape (3,)"),
        ([[0.9, 0.1], [0.2, 0.8]], "Q must be symmetric"),
        ([[1.1, -0.1], [-0.1, 1.1]], "Q must be nonnegative"),
        ([[0.9, 0.2], [0.2, 0.9]], "Q must be of unit row sums"),
        ([[np.nan, 0.2], [0.2, 0.9]], "Q must be symmetric, got an error of nan"),
        ([[0.3, 0.7], [0.7, 0.3]], "Q must be positive semidefinite"),
    ],
)
def test_factor_rejects_an_infeasible_Q(Q, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        completely_positive_factor(Q)


@pytest.mark.parametrize(("n", "K", "expected"), COMPLETELY_POSITIVE_VALUES)
def test_best_completely_positive_value(n, K, expected):
    assert best_completely_positive_value(n, K) == pytest.approx(expected, abs=tolerance(expected))


@pytest.mark.parametrize(("n", "K"), [*CASES, (100, 2), (60, 30)])
def test_best_completely_positive_is_attained_and_bounded(n, K):
    best = best_completely_positive(n, K)
    X = ring_points(n)
    assert best.factor.min() >= 0
    assert np.allclose(best.factor @ best.factor.T, best.Q, rtol=0, atol=1e-15)
    assert_feasible(best.Q, K, atol=1e-12)
    assert np.sum((X @ X.T) * best.Q) == pytest.approx(best.value, abs=1e-11)
    assert best.upper == pytest.approx(best.value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("n", "K"), [(5, 5**0.5), (7, 2.1), (12, 3), (12, 4.4), (40, 4)])
def test_no_truncated_cosine_beats_the_bound(n, K):
    # The library searches centred windows only; here phi and b are free, so this checks that centring loses nothing.
    best = best_completely_positive(n, K)
    angle = 2 * np.pi * np.arange(n) / n
    phi, b = np.meshgrid(np.linspace(0, np.pi / n, 13), np.linspace(-0.999, 2, 3000), indexing="ij")
    v = np.maximum(np.cos(angle - phi[..., None]) + b[..., None], 0)
    v = v[v.sum(axis=-1) > 1e-9]
    v /= v.sum(axis=-1, keepdims=True)
    profit = n * np.abs(v @ np.exp(1j * angle)) ** 2 - best.price * (n * np.square(v).sum(axis=-1) - K)
    assert profit.max() <= best.upper + 1e-10
    assert profit.max() >= best.upper - 1e-4 * n


@pytest.mark.parametrize(("n", "K"), [(7, 2.1), (12, 3.3)])
def test_no_random_window_beats_the_bound(n, K):
    best = best_completely_positive(n, K)
    angle = 2 * np.pi * np.arange(n) / n
    rng = np.random.default_rng(0)
    windows = rng.dirichlet(np.full(n, 0.3), size=20000)
    near = 0.9 * best.windows[rng.integers(2, size=20000)] + 0.1 * windows
    v = np.concatenate([windows, near])
    profit = n * np.abs(v @ np.exp(1j * angle)) ** 2 - best.price * (n * np.square(v).sum(axis=-1) - K)
    assert profit.max() <= best.upper + 1e-10


def completely_positive_ends(n):
    """The range of K inside which completely positive matrices fall short."""
    return 1 + 1 / (2 * np.cos(np.pi / n) ** 2), n / 2 if n % 2 else 3 * n / 8


@pytest.mark.parametrize("n", [5, 6, 7, 8, 9, 20, 100])
def test_completely_positive_loses_nothing_outside_its_ends(n):
    # The proposition's 3/2 is sharp only in the limit of large n, its n/2 only for odd n.
    start, end = completely_positive_ends(n)
    for K in [1, 1.2, 1.5, start, end, (end + n / 2) / 2, n / 2, (end + n) / 2, n]:
        assert best_completely_positive_value(n, K) == pytest.approx(ring_optimum(n, K).value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [5, 6, 7, 8, 9, 20, 100])
def test_completely_positive_falls_short_just_inside_its_ends(n):
    start, end = completely_positive_ends(n)
    for K in [start + 1e-3, 1.99, 0.98 * end]:
        assert best_completely_positive_value(n, K) < ring_optimum(n, K).value * (1 - 1e-8)


@pytest.mark.parametrize("n", [5, 7, 11])
def test_completely_positive_falls_short_throughout_for_odd_n(n):
    start, end = completely_positive_ends(n)
    for K in np.linspace(start, end, 40)[1:-1]:
        assert best_completely_positive_value(n, K) < ring_optimum(n, K).value * (1 - 1e-8)


@pytest.mark.parametrize("n", [8, 10, 100])
@pytest.mark.parametrize("shift", [0, 0.5])
def test_clipped_cosine_is_an_optimum_of_the_relaxation(n, shift):
    window = np.maximum(np.cos(2 * np.pi * (np.arange(n) - shift) / n), 0)
    window /= window.sum()
    K = n * window @ window
    assert best_completely_positive_value(n, K) == pytest.approx(n * K / 4, rel=1e-12)
    assert ring_optimum(n, K).value == pytest.approx(n * K / 4, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_up_to_four_points_nothing_is_lost(n):
    for K in np.linspace(1, n, 9):
        assert best_completely_positive_value(n, K) == pytest.approx(ring_optimum(n, K).value, abs=1e-12)


def test_best_completely_positive_value_increases_and_is_concave():
    values = np.array([best_completely_positive_value(24, K) for K in np.linspace(1, 24, 93)])
    assert np.all(np.diff(values) > 0)
    assert np.all(np.diff(values, 2) < 1e-12)
