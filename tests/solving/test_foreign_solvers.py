"""The loop trusts no solver: any that yields iterates runs in it, and garbage does no harm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles import planted
from scripted import N_POINTS, TRACE, Scripted, admm_steps, assert_valid, limits
from sknomad import CertifiedKMeans, Gram, Iterate, KMeansSDP, SoftPoint, Status, solve, verify_certificate
from sknomad._solving.run_state import Run
from sknomad.solvers import ADMM, Solver

# Any solver.


class Toy(Solver):
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


class Overwriting(Solver):
    """Yields good steps of ADMM in arrays that it fills with nonsense as soon as they have been looked at."""

    def iterates(self, problem, start=None):
        Q, N = np.empty((problem.n, problem.n)), np.empty((problem.n, problem.n))
        for step in itertools.islice(ADMM().iterates(problem, start), 60):
            Q[:], N[:] = step.point.dense(), step.multiplier
            yield Iterate(Q, N=N, is_milestone=True)
            Q[:], N[:] = np.nan, 0.0


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@limits
def test_arrays_that_a_solver_writes_to_again_prove_what_they_held(problem, grade, tmp_path):
    found, wanted = (solve(problem, solver, tol=1e-9, grade=grade, max_iter=60) for solver in (Overwriting(), ADMM()))
    assert found.certificate.gap < 1e-2
    assert_valid(found)
    assert found.certificate.lower <= wanted.certificate.upper


@limits
def test_the_multiplier_of_a_clustering_is_kept_as_it_was(rng, tmp_path):
    X = np.repeat(5 * np.eye(3), 6, axis=0) + rng.standard_normal((18, 3))
    model = CertifiedKMeans(3, solver=Overwriting(), tol=0, grade="verified", random_state=0).fit(X)
    assert model.lower_bound_ > 0
    model.certificate_.save(tmp_path / "proof")
    assert verify_certificate(tmp_path / "proof", X).holds


# What is refused.


@pytest.mark.parametrize("step", [None, (np.eye(3), None), np.eye(N_POINTS)])
def test_steps_that_are_no_iterates_are_refused(problem, step):
    with pytest.raises(TypeError, match="a solver must yield Iterates, got"):
        solve(problem, Scripted([step]))


def test_a_bound_of_a_lower_grade_is_dropped_when_a_higher_one_is_demanded(problem):
    run = Run(problem, 1e-3, "eigen", upper=5.0)
    run.demand_verified()
    assert (run.grade, run.upper) == ("verified", math.inf)
    run.enter_upper(7.0)
    run.demand_verified()
    assert run.upper == 7


def test_infinite_tolerance_is_not_a_proof_of_nothing(problem):
    # A gap that is not known is not certified, however lenient the tolerance.
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, Scripted([GARBAGE["nan"](N_POINTS)]), tol=math.inf)
    assert not solution.is_certified


class Unfinished:
    """Has steps, and nothing else that a solver must say of itself."""

    def iterates(self, problem, start=None):
        yield Iterate(np.eye(problem.n))


def test_a_solver_that_lacks_something_is_told_what(problem):
    with pytest.raises(TypeError, match=r"got Unfinished without device, matrix_free, takes_weights, memory\. Let its"):
        solve(problem, Unfinished())
