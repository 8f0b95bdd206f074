"""The default solver: nothing is lost between its phases."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from sknomad import NOMAD, Gram, KMeansSDP, certify, datasets, solve
from sknomad.ring import ring_points
from sknomad.solvers import ADMM, Auto, SoftAssignment
from sknomad.solvers._auto import BALANCE_AFTER, PATIENCE
from sknomad.solvers._penalty import balance_bias, penalty_for_both
from sknomad.solvers._registry import configured
from sknomad.solvers._soft import Course


def problem_of(X, K):
    return KMeansSDP(Gram.from_data(X), K)


@pytest.mark.parametrize("K", [8, 20, 60])
def test_the_end_of_soft_assignments_is_judged(K):
    """Their last point is the best there is for long: without a look at it, bounds stay apart for hundreds of steps."""
    problem = problem_of(np.random.default_rng(0).standard_normal((420, 2)), K)
    soft = Auto.for_tolerance(1e-3, "cpu").soft
    *_, last = soft.iterates(problem)
    assert last.is_milestone
    first = certify(problem, last)
    whole = solve(problem, "auto", tol=1e-3)
    assert whole.is_certified
    assert whole.n_iter < 100
    assert whole.certificate.lower >= first.lower * (1 - 1e-6)


def test_slow_progress_is_left_to_another_solver():
    noise = problem_of(np.random.default_rng(0).standard_normal((300, 60)), 6)
    patient, hasty = SoftAssignment(improvement=2e-5), SoftAssignment(improvement=2e-5, halving=4)
    counts = [len(list(soft.iterates(noise))) for soft in (patient, hasty)]
    assert counts[1] < counts[0] / 2
    *_, last = hasty.iterates(noise)
    assert last.is_milestone
    assert last.state.stalled < PATIENCE
    # What has not come to its end is no point to rely on.
    penalty, bias = penalty_for_both(noise.n, noise.K), balance_bias(noise.n, noise.K)
    assert Auto()._second_phase(noise, last) == replace(
        Auto().admm, trusted_shortfall=0.0, penalty=penalty, balance_bias=bias, balance_after=BALANCE_AFTER
    )


def test_on_a_gpu_slow_progress_is_waited_for(monkeypatch):
    settings = Auto.for_tolerance(1e-3, "cpu")
    small, large = (problem_of(np.arange(2.0 * n).reshape(n, 2), 5) for n in (1999, 2000))
    assert settings._soft_settings(large).halving == settings.soft.halving == 4
    monkeypatch.setattr("sknomad.solvers._auto.is_on_gpu", lambda template: True)
    assert settings._soft_settings(small).halving == 4
    assert settings._soft_settings(large) == replace(
        settings.soft, halving=None, max_growth=2, improvement=settings.soft.improvement / 2
    )


def test_gains_decide_what_is_slow():
    course = Course()
    for value in (1.0, 1.5, 1.75, 1.875, 1.9375):
        course = course.after(value, 1e-3)
    assert course.gains == pytest.approx([1 / 3, 1 / 7, 1 / 15, 1 / 31])
    assert not SoftAssignment(halving=2)._is_slow(course)
    assert SoftAssignment(halving=1)._is_slow(course) == (course.gains[-1] > 0.5 * course.gains[-2])
    steady = Course(gains=(1e-3,) * 8)
    assert SoftAssignment(halving=4)._is_slow(steady)
    assert not SoftAssignment()._is_slow(steady)


def test_spread_cells_do_not_depend_on_the_order_of_points(rng):
    X = datasets.moons(200, noise=0.1, random_state=0)[0]
    order = rng.permutation(200)
    values = []
    for points in (X, X[order]):
        *_, last = SoftAssignment(improvement=1e-5, max_growth=0).iterates(problem_of(points, 8))
        values.append(last.state.best)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_where_no_proof_fits_soft_assignments_go_on(monkeypatch):
    monkeypatch.setattr("sknomad.solvers._auto.free_memory_of", lambda template: 1)
    problem = problem_of(np.random.default_rng(0).standard_normal((450, 5)), 6)
    settings = Auto.for_tolerance(1e-3, "cpu")
    assert settings._first_phase(problem) == replace(settings.soft, halving=None, max_growth=2)
    assert all(iterate.N is None for iterate in settings.iterates(problem))


def test_many_points_are_worth_more_sweeps():
    settings = Auto(thorough_from=100, points_below=40)
    problem = problem_of(np.random.default_rng(0).standard_normal((150, 2)), 6)
    assert settings._first_phase(problem).max_growth == 2
    assert settings._first_phase(problem).improvement == settings.soft.improvement / 2


def test_wide_blocks_are_left_to_full_decompositions():
    """A block of most of the n vectors costs more than all of them."""
    problem = problem_of(datasets.moons(200, noise=0.1, random_state=0)[0], 50)
    *_, soft = SoftAssignment(max_growth=0).iterates(problem)
    steps = ADMM(exact_below=100).iterates(problem, soft)
    narrow = list(itertools.islice(steps, 3))[-1].state.block
    assert narrow is None or narrow.vectors.shape[1] <= 0.3 * problem.n


@pytest.mark.parametrize("scale", [1e-60, 1e-9, 1e9, 1e60])
def test_numbers_beyond_single_precision(scale):
    X = datasets.moons(420, noise=0.1, random_state=0)[0]
    here, there = (solve(problem_of(size * X, 8), "auto", tol=1e-3) for size in (1.0, scale))
    assert there.is_certified
    assert there.certificate.lower / scale**2 <= here.certificate.upper * (1 + 1e-9)
    assert here.certificate.lower <= there.certificate.upper / scale**2 * (1 + 1e-9)


FEW = Auto()


@pytest.mark.parametrize(("n", "K"), [(60, 12), (100, 24), (160, 40)])
def test_a_cell_at_every_point_proves_in_few_steps(n, K):
    problem = problem_of(datasets.moons(n, noise=0.05, random_state=0)[0], K)
    alone, few = solve(problem, ADMM(), tol=1e-3), solve(problem, FEW, tol=1e-3)
    assert few.is_certified
    assert few.n_iter < alone.n_iter / 3
    assert few.certificate.upper >= alone.certificate.lower
    assert alone.certificate.upper >= few.certificate.lower


def test_a_cell_at_every_point_does_not_depend_on_the_order_of_points(rng):
    X, order = rng.standard_normal((80, 3)), rng.permutation(80)
    one, other = (solve(problem_of(data, 10), FEW, tol=1e-3) for data in (X, X[order]))
    assert one.n_iter == other.n_iter
    np.testing.assert_allclose(one.Q[np.ix_(order, order)], other.Q, atol=1e-8)


def test_a_cell_at_every_point_takes_weights(rng):
    X, counts = rng.standard_normal((20, 2)), np.arange(20) % 3 + 1
    repeated = solve(problem_of(np.repeat(X, counts, axis=0), 6), FEW, tol=1e-5)
    weighted = solve(KMeansSDP(Gram.from_data(X, weights=counts.astype(float)), 6), FEW, tol=1e-5)
    assert weighted.is_certified
    assert weighted.certificate.lower <= repeated.certificate.upper
    assert repeated.certificate.lower <= weighted.certificate.upper


@pytest.mark.parametrize("exponent", [3, 12, 50, 150])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cell_at_every_point_takes_weights_of_any_size(exponent, rng):
    X, weights = rng.standard_normal((12, 2)), 10.0 ** rng.uniform(-exponent, 3, 12)
    problem = KMeansSDP(Gram.from_data(X, weights=weights), 4)
    first = next(FEW.iterates(problem))
    assert first.point.is_finite()
    np.testing.assert_allclose(first.point.V.sum(axis=1), 1.0)
    model = NOMAD(4, max_iter=50).fit(X, sample_weight=weights)
    assert model.certificate_.lower <= model.certificate_.upper
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("K", [1.5, 7, 29.5])
def test_cells_at_points_have_the_trace_asked_for(scale, K, rng):
    problem = problem_of(scale * rng.standard_normal((30, 2)), K)
    first = next(SoftAssignment(rank="points", sweeps=1).iterates(problem))
    # Below K mixing with the identity mends it at little cost; above, mixing with J would cost far more.
    assert K * (1 - 1e-3) <= first.point.trace() <= K * (1 + 1e-6)
    assert first.point.V.shape[0] == 30


def test_cells_at_points_of_equal_points(rng):
    X = np.repeat(rng.standard_normal((5, 2)), 6, axis=0)
    assert solve(problem_of(X, 5), FEW, tol=1e-6).is_certified
    assert solve(problem_of(X, 9), FEW, tol=1e-3).is_certified


def test_small_gaps_begin_with_a_cell_at_every_point_of_more():
    """It keeps the symmetry of the data; of rough gaps it costs more than it saves."""
    rough, fine = Auto.for_tolerance(1e-3, "cpu"), Auto.for_tolerance(1e-6, "cpu")
    assert rough.points_below == Auto().points_below < fine.points_below
    problem = problem_of(ring_points(80), 8)
    from_points, from_cells = (
        solve(problem, replace(fine, points_below=below), tol=1e-6, max_iter=1500) for below in (fine.points_below, 0)
    )
    assert from_points.is_certified
    assert from_points.n_iter < from_cells.n_iter


def test_what_estimators_solve_depends_on_no_seed_and_no_order(rng):
    X, order = datasets.moons(150, noise=0.05, random_state=0)[0], rng.permutation(150)
    one, seeded, shuffled = (
        solve(problem_of(data, 12), configured("auto", 1e-3, "cpu", seed), tol=1e-3, smooth=True)
        for data, seed in ((X, 0), (X, 7), (X[order], 0))
    )
    np.testing.assert_array_equal(one.Q, seeded.Q)
    np.testing.assert_allclose(one.Q[np.ix_(order, order)], shuffled.Q, atol=1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_single_precision_takes_no_more_steps(seed):
    """The filter must not raise the largest eigenvalues so far that the others are lost in their rounding."""
    problem = problem_of(datasets.moons(500, noise=0.05, random_state=seed)[0], 50)
    single, double = (solve(problem, Auto.on(device, 1e-3), tol=1e-3).n_iter for device in ("cpu32", "cpu"))
    assert single <= double + 10


@pytest.mark.parametrize("name", ["points_below", "thorough_from"])
@pytest.mark.parametrize("value", [-1, 2.5, "many", None])
def test_numbers_of_points_are_checked(name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        Auto(**{name: value})
