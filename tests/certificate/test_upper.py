"""Upper bounds: the textbook formula, and whatever multiplier they are given, above the optimum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import LISTED_TOLERANCE, centred_gram, dual_bound, exact_squares, nearly_all, ring_points, ring_value
from planted_problems import GRADES, ROUNDING, planted_problem, seeds, sizes
from sknomad import Gram, Iterate, KMeansSDP, certify, upper_bound

# Optimal pairs.


@given(seeds, sizes, st.floats(0, 1), st.floats(-3, 3), st.booleans())
def test_upper_bound_is_the_textbook_formula(seed, n, share, log_size, indefinite):
    rng = np.random.default_rng(seed)
    K = 1 + share * (n - 1)
    X = rng.standard_normal((n, 3))
    D = centred_gram(X)
    if indefinite:
        E = rng.standard_normal((n, n))
        D = D + E + E.T
    N = 10**log_size * rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    N = N + N.T
    problem = KMeansSDP(Gram.from_kernel(D, allow_indefinite=True), K)
    if problem.is_trivial:
        return
    P = np.eye(n) - 1 / n
    expected = dual_bound(P @ D @ P, N, K)
    size = np.linalg.norm(D) + N.sum()
    bound = upper_bound(problem, N)
    assert expected - 1e-14 * size <= bound <= expected + 1e-11 * size


# Any multiplier is safe.

MULTIPLIERS = {
    "normal": lambda rng, planted: rng.standard_normal(planted.D.shape),
    "asymmetric": lambda rng, planted: np.triu(rng.random(planted.D.shape)) * 5,
    "negative": lambda rng, planted: -rng.random(planted.D.shape),
    "zero": lambda rng, planted: np.zeros_like(planted.D),
    "constant": lambda rng, planted: np.full_like(planted.D, 10.0 ** rng.integers(-3, 9)),
    "huge": lambda rng, planted: 10.0 ** rng.integers(3, 100) * rng.standard_normal(planted.D.shape),
    "spike": lambda rng, planted: np.eye(len(planted.D))[rng.permutation(len(planted.D))] * 1e6,
    "optimal plus noise": lambda rng, planted: (
        planted.N + 10.0 ** rng.integers(-12, 1) * rng.standard_normal(planted.D.shape)
    ),
    "optimal scaled": lambda rng, planted: planted.N * rng.uniform(0, 2),
    "optimal permuted": lambda rng, planted: planted.N[:, rng.permutation(len(planted.N))],
    "on the support too": lambda rng, planted: planted.N + 10.0 ** rng.integers(-12, 1) * planted.Q,
    "on the diagonal": lambda rng, planted: planted.N + 10.0 ** rng.integers(-12, 1) * np.eye(len(planted.N)),
    "single precision": lambda rng, planted: planted.N.astype(np.float32),
}


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("kind", MULTIPLIERS)
@settings(max_examples=25)
@given(seed=seeds, n=sizes, hard=st.booleans(), factored=st.booleans())
def test_no_multiplier_gives_a_bound_below_the_optimum(kind, grade, seed, n, hard, factored):
    rng, example, problem = planted_problem(seed, n, hard=hard, factored=factored)
    bound = upper_bound(problem, MULTIPLIERS[kind](rng, example), grade=grade)
    assert bound >= example.value * (1 - ROUNDING)


@pytest.mark.parametrize("grade", GRADES)
@settings(max_examples=40)
@given(seed=seeds, n=st.integers(3, 24), share=st.floats(0, 1), log_size=st.floats(-6, 2))
def test_no_multiplier_gives_a_bound_below_the_ring_optimum(grade, seed, n, share, log_size):
    K = 1 + share * (n - 1)
    problem = KMeansSDP(Gram.from_data(ring_points(n)), K)
    N = 10**log_size * np.random.default_rng(seed).standard_normal((n, n))
    for multiplier in (N, _ring_multiplier(n, K) + 1e-3 * N):
        assert upper_bound(problem, multiplier, grade=grade) >= ring_value(n, K) * (1 - LISTED_TOLERANCE) - 1e-9


def _ring_multiplier(n, K):
    """A circulant matrix that grows with distance, roughly as a good multiplier does."""
    chord = 1 - np.cos(2 * np.pi * np.subtract.outer(np.arange(n), np.arange(n)) / n)
    return np.maximum(chord - 2 * (np.pi / K) ** 2, 0)


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_multiplier_that_is_not_finite_proves_nothing(grade, bad):
    _, example, problem = planted_problem(0, 8)
    N = example.N.copy()
    N[2, 5] = bad
    assert upper_bound(problem, N, grade=grade) == math.inf
    assert upper_bound(problem, np.full_like(N, bad), grade=grade) == math.inf
    assert upper_bound(problem, None, grade=grade) == math.inf
    assert certify(problem, Iterate(example.Q, N=N), grade=grade).gap == math.inf


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("size", [1e150, 1e160, 1e200, 1e300, 1.7e308])
def test_multiplier_near_overflow_is_loose_or_nothing(grade, size):
    _, example, problem = planted_problem(0, 8)
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        bound = upper_bound(problem, size * rng.random((8, 8)), grade=grade)
    assert bound >= example.value


def test_multiplier_of_another_size_is_refused():
    _, _, problem = planted_problem(0, 8)
    with pytest.raises(ValueError, match=r"N must have shape \(8, 8\), got \(7, 7\)"):
        upper_bound(problem, np.zeros((7, 7)))


def test_unknown_grade_is_refused_not_replaced():
    _, example, problem = planted_problem(0, 8)
    for call in (
        lambda: certify(problem, Iterate(example.Q, N=example.N), grade="estimated"),
        lambda: upper_bound(problem, example.N, grade="Verified"),
    ):
        with pytest.raises(ValueError, match="grade must be one of 'eigen', 'verified', got"):
            call()


def test_eigen_pad_knows_what_lies_along_the_fixed_vector():
    """Under extreme weights all of ``D + N`` is far larger than its part that eigenvalues are taken of."""
    kernel, weights = np.array([[-2.0, -1, 1], [-1, -2, 0], [1, 0, 0]]), np.array([1e-19, 1e8, 1e7])
    answer = nearly_all(exact_squares(kernel, "kernel"), 2.5, weights)
    problem = KMeansSDP(Gram.from_kernel(kernel, weights=weights, allow_indefinite=True), 2.5)
    assert Fraction(upper_bound(problem, answer.N)) >= answer.value
