"""Repair: any finite point becomes a feasible one, and a feasible one stays."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import infeasibility, planted
from planted_problems import POINTS, planted_problem, seeds, sizes
from sknomad import DensePoint, FactorPoint, Gram, Iterate, KMeansSDP, SoftPoint, SpectralPoint, certify, repair
from sknomad._certificate import lower
from sknomad._certificate.lower import SHIFT_EVERY, decomposed, make_feasible
from sknomad.solvers import ADMM


@pytest.mark.parametrize("kind", POINTS)
@settings(max_examples=15)
@given(seed=seeds, n=sizes)
def test_repaired_point_is_feasible(kind, seed, n):
    rng, example, problem = planted_problem(seed, n)
    point = POINTS[kind](rng, example)
    if certify(problem, Iterate(point)).lower == -math.inf:
        assert kind.startswith("spectral")  # nothing left once negative weights are gone
        with pytest.raises(ValueError, match="finite"):
            repair(problem, point)
        return
    wrong = infeasibility(repair(problem, point), example.K)
    assert wrong["entries"] == 0
    assert wrong["row sums"] <= 1e-13 * n
    assert wrong["trace"] <= 1e-13 * n
    assert wrong["psd"] <= 1e-12
    assert wrong["symmetry"] <= 1e-14


@given(seeds, sizes, st.booleans())
def test_feasible_point_stays_where_it_is(seed, n, hard):
    _, example, problem = planted_problem(seed, n, hard=hard)
    for point in (example.Q, SoftPoint(example.V), FactorPoint(example.V / np.sqrt(example.V.sum(axis=0)))):
        assert np.allclose(repair(problem, point), example.Q, rtol=0, atol=1e-9)


def test_repair_steps_pay():
    rng = np.random.default_rng(5)
    for n in (20, 40):
        example = planted(rng, n, 6)
        problem = KMeansSDP(Gram.from_kernel(example.D), example.K)
        noise = rng.standard_normal((n, n)) * 1e-3
        iterate = Iterate(example.Q + noise + noise.T)
        quick, thorough = (example.value - certify(problem, iterate, repair_steps=steps).lower for steps in (0, 15))
        assert 0 <= thorough < quick / 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repair_ends_where_the_value_is_enough(dtype, rng):
    """The way there is the same, in either precision of the point, and ends with the first value that is enough."""
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((60, 5))), 6)
    point = next(itertools.islice(ADMM(device=np.empty(0, dtype)).iterates(problem), 40, None)).point
    values = [make_feasible(problem, point, steps=steps * SHIFT_EVERY).value(problem.gram) for steps in range(4)]
    assert values[-1] > values[2] > values[0]
    found = make_feasible(problem, point, steps=4 * SHIFT_EVERY, enough=values[2])
    assert found.value(problem.gram) == values[2]
    wrong = infeasibility(found.dense(), 6)
    assert wrong["entries"] == 0
    assert max(wrong["row sums"], wrong["trace"], wrong["psd"]) < 1e-12


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int64])
def test_a_point_in_any_precision_is_repaired(dtype, rng):
    _, _, problem = planted_problem(0, 12)
    point = SpectralPoint((4 * rng.standard_normal((12, 3))).astype(dtype), np.ones(3, dtype))
    wrong = infeasibility(repair(problem, point, steps=3), problem.K)
    assert wrong["entries"] == 0
    assert max(wrong["row sums"], wrong["trace"], wrong["psd"]) < 1e-12


def test_repair_that_will_not_be_enough_ends_early(rng, monkeypatch):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((60, 5))), 6)
    point = next(itertools.islice(ADMM().iterates(problem), 40, None)).point
    projections = []
    project = lower.project_spectraplex
    monkeypatch.setattr(lower, "project_spectraplex", lambda *args: projections.append(1) or project(*args))
    make_feasible(problem, point, steps=30)
    assert len(projections) == 30
    projections.clear()
    make_feasible(problem, point, steps=30, enough=2 * problem.gram.trace, gives_up=True)
    assert len(projections) == lower.STEPS_TO_EXTRAPOLATE


def test_repair_of_nothing_is_refused():
    _, _, problem = planted_problem(0, 8)
    with pytest.raises(ValueError, match="Q must have finite entries"):
        repair(problem, np.full((8, 8), math.nan))


def test_lower_bound_is_the_value_of_the_repaired_point(rng):
    _, example, problem = planted_problem(1, 12)
    Q = repair(problem, example.Q + 0.05 * rng.standard_normal((12, 12)), steps=4)
    lower = certify(problem, Iterate(Q)).lower
    assert lower == pytest.approx(np.sum(example.D * Q), rel=1e-6)


def test_labels_give_the_value_of_kmeans(rng):
    X = rng.standard_normal((20, 3))
    labels = np.arange(20) % 4
    between = sum(np.sum(labels == k) * np.sum((X[labels == k].mean(axis=0) - X.mean(axis=0)) ** 2) for k in range(4))
    problem = KMeansSDP(Gram.from_data(X), 4)
    assert certify(problem, Iterate(SoftPoint(np.eye(4)[labels]))).lower == pytest.approx(between, rel=1e-12)


def test_dense_points_in_single_precision_are_decomposed_in_it():
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((30, 4))), 5)
    Q = repair(problem, np.eye(30), steps=0)
    single = decomposed(problem, DensePoint(Q.astype(np.float32)))
    assert single.U.dtype == np.float32
    assert np.allclose(single.dense(), Q, atol=1e-5)
    assert decomposed(problem, DensePoint(Q)).U.dtype == np.float64


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e30])
def test_dense_points_without_finite_eigenvectors_are_none(entry):
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((30, 4))), 5)
    Q = np.full((30, 30), 1 / 30, dtype=np.float32)
    Q[3, 4] = entry
    assert decomposed(problem, DensePoint(Q)) is None
