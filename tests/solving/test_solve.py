"""The one loop: why it stops, and what it returns then."""

from __future__ import annotations

import itertools
import math
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles import centred_gram, clarabel_bounds, ring_points
from scripted import N_POINTS, TRACE, VALUE, Scripted, admm_steps, assert_valid, limits
from sknomad import Gram, KMeansSDP, Progress, Status, certify, solve
from sknomad.solvers import ADMM

# Why it stops.


def test_certified(problem):
    solution = solve(problem, "admm", tol=1e-3)
    assert solution.status is Status.CERTIFIED
    assert solution.is_certified
    assert solution.certificate.gap <= 1e-3
    assert solution.trace["lower"][-1] == solution.certificate.lower
    assert solution.trace["upper"][-1] == solution.certificate.upper
    assert solution.trace["iteration"][-1] == solution.n_iter
    assert solution.problem is problem
    assert solution.seconds > 0
    assert "CERTIFIED" in repr(solution)
    assert_valid(solution)


@pytest.mark.parametrize("max_iter", [1, 9, 10, 11, 37])
def test_iteration_limit(problem, max_iter):
    with pytest.warns(ConvergenceWarning, match="reached max_iter"):
        solution = solve(problem, "admm", tol=1e-12, max_iter=max_iter)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == max_iter
    assert math.isfinite(solution.certificate.gap)
    assert_valid(solution)


def test_time_limit(problem):
    with pytest.warns(ConvergenceWarning, match="reached max_seconds"):
        solution = solve(problem, "admm", tol=1e-12, max_seconds=0)
    assert solution.status is Status.MAX_SECONDS
    assert solution.n_iter == 1
    assert math.isfinite(solution.certificate.gap)
    assert_valid(solution)


def test_time_limit_leaves_a_verified_bound(problem):
    # Finite data, a finite multiplier, one Cholesky factorisation: infinity would be a poor excuse.
    with pytest.warns(ConvergenceWarning, match="reached max_seconds"):
        solution = solve(problem, "admm", tol=1e-12, max_seconds=0, grade="verified")
    assert math.isfinite(solution.certificate.upper)
    assert_valid(solution)


def test_time_limit_is_looked_at_after_every_step(problem, monkeypatch):
    began, looks = time.perf_counter(), itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: began + next(looks))
    with pytest.warns(ConvergenceWarning, match="reached max_seconds"):
        solution = solve(problem, "admm", tol=1e-12, max_seconds=5.5)
    assert solution.status is Status.MAX_SECONDS
    assert 1 <= solution.n_iter <= 7


def test_warning_says_how_far_and_what_to_change(problem):
    with pytest.warns(ConvergenceWarning) as caught:
        solution = solve(problem, "admm", tol=1e-9, max_iter=20)
    (warning,) = caught
    proof = solution.certificate
    text = str(warning.message)
    assert text == (
        f"reached max_iter after 20 iterations with certified gap {proof.gap:.1e} > tol=1.0e-09. "
        f"The bounds stand: {proof.lower:.6g} <= optimum <= {proof.upper:.6g}. Raise max_iter or tol."
    )
    assert warning.filename == __file__


def test_callback_stops_without_a_warning(problem):
    seen = []

    def stop_at_25(progress):
        seen.append(progress)
        return progress.iteration == 25

    solution = solve(problem, "admm", tol=1e-12, callback=stop_at_25)
    assert solution.status is Status.STOPPED
    assert solution.n_iter == 25
    assert [progress.iteration for progress in seen] == list(range(1, 26))
    assert all(isinstance(progress, Progress) for progress in seen)
    assert all(a.lower <= b.lower and a.upper >= b.upper for a, b in itertools.pairwise(seen))
    assert seen[0].gap == math.inf
    assert seen[-1].lower <= VALUE <= seen[-1].upper
    assert seen[-1].tol == 1e-12
    assert_valid(solution)


def test_callback_that_returns_nothing_does_not_stop(problem):
    calls = []
    assert solve(problem, "admm", callback=calls.append).status is Status.CERTIFIED
    assert len(calls) >= 9


def test_exception_of_the_callback_is_the_callers(problem):
    def fail(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(problem, "admm", callback=fail)


def test_exception_of_the_solver_is_not_swallowed(problem):
    def fail(problem):
        yield from itertools.islice(ADMM().iterates(problem), 12)
        raise FloatingPointError("diverged")

    with pytest.raises(FloatingPointError, match="diverged"):
        solve(problem, Scripted(fail), tol=1e-12)


@pytest.mark.parametrize("steps", [0, 1, 5, 10, 30])
def test_interrupt_inside_the_solver_keeps_what_is_known(problem, steps):
    def interrupted(problem):
        yield from itertools.islice(ADMM().iterates(problem), steps)
        raise KeyboardInterrupt

    solution = solve(problem, Scripted(interrupted), tol=1e-12)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == steps
    assert math.isfinite(solution.certificate.lower)
    assert math.isfinite(solution.certificate.upper) == (steps > 0)
    assert_valid(solution)


@pytest.mark.parametrize("iteration", [1, 9, 10, 27])
def test_interrupt_inside_the_callback_keeps_what_is_known(problem, iteration):
    def interrupt(progress):
        if progress.iteration == iteration:
            raise KeyboardInterrupt

    solution = solve(problem, "admm", tol=1e-12, callback=interrupt)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == iteration
    assert math.isfinite(solution.certificate.gap)
    assert_valid(solution)


def test_interrupted_run_can_be_continued(problem):
    def interrupt(progress):
        if progress.iteration == 60:
            raise KeyboardInterrupt

    first = solve(problem, "admm", tol=1e-4, callback=interrupt)
    whole = solve(problem, "admm", tol=1e-4)
    rest = solve(problem, "admm", tol=1e-4, start=first.iterate)
    assert rest.status is Status.CERTIFIED
    assert rest.n_iter < whole.n_iter


def test_solver_that_ends_is_exhausted(problem):
    with pytest.warns(ConvergenceWarning, match="the solver ended after 3 iterations"):
        solution = solve(problem, Scripted(admm_steps(3)), tol=1e-12)
    assert solution.status is Status.EXHAUSTED
    assert_valid(solution)


def test_solver_that_offers_nothing_is_exhausted(problem):
    with pytest.warns(ConvergenceWarning, match="the solver ended after 0 iterations"):
        solution = solve(problem, Scripted([]))
    assert solution.status is Status.EXHAUSTED
    assert solution.certificate.upper == math.inf
    assert solution.certificate.lower == pytest.approx((TRACE - 1) / (N_POINTS - 1) * N_POINTS, rel=1e-9)
    assert all(len(column) == 0 for column in solution.trace.values())
    assert_valid(solution)


@pytest.mark.parametrize("limit", [{"max_iter": 9}, {"max_seconds": 0}])
def test_tolerance_met_at_the_last_look_counts(problem, limit):
    # No look falls due in so few steps; the last one is taken all the same, and what it proves is kept.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(problem, "admm", tol=0.5, **limit)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter < 10


def test_every_status_has_its_sentence():
    assert {status.name for status in Status} == {
        "CERTIFIED",
        "MAX_ITER",
        "MAX_SECONDS",
        "STOPPED",
        "INTERRUPTED",
        "EXHAUSTED",
    }
    assert all(status.value.endswith(".") for status in Status)


# Grades.


def test_verified_grade_is_what_it_says(problem):
    solution = solve(problem, "admm", tol=1e-4, grade="verified")
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.grade == "verified"
    assert solution.certificate.gap <= 1e-4
    upper = certify(problem, solution.iterate, grade="verified").upper
    assert solution.certificate.upper <= upper
    assert_valid(solution)


def test_verified_run_never_reports_an_eigenvalue_bound(problem, monkeypatch):
    monkeypatch.setattr("sknomad._certificate.upper.verified_upper_bound", lambda *args: math.inf)
    with pytest.warns(ConvergenceWarning, match="optimum <= inf"):
        solution = solve(problem, "admm", grade="verified", max_iter=60)
    assert solution.certificate.upper == math.inf
    assert solution.status is Status.MAX_ITER


@limits
def test_verified_grade_at_the_iteration_limit(problem):
    solution = solve(problem, "admm", tol=1e-12, max_iter=30, grade="verified")
    assert math.isfinite(solution.certificate.upper)
    assert_valid(solution)


# Problems without a search.


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize(("K", "Q"), [(1, np.full((6, 6), 1 / 6)), (6, np.eye(6))])
def test_known_answers_need_one_step(grade, K, Q):
    problem = KMeansSDP(Gram.from_data(ring_points(6)), K)
    solution = solve(problem, "admm", grade=grade)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter == 1
    assert np.allclose(solution.Q, Q, atol=1e-14)
    assert solution.certificate.lower == pytest.approx(0 if K == 1 else 6, abs=1e-12)
    assert_valid(solution, 0 if K == 1 else 6)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_equal_points_need_one_step(value):
    solution = solve(KMeansSDP(Gram.from_data(np.full((8, 2), value)), 3))
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.lower == solution.certificate.upper == 0
    assert solution.n_iter == 1


def test_two_points():
    solution = solve(KMeansSDP(Gram.from_data([[0.0], [2.0]]), 1.5))
    assert solution.is_certified
    assert solution.certificate.lower <= 1 <= solution.certificate.upper


@limits
def test_bounds_agree_with_the_reference(rng):
    for n in (5, 8, 11):
        X = rng.standard_normal((n, 2))
        reference = clarabel_bounds(centred_gram(X), 2.5)
        for solution in (
            solve(KMeansSDP(Gram.from_data(X), 2.5), "admm", max_iter=steps, tol=1e-6) for steps in (1, 7, 900)
        ):
            assert solution.certificate.lower <= reference.high
            assert solution.certificate.upper >= reference.low
