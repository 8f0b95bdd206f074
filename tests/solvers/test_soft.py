"""Soft assignments: always feasible, never above the best completely positive value, and close to it."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import ring_points
from sknomad import Gram, KMeansSDP, certify, datasets, solve
from sknomad._numerics.weighted_simplex import weighted_rows_by_newton
from sknomad._program.data_rows import rows_of
from sknomad.ring import best_completely_positive_value
from sknomad.solvers import ADMM, SOLVERS, Auto, SoftAssignment
from sknomad.solvers._diffuse_cells import without_diffuse_cells
from sknomad.solvers._soft_updates import Assignments, value_and_trace


def last_lower(problem, solver):
    return max(certify(problem, iterate).lower for iterate in solver.iterates(problem))


@pytest.mark.parametrize(("n", "K"), [(80, 8), (100, 8), (160, 16), (100, 3)])
def test_ring_reaches_the_best_completely_positive_value_and_never_passes_it(n, K):
    problem = KMeansSDP(Gram.from_data(ring_points(n)), K)
    best = best_completely_positive_value(n, K)
    value = last_lower(problem, SoftAssignment())
    assert value <= best * (1 + 1e-12)
    assert value >= best * (1 - (1e-5 if K >= 8 else 1e-3))


@pytest.mark.parametrize("K", [1.2, 2, 7.5, 30, 59])
def test_every_iterate_is_feasible(K, rng):
    X = rng.standard_normal((60, 3))
    problem = KMeansSDP(Gram.from_data(X), K)
    optimum = solve(problem, "admm", tol=1e-4).certificate.upper
    for iterate in itertools.islice(SoftAssignment().iterates(problem), 5):
        V = iterate.Q.V
        assert V.min() >= 0
        assert np.allclose(V.sum(axis=1), 1, atol=1e-12)
        assert certify(problem, iterate).lower <= optimum


def test_value_is_close_to_the_optimum_on_manifolds():
    for X, K, shortfall in [
        (datasets.moons(200, random_state=0)[0], 16, 2e-4),
        (datasets.double_swiss_roll(200)[0], 64, 2e-4),
        (datasets.two_rings(200)[0], 16, 1e-3),
    ]:
        problem = KMeansSDP(Gram.from_data(X), K)
        upper = solve(problem, "admm", tol=1e-3).certificate.upper
        assert last_lower(problem, SoftAssignment()) >= upper * (1 - 1e-3 - shortfall)


def test_duplicates_kernels_and_sparse_data(rng):
    X = rng.standard_normal((40, 4))
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    for gram in (
        Gram.from_data(np.repeat(X[:8], 5, axis=0)),
        Gram.from_kernel(X @ X.T),
        Gram.from_distances(distances),
        Gram.from_data(sp.csr_matrix(np.where(rng.random(X.shape) < 0.5, X, 0))),
    ):
        problem = KMeansSDP(gram, 6)
        exact = solve(problem, "admm", tol=1e-3).certificate
        value = last_lower(problem, SoftAssignment())
        assert 0.95 * exact.lower <= value <= exact.upper


def test_trace_beyond_the_number_of_distinct_points_is_repaired():
    X = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    problem = KMeansSDP(Gram.from_data(X), 12)
    assert last_lower(problem, SoftAssignment()) == pytest.approx(problem.gram.trace, rel=1e-6)


def with_a_diffuse_cell(problem, share, xp):
    """Good assignments of the points of a problem, and the same with a share of every point in one more cell."""
    *_, good = SoftAssignment(device="cpu").iterates(problem)
    V = np.asarray(good.point.V)
    diffuse = np.hstack([(1 - share) * V, np.full((len(V), 1), share)])
    return [Assignments(xp.asarray(one), good.state.lam, None) for one in (V, diffuse)]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_cell_spread_over_all_points_is_dropped(is_weighted, xp, rng):
    X = datasets.moons(150, random_state=0)[0]
    weights = rng.random(150) + 0.5 if is_weighted else None
    problem = KMeansSDP(Gram.from_data(X, weights=weights), 12)
    good, diffuse = with_a_diffuse_cell(problem, 0.2, xp)
    rows = rows_of(problem.gram, xp.zeros(0, dtype=xp.float64))
    thinned = without_diffuse_cells(problem, rows, diffuse, 9)
    assert thinned.V.shape[1] <= diffuse.V.shape[1] - 1
    values = [value_and_trace(problem, rows.sums(one.V))[0] for one in (good, diffuse, thinned)]
    assert values[1] < 0.95 * values[0]
    assert values[2] == pytest.approx(values[0], rel=5e-3)
    assert without_diffuse_cells(problem, rows, good, 9) is good


def test_few_cells_and_those_of_dense_regions_stay(rng):
    # Nine tenths of the points in a hundredth of the area: their cells are large, and right.
    X = np.vstack([0.1 * rng.standard_normal((180, 2)), rng.standard_normal((20, 2)) + 5])
    problem = KMeansSDP(Gram.from_data(X), 6)
    rows = rows_of(problem.gram, np.empty(0))
    *_, soft = SoftAssignment(device="cpu").iterates(problem)
    before = Assignments(np.asarray(soft.point.V), soft.state.lam, None)
    after = without_diffuse_cells(problem, rows, before, 9)
    assert value_and_trace(problem, rows.sums(after.V))[0] >= value_and_trace(problem, rows.sums(before.V))[0]
    alone = Assignments(np.ones((200, 1)), 1.0, None)
    assert without_diffuse_cells(problem, rows, alone, 9) is alone


def test_as_many_cells_as_points_need_no_seed(rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((40, 3))), 10)
    *_, first = SoftAssignment(device="cpu").iterates(problem)
    *_, second = SoftAssignment(device="cpu", random_state=7).iterates(problem)
    assert np.array_equal(first.point.V, second.point.V)


def test_rows_are_projected_exactly(rng):
    scores, weights = rng.standard_normal((50, 7)), rng.random(7) + 0.1
    V, thresholds = weighted_rows_by_newton(scores, weights, None)
    assert np.allclose(V.sum(axis=1), 1, atol=1e-13)
    # Optimality: gains minus the quadratic's slope equal one number where v > 0, and are smaller where v = 0.
    slope = scores - V / weights
    assert np.allclose(np.where(V > 0, slope, thresholds[:, None]), thresholds[:, None], atol=1e-9)
    assert np.all(np.where(V == 0, slope, -np.inf) <= thresholds[:, None] + 1e-9)
    again, _ = weighted_rows_by_newton(scores, weights, thresholds + 100)
    assert np.allclose(again, V, atol=1e-12)


def test_runs_repeat_to_the_bit():
    problem = KMeansSDP(Gram.from_data(datasets.moons(300, random_state=3)[0]), 12)
    first, second = (list(SoftAssignment().iterates(problem))[-1] for _ in range(2))
    assert np.array_equal(first.Q.V, second.Q.V)


def test_array_libraries_give_the_same_bracket(xp):
    problem = KMeansSDP(Gram.from_data(datasets.moons(90, random_state=0)[0]), 8)
    model = xp.zeros(0, dtype=xp.float64)

    # Filtered blocks decide by thresholds whether to filter again, so rounding may send libraries different ways.
    for exact_below, agreement in [(400, 1e-8), (50, 1e-4)]:

        def solver(device, exact_below=exact_below):
            return Auto(SoftAssignment(device=device), ADMM(device=device, exact_below=exact_below), points_below=10)

        here = solve(problem, solver("cpu"), tol=1e-3).certificate
        there = solve(problem, solver(model), tol=1e-3).certificate
        assert there.lower == pytest.approx(here.lower, rel=agreement)
        assert there.upper == pytest.approx(here.upper, rel=agreement)


def test_auto_needs_fewer_steps_of_admm_than_admm():
    problem = KMeansSDP(Gram.from_data(datasets.double_swiss_roll(450)[0]), 64)
    auto = solve(problem, "auto", tol=2e-3)
    assert auto.is_certified
    plain = solve(problem, "admm", tol=2e-3)
    assert auto.n_iter < plain.n_iter / 2
    assert auto.certificate.lower <= plain.certificate.upper
    assert plain.certificate.lower <= auto.certificate.upper


def test_soft_alone_says_that_nothing_bounds_it_from_above():
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 5)
    with pytest.warns(match="without an upper bound"):
        solution = solve(problem, "soft")
    assert solution.certificate.upper == math.inf
    assert solution.Q.shape == (60, 60)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 0}, "rank must be an integer >= 1, got 0"),
        ({"rank": 2.5}, "rank must be an integer"),
        ({"improvement": 2}, "improvement must be a real number in"),
        ({"sweeps": 0}, "sweeps must be"),
        ({"max_growth": -1}, "max_growth must be"),
        ({"halving": 0}, "halving must be"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        SoftAssignment(**settings)


def test_solvers_by_name():
    assert set(SOLVERS) >= {"auto", "admm", "soft"}
    with pytest.raises(ValueError, match=r"device must be"):
        solve(KMeansSDP(Gram.from_data(np.eye(5)), 2), ADMM(device="tpu"))


@pytest.mark.parametrize("device", ["cpu", "cpu32"])
@pytest.mark.parametrize("K", [8, 12, 22.6])
def test_fewer_distinct_points_than_K(device, K):
    """The multiplier then falls as far as it may, and scores differ by less than they are rounded to."""
    X = np.repeat(100 * np.random.default_rng(0).standard_normal((6, 3)), 80, axis=0)
    problem = KMeansSDP(Gram.from_data(X), K)
    for iterate in itertools.islice(SoftAssignment(device=device).iterates(problem), 12):
        V = np.asarray(iterate.point.V)
        np.testing.assert_allclose(V.sum(axis=1), 1, rtol=1e-5)
    assert iterate.point.value(problem.gram) == pytest.approx(problem.gram.trace, rel=1e-5)
