"""The weighted program: Gram matrix, projections, points and bounds, judged against an independent solver."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sknomad import (
    CertificateError,
    FactorPoint,
    Gram,
    Iterate,
    KMeansSDP,
    MixedPoint,
    SoftPoint,
    SpectralPoint,
    certify,
    repair,
    solve,
    upper_bound,
)
from sknomad._certificate.cholesky_proof import estimated_upper_bound
from sknomad._numerics.fixed_vector import Weighted
from sknomad._numerics.projections import lift, project_spectraplex, restrict
from sknomad._points.unweighted import PlainPoint
from sknomad.solvers._warm_eigenspace import LeadingProjector
from weighted_problems import (
    FORMS,
    clustering_value,
    direction,
    gram_of,
    infeasibility,
    random_weights,
    seeds,
    weighted_gram,
)

# The Gram matrix.


@pytest.mark.parametrize("form", FORMS)
def test_gram_is_that_of_the_definition(form, rng):
    X, w, V = rng.standard_normal((9, 3)), random_weights(rng, 9), rng.standard_normal((9, 2))
    gram, D = gram_of(form, X, w), weighted_gram(X, w)
    assert np.allclose(gram.dense(), D, atol=1e-12)
    assert np.allclose(gram @ V, D @ V, atol=1e-12)
    assert np.allclose(gram @ V[:, 0], D @ V[:, 0], atol=1e-12)
    assert gram.trace == pytest.approx(np.trace(D))
    assert gram.norm == pytest.approx(np.linalg.norm(D))
    assert gram.inner(V @ V.T) == pytest.approx(np.sum(D * (V @ V.T)))
    assert np.allclose(gram.diagonal(), np.diag(D) / w)
    assert np.allclose(restrict(gram.formed(), gram.fixed), restrict(D, gram.fixed), atol=1e-12)
    assert repr(gram).endswith("weighted)")


def test_equal_weights_are_none():
    X = np.arange(12.0).reshape(6, 2) ** 2
    assert np.allclose(Gram.from_data(X, weights=np.full(6, 2.5)).dense(), 2.5 * Gram.from_data(X).dense())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0, 2], r"weights must be positive and finite, got 0\.0 at index 1"),
        ([1, math.nan, 2], "weights must be positive and finite, got nan at index 1"),
        ([1, 2], r"weights must be one number per point, 3 of them, got shape \(2,\)"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        Gram.from_data([[0.0], [1.0], [3.0]], weights=weights)


# Projections.


@given(seeds, st.integers(2, 9))
def test_direction_is_removed_exactly(seed, n):
    rng = np.random.default_rng(seed)
    u, A, Z = direction(random_weights(rng, n)), rng.standard_normal((n, n)), rng.standard_normal((n - 1, 2))
    A = A + A.T
    fixed = Weighted(u)
    basis = lift(np.eye(n - 1), fixed)
    assert np.allclose(basis.T @ basis, np.eye(n - 1), atol=1e-13)
    assert np.abs(u @ basis).max() < 1e-14
    assert np.allclose(basis @ Z, lift(Z, fixed), atol=1e-13)
    assert np.allclose(restrict(A, fixed), basis.T @ A @ basis, atol=1e-12)
    assert np.allclose(restrict(A + 1e3 * np.outer(u, u), fixed), restrict(A, fixed), atol=1e-10)
    assert np.allclose(fixed.centre(A), A - np.outer(u, u) @ A, atol=1e-13)


@given(seeds, st.integers(2, 9), st.floats(0.1, 10))
def test_spectraplex_with_a_direction(seed, n, total):
    rng = np.random.default_rng(seed)
    u, A = direction(random_weights(rng, n)), rng.standard_normal((n, n))
    A = A + A.T
    U, weights = project_spectraplex(A, total, Weighted(u))
    W = (U * weights) @ U.T
    assert weights.sum() == pytest.approx(total)
    assert np.abs(W @ u).max() < 1e-13 * total
    others = rng.standard_normal((20, n, n))
    for B in others:  # the variational inequality of a projection on a convex set
        V, mu = project_spectraplex(B + B.T, total, Weighted(u))
        assert np.sum((A - W) * ((V * mu) @ V.T - W)) <= 1e-10 * (1 + total) ** 2
    order = rng.permutation(n)
    U2, weights2 = project_spectraplex(A[np.ix_(order, order)], total, Weighted(u[order]))
    assert np.allclose((U2 * weights2) @ U2.T, W[np.ix_(order, order)], atol=1e-9 * (1 + total))


def test_warm_subspace_follows_the_full_decomposition(rng):
    n, total = 90, 4.0
    u = direction(random_weights(rng, n))
    base, change = rng.standard_normal((n, 6)), rng.standard_normal((n, n))
    projector = LeadingProjector(total, exact_limit=n, fixed=Weighted(u))
    for t in range(8):
        A = base @ base.T + 0.01 * t * (change + change.T)
        U, weights = projector.project(A)
        V, mu = project_spectraplex(A, total, Weighted(u))
        assert np.abs(u @ U).max() < 1e-12
        assert np.allclose((U * weights) @ U.T, (V * mu) @ V.T, atol=2e-2)
    assert projector.state()  # it was the subspace that did it


# Points.


def test_points_agree_with_their_matrices(rng):
    n, w = 8, random_weights(rng, 8)
    u, gram = direction(w), Gram.from_data(rng.standard_normal((8, 3)), weights=w)
    V = rng.random((n, 3))
    V /= V.sum(axis=1, keepdims=True)
    soft = np.sqrt(np.outer(w, w)) * (V @ np.diag(1 / (w @ V)) @ V.T)
    U = lift(np.linalg.qr(rng.standard_normal((n - 1, 3)))[0], Weighted(u))
    spectral = np.outer(u, u) + (U * np.arange(3.0)) @ U.T
    for point, Z in {
        SoftPoint: (SoftPoint(V, u), soft),
        SpectralPoint: (SpectralPoint(U, np.arange(3.0), u), spectral),
        MixedPoint: (MixedPoint(SoftPoint(V, u), 0.2, 0.3, u), 0.5 * soft + 0.2 * np.eye(n) + 0.3 * np.outer(u, u)),
    }.values():
        i, j = rng.integers(0, n, 20), rng.integers(0, n, 20)
        assert np.allclose(point.dense(), Z, atol=1e-14)
        assert np.allclose(point.rows(2, 5), Z[2:5], atol=1e-14)
        assert point.trace() == pytest.approx(np.trace(Z))
        assert point.value(gram) == pytest.approx(np.sum(gram.dense() * Z))
        assert np.allclose(point.product(V), Z @ V, atol=1e-14)
        assert np.allclose(point.entries(i, j), Z[i, j], atol=1e-14)
        q, Q = np.sqrt(w), Z / np.sqrt(np.outer(w, w))
        assert np.allclose(PlainPoint(point, q).dense(), Q, atol=1e-14)
        assert np.allclose(PlainPoint(point, q).entries(i, j), Q[i, j], atol=1e-14)
        assert PlainPoint(point, q).trace() == pytest.approx(np.trace(Q))
    assert np.allclose(SoftPoint(V, u).root() @ SoftPoint(V, u).root().T, soft)
    again = FactorPoint(SoftPoint(V, u).root()).as_soft(u)
    assert np.allclose(again.dense(), soft, atol=1e-13)


# Bounds.


def independent_value(D, w, K):
    """The optimum of the weighted program by CVXPY, from the definition."""
    cvxpy = pytest.importorskip("cvxpy")
    n, q = len(w), np.sqrt(w)
    Z = cvxpy.Variable((n, n), PSD=True)
    program = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(D @ Z)), [Z >= 0, Z @ q == q, cvxpy.trace(Z) == K])
    program.solve(solver="CLARABEL")
    return program.value


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize("trial", range(6))
def test_brackets_hold_the_value_of_an_independent_solver(trial, grade):
    rng = np.random.default_rng(trial)
    n, form = int(rng.integers(4, 12)), FORMS[trial % 4]
    X, w, K = rng.standard_normal((n, 2)), random_weights(rng, n), float(rng.uniform(1.5, n - 1))
    value = independent_value(weighted_gram(X, w), w, K)
    solution = solve(KMeansSDP(gram_of(form, X, w), K), "admm", tol=1e-6, grade=grade)
    slack = 1e-6 * abs(value)
    assert solution.certificate.lower <= value + slack
    assert solution.certificate.upper >= value - slack
    assert solution.certificate.gap <= 1e-6


GARBAGE = {
    "zero": lambda rng, n: np.zeros((n, n)),
    "normal": lambda rng, n: rng.standard_normal((n, n)),
    "small": lambda rng, n: 1e-9 * rng.random((n, n)),
    "huge": lambda rng, n: 1e12 * rng.random((n, n)),
    "one entry": lambda rng, n: 1e8 * np.eye(1, n * n, 1).reshape(n, n),
    "negative": lambda rng, n: -rng.random((n, n)),
    "low rank": lambda rng, n: np.outer(rng.random(n), rng.random(n)),
    "nan": lambda rng, n: np.full((n, n), np.nan),
    "infinite": lambda rng, n: np.full((n, n), np.inf),
}


@given(seeds, st.sampled_from(sorted(GARBAGE)), st.sampled_from(FORMS), st.floats(0, 30))
@example(1319503784, "nan", "kernel", 27.306889622879773)
def test_no_garbage_makes_a_false_bound(seed, kind, form, spread):
    """Any ``N``, any ``Q``, weights that differ by up to e^30: above every clustering's value, below every bound."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    K = int(rng.integers(2, n))
    X, w = rng.standard_normal((n, 2)) * 10.0 ** rng.uniform(-3, 3), np.exp(rng.uniform(-spread, 0, n))
    problem = KMeansSDP(gram_of(form, X, w), K)
    labels = [np.r_[np.arange(K), rng.integers(0, K, n - K)][rng.permutation(n)] for _ in range(20)]
    feasible = max(clustering_value(X, w, found) for found in labels)
    N = GARBAGE[kind](rng, n)
    uppers = [upper_bound(problem, N, grade=grade) for grade in ("eigen", "verified")]
    assert min(uppers) >= feasible * (1 - 1e-12)
    points = [
        GARBAGE[kind](rng, n),
        SoftPoint(np.abs(GARBAGE[kind](rng, n))),
        SpectralPoint(GARBAGE[kind](rng, n), rng.standard_normal(n)),
        FactorPoint(GARBAGE[kind](rng, n)),
        SoftPoint(np.eye(K)[labels[0]]),
    ]
    best = min([*uppers, upper_bound(problem, np.zeros((n, n)))])
    for point in points:
        try:
            lower = certify(problem, Iterate(point, N=N), repair_steps=3).lower
        except CertificateError:
            pytest.fail("a bound below a feasible value")
        assert lower <= best
    # A kernel far from centred loses digits when it is centred; the judge knows how many, and takes them off.
    value, lost = clustering_value(X, w, labels[0]), 8 * K * problem.gram.forming_error
    assert lower == pytest.approx(value, rel=1e-7, abs=1e-9 * problem.gram.trace + lost)
    assert lower <= value * (1 + 1e-12) + lost


@pytest.mark.parametrize("form", FORMS)
def test_repaired_points_are_feasible(form, rng):
    X, w = rng.standard_normal((10, 2)), random_weights(rng, 10)
    problem = KMeansSDP(gram_of(form, X, w), 3.5)
    V = rng.random((10, 4))
    for point in (rng.standard_normal((10, 10)), np.eye(10), SoftPoint(V), FactorPoint(V), SpectralPoint(V, V[0])):
        assert infeasibility(repair(problem, point), w, 3.5) < 1e-13


def test_repair_closes_the_gap_at_uneven_weights(rng):
    X, w = rng.standard_normal((20, 2)), np.exp(rng.uniform(-9, 0, 20))
    solution = solve(KMeansSDP(Gram.from_data(X, weights=w), 5), "admm", tol=1e-5)
    assert solution.is_certified


def test_extreme_weights_are_finite(rng):
    X = rng.standard_normal((8, 2))
    with pytest.warns(UserWarning, match="weights have a size far from 1"):
        large = solve(KMeansSDP(Gram.from_data(X, weights=1e200 * np.arange(1, 9)), 3))
    plain_gram = Gram.from_data(X, weights=np.arange(1, 9))
    assert np.allclose(large.Q, solve(KMeansSDP(plain_gram, 3)).Q, atol=1e-9)
    assert large.certificate.upper * large.problem.gram.unit == pytest.approx(
        1e200 * solve(KMeansSDP(plain_gram, 3)).certificate.upper
    )
    w = np.ones(8)
    w[0] = 1e-300
    problem = KMeansSDP(Gram.from_data(X, weights=w), 3)
    proof = certify(problem, Iterate(np.eye(8), N=np.zeros((8, 8))), grade="verified")
    assert math.isfinite(proof.lower)
    assert math.isfinite(proof.upper)


def test_estimate_is_close_to_the_bound(rng):
    X, w = rng.standard_normal((60, 4)), random_weights(rng, 60)
    problem, N = KMeansSDP(Gram.from_data(X, weights=w), 5), rng.random((60, 60))
    N = N + N.T
    estimate, _ = estimated_upper_bound(problem, N, np.empty(0))
    assert estimate == pytest.approx(upper_bound(problem, N), rel=1e-3)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_same_bounds_in_every_array_library(xp, grade, rng):
    X, w = rng.standard_normal((12, 2)), random_weights(rng, 12)
    problem = KMeansSDP(Gram.from_data(X, weights=w), 3.5)
    N, V = rng.random((12, 12)), rng.random((12, 4))
    points = [(V, V[0]), (xp.asarray(V), xp.asarray(V[0]))]
    expected, found = (
        certify(problem, Iterate(SpectralPoint(*point), N=multiplier), grade=grade)
        for point, multiplier in zip(points, (N, xp.asarray(N)), strict=True)
    )
    assert found.lower == pytest.approx(expected.lower, rel=1e-10)
    assert found.upper == pytest.approx(expected.upper, rel=1e-10)
    soft = [certify(problem, Iterate(SoftPoint(array))).lower for array in (V, xp.asarray(V))]
    assert soft[0] == pytest.approx(soft[1], rel=1e-10)


def test_closed_forms(rng):
    X, w = rng.standard_normal((6, 2)), random_weights(rng, 6)
    gram = Gram.from_data(X, weights=w)
    one, apart = solve(KMeansSDP(gram, 1)), solve(KMeansSDP(gram, 6))
    assert np.allclose(one.Q, np.outer(direction(w), direction(w)))
    assert one.certificate.gap == 0
    assert np.array_equal(apart.Q, np.eye(6))
    assert apart.certificate.upper == pytest.approx(np.trace(weighted_gram(X, w)))
