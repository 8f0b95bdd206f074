"""Excursions from ADMM's state: better bounds on the way, the same way."""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sknomad import Gram, KMeansSDP, certify, solve
from sknomad.ring import ring_optimum, ring_points
from sknomad.solvers import ADMM, _excursions

FIRST = 80


@pytest.fixture
def problem():
    return KMeansSDP(Gram.from_data(ring_points(60)), 6)


@pytest.fixture
def early():
    """Excursions soon, so that tests are quick."""
    return ADMM(anchor_from=40, excursions_from=FIRST)


def test_excursions_come_at_growing_distances():
    due = [step for step in range(1, 4000) if _excursions.excursions_are_due(60, step, FIRST)]
    assert due[0] == FIRST
    assert all(1.4 < later / earlier < 1.6 for earlier, later in itertools.pairwise(due))


def test_excursions_start_before_there_is_an_anchor(problem):
    steps = itertools.islice(ADMM(excursions_from=FIRST).iterates(problem), 2 * FIRST)
    milestone = next(iterate for iterate in steps if iterate.is_milestone)
    assert milestone.state.step == FIRST
    assert milestone.state.anchor is None


def test_rough_looks_make_none(problem):
    """They are read off after up to 250 steps, and not for their bounds."""
    assert not any(iterate.is_milestone for iterate in itertools.islice(ADMM().iterates(problem), 250))


def test_both_bounds_get_better(early, problem):
    steps = early.iterates(problem)
    before = certify(problem, next(itertools.islice(steps, FIRST - 1, None)))
    milestone = next(iterate for iterate in steps if iterate.is_milestone)
    after = certify(problem, milestone)
    optimum = ring_optimum(60, 6).value
    assert after.lower <= optimum <= after.upper
    assert optimum - after.lower < (optimum - before.lower) / 2
    assert after.upper < before.upper


def test_the_way_itself_stays_the_same(early, problem, monkeypatch):
    def state_after(step):
        # A state is shared with the solver, so it is read before the next step.
        return next(np.array(it.state.T) for it in early.iterates(problem) if it.state.step == step)

    with_excursions = state_after(FIRST + 20)
    monkeypatch.setattr(_excursions, "MOST_POINTS", 0)
    np.testing.assert_array_equal(with_excursions, state_after(FIRST + 20))


def test_an_excursion_resumes_on_the_way(early, problem):
    steps = early.iterates(problem)
    inside = next(itertools.islice(steps, FIRST + 1, None))
    assert inside.state.step == FIRST
    expected = next(np.array(it.state.T) for it in early.iterates(problem) if it.state.step == FIRST + 1)
    resumed = next(early.iterates(problem, inside))
    np.testing.assert_allclose(resumed.state.T, expected, rtol=0, atol=1e-12)


def test_a_milestone_is_judged_at_once(early, problem):
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, early, tol=0.0, max_iter=FIRST + 30)
    milestone = FIRST + round(0.05 * FIRST) + round(0.1 * FIRST) + 1
    assert milestone in solution.trace["iteration"]


@pytest.mark.slow
def test_a_millionth_on_a_ring_that_balanced_steps_do_not_reach():
    """3,000 balanced steps end at 8e-6."""
    problem = KMeansSDP(Gram.from_data(ring_points(320)), 8)
    solution = solve(problem, tol=1e-6, max_iter=4000)
    assert solution.certificate.lower <= ring_optimum(320, 8).value * (1 + 5e-9)
    assert solution.certificate.gap <= 1e-6
