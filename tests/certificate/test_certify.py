"""The judge as a whole: true optima lie between its bounds, and bounds that cross are an error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import centred_gram, clarabel_bounds
from planted_problems import GRADES, ROUNDING, forms, planted_problem, seeds, sizes
from sknomad import (
    Certificate,
    CertificateError,
    Gram,
    Iterate,
    KMeansSDP,
    MixedPoint,
    SoftPoint,
    SpectralPoint,
    certify,
    repair,
    solve,
)
from sknomad._certificate import cholesky_proof as verify
from sknomad._certificate import upper
from sknomad._certificate.lower import feasible_value, make_feasible

# Optimal pairs.


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("n", [4, 9, 30])
def test_optimal_pair_brackets_the_planted_value(n, hard, factored, grade):
    for seed in range(5):
        _, example, problem = planted_problem(seed, n, hard=hard, factored=factored)
        certificate = certify(problem, Iterate(example.Q, N=example.N), grade=grade)
        assert certificate.grade == grade
        assert certificate.lower <= example.value * (1 + ROUNDING)
        assert certificate.upper >= example.value * (1 - ROUNDING)
        assert certificate.lower >= example.value * (1 - 1e-9)
        assert certificate.upper <= example.value * (1 + 1e-9)


# Bounds that contradict each other are an error.


def test_bounds_that_cross_raise():
    with pytest.raises(CertificateError, match=r"upper bound 1\.0 is below the feasible value 2\.0"):
        Certificate(2.0, 1.0)
    with pytest.raises(CertificateError):
        Certificate(math.nan, 1.0)
    with pytest.raises(CertificateError):
        Certificate(1.0, math.nan)


def test_lying_eigenvalues_raise_instead_of_proving(monkeypatch):
    _, example, problem = planted_problem(0, 10)
    iterate = Iterate(example.Q, N=example.N)
    assert certify(problem, iterate).gap < 1e-9
    honest = upper.ky_fan_sum
    monkeypatch.setattr(upper, "ky_fan_sum", lambda values, count: 0.99 * honest(values, count))
    with pytest.raises(CertificateError, match="is below the feasible value"):
        certify(problem, iterate)
    with pytest.raises(CertificateError):
        solve(problem, "admm", tol=1e-8)


def test_lying_eigenvalues_do_not_hurt_the_verified_grade(monkeypatch):
    _, example, problem = planted_problem(0, 10)
    iterate = Iterate(example.Q, N=example.N)
    honest = certify(problem, iterate, grade="verified").upper

    def lie(*args, original=verify.suggest_eigenpairs):
        spectrum, U = original(*args)
        return spectrum._replace(t0=0.9 * spectrum.t0, leading=spectrum.leading * 0.9), U

    monkeypatch.setattr(verify, "suggest_eigenpairs", lie)
    bound = certify(problem, iterate, grade="verified").upper
    assert bound >= example.value * (1 - ROUNDING)
    assert bound != honest


def test_gap_is_relative_and_unknown_is_infinite():
    assert Certificate(99.0, 100.0).gap == pytest.approx(0.01)
    assert Certificate(-101.0, -100.0).gap == pytest.approx(0.01)
    assert Certificate(0.0, 0.0).gap == 0
    assert Certificate(-1.0, 0.0).gap == math.inf
    assert Certificate(-math.inf, 1.0).gap == math.inf
    assert Certificate(1.0, math.inf).gap == math.inf


# Problems whose answer is known.


@pytest.mark.parametrize("grade", GRADES)
def test_one_cluster_and_n_clusters(grade, rng):
    X = rng.standard_normal((7, 2)) + 50
    gram = Gram.from_data(X)
    anything = Iterate(rng.standard_normal((7, 7)))
    one = certify(KMeansSDP(gram, 1), anything, grade=grade)
    assert (one.lower, one.upper, one.gap) == (0, 0, 0)
    assert np.allclose(repair(KMeansSDP(gram, 1), np.eye(7)), 1 / 7, atol=1e-15)
    every = certify(KMeansSDP(gram, 7), anything, grade=grade)
    total = _exact_trace(X)
    assert Fraction(every.lower) <= total <= Fraction(every.upper)
    assert every.gap < 1e-12
    assert np.allclose(repair(KMeansSDP(gram, 7), np.ones((7, 7))), np.eye(7), atol=1e-15)


def _exact_trace(X):
    X = np.array([[Fraction(float(x)) for x in row] for row in X], dtype=object)
    X = X - X.sum(axis=0) / len(X)
    return (X * X).sum()


@pytest.mark.parametrize("mean", [0.0, 1.0, 1e4, 1e8, 1e12, 1e15])
@pytest.mark.parametrize("n", [5, 50, 300])
def test_n_clusters_keep_exactly_the_trace_however_large_the_mean(rng, mean, n):
    X = mean + rng.integers(-3, 4, (n, 2)) * max(np.spacing(mean), 1e-3)
    certificate = certify(KMeansSDP(Gram.from_data(X), n), Iterate(np.eye(n)))
    assert Fraction(certificate.lower) <= _exact_trace(X) <= Fraction(certificate.upper)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1])
@pytest.mark.parametrize("K", [1, 1.5, 4, 10])
def test_equal_points_are_worth_nothing(value, K, rng):
    problem = KMeansSDP(Gram.from_data(np.full((10, 2), value)), K)
    for Q in (np.eye(10), rng.standard_normal((10, 10))):
        certificate = certify(problem, Iterate(Q, N=np.zeros((10, 10))))
        assert certificate.lower <= 0 <= certificate.upper
        assert certificate.gap == 0


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("K", [1 + 1e-9, 1.25, 2, math.pi, 8.5, 10 - 1e-9])
def test_fractional_trace(grade, K, rng):
    X = rng.standard_normal((10, 2))
    reference = clarabel_bounds(centred_gram(X), K)
    problem = KMeansSDP(Gram.from_data(X), K)
    certificate = certify(problem, Iterate(rng.random((10, 10)), N=0.1 * rng.random((10, 10))), grade=grade)
    assert certificate.lower <= reference.high * (1 + 1e-12)
    assert certificate.upper >= reference.low * (1 - 1e-12)
    assert math.isfinite(certificate.gap)


@pytest.mark.parametrize("grade", GRADES)
@settings(max_examples=25)
@given(seed=seeds, n=st.integers(3, 9), share=st.floats(0.01, 0.99), shift=st.floats(-5, 5))
def test_indefinite_kernels_have_true_bounds(grade, seed, n, share, shift):
    rng = np.random.default_rng(seed)
    K = 1 + share * (n - 1)
    D = rng.standard_normal((n, n))
    D = D + D.T + shift * np.eye(n)
    P = np.eye(n) - 1 / n
    reference = clarabel_bounds(P @ D @ P, K)
    certificate = certify(
        KMeansSDP(Gram.from_kernel(D, allow_indefinite=True), K),
        Iterate(rng.standard_normal((n, n)), N=rng.standard_normal((n, n))),
        grade=grade,
    )
    size = 1e-12 * n * np.linalg.norm(D)
    assert certificate.lower <= reference.high + size
    assert certificate.upper >= reference.low - size


@given(seeds, sizes, st.floats(-10, 10))
def test_multiples_of_the_identity_move_both_bounds(seed, n, c):
    rng, example, problem = planted_problem(seed, n)
    iterate = Iterate(example.Q + 0.01 * rng.standard_normal((n, n)), N=example.N + 0.01 * rng.random((n, n)))
    shifted = KMeansSDP(Gram.from_kernel(example.D + c * np.eye(n), allow_indefinite=True), example.K)
    plain, moved = certify(problem, iterate), certify(shifted, iterate)
    # The mixture that is best may differ, so the lower bounds agree only as far as repair goes.
    assert moved.upper - plain.upper == pytest.approx(c * (example.K - 1), abs=1e-9 * (1 + abs(c)) * n)
    assert moved.lower <= example.value + c * (example.K - 1) + 1e-10 * n * (1 + abs(c))


def _far_kernel(X):
    return (X + 2.0**20) @ (X + 2.0**20).T


def test_kernel_far_from_centred_is_padded_enough(rng):
    # Whole numbers, so that the kernel is exact though its mean exceeds its spread a million times.
    X = rng.integers(-9, 10, (12, 2)).astype(float)
    problem = KMeansSDP(Gram.from_kernel(_far_kernel(X), allow_indefinite=True), 3.5)
    reference = clarabel_bounds(centred_gram(X), 3.5)
    plain = solve(KMeansSDP(Gram.from_data(X), 3.5), "admm", tol=1e-6)
    for grade in GRADES:
        certificate = certify(problem, plain.iterate, grade=grade)
        assert certificate.lower <= reference.high
        assert certificate.upper >= reference.low
        assert certificate.upper == pytest.approx(plain.certificate.upper, rel=0.05)


# Points in every form.


@pytest.mark.parametrize("form", ["soft", "spectral"])
def test_factored_points_stay_factored(form, rng):
    _, example, problem = planted_problem(0, 9)
    point, _ = forms(rng, 9)[form]
    for start in (point, MixedPoint(point, identity=0.1)):
        feasible = make_feasible(problem, start, steps=0)
        assert isinstance(feasible.base, type(point))
    assert certify(problem, Iterate(feasible)).lower >= feasible_value(problem, feasible) - 1e-12 * example.value


# The same text on every array library.


@pytest.mark.parametrize("grade", GRADES)
def test_array_libraries_agree(xp, grade):
    rng, example, problem = planted_problem(2, 10)
    N = example.N + 0.01 * rng.random((10, 10))
    U, l = np.linalg.qr(rng.standard_normal((10, 4)))[0], rng.random(4)  # noqa: E741
    expected = certify(problem, Iterate(SpectralPoint(U, l), N=N), grade=grade)
    found = certify(problem, Iterate(SpectralPoint(xp.asarray(U), xp.asarray(l)), N=xp.asarray(N)), grade=grade)
    assert found.lower == pytest.approx(expected.lower, rel=1e-9)
    assert found.upper == pytest.approx(expected.upper, rel=1e-9)
    assert found.upper >= example.value * (1 - ROUNDING)


def test_dense_and_soft_points_of_other_libraries(xp):
    _, example, problem = planted_problem(2, 10)
    for point, other in ((example.Q, xp.asarray(example.Q)), (SoftPoint(example.V), SoftPoint(xp.asarray(example.V)))):
        expected = certify(problem, Iterate(point)).lower
        assert certify(problem, Iterate(other)).lower == pytest.approx(expected, rel=1e-12)
