"""Lower bounds: whatever point they are given, below the optimum, also in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import centred_gram, clarabel_bounds
from planted_problems import POINTS, ROUNDING, planted_problem, seeds, sizes
from sknomad import FactorPoint, Gram, Iterate, KMeansSDP, SoftPoint, SpectralPoint, certify
from sknomad._certificate.lower import feasible_value, make_feasible

# Any point is safe.


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


@pytest.mark.parametrize("form", ["dense", "noisy", "spectral", "single", "soft", "hard", "interior"])
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
            "single": SpectralPoint(rng.standard_normal((n, 2)).astype(np.float32), rng.random(2, dtype=np.float32)),
            "soft": SoftPoint(V),
            "hard": SoftPoint(np.eye(2)[np.arange(n) % 2]),
            "interior": np.eye(n),
        }[form]
        point = make_feasible(problem, Iterate(start).point, steps=3)
        value = (_exactly_feasible(point.base, K) * exact.dot(exact.T)).sum()
        lower = feasible_value(problem, point)
        assert Fraction(lower) <= value
        assert lower >= float(value) - 1e-11 * problem.gram.trace
