"""Nonnegative copies with the sums of rows: a projection, and when ADMM makes it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, solve
from sknomad._numerics.fixed_vector import Ones, Weighted
from sknomad.solvers import ADMM, SoftAssignment
from sknomad.solvers._penalty import rows_matter
from sknomad.solvers._row_sums import KEPT, LARGEST_CHANGE, MOST_NEWTON_STEPS, keep_row_sums


def symmetric(rng, n, shift=0.0):
    A = rng.standard_normal((n, n)) + shift
    return (A + A.T) / 2


def weighted(rng, n):
    q = rng.uniform(0.2, 2.0, n)
    return Weighted(q / np.linalg.norm(q))


def noise_of(n, d, K):
    return KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((n, d))), K)


def after_soft(problem):
    *_, soft = SoftAssignment(device="cpu").iterates(problem)
    return soft


# Where most entries are negative, whole steps of Newton's method overshoot.
@pytest.mark.parametrize("shift", [-1.0, 0.0, 3.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_it_is_the_nearest_nonnegative_matrix_with_these_sums(shift, is_weighted):
    rng = np.random.default_rng(1)
    n = 40
    fixed = weighted(rng, n) if is_weighted else Ones(n)
    u = fixed.vector(np.empty(0))
    given = symmetric(rng, n, shift) + 4 * np.eye(n)  # as in every state, something on the diagonal is positive
    T = given.copy()
    assert keep_row_sums(T, fixed) <= KEPT
    R = np.maximum(T, 0)
    assert np.linalg.norm(R @ u - u) <= KEPT
    # Every matrix of the set lies on the other side of the plane through R across the way from what was given.
    for point in (np.outer(u, u), np.eye(n), 0.3 * np.eye(n) + 0.7 * np.outer(u, u)):
        assert np.sum((given - R) * (point - R)) <= 1e-3 * np.linalg.norm(given - R)


def test_what_is_added_vanishes_on_the_complement_of_the_fixed_vector():
    rng = np.random.default_rng(2)
    n = 30
    fixed = weighted(rng, n)
    given = symmetric(rng, n)
    T = given.copy()
    keep_row_sums(T, fixed)
    assert np.abs(T - given).max() > 1e-3
    assert np.allclose(fixed.centre_both(T - given), 0, atol=1e-12)
    assert np.allclose(T, T.T, atol=1e-12)


def test_weights_of_any_size_leave_a_state_that_steps_can_be_taken_from():
    """Rows of almost no weight ask for corrections without end, and their squares vanish."""
    random = np.random.default_rng(4)
    for _ in range(300):
        q = 10.0 ** random.uniform(-80, 0, 5)
        T = symmetric(random, 5) * 10.0 ** random.uniform(-25, 20, (5, 5))
        T = (T + T.T) / 2
        given, fixed = T.copy(), Weighted(q / np.linalg.norm(q))
        keep_row_sums(T, fixed)
        assert np.isfinite(T).all()
        assert np.abs(T - given).max() <= 2 * LARGEST_CHANGE * MOST_NEWTON_STEPS + 1e-12 * np.abs(given).max()


def test_sums_that_are_right_stay():
    T = np.full((5, 5), 0.2)
    assert keep_row_sums(T, Ones(5)) == pytest.approx(0, abs=1e-15)
    assert np.array_equal(T, np.full((5, 5), 0.2))


def test_single_precision_keeps_them_too():
    T = symmetric(np.random.default_rng(3), 60).astype(np.float32)
    assert keep_row_sums(T, Ones(60)) <= KEPT
    assert T.dtype == np.float32


@pytest.mark.parametrize(
    ("noise", "K", "keeps"), [(True, 30, True), (False, 30, True), (True, 6, False), (False, 2, False)]
)
def test_steps_keep_rows_only_with_small_patches_or_outside_noise(monkeypatch, noise, K, keeps):
    monkeypatch.setattr("sknomad.solvers._penalty.is_noise", lambda rank, n, K: noise)
    problem = noise_of(120, 5, K)
    *_, last = itertools.islice(ADMM(device="cpu", keep_rows=True).iterates(problem, after_soft(problem)), 15)
    assert last.state.keeps_rows is keeps
    u = np.full(120, 1 / math.sqrt(120))
    lacking = np.linalg.norm(np.maximum(last.state.T, 0) @ u - u)
    assert bool(lacking <= KEPT) is keeps


def test_middling_patches_keep_rows_outside_noise_up_to_some_points():
    assert rows_matter(100, 1000, 32)
    assert not rows_matter(1000, 1000, 32)
    assert rows_matter(1000, 1000, 250)
    assert not rows_matter(30, 1000, 8)
    assert rows_matter(100, 4000, 400)
    assert not rows_matter(100, 4001, 400)


def test_rows_are_kept_only_where_that_is_asked_for():
    *_, last = itertools.islice(ADMM(device="cpu").iterates(noise_of(120, 5, 30)), 15)
    assert not last.state.keeps_rows


@pytest.mark.parametrize("bad", [None, 1, "yes"])
def test_whether_rows_are_kept_is_checked(bad):
    with pytest.raises(TypeError, match="keep_rows must be True or False"):
        ADMM(keep_rows=bad)


def test_a_run_goes_on_with_the_same_rows():
    problem = noise_of(120, 5, 30)
    solver = ADMM(device="cpu", keep_rows=True)
    soft = after_soft(problem)
    *_, whole = itertools.islice(solver.iterates(problem, soft), 20)
    *_, half = itertools.islice(solver.iterates(problem, soft), 12)
    *_, rest = itertools.islice(solver.iterates(problem, half), 8)
    assert np.array_equal(whole.state.T, rest.state.T)


def test_both_bounds_meet_at_the_same_optimum():
    problem = noise_of(120, 5, 30)
    plain = solve(problem, ADMM(device="cpu"), tol=1e-4)
    kept = solve(problem, ADMM(device="cpu", keep_rows=True), tol=1e-4)
    assert plain.is_certified
    assert kept.is_certified
    assert kept.certificate.lower <= plain.certificate.upper
    assert plain.certificate.lower <= kept.certificate.upper
