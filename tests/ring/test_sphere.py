"""The sphere: bounds around the optimum, truncated cosines below it, and designs that integrate what they should."""

import numpy as np
import pytest
from scipy.special import eval_legendre

from sknomad import Gram, Iterate, KMeansSDP, certify
from sknomad.ring import sphere_completely_positive_value, sphere_design, sphere_optimum
from sknomad.ring.sphere import _legendre_integrals, _most_negative, window_threshold


@pytest.fixture(scope="module")
def design():
    return sphere_design(1)


@pytest.mark.parametrize("K", [1.0, 1.3, 1.9])
def test_one_harmonic_is_enough_for_small_K(K):
    solution = sphere_optimum(K, 6)
    assert solution.lower == pytest.approx((K - 1) / 3, abs=1e-9)
    assert solution.upper == pytest.approx((K - 1) / 3, abs=1e-9)


def test_bounds_close_as_the_degree_grows_and_keep_their_order():
    few, many = (sphere_optimum(6, degree) for degree in (6, 16))
    assert few.lower <= many.lower <= many.upper
    assert many.upper - many.lower < 1e-3
    assert many.kernel(1.0) == pytest.approx(6)
    t = np.linspace(-1, 1, 2001)
    assert many.kernel(t).min() > -1e-3
    weights = np.polynomial.legendre.leggauss(40)
    assert weights[1] @ many.kernel(weights[0]) / 2 == pytest.approx(1)  # row sums


def test_truncated_cosines_are_feasible_and_never_better():
    for K in (1.2, 1.5, 2.0, 5.0):
        c = window_threshold(K)
        t = np.linspace(-1, 1, 200_001)
        w = np.full(len(t), t[1] - t[0])
        v = np.maximum(t - c, 0)
        mean, square, moment = (w @ part / 2 for part in (v, v * v, t * v))
        assert square / mean**2 == pytest.approx(K, rel=1e-4)
        assert (moment / mean) ** 2 == pytest.approx(sphere_completely_positive_value(K), rel=1e-4)
        assert sphere_completely_positive_value(K) <= sphere_optimum(K, 8).upper + 1e-12
    # A concave curve is its own hull, so that no mixture of windows does better than one.
    K = np.linspace(1.01, 20, 400)
    values = np.array([sphere_completely_positive_value(k) for k in K])
    assert np.diff(values, 2).max() < 1e-9


def test_a_design_integrates_up_to_its_strength_and_no_further(design):
    X, strength = design
    products = np.clip(X @ X.T, -1, 1)
    means = np.array([eval_legendre(degree, products).mean() for degree in range(1, strength + 2)])
    assert np.abs(means[:-1]).max() < 1e-9
    assert means[-1] > 1e-9
    assert np.linalg.norm(X, axis=1) == pytest.approx(1)


def test_a_cut_off_kernel_is_feasible_on_the_design(design):
    X, strength = design
    solution = sphere_optimum(4, strength - 1)
    Q = solution.kernel(X @ X.T) / len(X)
    assert Q.sum(axis=1) == pytest.approx(1)
    assert np.trace(Q) == pytest.approx(4)
    assert np.linalg.eigvalsh(Q).min() > -1e-9
    assert np.sum((X @ X.T) * Q) / len(X) == pytest.approx(solution.eigenvalues[1])
    problem = KMeansSDP(Gram.from_data(X), 4)
    assert certify(problem, Iterate(Q)).lower == pytest.approx(len(X) * solution.eigenvalues[1], rel=1e-3)


def test_integrals_of_legendre_polynomials_and_the_depth_of_a_kernel():
    ends = np.array([1.0, 0.2, -1.0])
    t, w = np.polynomial.legendre.leggauss(30)
    for degree, row in enumerate(_legendre_integrals(ends, 5), 1):
        low, high = ends[1], ends[0]
        x = (high + low) / 2 + (high - low) / 2 * t
        assert row[0] == pytest.approx((high - low) / 2 * w @ eval_legendre(degree, x))
    assert _most_negative(np.array([1.0, 0.5])) == 0.0
    assert _most_negative(np.array([1.0, 1.5])) == pytest.approx(0.5, abs=1e-3)


def test_too_low_a_degree_is_named():
    with pytest.raises(ValueError, match=r"degree must be at least 6 for K=16, got 4\."):
        sphere_optimum(16, 4)
    with pytest.raises(ValueError, match="K must be"):
        sphere_optimum(0.5)
