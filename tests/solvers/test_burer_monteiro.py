"""The low-rank solver: never above the best completely positive value, close to it, and honest about its end."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import sknomad.solvers._burer_monteiro as module
from oracles import centred_gram, ring_points
from sknomad import FactorPoint, Gram, Iterate, KMeansSDP, certify, datasets, solve
from sknomad.ring import best_completely_positive_value
from sknomad.solvers import ADMM, BurerMonteiro, SoftAssignment
from sknomad.solvers._burer_monteiro import BurerMonteiroState, _scaled_gram


def last_iterate(problem, solver):
    *_, last = itertools.islice(solver.iterates(problem), 200)
    return last


@pytest.mark.parametrize(("n", "K"), [(40, 4), (80, 8), (100, 3)])
def test_ring_comes_close_to_the_best_completely_positive_value_and_never_passes_it(n, K):
    problem = KMeansSDP(Gram.from_data(ring_points(n)), K)
    best = best_completely_positive_value(n, K)
    for iterate in itertools.islice(BurerMonteiro().iterates(problem), 200):
        value = certify(problem, iterate).lower
        assert value <= best * (1 + 1e-12)
    assert value >= best * (1 - 1e-3)


def test_rank_K_gives_hard_clusters_and_more_columns_a_better_value():
    problem = KMeansSDP(Gram.from_data(ring_points(80)), 8)
    hard = last_iterate(problem, BurerMonteiro("K"))
    memberships = np.sort(hard.Q.as_soft().V, axis=1)
    assert np.mean(memberships[:, -1] > 0.95) > 0.9
    values = [certify(problem, last_iterate(problem, BurerMonteiro(rank))).lower for rank in ("K", "2K", "4K")]
    assert values == sorted(values)
    assert values[-1] > values[0] * 1.005


def test_gradient_belongs_to_the_function(rng):
    # A gradient without the factor 2 of its penalties or of D Y differs from these quotients.
    X = rng.standard_normal((9, 3))
    problem = KMeansSDP(Gram.from_data(X), 2.5)
    solver = BurerMonteiro(3, row_penalty=1.7, trace_penalty=0.6)
    multipliers = BurerMonteiroState(rng.standard_normal(9), 0.8)
    apply = _scaled_gram(problem)
    y, direction, h = rng.random(27), rng.standard_normal(27), 1e-6

    def value(point):
        Y, D = point.reshape(9, 3), centred_gram(X)
        e, t = Y @ Y.T @ np.ones(9) - 1, np.trace(Y @ Y.T) - 2.5
        plain = -np.sum(D * (Y @ Y.T)) / np.linalg.norm(D)
        return plain + 1.7 / 2 * e @ e - multipliers.rows @ e + 0.6 / 2 * t**2 - multipliers.trace * t

    found, gradient = solver._objective(y, problem, apply, multipliers)
    assert found == pytest.approx(value(y))
    quotient = (value(y + h * direction) - value(y - h * direction)) / (2 * h)
    assert gradient @ direction == pytest.approx(quotient, rel=1e-6)


def test_a_small_step_alone_does_not_end_the_run(monkeypatch):
    # The factor stands still from the first step on, but is far from feasible: multipliers must go on.
    problem = KMeansSDP(Gram.from_data(ring_points(20)), 3)
    monkeypatch.setattr(module, "minimize", lambda f, x, *_, **__: SimpleNamespace(x=x, nit=0))
    start = Iterate(FactorPoint(np.full((20, 4), 0.1)))
    iterates = list(itertools.islice(BurerMonteiro(4).iterates(problem, start), 30))
    assert len(iterates) == 30
    assert all(iterate.residuals["move"] == 0 for iterate in iterates)
    assert iterates[-1].residuals["row_error"] > 0.1


def test_the_end_is_feasible_and_at_rest():
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 5.5)
    last = last_iterate(problem, BurerMonteiro("4K"))
    Y = last.Q.Y
    assert Y.shape == (60, 22)
    assert Y.min() >= 0
    assert np.abs(Y @ Y.sum(axis=0) - 1).max() <= 1e-5
    assert abs(np.sum(Y * Y) - 5.5) <= 5.5e-5
    upper = solve(problem, "admm", tol=1e-3).certificate.upper
    assert 0.995 * upper < certify(problem, last).lower <= upper


def test_data_of_few_columns_are_never_multiplied_out(monkeypatch):
    X = datasets.moons(50, random_state=1)[0]
    kernel = KMeansSDP(Gram.from_kernel(centred_gram(X)), 4)
    value = certify(kernel, last_iterate(kernel, BurerMonteiro(12))).lower
    problem = KMeansSDP(Gram.from_data(X), 4)

    def refuse(self):
        raise AssertionError("D was formed")

    monkeypatch.setattr(Gram, "dense", refuse)
    assert certify(problem, last_iterate(problem, BurerMonteiro(12))).lower == pytest.approx(value, rel=1e-3)


def test_continuing_is_the_same_as_not_stopping(tmp_path):
    problem = KMeansSDP(Gram.from_data(datasets.moons(40, random_state=0)[0]), 4)
    solver = BurerMonteiro("2K")
    straight = list(itertools.islice(solver.iterates(problem), 5))[-1]
    first = list(itertools.islice(solver.iterates(problem), 2))[-1]
    resumed = list(itertools.islice(solver.iterates(problem, first), 3))[-1]
    assert np.array_equal(straight.Q.Y, resumed.Q.Y)
    path = tmp_path / "run.ckpt"
    with pytest.warns(match="without an upper bound"):
        solve(problem, solver, max_iter=2, checkpoint=path)
    with pytest.warns(match="without an upper bound"):
        kept = solve(problem, solver, max_iter=5, checkpoint=path)
    assert np.array_equal(kept.iterate.Q.Y, straight.Q.Y)
    assert kept.certificate.upper == math.inf


def test_starts_from_other_solvers_and_for_them():
    problem = KMeansSDP(Gram.from_data(ring_points(40)), 4)
    *_, soft = SoftAssignment(rank=16).iterates(problem)
    value = certify(problem, soft).lower
    first = next(BurerMonteiro().iterates(problem, soft))
    assert first.Q.Y.shape == soft.Q.V.shape
    assert certify(problem, last_iterate(problem, BurerMonteiro())).lower > 0.999 * value
    dense_start = next(ADMM().iterates(problem))
    assert next(BurerMonteiro("K").iterates(problem, dense_start)).Q.Y.shape == (40, 4)
    assert solve(problem, ADMM(), tol=1e-3, start=first).is_certified
    *_, again = SoftAssignment().iterates(problem, first)
    assert certify(problem, again).lower > 0.99 * value


def test_rank_is_a_number_or_a_multiple_of_K():
    problem = KMeansSDP(Gram.from_data(ring_points(30)), 2.3)
    ranks = {rank: BurerMonteiro(rank).columns(problem) for rank in (7, "K", "2K", "8K", "40K")}
    assert ranks == {7: 7, "K": 3, "2K": 5, "8K": 19, "40K": 30}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 0}, "rank must be an integer >= 1, got 0"),
        ({"rank": "0K"}, "rank must be an integer >= 1 or a multiple of K such as \"4K\", got '0K'"),
        ({"rank": "many"}, "rank must be an integer >= 1 or a multiple of K"),
        ({"rank": 2.5}, "rank must be an integer"),
        ({"row_penalty": -1.0}, "row_penalty must be a positive real number, got -1"),
        ({"trace_penalty": 0.0}, "trace_penalty must be a positive real number, got 0"),
        ({"step": -1}, "step must be"),
        ({"tol": -1}, "tol must be"),
        ({"stop": "never"}, "stop must be one of feasible, change, got 'never'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BurerMonteiro(**settings)


def test_more_columns_than_points_are_allowed():
    problem = KMeansSDP(Gram.from_data(ring_points(20)), 4)
    last = last_iterate(problem, BurerMonteiro(48))
    assert last.Q.Y.shape == (20, 48)
    best = best_completely_positive_value(20, 4)
    assert best * (1 - 1e-3) <= certify(problem, last).lower <= best * (1 + 1e-12)


def test_the_authors_test_looks_at_the_change_alone():
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    theirs, ours = ([*BurerMonteiro("4K", stop=stop).iterates(problem)] for stop in ("change", "feasible"))
    assert len(theirs) < len(ours)
    assert theirs[-1].residuals["move"] <= 1e-5 < theirs[-1].residuals["row_error"]
    assert ours[-1].residuals["row_error"] <= 1e-5
    assert np.array_equal(theirs[-1].Q.Y, ours[len(theirs) - 1].Q.Y)  # the same run, cut short
