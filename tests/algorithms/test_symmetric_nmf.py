"""Symmetric nonnegative factorisation: stationary points, the factored form, seeds, and what is not possible."""

import numpy as np
import pytest

import sknomad._algorithms.symmetric_nmf as module
from sknomad import symmetric_nmf
from sknomad.ring import best_completely_positive, ring_optimum


def relative_error(A, Y):
    A = np.maximum(A, 0)
    return np.linalg.norm(A - Y @ Y.T) / np.linalg.norm(A)


def test_factor_is_recovered_where_there_is_one(rng):
    hard = np.kron(np.eye(4), np.ones((5, 1)) / np.sqrt(5))
    fit = symmetric_nmf(hard @ hard.T, 4, n_starts=10)
    assert fit.error < 1e-3
    assert np.all(fit.Y >= 0)
    Y = rng.random((30, 3))
    assert symmetric_nmf(Y @ Y.T, 3, n_starts=3, max_iter=5000).error < 1e-2


def test_ends_at_a_stationary_point(rng):
    # With the multiplier's step of the opposite sign, as printed, the two copies of Y drift apart instead.
    Y = rng.random((25, 4))
    A = Y @ Y.T + 0.3 * rng.random((25, 25))
    A = (A + A.T) / 2
    fit = symmetric_nmf(A, 4, max_iter=20_000, tol=1e-10)
    assert fit.n_iter < 20_000
    slope = (fit.Y @ fit.Y.T - A) @ fit.Y
    scale = np.linalg.norm(A @ fit.Y)
    assert np.abs(slope[fit.Y > 1e-6]).max() < 1e-5 * scale
    assert slope[fit.Y <= 1e-6].min(initial=0.0) > -1e-5 * scale


def test_error_is_the_relative_error_of_the_best_start(rng):
    A = rng.standard_normal((20, 20))
    A = A + A.T
    fit = symmetric_nmf(A, 5, n_starts=6, random_state=3)
    assert fit.errors.shape == (6,)
    assert len(set(fit.errors)) > 1
    assert fit.error == fit.errors.min() == pytest.approx(relative_error(A, fit.Y))
    again = symmetric_nmf(A, 5, n_starts=2, random_state=3)
    assert np.array_equal(again.errors, fit.errors[:2])
    assert not np.array_equal(symmetric_nmf(A, 5, n_starts=2, random_state=4).errors, again.errors)


def test_a_factor_stands_for_its_product_whose_negative_entries_are_cut(rng, monkeypatch):
    # Cutting the factor's negative entries instead would fit another matrix.
    B = rng.standard_normal((40, 3))
    dense = symmetric_nmf(B @ B.T, 6)
    assert np.array_equal(symmetric_nmf(B, 6, factored=True).Y, dense.Y)
    monkeypatch.setattr(module, "FORM_BELOW", 10)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 300)
    by_blocks = symmetric_nmf(B, 6, factored=True)
    assert by_blocks.error == pytest.approx(dense.error, rel=1e-6)
    assert by_blocks.error == pytest.approx(relative_error(B @ B.T, by_blocks.Y), rel=1e-6)
    positive = np.abs(B)
    assert symmetric_nmf(positive, 6, factored=True).error == pytest.approx(
        symmetric_nmf(positive @ positive.T, 6).error, rel=1e-4, abs=1e-7
    )


def test_error_falls_with_the_rank_and_levels_off_where_no_factor_exists():
    # On the ring between K = 3/2 and n/2 the optimum is not completely positive, so no rank reaches it.
    Q = ring_optimum(40, 3).Q
    few, some, many = (symmetric_nmf(Q, rank, n_starts=3).error for rank in (3, 12, 48))
    assert few > 5 * some
    assert some > many > 3e-3
    reachable = best_completely_positive(40, 3).Q
    assert symmetric_nmf(reachable, 48, n_starts=3).error < many / 2


def test_zero_and_tiny_matrices():
    assert symmetric_nmf(np.zeros((4, 4)), 2).error == 0
    assert symmetric_nmf(np.array([[2.0, 0.0], [0.0, 3.0]]), 2, n_starts=5).error < 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 0}, "rank must be an integer >= 1, got 0"),
        ({"A": np.ones((3, 2))}, "A must be square"),
        ({"A": np.triu(np.ones((3, 3)))}, "A must be symmetric"),
        ({"A": np.full((3, 3), np.nan)}, "A has 9 non-finite values"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"penalty": -1.0}, "penalty must be a positive real number, got -1"),
        ({"tol": 2}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        symmetric_nmf(**({"A": np.eye(3), "rank": 2} | arguments))
