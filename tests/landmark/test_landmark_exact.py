"""Bounds by landmarks against optima that are known exactly: for K near n as rational numbers, and on the ring."""

from fractions import Fraction

import numpy as np
import pytest

from landmark_cases import Case
from sknomad import Gram, KMeansSDP, solve_by_landmarks
from sknomad._landmark.barycentric import Barycentric
from sknomad._landmark.basis import find_basis
from sknomad._landmark.choice import Landmarks
from sknomad._landmark.rows import CentredRows
from sknomad._landmark.sums import sum_rows
from sknomad._landmark.upper import LandmarkProgram
from sknomad.ring import ring_optimum, ring_points

GRADES = ("eigen", "verified")


def points(rng, kind):
    X = rng.standard_normal((int(rng.integers(3, 12)), int(rng.integers(1, 5))))
    if kind == 1:
        return X * 10.0 ** rng.integers(-8, 8, X.shape[1])
    if kind == 2:
        return X + 10.0 ** rng.integers(0, 9)
    return X * 10.0 ** rng.integers(-60, 60) if kind == 3 else X


def squared_distances(rows):
    return [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]


def optimum(X, K):
    """``tr D - (n - K) min d_ij^2 / 2`` for ``K`` in ``[n - 1, n]``, and the multiplier that attains it."""
    n, rows = len(X), [[Fraction(float(x)) for x in row] for row in X]
    squares = squared_distances(rows)
    least = min(squares[i][j] for i in range(n) for j in range(i))
    trace = sum(sum(row) for row in squares) / (2 * n)
    N = np.array([[float(square - least) / 2 for square in row] for row in squares])
    np.fill_diagonal(N, 0.0)
    return trace - (n - Fraction(K)) * least / 2, N


def every_point_a_landmark(X, K, rng):
    """The program in which ``Phi`` is the identity, and ``C`` is about right."""
    rows = CentredRows.of(X)
    Z = np.concatenate(list(rows.blocks()))
    C = Z + 1e-3 * rng.standard_normal(Z.shape) * np.abs(Z).max()
    sums = sum_rows(rows, Landmarks(Barycentric(Z, 1), C, 0.0))
    basis = find_basis(sums, np.empty(0))
    program = LandmarkProgram(sums, basis, K, rows.centring.off_mean)
    return Case(X, KMeansSDP(Gram.from_data(X), K), program, np.diag(sums.scale))


@pytest.mark.parametrize("seed", range(40))
def test_no_bound_is_below_the_rational_optimum(seed):
    rng = np.random.default_rng(seed)
    X = points(rng, seed % 4)
    K = float(len(X) - rng.random())
    best, N = optimum(X, K)
    case = every_point_a_landmark(X, K, rng)
    scale = case.program.sums.scale
    for grade in GRADES:
        bound = case.program.upper_bound(N / np.outer(scale, scale), grade)
        assert Fraction(bound) >= best
        assert bound <= float(best) * (1 + 1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_whole_runs_enclose_the_rational_optimum(seed):
    rng = np.random.default_rng(100 + seed)
    X = points(rng, seed % 4)
    K = float(len(X) - rng.random())
    best, _ = optimum(X, K)
    proof = solve_by_landmarks(X, K, n_landmarks=max(len(X) - 2, 2), tol=10, grade=GRADES[seed % 2]).certificate
    assert Fraction(proof.lower) <= best <= Fraction(proof.upper)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n", "K", "m"), [(40, 4, 40), (160, 16, 80)])
def test_bounds_enclose_the_optimum_of_the_ring(n, K, m):
    proof = solve_by_landmarks(ring_points(n), K, n_landmarks=m, tol=1e-4, grade="verified", max_iter=200).certificate
    best = ring_optimum(n, K).value
    assert proof.lower <= best * (1 + 1e-8)
    assert proof.upper >= best * (1 - 1e-8)
    assert proof.gap < 0.02
