"""The ring and the torus against tabulated optima, independent programs and formulas."""

import re

import numpy as np
import pytest
from scipy.optimize import linprog

from ring_cases import CASES, assert_feasible, tolerance
from sknomad.ring import (
    best_completely_positive,
    best_completely_positive_value,
    cone_half_angle,
    diagonal_path,
    inactive_K,
    ring_closed_form,
    ring_optimum,
    ring_points,
    torus_optimum,
    torus_points,
)

RING_VALUES = [
    (40, 4, 33.464298427),
    (80, 8, 76.530371721),
    (160, 16, 158.232506062),
    (320, 32, 319.112966345),
    (640, 16, 632.928961329),
    (1000, 25, 995.461914173),
    (2000, 40, 1996.450186747),
    (100, 1.6, 30),
    (100, 3, 73.08180),
    (100, 8, 95.663084),
    (5, 5**0.5, 3.0902),
]

TORUS_VALUES = [(6, 6, 5, 41), (20, 20, 16, 671.182879645), (30, 30, 25, 1609.451621699)]

# n=100: K, entries above half the diagonal, nonzero entries, modes above 1e-9, modes above K/(10 n)
WIDTHS = [
    (3, 33, 75, 29, 9),
    (5, 19, 47, 56, 15),
    (8, 13, 29, 75, 19),
    (12, 9, 19, 84, 25),
    (16, 7, 13, 90, 33),
    (20, 5, 11, 92, 41),
    (25, 3, 9, 95, 49),
    (50, 1, 3, 99, 85),
]


def mode_program(shape, gram, K):
    """Optimum over all Fourier modes and all lags, with no symmetry and no selection of either."""
    lags = np.array(list(np.ndindex(*shape)))
    cosine = np.cos(2 * np.pi * (lags / np.array(shape)) @ lags.T)
    d = np.fft.fftn(gram).real.ravel()
    d[0] = 0
    bounds = [(1, 1)] + [(0, None)] * (len(d) - 1)
    result = linprog(-d, A_ub=-cosine, b_ub=np.zeros(len(d)), A_eq=np.ones((1, len(d))), b_eq=[K], bounds=bounds)
    return -result.fun


def semidefinite_program(X, K):
    cvxpy = pytest.importorskip("cvxpy")
    n = len(X)
    Q = cvxpy.Variable((n, n), PSD=True)
    constraints = [Q >= 0, cvxpy.sum(Q, axis=1) == 1, cvxpy.trace(Q) == K]
    return cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(X.T @ Q @ X)), constraints).solve(solver="CLARABEL")


# The optimum


@pytest.mark.parametrize(("n", "K", "expected"), RING_VALUES)
def test_ring_value(n, K, expected):
    assert ring_optimum(n, K).value == pytest.approx(expected, abs=tolerance(expected))


@pytest.mark.parametrize(("n1", "n2", "K", "expected"), TORUS_VALUES)
def test_torus_value(n1, n2, K, expected):
    assert torus_optimum(n1, n2, K).value == pytest.approx(expected, abs=tolerance(expected))


@pytest.mark.parametrize(("n", "K"), CASES)
def test_ring_solution_is_feasible_and_attains_its_value(n, K):
    solution = ring_optimum(n, K)
    X = ring_points(n)
    assert_feasible(solution.Q, K)
    assert np.sum((X @ X.T) * solution.Q) == pytest.approx(solution.value, abs=1e-10)
    assert np.allclose(solution.row, solution.Q[0], rtol=0, atol=1e-15)
    assert np.allclose(solution.row, np.roll(solution.row[::-1], 1), rtol=0, atol=1e-15)
    assert solution.row[0] == pytest.approx(K / n, abs=1e-14)
    assert np.allclose(np.sort(solution.eigenvalues), np.linalg.eigvalsh(solution.Q), rtol=0, atol=1e-12)


def test_small_K_on_a_fine_ring_is_feasible_to_ten_digits():
    solution = ring_optimum(500, 2.9)
    assert solution.eigenvalues.min() >= -1e-11
    assert solution.eigenvalues.sum() == pytest.approx(2.9, abs=1e-11)


@pytest.mark.parametrize(("n", "K"), CASES)
def test_ring_value_is_that_of_the_program_over_all_modes(n, K):
    gram = np.cos(2 * np.pi * np.arange(n) / n)
    assert ring_optimum(n, K).value == pytest.approx(mode_program((n,), gram, K), abs=1e-7)


@pytest.mark.parametrize(("n1", "n2", "K"), [(2, 2, 3), (5, 5, 7.5), (4, 7, 3.2), (7, 4, 3.2), (6, 6, 5), (8, 3, 20)])
def test_torus_solution_is_optimal_and_attains_its_value(n1, n2, K):
    solution = torus_optimum(n1, n2, K)
    X = torus_points(n1, n2)
    assert_feasible(solution.Q, K)
    assert np.sum((X @ X.T) * solution.Q) == pytest.approx(solution.value, abs=1e-10)
    assert solution.Q[0].reshape(n1, n2) == pytest.approx(solution.kernel)
    assert np.allclose(np.sort(solution.eigenvalues, axis=None), np.linalg.eigvalsh(solution.Q), rtol=0, atol=1e-12)
    assert solution.value == pytest.approx(mode_program((n1, n2), (X @ X[0]).reshape(n1, n2), K), abs=1e-7)


@pytest.mark.parametrize("n_K", [(7, 2.6), (10, 3.3)])
def test_ring_linear_program_is_the_semidefinite_program(n_K):
    n, K = n_K
    assert ring_optimum(n, K).value == pytest.approx(semidefinite_program(ring_points(n), K), rel=1e-6)


def test_torus_linear_program_is_the_semidefinite_program():
    assert torus_optimum(3, 4, 4.5).value == pytest.approx(semidefinite_program(torus_points(3, 4), 4.5), rel=1e-6)


def test_points_lie_on_their_circles():
    X, T = ring_points(7, radius=3), torus_points(3, 5)
    assert X.shape == (7, 2)
    assert T.shape == (15, 4)
    assert np.linalg.norm(X, axis=1) == pytest.approx(3)
    assert np.linalg.norm(T[:, :2], axis=1) == pytest.approx(1)
    assert np.linalg.norm(T[:, 2:], axis=1) == pytest.approx(1)
    assert len(np.unique(T.round(9), axis=0)) == 15
    assert np.allclose(X.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("optimum", [ring_optimum, ring_closed_form, best_completely_positive])
def test_radius_scales_the_value_and_leaves_Q(optimum):
    unit, wide = optimum(12, 1.9), optimum(12, 1.9, radius=3)
    assert wide.value == pytest.approx(9 * unit.value, rel=1e-14)
    assert np.array_equal(wide.Q, unit.Q)


@pytest.mark.parametrize(("K", "half_width", "support", "modes", "modes_of_authors"), WIDTHS)
def test_widths_and_modes_of_the_reference_table(K, half_width, support, modes, modes_of_authors):
    solution = ring_optimum(100, K)
    assert solution.half_width == half_width
    assert solution.support_size == support
    assert solution.n_active_modes(threshold=1e-9) == modes
    assert solution.n_active_modes() == modes_of_authors


def test_value_increases_with_K_and_is_concave():
    K = np.linspace(1, 24, 47)
    values = np.array([ring_optimum(24, k).value for k in K])
    assert np.all(np.diff(values) > 0)
    assert np.all(np.diff(values, 2) < 1e-9)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[-1] == pytest.approx(24)


@pytest.mark.parametrize(("n", "K"), CASES)
def test_vectors_lie_on_the_cone(n, K):
    solution = ring_optimum(n, K)
    Y = solution.cone_vectors()
    assert np.allclose(Y.T @ Y, solution.Q, rtol=0, atol=1e-12)
    assert np.allclose(np.square(Y).sum(axis=0), K / n)
    assert np.allclose(Y[0], 1 / np.sqrt(n))
    assert np.allclose(Y[0] / np.linalg.norm(Y, axis=0), np.cos(cone_half_angle(K)))


@pytest.mark.parametrize(("K", "degrees"), [(1, 0), (2, 45), (16, 75.522488)])
def test_cone_half_angle(K, degrees):
    assert np.degrees(cone_half_angle(K)) == pytest.approx(degrees)


# Closed forms


@pytest.mark.parametrize(
    ("n", "K", "value"),
    [
        (100, 1.7, 35),
        (100, 2, 50),
        (100, 2.5, 62.5),
        (40, 2 + 2 / (1 + 2 * np.cos(np.pi / 20)), None),
        (41, 1 + 1 / np.cos(np.pi / 41), None),
        (41, 20.47, None),
        (41, 41 / (1 + 1 / np.cos(np.pi / 41)), None),
        (100, 40, 40 + 50 * np.cos(np.pi / 50) + 10 * np.cos(np.pi / 25)),
        (40, 10 * (1 + 2 * np.cos(np.pi / 20)) / (1 + np.cos(np.pi / 20)), None),
        (8, 2.9, None),
        (10, 4, None),
        (100, 50, 99.901336421),
        (100, 73, 73 + 27 * np.cos(np.pi / 50)),
        (4, 3.1, 3.1),
        (3, 1.4, 0.6),
        (2, 1.4, 0.8),
        (30, 30, 30),
        (30, 1, 0),
    ],
)
def test_closed_form_is_the_optimum(n, K, value):
    closed, program = ring_closed_form(n, K), ring_optimum(n, K)
    assert_feasible(closed.Q, K, atol=1e-13)
    assert closed.value == pytest.approx(program.value, rel=1e-10, abs=1e-10)
    if value is not None:
        assert closed.value == pytest.approx(value, abs=1e-9)
    if n % 2 or not 2 < K < 3:  # there Q is not unique
        assert np.allclose(closed.row, program.row, rtol=0, atol=1e-9)


def test_optimum_is_not_unique_between_2_and_the_end_of_two_modes():
    smooth, n, K = ring_closed_form(40, 2.2), 40, 2.2
    angle = 2 * np.pi * np.arange(n) / n
    rough = (1 + (1 + (K - 2) / 2) * np.cos(angle) + (K - 2) / 2 * (np.cos(2 * angle) + np.cos(4 * angle)) / 2) / n
    assert rough.min() >= -1e-15
    assert np.fft.fft(rough).real.min() >= -1e-15
    assert rough[0] * n == pytest.approx(K)
    assert n * np.cos(angle) @ rough == pytest.approx(smooth.value)
    assert np.abs(rough - smooth.row).max() > 1e-4


@pytest.mark.parametrize(("n", "K"), [(100, 2.668), (100, 37.48), (41, 2.01), (41, 20.46)])
def test_closed_form_ends_where_the_formula_stops_being_feasible(n, K):
    with pytest.raises(ValueError, match=r"K must be at most .* or at least .* for a closed form with n="):
        ring_closed_form(n, K)


# Bad input


@pytest.mark.parametrize("optimum", [ring_optimum, ring_closed_form, best_completely_positive_value])
@pytest.mark.parametrize(
    ("n", "K", "error", "message"),
    [
        (10, 0.99, ValueError, "K must be a real number in [1, n_samples=10], got 0.99."),
        (10, 11, ValueError, "K must be a real number in [1, n_samples=10], got 11."),
        (10, float("nan"), ValueError, "K must be a real number in [1, n_samples=10], got nan."),
        (10, "3", TypeError, "K must be a real number in [1, n_samples=10], got '3' of type str."),
        (10, True, TypeError, "K must be a real number in [1, n_samples=10], got True of type bool."),
        (10.5, 2, TypeError, "n must be an integer >= 2, got 10.5 of type float."),
        (1, 1, ValueError, "n must be an integer >= 2, got 1."),
    ],
)
def test_bad_n_or_K_is_named(optimum, n, K, error, message):
    with pytest.raises(error, match=re.escape(message)):
        optimum(n, K)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ring_optimum(5, 2, radius=0), ValueError, "radius must be a positive real number, got 0."),
        (lambda: ring_points(5, radius=np.nan), ValueError, "radius must be a positive real number, got nan."),
        (
            lambda: ring_points(5, radius=None),
            TypeError,
            "radius must be a positive real number, got None of type NoneType.",
        ),
        (lambda: torus_optimum(4, 5, 21), ValueError, "K must be a real number in [1, n_samples=20], got 21."),
        (lambda: torus_optimum(4, 1, 2), ValueError, "n2 must be an integer >= 2, got 1."),
        (lambda: torus_points("a", 3), TypeError, "n1 must be an integer >= 2, got 'a' of type str."),
        (lambda: cone_half_angle(0.5), ValueError, "K must be a real number >= 1, got 0.5."),
        (lambda: diagonal_path(10, [2, 11], 3), ValueError, "K must be a real number in [1, n_samples=10], got 11."),
        (lambda: diagonal_path(10, [2], 7), ValueError, "n_diagonals must be at most n//2 + 1 = 6, got 7."),
        (lambda: inactive_K(10, [6]), ValueError, "h must be at most n//2 = 5, got 6."),
        (lambda: inactive_K(10, [0]), ValueError, "h must be an integer >= 1, got 0."),
    ],
)
def test_bad_argument_is_named(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
