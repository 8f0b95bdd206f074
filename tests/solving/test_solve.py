"""The one loop: why it stops, what it returns then, and that it trusts no solver."""

from __future__ import annotations

import itertools
import math
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles import centred_gram, clarabel_bounds, infeasibility, planted, ring_points, ring_value
from sknomad import Gram, Iterate, KMeansSDP, Progress, SoftPoint, Status, certify, datasets, solve
from sknomad._solving import run_state as _run
from sknomad._solving.run_state import LARGE, Run
from sknomad.solvers import ADMM

N_POINTS, TRACE = 24, 3
VALUE = ring_value(N_POINTS, TRACE)
limits = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def problem():
    return KMeansSDP(Gram.from_data(ring_points(N_POINTS)), TRACE)


class Scripted:
    """A solver that yields what it is given."""

    def __init__(self, iterates):
        self.script = iterates

    def iterates(self, problem, start=None):
        self.start = start
        yield from self.script(problem) if callable(self.script) else self.script


def admm_steps(count, change=lambda index, step: step):
    """A script: the first steps of ADMM, each changed on the way out, none kept beyond its time."""
    return lambda problem: (change(*pair) for pair in enumerate(itertools.islice(ADMM().iterates(problem), count)))


def assert_valid(solution, value=VALUE):
    certificate = solution.certificate
    assert certificate.lower <= value * (1 + 1e-8)
    assert certificate.upper >= value * (1 - 1e-8)
    wrong = infeasibility(solution.Q, solution.problem.K)
    assert max(wrong.values()) <= 1e-11
    assert solution.point.value(solution.problem.gram) == pytest.approx(certificate.lower, rel=1e-9)
    columns = solution.trace
    assert {"iteration", "seconds", "lower", "upper"} <= set(columns)
    assert len({len(column) for column in columns.values()}) == 1
    assert np.all(np.diff(columns["iteration"]) >= 0)
    assert np.all(np.diff(columns["seconds"]) >= 0)
    assert np.all(columns["lower"][1:] >= columns["lower"][:-1])
    assert np.all(columns["upper"][1:] <= columns["upper"][:-1])


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


# Any solver.


class Toy:
    """K-means style: hard labels first, then a fixed multiplier; enough for well separated pairs."""

    def __init__(self, labels, N):
        self.labels, self.N = labels, N

    def iterates(self, problem, start=None):
        for _ in range(20):
            yield Iterate(SoftPoint(np.eye(self.labels.max() + 1)[self.labels]), N=self.N, residuals={"mood": 1.0})


def test_toy_solver_goes_through_the_same_loop(rng):
    example = planted(rng, 15, 4, hard=True)
    problem = KMeansSDP(Gram.from_kernel(example.D), example.K)
    solution = solve(problem, Toy(example.V.argmax(axis=1), example.N), tol=1e-9)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter == 10
    assert np.array_equal(solution.trace["mood"], [1.0])
    assert np.allclose(solution.Q, example.Q, atol=1e-12)
    assert_valid(solution, example.value)


def test_solver_is_handed_the_start(problem):
    start = Iterate(np.eye(N_POINTS))
    solver = Scripted(lambda problem: ADMM().iterates(problem))
    solve(problem, solver, start=start)
    assert solver.start is start


GARBAGE = {
    "nan": lambda n: Iterate(np.full((n, n), math.nan), N=np.full((n, n), math.nan)),
    "infinite": lambda n: Iterate(np.full((n, n), math.inf), N=np.full((n, n), math.inf)),
    "nan and none": lambda n: Iterate(np.full((n, n), math.nan)),
}


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_garbage_leaves_the_interior_point_and_no_upper_bound(problem, kind, grade):
    with pytest.warns(ConvergenceWarning, match="the solver ended"):
        solution = solve(problem, Scripted([GARBAGE[kind](N_POINTS)] * 25), grade=grade)
    assert solution.status is Status.EXHAUSTED
    assert solution.certificate.upper == math.inf
    assert solution.certificate.lower == pytest.approx((TRACE - 1) / (N_POINTS - 1) * N_POINTS, rel=1e-9)
    assert_valid(solution)


@limits
def test_garbage_between_good_steps_does_no_harm(problem):
    garbage = GARBAGE["nan"](N_POINTS)
    solver = Scripted(admm_steps(200, lambda index, step: step if index % 7 else garbage))
    solution = solve(problem, solver, tol=1e-3)
    assert solution.certificate.gap < 1e-2
    assert_valid(solution)


def test_residuals_are_recorded_but_cannot_pose_as_bounds(problem):
    liar = {"lower": 1e9, "upper": -1e9, "iteration": -5.0, "seconds": -1.0}
    solver = Scripted(admm_steps(30, lambda index, step: Iterate(step.Q, N=step.N, residuals=liar)))
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, solver, tol=1e-9)
    assert solution.trace["lower"].max() == solution.certificate.lower
    assert solution.trace["upper"].min() == solution.certificate.upper
    assert_valid(solution)


def test_residuals_that_come_and_go_leave_gaps_not_short_columns(problem):
    solver = Scripted(
        admm_steps(30, lambda i, step: Iterate(step.Q, N=step.N, residuals={"odd": 1.0} if i >= 15 else {}))
    )
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, solver, tol=1e-9)
    assert math.isnan(solution.trace["odd"][0])
    assert solution.trace["odd"][-1] == 1
    assert_valid(solution)


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


# What is refused.


def iterate_of(n):
    return Iterate(np.eye(n))


REFUSED = {
    "problem": (TypeError, {"problem": ring_points(6)}, r"problem must be a KMeansSDP, got ndarray.*Gram\.from_data"),
    "solver": (ValueError, {"solver": "newton"}, "solver must be one of 'auto', 'admm'.*got 'newton'"),
    "solver class": (ValueError, {"solver": ADMM}, "solver must be one of"),
    "solver none": (ValueError, {"solver": None}, "solver must be one of .*got None"),
    "tol negative": (ValueError, {"tol": -1e-3}, "tol must be a real number >= 0, got -0.001"),
    "tol nan": (ValueError, {"tol": math.nan}, "tol must be a real number >= 0, got nan"),
    "tol text": (TypeError, {"tol": "small"}, "tol must be a real number >= 0, got 'small' of type str"),
    "tol none": (TypeError, {"tol": None}, "tol must be a real number"),
    "max_iter zero": (ValueError, {"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    "max_iter float": (TypeError, {"max_iter": 10.0}, r"max_iter must be an integer >= 1, got 10\.0 of type float"),
    "max_iter true": (TypeError, {"max_iter": True}, "max_iter must be an integer"),
    "max_seconds": (ValueError, {"max_seconds": -1}, "max_seconds must be a number of seconds >= 0 or None, got -1"),
    "max_seconds nan": (ValueError, {"max_seconds": math.nan}, "max_seconds must be"),
    "max_seconds text": (TypeError, {"max_seconds": "1 h"}, "max_seconds must be a number of seconds"),
    "start size": (ValueError, {"start": iterate_of(5)}, "start must have 24 rows as the problem has, got 5"),
    "start array": (
        TypeError,
        {"start": np.eye(24)},
        "start must be an Iterate or None, got ndarray",
    ),
    "start nan": (ValueError, {"start": Iterate(np.full((24, 24), math.nan))}, "start must .*finite"),
    "callback": (TypeError, {"callback": "print"}, "callback must be callable or None, got str"),
    "grade": (ValueError, {"grade": "estimated"}, "grade must be one of 'eigen', 'verified', got 'estimated'"),
    "grade none": (ValueError, {"grade": None}, "grade must be one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_arguments_are_named(problem, case):
    error, arguments, message = REFUSED[case]
    with pytest.raises(error, match=message):
        solve(**{"problem": problem, **arguments})


def test_infinite_tolerance_is_not_a_proof_of_nothing(problem):
    # A gap that is not known is not certified, however lenient the tolerance.
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, Scripted([GARBAGE["nan"](N_POINTS)]), tol=math.inf)
    assert not solution.is_certified


# When to look, and what a run that is cut short still owes.


def judged(n, multiplier_from, steps):
    """Iterations that a run of `n` points judges, the multiplier being known from one of them on."""
    run = Run(KMeansSDP(Gram.from_data(np.arange(n, dtype=float)[:, None]), 2), 1e-3, "eigen")
    looks = []
    for iteration in range(1, steps + 1):
        run.iteration = iteration
        run.iterate = Iterate(SoftPoint(np.ones((n, 1))), N=object() if iteration >= multiplier_from else None)
        if run.look_is_due():
            looks.append(iteration)
    return looks


def test_looks_are_counted_from_the_first_multiplier():
    assert judged(50, 1, 50) == [10, 20, 30, 40, 50]
    assert judged(50, 35, 60) == [10, 20, 30, 44, 54]
    late = judged(50, 1, 400)
    assert max(b - a for a, b in itertools.pairwise(late)) >= 40


def test_large_problems_are_judged_less_often_once_that_is_dear():
    n = LARGE + 1
    assert judged(n, 35, 120) == [10, 20, 30, 59, 84, 109]


def test_run_cut_short_proves_what_it_has_seen(monkeypatch):
    monkeypatch.setattr(_run, "LARGEST_FOR_INTERIM_PROOFS", 10)
    monkeypatch.setattr(Run, "seconds", property(lambda self: float(self.iteration)))
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        solution = solve(problem, "admm", tol=1e-8, max_seconds=25, grade="verified")
    assert solution.status is Status.MAX_SECONDS
    assert math.isfinite(solution.certificate.upper)
    assert solution.certificate.grade == "verified"
