"""Excursions from ADMM's state: better bounds on the way, the same way."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sknomad import Gram, KMeansSDP, certify, solve
from sknomad._numerics.sizes import UpTo
from sknomad.ring import ring_optimum, ring_points
from sknomad.solvers import ADMM, _admm_course, _excursions
from sknomad.solvers._auto import Auto

FIRST = 80


@pytest.fixture
def problem():
    return KMeansSDP(Gram.from_data(ring_points(60)), 6)


@pytest.fixture
def early():
    """Excursions soon, so that tests are quick."""
    return ADMM(anchor_from=40, excursions_from=FIRST)


def test_excursions_come_at_growing_distances():
    numbers = {step: _excursions.excursion_due(step, FIRST) for step in range(1, 4000)}
    due = [step for step, number in numbers.items() if number is not None]
    assert due[0] == FIRST
    assert [numbers[step] for step in due] == list(range(len(due)))
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
    assert optimum - after.lower < (optimum - before.lower) / 10
    assert after.upper - optimum < (before.upper - optimum) / 10


def test_the_way_itself_stays_the_same(early, problem, monkeypatch):
    def state_after(step):
        # A state is shared with the solver, so it is read before the next step.
        return next(np.array(it.state.T) for it in early.iterates(problem) if it.state.step == step)

    with_excursions = state_after(FIRST + 20)
    monkeypatch.setattr(_admm_course, "EXCURSIONS", UpTo(cpu=0, gpu=0))
    np.testing.assert_array_equal(with_excursions, state_after(FIRST + 20))


def test_an_excursion_resumes_on_the_way(early, problem):
    steps = early.iterates(problem)
    inside = next(itertools.islice(steps, FIRST + 1, None))
    assert inside.state.step == FIRST
    expected = next(np.array(it.state.T) for it in early.iterates(problem) if it.state.step == FIRST + 1)
    resumed = next(early.iterates(problem, inside))
    np.testing.assert_allclose(resumed.state.T, expected, rtol=0, atol=1e-12)


def test_a_milestone_is_judged_at_once(early, problem):
    steps = enumerate(early.iterates(problem), start=1)
    milestone = next(number for number, iterate in steps if iterate.is_milestone)
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, early, tol=0.0, max_iter=milestone + 5)
    assert milestone in solution.trace["iteration"]


def test_small_gaps_take_one_excursion():
    """Images, where balanced steps and other penalties took thousands of steps for a gap of 1e-6."""
    X = load_digits().data[:150]
    solution = solve(KMeansSDP(Gram.from_data(X), 10), tol=1e-6, max_iter=300)
    assert solution.is_certified


def test_a_wider_gap_takes_fewer_steps(problem):
    def first_milestone(gap):
        solver = ADMM(excursions_from=FIRST, excursion_gap=gap)
        steps = enumerate(solver.iterates(problem), start=1)
        return next(number for number, iterate in steps if iterate.is_milestone)

    assert first_milestone(2e-5) < first_milestone(1e-6) < first_milestone(1e-7)
    assert Auto.for_tolerance(1e-4).admm.excursion_gap == 1e-4


def test_a_path_goes_on_where_its_first_milestone_was_not_enough(problem):
    """Each has a better point than the one before, and bounds that hold."""
    iterates = itertools.islice(ADMM(excursions_from=FIRST, excursion_gap=2e-5).iterates(problem), 4 * FIRST)
    milestones = [iterate for iterate in iterates if iterate.is_milestone][:3]
    proofs = [certify(problem, milestone) for milestone in milestones]
    optimum = ring_optimum(60, 6).value
    assert all(proof.lower <= optimum <= proof.upper for proof in proofs)
    assert proofs[0].lower < proofs[1].lower < proofs[2].lower


def test_with_many_points_the_first_multiplier_is_made_smooth_early(monkeypatch):
    """Small gaps and few points wait for a better point."""
    problem = KMeansSDP(Gram.from_data(load_digits().data[:150]), 4)

    def first_milestone(gap):
        solver = ADMM(excursions_from=FIRST, excursion_gap=gap)
        steps = enumerate(solver.iterates(problem), start=1)
        return next(number for number, iterate in steps if iterate.is_milestone)

    wide, small = first_milestone(1e-4), first_milestone(1e-5)
    monkeypatch.setattr(_excursions, "FULL_FOR_A_PLACE", UpTo(cpu=10, gpu=10))
    assert first_milestone(1e-4) < wide
    assert first_milestone(1e-5) == small


@pytest.mark.parametrize(("rank", "step", "gap", "pays"), [(50, 120, 1e-3, True), (51, 120, 1e-3, False),
                                                             (51, 120, 1e-5, True), (51, 600, 1e-3, True)])  # fmt: skip
def test_large_ranks_have_late_excursions_where_gaps_are_wide(rank, step, gap, pays):
    """Two rolls of 300 points with five points per patch took 46 s to 1e-4 with them, one second without."""
    assert _excursions.excursion_pays(200, rank, step, gap) == pays


def test_noise_with_small_patches_leaves_its_way_late(rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((60, 5))), 20)
    solver = ADMM(excursions_from=FIRST, excursion_gap=1e-3)
    assert not any(iterate.is_milestone for iterate in itertools.islice(solver.iterates(problem), 2 * FIRST))
    solver = ADMM(excursions_from=FIRST, excursion_gap=1e-5)
    assert any(iterate.is_milestone for iterate in itertools.islice(solver.iterates(problem), 3 * FIRST))


def test_a_gap_of_zero_is_sought_as_the_smallest_that_paths_are_made_for(problem):
    """Its path was so long that runs ended on it, with a rough multiplier."""
    milestones = [
        next(k for k, iterate in enumerate(solver.iterates(problem)) if iterate.is_milestone)
        for solver in (ADMM(excursions_from=FIRST, excursion_gap=gap) for gap in (0.0, _excursions.SMALLEST_GAP))
    ]
    assert milestones[0] == milestones[1]


def test_strides_get_shorter_with_the_gap_and_with_every_excursion():
    assert _excursions.stride(1e-3, 0) > _excursions.stride(1e-6, 0) > _excursions.stride(1e-6, 1)
    assert _excursions.stride(1.0, 0) == _excursions.LONGEST_STRIDE


@pytest.mark.slow
def test_a_millionth_on_a_ring_that_balanced_steps_do_not_reach():
    """3,000 balanced steps end at 8e-6."""
    problem = KMeansSDP(Gram.from_data(ring_points(320)), 8)
    solution = solve(problem, tol=1e-6, max_iter=4000)
    assert solution.certificate.lower <= ring_optimum(320, 8).value * (1 + 5e-9)
    assert solution.certificate.gap <= 1e-6


def test_without_memory_for_them_there_are_no_excursions(early, problem, monkeypatch):
    """They are not in the forecast: what a run needs at least is what is asked for."""
    monkeypatch.setattr(_admm_course, "free_memory_of", lambda template: _excursions.excursion_memory(problem.n) - 1)
    iterates = itertools.islice(early.iterates(problem), 2 * FIRST)
    assert not any(iterate.is_milestone for iterate in iterates)
