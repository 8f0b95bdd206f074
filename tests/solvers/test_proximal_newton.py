"""Proximal steps by Newton's method: fixed points, and what they promise of the bound."""

import itertools

import numpy as np
import pytest

from sknomad import Gram, Iterate, KMeansSDP
from sknomad._certificate.iterate import NegativePart
from sknomad._certificate.upper import upper_bound
from sknomad._numerics.projections import project_spectraplex
from sknomad._points.forms import SpectralPoint
from sknomad.solvers import ADMM
from sknomad.solvers._admm_state import GramOperator
from sknomad.solvers._proximal_newton import Place, ProximalStep, _Derivative

TOTAL = 4.0


@pytest.fixture
def problem(rng):
    return KMeansSDP(Gram.from_data(rng.standard_normal((40, 3))), TOTAL + 1)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def iterate(problem):
    """ADMM after some steps, with arrays of its own."""
    steps = ADMM(device="cpu").iterates(problem)
    for _ in range(40):
        iterate = next(steps)
    return Iterate(iterate.point, N=NegativePart(np.array(iterate.N.T), iterate.N.weight))


def proximal_step(problem, iterate, rho, hold):
    gram = GramOperator(problem.gram, np.empty(0))
    return ProximalStep(gram, TOTAL, iterate.point, iterate.N, rho, hold)


def projected(problem, A):
    return SpectralPoint(*project_spectraplex(A, TOTAL, problem.fixed), problem.fixed).dense()


@pytest.mark.parametrize("hold", [0.0, 1e-3, 1.0])
def test_the_last_place_is_near_the_fixed_point(problem, iterate, hold):
    D, Q0 = problem.gram.dense(), iterate.point.dense()
    rho = 3 * iterate.N.weight
    *_, place = proximal_step(problem, iterate, rho, hold).places()
    B, Q = iterate.multiplier / rho, place.point.dense()
    again = projected(problem, (D / rho + hold * Q0 + np.maximum(B, Q)) / (1 + hold))
    assert np.linalg.norm(again - Q) < 0.3 * np.linalg.norm(Q - Q0)


def test_steps_never_lower_the_value(problem, iterate):
    values = [place.value for place in proximal_step(problem, iterate, 20 * iterate.N.weight, 0.0).places()]
    assert len(values) > 1
    assert np.all(np.diff(values) > -1e-9)


def test_the_multiplier_minimises_the_bound_nearby(problem, iterate, rng):
    """No multiplier has a lower sum of its bound and its squared distance, up to what Newton steps left."""
    rho = iterate.N.weight

    def objective(N):
        return upper_bound(problem, N) + np.sum((N - iterate.multiplier) ** 2) / (2 * rho)

    step = proximal_step(problem, iterate, rho, 0.0)
    *_, place = step.places()
    N = step.multiplier(place).formed()
    gain = objective(iterate.multiplier) - objective(N)
    assert gain > 0
    for size in (0.01, 0.1, 1.0):
        noise = rng.standard_normal(N.shape)
        other = np.maximum(N + size * np.abs(N).mean() * (noise + noise.T), 0)
        assert objective(other) > objective(N) - 0.2 * gain


def test_the_derivative_is_that_of_the_projection(problem, iterate, rng):
    step = proximal_step(problem, iterate, iterate.N.weight, 0.0)
    place: Place = next(step.places())
    direction = rng.standard_normal(place.A.shape)
    direction += direction.T
    change = projected(problem, place.A + 1e-6 * direction) - projected(problem, place.A - 1e-6 * direction)
    expected = change / 2e-6
    derivative = _Derivative(place, problem.fixed)(direction.astype(np.float32))
    assert np.linalg.norm(derivative - expected) < 1e-3 * np.linalg.norm(expected)


@pytest.mark.parametrize("growth", [1.0, 1.3, 3.0])
def test_a_place_is_seen_from_a_step_with_a_larger_penalty(problem, iterate, growth):
    """Its eigenvectors are known there, its projection is the same, and the fixed point is near if it was."""
    rho = 10 * iterate.N.weight
    step = proximal_step(problem, iterate, rho, 0.0)
    *_, place = step.places()
    gram = GramOperator(problem.gram, np.empty(0))
    following = ProximalStep(gram, TOTAL, place.point, step.multiplier(place), growth * rho)
    seen = following._seen_from(place)
    assert np.allclose(projected(problem, seen.A), place.point.dense(), atol=1e-10)
    centre = problem.fixed.centre(problem.fixed.centre(seen.A).T)
    assert np.allclose((seen.spectrum.vectors * seen.spectrum.values) @ seen.spectrum.vectors.T, centre, atol=1e-10)
    left_alone = following._residual(seen), following._residual(following._place(*place_of(place)))
    assert np.linalg.norm(left_alone[0]) <= np.linalg.norm(left_alone[1]) + 1e-12


def place_of(place):
    return place.A, place.spectrum, place.point


@pytest.mark.parametrize("excess", [1e-15, 1e-9])
def test_traces_just_above_one_leave_nothing_to_divide_by(excess, rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((6, 1))), 1 + excess)
    iterates = itertools.islice(ADMM(excursions_from=5).iterates(problem), 40)
    assert all(np.all(np.isfinite(iterate.point.dense())) for iterate in iterates)
