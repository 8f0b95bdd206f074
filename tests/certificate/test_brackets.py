"""Five hundred problems, four stops each: the optimum lies in every bracket, wherever the data are moved."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import (
    LISTED_TOLERANCE,
    Reference,
    centred_gram,
    clarabel_bounds,
    infeasibility,
    planted,
    points_of,
    ring_points,
    ring_value,
)
from sknomad import Gram, KMeansSDP, solve

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

STOPS = (1, 10, 100, 1500)
TOL = 1e-5
# Beyond this many points the interior point reference costs more than the rest of the test.
REFERENCE_UP_TO = 14
seeds = st.integers(0, 2**32 - 1)
shares = st.floats(0.0, 1.0)
solvers = st.sampled_from(["admm", "auto"])


def trace_between(share, n):
    """A trace in [1, n], both ends included."""
    return 1 + share * (n - 1)


def blobs(rng, n):
    centres = rng.standard_normal((rng.integers(1, 5), rng.integers(1, 6))) * 10.0 ** rng.uniform(-1, 2)
    return centres[rng.integers(0, len(centres), n)] + rng.standard_normal((n, centres.shape[1]))


def ring(rng, n):
    return ring_points(n, 10.0 ** rng.uniform(-3, 3)) + rng.standard_normal(2)


def duplicates(rng, n):
    distinct = rng.standard_normal((max(2, n // 3), 2))
    return distinct[rng.integers(0, len(distinct), n)]


def collinear(rng, n):
    return np.outer(rng.standard_normal(n), rng.standard_normal(3)) + 5


def all_equal(rng, n):
    return np.tile(rng.standard_normal((1, 3)), (n, 1))


def outlier(rng, n):
    return np.vstack([rng.standard_normal((n - 1, 2)), [[10.0 ** rng.uniform(2, 7), 0.0]]])


def tiny(rng, n):
    return 10.0 ** rng.uniform(-60, -6) * rng.standard_normal((n, 2))


def large(rng, n):
    return 10.0 ** rng.uniform(6, 60) * rng.standard_normal((n, 2))


def far(rng, n):
    return rng.standard_normal((n, 2)) + 10.0 ** rng.uniform(2, 9)


def corners(rng, n):
    return np.eye(n)


DEGENERATE = [collinear, all_equal, outlier, tiny, large, far, corners]


def brackets(problem, solver):
    """The certificate after each of the stops, and the matrix that goes with it checked on the way."""
    certificates = []
    for stop in STOPS:
        solution = solve(problem, solver, tol=TOL, max_iter=stop)
        assert max(infeasibility(solution.Q, problem.K).values()) <= 1e-11
        certificates.append(solution.certificate)
        if solution.is_certified:
            break
    return certificates


def assert_brackets(problem, reference, solver):
    certificates = brackets(problem, solver)
    for certificate in certificates:
        assert certificate.lower <= reference.high
        assert certificate.upper >= reference.low
    # Stopping elsewhere proves something else, never something contrary.
    assert max(c.lower for c in certificates) <= min(c.upper for c in certificates)
    # The bracket closes in: a bound that never moved would pass all of the above.
    assert np.isfinite(certificates[-1].gap)


def reference_for(X, K):
    """Bounds from Clarabel for few points; infinitely wide, so that only consistency is tested, for many."""
    if len(X) > REFERENCE_UP_TO or K in (1, len(X)):
        return Reference(-np.inf, np.inf)
    low, high = clarabel_bounds(centred_gram(X), K)
    rounding = 1e-13 * len(X) * float(np.sum((X - X.mean(axis=0)) ** 2))
    return Reference(low - rounding, high + rounding)


@settings(max_examples=90)
@given(st.integers(3, 40), shares, seeds, solvers)
def test_ring_optimum_is_in_every_bracket(n, share, seed, solver):
    X = ring(np.random.default_rng(seed), n)
    K = trace_between(share, n)
    radius = float(np.sqrt(np.trace(centred_gram(X)) / n))
    value = ring_value(n, K) * radius**2
    allowance = (LISTED_TOLERANCE + 1e-12) * n * radius**2
    assert_brackets(KMeansSDP(Gram.from_data(X), K), Reference(value - allowance, value + allowance), solver)


@settings(max_examples=90)
@given(st.integers(3, 40), st.integers(2, 8), st.booleans(), st.booleans(), seeds, solvers)
def test_planted_optimum_is_in_every_bracket(n, r, hard, factored, seed, solver):
    example = planted(np.random.default_rng(seed), n, min(r, n - 1), hard=hard)
    gram = Gram.from_data(points_of(example.D)) if factored else Gram.from_kernel(example.D)
    allowance = 1e-12 * abs(example.value)
    bounds = Reference(example.value - allowance, example.value + allowance)
    assert_brackets(KMeansSDP(gram, example.K), bounds, solver)


@settings(max_examples=100)
@given(st.integers(3, REFERENCE_UP_TO), shares, seeds, solvers)
def test_optimum_of_few_blobs_is_in_every_bracket(n, share, seed, solver):
    X, K = blobs(np.random.default_rng(seed), n), trace_between(share, n)
    assert_brackets(KMeansSDP(Gram.from_data(X), K), reference_for(X, K), solver)


@settings(max_examples=40)
@given(st.integers(REFERENCE_UP_TO + 1, 40), shares, seeds, solvers)
def test_brackets_of_many_blobs_never_contradict_each_other(n, share, seed, solver):
    X, K = blobs(np.random.default_rng(seed), n), trace_between(share, n)
    assert_brackets(KMeansSDP(Gram.from_data(X), K), reference_for(X, K), solver)


@settings(max_examples=60)
@given(st.integers(3, 30), shares, seeds, solvers)
def test_optimum_of_duplicates_is_in_every_bracket(n, share, seed, solver):
    X, K = duplicates(np.random.default_rng(seed), n), trace_between(share, n)
    assert_brackets(KMeansSDP(Gram.from_data(X), K), reference_for(X, K), solver)


@pytest.mark.parametrize("make", DEGENERATE)
@settings(max_examples=15)
@given(n=st.integers(3, 20), share=shares, seed=seeds, solver=solvers)
def test_optimum_of_degenerate_data_is_in_every_bracket(make, n, share, seed, solver):
    X, K = make(np.random.default_rng(seed), n), trace_between(share, n)
    assert_brackets(KMeansSDP(Gram.from_data(X), K), reference_for(X, K), solver)


@settings(max_examples=25)
@given(st.integers(3, REFERENCE_UP_TO), shares, seeds, solvers)
def test_optimum_of_indefinite_kernels_is_in_every_bracket(n, share, seed, solver):
    rng = np.random.default_rng(seed)
    K = trace_between(share, n)
    D = rng.standard_normal((n, n))
    D = D + D.T
    centre = np.eye(n) - 1 / n
    reference = Reference(-np.inf, np.inf)
    if 1 < K < n:
        low, high = clarabel_bounds(centre @ D @ centre, K)
        reference = Reference(low - 1e-12 * n**2, high + 1e-12 * n**2)
    assert_brackets(KMeansSDP(Gram.from_kernel(D, allow_indefinite=True), K), reference, solver)


# Symmetries.


def orthogonal(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def assert_same_optimum(one, other, scale=1.0):
    """Brackets of the same optimum overlap, and the values found agree to what was asked for."""
    assert other.certificate.lower <= scale * one.certificate.upper
    assert scale * one.certificate.lower <= other.certificate.upper
    slack = (one.certificate.gap + other.certificate.gap) * scale * one.certificate.upper
    assert abs(other.certificate.lower - scale * one.certificate.lower) <= slack + 1e-9 * scale * one.certificate.upper


TRANSFORMS = {
    "permutation": lambda rng, X, c: (X[rng.permutation(len(X))], 1.0),
    "rotation": lambda rng, X, c: (X @ orthogonal(rng, X.shape[1]), 1.0),
    # A shift by a power of two of points on a grid rounds nothing, so that the optimum is the same to the last bit.
    "translation": lambda rng, X, c: (X + 2.0 ** round(np.log2(c)), 1.0),
    "scaling": lambda rng, X, c: (X * c, c**2),
    "extra features": lambda rng, X, c: (np.hstack([X, np.full((len(X), 3), c)]), 1.0),
    "reflection": lambda rng, X, c: (-X, 1.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@settings(max_examples=12)
@given(n=st.integers(4, 30), share=st.floats(0.05, 0.8), seed=seeds, log_size=st.floats(-6, 6))
def test_symmetries_of_the_data_do_not_move_the_optimum(transform, n, share, seed, log_size):
    rng = np.random.default_rng(seed)
    X, K = np.round(blobs(rng, n) * 2**20) / 2**20, trace_between(share, n)
    moved, scale = TRANSFORMS[transform](rng, X, 10.0**log_size)
    plain = solve(KMeansSDP(Gram.from_data(X), K), "admm", tol=1e-3, max_iter=500)
    other = solve(KMeansSDP(Gram.from_data(moved), K), "admm", tol=1e-3, max_iter=500)
    assert_same_optimum(plain, other, scale)


@settings(max_examples=20)
@given(st.integers(4, 30), st.floats(0.05, 0.8), seeds, st.sampled_from([1, 10, 40]))
def test_permutation_of_the_points_permutes_the_answer(n, share, seed, stop):
    rng = np.random.default_rng(seed)
    X, K = blobs(rng, n), trace_between(share, n)
    order = rng.permutation(n)
    plain, other = (solve(KMeansSDP(Gram.from_data(A), K), "admm", tol=1e-12, max_iter=stop) for A in (X, X[order]))
    assert np.allclose(other.Q, plain.Q[np.ix_(order, order)], rtol=0, atol=1e-6)


@settings(max_examples=15)
@given(st.integers(4, 20), st.floats(0.05, 0.8), seeds, st.integers(-40, 40))
def test_powers_of_two_scale_every_bit(n, share, seed, exponent):
    # Multiplying by a power of two rounds nothing, so neither may the bounds.
    X, K = blobs(np.random.default_rng(seed), n), trace_between(share, n)
    plain, other = (
        solve(KMeansSDP(Gram.from_data(A), K), "admm", tol=1e-12, max_iter=30).certificate
        for A in (X, np.ldexp(X, exponent))
    )
    assert other.lower == pytest.approx(np.ldexp(plain.lower, 2 * exponent), rel=1e-12)
    assert other.upper == pytest.approx(np.ldexp(plain.upper, 2 * exponent), rel=1e-12)


@settings(max_examples=15)
@given(st.integers(4, 20), st.floats(0.05, 0.8), seeds)
def test_data_kernel_and_distances_are_one_problem(n, share, seed):
    X, K = blobs(np.random.default_rng(seed), n), trace_between(share, n)
    D = centred_gram(X)
    distances = np.sqrt(np.maximum(np.add.outer(np.diag(D), np.diag(D)) - 2 * D, 0)) * (1 - np.eye(n))
    grams = Gram.from_data(X), Gram.from_kernel(D), Gram.from_distances(distances)
    solutions = [solve(KMeansSDP(gram, K), "admm", tol=1e-3, max_iter=500) for gram in grams]
    for one, other in itertools.combinations(solutions, 2):
        assert_same_optimum(one, other)


@settings(max_examples=15)
@given(st.integers(4, 20), st.floats(0.05, 0.7), st.floats(0.01, 0.2), seeds)
def test_more_clusters_never_explain_less(n, share, more, seed):
    # For psd D the optimum does not fall as K grows: bounds may not say that it does.
    X = blobs(np.random.default_rng(seed), n)
    fewer, many = (
        solve(KMeansSDP(Gram.from_data(X), trace_between(s, n)), "admm", tol=1e-4, max_iter=500).certificate
        for s in (share, share + more)
    )
    assert many.upper >= fewer.lower
