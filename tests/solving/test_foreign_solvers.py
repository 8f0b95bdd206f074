"""The loop trusts no solver: any that yields iterates runs in it, and garbage does no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles import planted
from scripted import N_POINTS, TRACE, Scripted, admm_steps, assert_valid, limits
from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, Status, solve
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


# What is refused.


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
