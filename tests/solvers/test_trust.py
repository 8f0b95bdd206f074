"""Trust in the point of soft assignments: kept while values lead to no more than it is worth."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sknomad import Gram, KMeansSDP
from sknomad.solvers import ADMM, Auto, SoftAssignment
from sknomad.solvers._penalty import gliding_penalty
from sknomad.solvers._trust import EARLY, LOST, SETTLED, Trust, trust_in

BEGINNINGS = st.floats(-1e3, 1e3)


@given(limit=BEGINNINGS, excess=st.floats(0, 1e3), margin=st.floats(0.01, 10), step=st.integers(SETTLED, 300))
def test_values_that_fall_as_the_inverse_of_the_steps_are_followed_to_their_limit(limit, excess, margin, step):
    before, now = limit + excess / step, limit + excess / (step + 10)
    for goal, is_given in ((limit + margin, True), (limit - margin, False)):
        trust = Trust(goal).after(step, before)
        assert trust.is_given  # a single value, infeasible as it is, tells nothing
        assert trust.after(step + 10, now).is_given is is_given


@given(BEGINNINGS, BEGINNINGS)
def test_values_before_they_have_settled_tell_nothing(first, second):
    assert Trust(-1e6).after(SETTLED - 20, first).after(SETTLED - 10, second).is_given


@given(value=st.floats(1, 1e3), excess=st.floats(0, 100), step=st.integers(EARLY, SETTLED - 10))
def test_early_values_tell_a_start_that_is_far_too_poor(value, excess, step):
    """Ten times what the gap allows, and more: those on the way to less than that are waited for."""
    for short, is_given in ((0.011, False), (0.009, True)):
        before, now = (value * (1 + short) + excess / k for k in (step, step + 10))
        assert trust_in(value, 1e-3).after(step, before).after(step + 10, now).is_given is is_given


def test_values_that_rise_or_come_too_early_tell_nothing():
    assert trust_in(10.0, 1e-3).after(EARLY, 10.5).after(EARLY + 10, 10.6).is_given
    assert trust_in(10.0, 1e-3).after(EARLY - 10, 10.6).after(EARLY, 10.5).is_given


def test_lost_trust_is_not_won_again():
    assert not LOST.is_given
    assert not LOST.after(SETTLED, 0.0).after(SETTLED + 10, -1.0).is_given


@pytest.fixture
def soft_start():
    """A plane that soft assignments describe well, and where those end."""
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((420, 2))), 20)
    auto = Auto.for_tolerance(1e-3, "cpu")
    *_, last = auto.soft.iterates(problem)
    return problem, auto._second_phase(problem, last), last


def penalties(problem, admm, start, count):
    """Penalties of the first steps, in the units of the settings."""
    iterates = admm.iterates(problem, start)
    unit = problem.gram.norm / np.sqrt(problem.K)
    return [next(iterates).residuals["penalty"] / unit for _ in range(count)]


def test_the_penalty_glides_as_long_as_the_start_is_trusted(soft_start):
    problem, admm, last = soft_start
    assert admm.trusted_until == 200
    found = penalties(problem, admm, last, 100)
    assert np.allclose(found, [gliding_penalty(step, problem.n, problem.K) for step in range(1, 101)])


def test_trust_ends_with_its_last_step(soft_start):
    problem, admm, last = soft_start
    found = penalties(problem, replace(admm, trusted_until=30), last, 40)
    assert found[28] == pytest.approx(gliding_penalty(29, problem.n, problem.K))
    assert found[29] > 2 * found[28]


def test_a_run_goes_on_with_the_value_that_it_had_measured():
    """On noise the optimum lies a percent above soft assignments, which two values tell."""
    noise = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((90, 6))), 7)
    *_, soft = SoftAssignment(device="cpu").iterates(noise)
    admm = ADMM(penalty=1.2, trusted_shortfall=1e-3)
    *_, half = itertools.islice(admm.iterates(noise, soft), SETTLED + 5)
    assert half.state.trust.step == SETTLED
    whole = penalties(noise, admm, soft, SETTLED + 15)
    assert whole[-1] > 2 * whole[SETTLED]
    assert penalties(noise, admm, half, 10) == whole[SETTLED + 5 :]


def test_the_number_of_trusted_steps_is_checked():
    with pytest.raises(ValueError, match="trusted_until"):
        ADMM(trusted_until=-1)


def test_a_forged_step_that_has_not_come_yet_ends_in_no_error():
    trust = Trust(10.0, 10.1, value=10.3, step=60)
    assert trust.after(60, 10.2) == trust.after(50, 10.2) == trust
