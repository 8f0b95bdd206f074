"""The judge: true optima lie between its bounds, whatever it is given."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import (
    LISTED_TOLERANCE,
    centred_gram,
    clarabel_bounds,
    dual_bound,
    infeasibility,
    planted,
    points_of,
    ring_points,
    ring_value,
)
from sknomad import (
    Certificate,
    CertificateError,
    DensePoint,
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
from sknomad._certificate import cholesky_proof as verify
from sknomad._certificate import upper
from sknomad._certificate.lower import feasible_value, make_feasible

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(4, 14)
GRADES = ["eigen", "verified"]
# Forming the planted matrix in float64 moves its optimum by this much, relatively.
ROUNDING = 1e-12


def planted_problem(seed, n, *, hard=False, factored=False):
    rng = np.random.default_rng(seed)
    example = planted(rng, n, max(2, n // 3), hard=hard)
    gram = Gram.from_data(points_of(example.D)) if factored else Gram.from_kernel(example.D)
    return rng, example, KMeansSDP(gram, example.K)


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


# Any point is safe.


def _noisy(rng, example, log_size):
    return example.Q + 10.0**log_size * rng.standard_normal(example.Q.shape)


def _near_ones(rng, n):
    """Columns that are the ones vector but for the last bits."""
    return np.ones((n, 2)) + 2.0**-52 * (rng.random((n, 2)) < 0.3)


POINTS = {
    "optimal": lambda rng, e: e.Q,
    "tiny noise": lambda rng, e: _noisy(rng, e, rng.uniform(-16, -8)),
    "noise": lambda rng, e: _noisy(rng, e, rng.uniform(-8, 3)),
    "asymmetric": lambda rng, e: e.Q + np.triu(rng.random(e.Q.shape)),
    "scaled": lambda rng, e: e.Q * 10.0 ** rng.uniform(-3, 3),
    "scaled far": lambda rng, e: e.Q * 10.0 ** rng.uniform(3, 30),
    "noise scaled far": lambda rng, e: _noisy(rng, e, -2) * 10.0 ** rng.uniform(3, 30),
    "negative": lambda rng, e: -e.Q,
    "zero": lambda rng, e: np.zeros_like(e.Q),
    "identity": lambda rng, e: np.eye(len(e.Q)),
    "ones": lambda rng, e: np.ones_like(e.Q),
    "the matrix D": lambda rng, e: e.D,
    "integers": lambda rng, e: rng.integers(-3, 4, e.Q.shape),
    "single precision": lambda rng, e: e.Q.astype(np.float32),
    "spectral": lambda rng, e: SpectralPoint(rng.standard_normal((len(e.Q), 3)), rng.standard_normal(3)),
    "spectral scaled": lambda rng, e: SpectralPoint(
        rng.standard_normal((len(e.Q), 3)) * 10.0 ** rng.uniform(-50, 50, 3), 10.0 ** rng.uniform(-50, 50, 3)
    ),
    "spectral of D": lambda rng, e: SpectralPoint(points_of(e.D), rng.standard_normal(len(e.Q))),
    "spectral negative": lambda rng, e: SpectralPoint(np.eye(len(e.Q)), -np.ones(len(e.Q))),
    "spectral repeated": lambda rng, e: SpectralPoint(np.repeat(e.Q[:, :1], 4, axis=1), np.ones(4)),
    "spectral near ones": lambda rng, e: SpectralPoint(_near_ones(rng, len(e.Q)), np.array([1.0, 1e30])),
    "spectral single": lambda rng, e: SpectralPoint(
        np.linalg.qr(e.D)[0].astype(np.float32), rng.random(len(e.Q)).astype(np.float32)
    ),
    "soft optimal": lambda rng, e: SoftPoint(e.V),
    "soft not stochastic": lambda rng, e: SoftPoint(rng.random(e.V.shape) * 10.0 ** rng.uniform(-5, 5)),
    "soft negative": lambda rng, e: SoftPoint(rng.standard_normal(e.V.shape)),
    "soft empty rows": lambda rng, e: SoftPoint(e.V * (rng.random((len(e.V), 1)) < 0.5)),
    "soft empty columns": lambda rng, e: SoftPoint(np.hstack([e.V, np.zeros_like(e.V)])),
    "soft subnormal column": lambda rng, e: SoftPoint(np.column_stack([e.V, np.full(len(e.V), 1e-310)])),
    "soft tiny column": lambda rng, e: SoftPoint(np.column_stack([e.V, np.full(len(e.V), 1e-200)])),
    "soft sharp": lambda rng, e: SoftPoint(np.exp(-800 * rng.random(e.V.shape))),
    "soft identity": lambda rng, e: SoftPoint(np.eye(len(e.V))),
    "factor": lambda rng, e: FactorPoint(rng.standard_normal(e.V.shape)),
    "factor optimal": lambda rng, e: FactorPoint(e.V / np.sqrt(e.V.sum(axis=0))),
    "factor scaled": lambda rng, e: FactorPoint(e.V * 10.0 ** rng.uniform(-50, 50)),
    "factor zero": lambda rng, e: FactorPoint(np.zeros_like(e.V)),
    "mixed": lambda rng, e: MixedPoint(DensePoint(e.Q), identity=3.0, mean=-1.0),
    "mixed mixed": lambda rng, e: MixedPoint(MixedPoint(SoftPoint(e.V), identity=0.5), mean=7.0),
}


@pytest.mark.parametrize("kind", POINTS)
@settings(max_examples=20)
@given(seed=seeds, n=sizes, hard=st.booleans(), factored=st.booleans(), steps=st.sampled_from([0, 3, 15]))
def test_no_point_gives_a_value_above_the_optimum(kind, seed, n, hard, factored, steps):
    rng, example, problem = planted_problem(seed, n, hard=hard, factored=factored)
    certificate = certify(problem, Iterate(POINTS[kind](rng, example)), repair_steps=steps)
    assert certificate.lower <= example.value * (1 + ROUNDING)
    assert certificate.upper == math.inf


@pytest.mark.parametrize("kind", POINTS)
@settings(max_examples=10)
@given(seed=seeds, n=sizes, shift=st.floats(-3, 0))
def test_no_point_gives_a_value_above_a_negative_optimum(kind, seed, n, shift):
    # D + c I moves every value by c K: what passes for feasible but lacks trace would now win.
    rng, example, _ = planted_problem(seed, n)
    c = shift * float(np.abs(example.D).max())
    problem = KMeansSDP(Gram.from_kernel(example.D + c * np.eye(n), allow_indefinite=True), example.K)
    value = example.value + c * (example.K - 1)
    certificate = certify(problem, Iterate(POINTS[kind](rng, example)))
    assert certificate.lower <= value + ROUNDING * n * (abs(value) + abs(c))


EXTREME_POINTS = {
    "soft infinite": lambda n: SoftPoint(np.full((n, 2), math.inf)),
    "soft one infinite": lambda n: SoftPoint(_with(np.eye(n)[:, : n // 2] + 0.1, math.inf)),
    "soft sums overflow": lambda n: SoftPoint(np.full((n, 2), 1.7e308)),
    "soft one sum overflows": lambda n: SoftPoint(np.vstack([np.full((2, 3), 1e308), np.ones((n - 2, 3))])),
    "factor overflows": lambda n: FactorPoint(np.full((n, 2), 1e200)),
    "factor infinite": lambda n: FactorPoint(_with(np.ones((n, 2)), math.inf)),
    "spectral overflows": lambda n: SpectralPoint(1e200 * np.eye(n), np.full(n, 1e200)),
    "spectral underflows": lambda n: SpectralPoint(1e-200 * np.eye(n), np.full(n, 1e-200)),
    "spectral infinite": lambda n: SpectralPoint(_with(np.eye(n), math.inf), np.ones(n)),
    "dense 1e20": lambda n: 1e20 * np.cos(np.add.outer(np.arange(n), np.arange(n))),
    "dense 1e200": lambda n: 1e200 * np.cos(np.add.outer(np.arange(n), np.arange(n))),
    "dense overflows": lambda n: np.full((n, n), 1.7e308),
    "dense infinite": lambda n: _with(np.eye(n), -math.inf),
}


def _with(A, value):
    A = np.array(A, dtype=float)
    A[0, 0] = value
    return A


@pytest.mark.parametrize("kind", EXTREME_POINTS)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("K", [1.1, 2.5, 5])
def test_no_extreme_point_gives_a_value_above_the_optimum(kind, sign, K):
    # All points equally far apart: every feasible Q is optimal, so any slip in trace or row sums shows.
    n = 6
    problem = KMeansSDP(Gram.from_kernel(sign * (np.eye(n) - 1 / n), allow_indefinite=True), K)
    with np.errstate(all="ignore"):
        certificate = certify(problem, Iterate(EXTREME_POINTS[kind](n)))
    assert certificate.lower <= sign * (K - 1) + 1e-12


@pytest.mark.parametrize("kind", ["dense", "spectral", "soft", "factor"])
def test_point_with_nan_has_no_value_or_a_true_one(kind):
    _, example, problem = planted_problem(3, 9)
    point = {
        "dense": _with(example.Q, math.nan),
        "spectral": SpectralPoint(_with(np.eye(9), math.nan), np.ones(9)),
        "soft": SoftPoint(_with(example.V, math.nan)),
        "factor": FactorPoint(_with(example.V, math.nan)),
    }[kind]
    lower = certify(problem, Iterate(point)).lower
    assert not math.isnan(lower)
    assert lower <= example.value * (1 + ROUNDING)
    if kind in ("dense", "spectral"):
        assert lower == -math.inf


def test_nearly_constant_eigenvector_is_no_eigenvector():
    # The ones vector but for one bit: centring leaves e_10, whose rows do not sum to zero, and K - 1 times its
    # value exceeds the trace of D.
    X = np.append(1e-3 * np.arange(9), 1.0)[:, None]
    U = np.ones((10, 1))
    U[-1] += 2.0**-52
    problem = KMeansSDP(Gram.from_data(X), 3)
    lower = certify(problem, Iterate(SpectralPoint(U, np.ones(1)))).lower
    assert lower <= clarabel_bounds(centred_gram(X), 3).high


def test_point_of_another_size_is_refused():
    _, example, problem = planted_problem(0, 8)
    with pytest.raises(ValueError, match="Q must have 8 rows, got 7"):
        certify(problem, Iterate(example.Q[:7, :7]))
    with pytest.raises(ValueError, match="repair_steps must be an integer >= 0"):
        certify(problem, Iterate(example.Q), repair_steps=-1)


# Repair.


@pytest.mark.parametrize("kind", POINTS)
@settings(max_examples=15)
@given(seed=seeds, n=sizes)
def test_repaired_point_is_feasible(kind, seed, n):
    rng, example, problem = planted_problem(seed, n)
    point = POINTS[kind](rng, example)
    if certify(problem, Iterate(point)).lower == -math.inf:
        assert kind.startswith("spectral")  # nothing left once negative weights are gone
        with pytest.raises(ValueError, match="finite"):
            repair(problem, point)
        return
    wrong = infeasibility(repair(problem, point), example.K)
    assert wrong["entries"] == 0
    assert wrong["row sums"] <= 1e-13 * n
    assert wrong["trace"] <= 1e-13 * n
    assert wrong["psd"] <= 1e-12
    assert wrong["symmetry"] <= 1e-14


@given(seeds, sizes, st.booleans())
def test_feasible_point_stays_where_it_is(seed, n, hard):
    _, example, problem = planted_problem(seed, n, hard=hard)
    for point in (example.Q, SoftPoint(example.V), FactorPoint(example.V / np.sqrt(example.V.sum(axis=0)))):
        assert np.allclose(repair(problem, point), example.Q, rtol=0, atol=1e-9)


def test_repair_steps_pay():
    rng = np.random.default_rng(5)
    for n in (20, 40):
        example = planted(rng, n, 6)
        problem = KMeansSDP(Gram.from_kernel(example.D), example.K)
        noise = rng.standard_normal((n, n)) * 1e-3
        iterate = Iterate(example.Q + noise + noise.T)
        quick, thorough = (example.value - certify(problem, iterate, repair_steps=steps).lower for steps in (0, 15))
        assert 0 <= thorough < quick / 2


def test_repair_of_nothing_is_refused():
    _, _, problem = planted_problem(0, 8)
    with pytest.raises(ValueError, match="Q must have finite entries"):
        repair(problem, np.full((8, 8), math.nan))


def test_lower_bound_is_the_value_of_the_repaired_point(rng):
    _, example, problem = planted_problem(1, 12)
    Q = repair(problem, example.Q + 0.05 * rng.standard_normal((12, 12)), steps=4)
    lower = certify(problem, Iterate(Q)).lower
    assert lower == pytest.approx(np.sum(example.D * Q), rel=1e-6)


def test_labels_give_the_value_of_kmeans(rng):
    X = rng.standard_normal((20, 3))
    labels = np.arange(20) % 4
    between = sum(np.sum(labels == k) * np.sum((X[labels == k].mean(axis=0) - X.mean(axis=0)) ** 2) for k in range(4))
    problem = KMeansSDP(Gram.from_data(X), 4)
    assert certify(problem, Iterate(SoftPoint(np.eye(4)[labels]))).lower == pytest.approx(between, rel=1e-12)


# The lower bound, audited in rational arithmetic.


def _exact(A):
    A = np.asarray(A, dtype=np.float64)
    return np.array([Fraction(float(x)) for x in A.ravel()], dtype=object).reshape(A.shape)


def _exactly_feasible(base, K):
    """A rational matrix that meets every constraint without rounding, next to the floats of `base`."""
    n, K = base.n, Fraction(K)
    identity, mean = _exact(np.eye(n)), np.full((n, n), Fraction(1, n))
    if isinstance(base, SoftPoint):
        V = _exact(base.V)
        V = V / V.sum(axis=1)[:, None]
        Q = (V / V.sum(axis=0)).dot(V.T)
        trace = np.trace(Q)
        other, theta = (mean, (trace - K) / (trace - 1)) if trace > K else (identity, (K - trace) / (n - trace))
    else:
        U = _exact(base.U)
        U = U - U.sum(axis=0) / n
        W = (U * _exact(base.l)).dot(U.T)
        Q = mean + W * ((K - 1) / np.trace(W))
        shortfall, a = max(-Q.min(), Fraction(0)), (K - 1) / (n - 1)
        other, theta = a * identity + (1 - a) * mean, shortfall / (shortfall + (n - K) / (n * (n - 1)))
    Q = (1 - theta) * Q + theta * other
    assert Q.min() >= 0
    assert np.trace(Q) == K
    assert set(Q.sum(axis=0)) == {1}
    return Q


@pytest.mark.parametrize("form", ["dense", "noisy", "spectral", "soft", "hard", "interior"])
@pytest.mark.parametrize("n", [3, 6, 8])
@pytest.mark.parametrize("mean", [0.0, 1e3])
def test_lower_bound_holds_in_rational_arithmetic(form, n, mean, rng):
    X = rng.standard_normal((n, 2)) + mean
    exact = _exact(X)
    exact = exact - exact.sum(axis=0) / n
    for K in (1.01, 2.0, n / 2 + 0.3, n - 0.01, n - 1e-9):
        problem = KMeansSDP(Gram.from_data(X), K)
        V = rng.dirichlet(np.ones(3), n)
        start = {
            "dense": V @ V.T,
            "noisy": rng.standard_normal((n, n)),
            "spectral": SpectralPoint(rng.standard_normal((n, 2)), rng.random(2)),
            "soft": SoftPoint(V),
            "hard": SoftPoint(np.eye(2)[np.arange(n) % 2]),
            "interior": np.eye(n),
        }[form]
        point = make_feasible(problem, Iterate(start).point, steps=3)
        value = (_exactly_feasible(point.base, K) * exact.dot(exact.T)).sum()
        lower = feasible_value(problem, point)
        assert Fraction(lower) <= value
        assert lower >= float(value) - 1e-11 * problem.gram.trace


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


def _forms(rng, n):
    U = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    V = rng.random((n, 4))
    V /= V.sum(axis=1, keepdims=True)
    soft = SoftPoint(V)
    return {
        "dense": (DensePoint(V @ V.T), V @ V.T),
        "spectral": (SpectralPoint(U, np.arange(3.0)), (U * np.arange(3)) @ U.T + 1 / n),
        "soft": (soft, V @ np.diag(1 / V.sum(axis=0)) @ V.T),
        "factor": (FactorPoint(V - 0.5), (V - 0.5) @ (V - 0.5).T),
        "mixed": (
            MixedPoint(soft, identity=0.2, mean=0.3),
            0.5 * (V / V.sum(axis=0)) @ V.T + 0.2 * np.eye(n) + 0.3 / n,
        ),
    }


@pytest.mark.parametrize("form", ["dense", "spectral", "soft", "factor", "mixed"])
@pytest.mark.parametrize("make", [Gram.from_data, lambda X: Gram.from_kernel(X @ X.T)])
def test_points_agree_with_their_dense_form(form, make, rng):
    X = rng.standard_normal((11, 4)) + 3
    point, Q = _forms(rng, 11)[form]
    assert point.n == 11
    assert np.allclose(point.dense(), Q, atol=1e-14)
    assert np.allclose(point.rows(3, 8), Q[3:8], atol=1e-14)
    assert point.trace() == pytest.approx(float(np.trace(Q)) if form != "spectral" else 1 + 3.0, rel=1e-12)
    assert point.value(make(X)) == pytest.approx(np.sum(centred_gram(X) * Q), rel=1e-10)


@pytest.mark.parametrize("form", ["soft", "spectral"])
def test_factored_points_stay_factored(form, rng):
    _, example, problem = planted_problem(0, 9)
    point, _ = _forms(rng, 9)[form]
    for start in (point, MixedPoint(point, identity=0.1)):
        feasible = make_feasible(problem, start, steps=0)
        assert isinstance(feasible.base, type(point))
    assert certify(problem, Iterate(feasible)).lower >= feasible_value(problem, feasible) - 1e-12 * example.value


def test_soft_points_are_feasible_but_for_the_trace(rng):
    Q = SoftPoint(rng.random((9, 4))).as_soft().dense()
    assert np.allclose(Q.sum(axis=1), 1, atol=1e-14)
    assert Q.min() >= 0
    assert np.linalg.eigvalsh(Q)[0] >= -1e-15


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
