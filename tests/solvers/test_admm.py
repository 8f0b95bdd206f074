"""ADMM against every optimum known without it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from oracles import (
    LISTED_TOLERANCE,
    RING_VALUES,
    TORUS_VALUES,
    centred_gram,
    clarabel_bounds,
    infeasibility,
    planted,
    points_of,
    ring_points,
    ring_value,
    torus_points,
    torus_value,
)
from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, Status, solve
from sknomad._numerics.fixed_vector import Ones
from sknomad._numerics.projections import project_spectraplex
from sknomad.solvers import ADMM, SOLVERS, Auto, resolve
from sknomad.solvers._warm_eigenspace import LeadingProjector

limits = pytest.mark.filterwarnings("ignore:reached max_iter:sklearn.exceptions.ConvergenceWarning")


def assert_contains(certificate, low, high=None):
    high = low if high is None else high
    assert certificate.lower <= high
    assert certificate.upper >= low


def assert_certified(solution, value, tol):
    certificate = solution.certificate
    assert solution.status is Status.CERTIFIED
    assert certificate.lower <= value * (1 + LISTED_TOLERANCE)
    assert certificate.upper >= value * (1 - LISTED_TOLERANCE)
    assert certificate.upper - certificate.lower <= tol * certificate.upper
    assert certificate.gap <= tol


def nth_iterate(iterates, n):
    """The `n`-th iterate, counted from one; earlier ones may share its memory."""
    return next(itertools.islice(iterates, n - 1, None))


# Rings and tori.


@pytest.mark.parametrize(("n", "K"), [key for key in RING_VALUES if key[0] <= 320])
def test_listed_ring_values_are_those_of_the_linear_program(n, K):
    assert ring_value(n, K) == pytest.approx(RING_VALUES[n, K], rel=LISTED_TOLERANCE)


@pytest.mark.parametrize(("side", "K"), TORUS_VALUES)
def test_listed_torus_values_are_those_of_the_linear_program(side, K):
    assert torus_value(side, K) == pytest.approx(TORUS_VALUES[side, K], rel=LISTED_TOLERANCE)


# Above 400 points "auto" is another method, below it is ADMM itself.
both = pytest.mark.parametrize("solver", ["admm", "auto"])
# What "auto" does above 400 points, at any size.
JOINED = replace(Auto.on("cpu"), points_below=10)


@pytest.mark.parametrize("solver", ["admm", JOINED], ids=["admm", "auto"])
@pytest.mark.parametrize(("n", "K"), [key for key in RING_VALUES if key[0] <= 320])
def test_small_rings_are_certified(n, K, solver):
    solution = solve(KMeansSDP(Gram.from_data(ring_points(n)), K), solver, tol=1e-4)
    assert_certified(solution, RING_VALUES[n, K], 1e-4)
    wrong = infeasibility(solution.Q, K)
    assert max(wrong.values()) <= 1e-12
    assert wrong["entries"] <= 1e-15


@pytest.mark.parametrize("solver", ["admm", JOINED], ids=["admm", "auto"])
def test_small_torus_is_certified(solver):
    solution = solve(KMeansSDP(Gram.from_data(torus_points(6)), 5), solver, tol=1e-4)
    assert_certified(solution, TORUS_VALUES[6, 5], 1e-4)


@pytest.mark.parametrize("solver", ["admm", JOINED], ids=["admm", "auto"])
@pytest.mark.parametrize("tol", [1e-3, pytest.param(1e-4, marks=pytest.mark.slow)])
def test_torus_is_certified(tol, solver):
    solution = solve(KMeansSDP(Gram.from_data(torus_points(20)), 16), solver, tol=tol)
    assert_certified(solution, TORUS_VALUES[20, 16], tol)


LARGE_RINGS = [
    (640, 16),
    (1000, 25),
    pytest.param(2000, 40, marks=pytest.mark.slow),
]


@both
@pytest.mark.parametrize(("n", "K"), LARGE_RINGS)
def test_large_rings_are_bracketed(n, K, solver):
    solution = solve(KMeansSDP(Gram.from_data(ring_points(n)), K), solver, tol=1e-2)
    assert_certified(solution, RING_VALUES[n, K], 1e-2)


@both
@pytest.mark.slow
def test_large_torus_is_bracketed(solver):
    solution = solve(KMeansSDP(Gram.from_data(torus_points(30)), 25), solver, tol=1e-2)
    assert_certified(solution, TORUS_VALUES[30, 25], 1e-2)


# High accuracy.


@pytest.mark.parametrize(
    ("n", "K"),
    [(40, 4), (80, 8), pytest.param(160, 16, marks=pytest.mark.slow), pytest.param(320, 32, marks=pytest.mark.slow)],
)
def test_rings_to_a_millionth(n, K):
    solution = solve(KMeansSDP(Gram.from_data(ring_points(n)), K), tol=1e-6)
    assert_certified(solution, RING_VALUES[n, K], 1e-6)


@pytest.mark.parametrize(("side", "K"), [(6, 5), pytest.param(20, 16, marks=pytest.mark.slow)])
def test_tori_to_a_millionth(side, K):
    solution = solve(KMeansSDP(Gram.from_data(torus_points(side)), K), tol=1e-6)
    assert_certified(solution, TORUS_VALUES[side, K], 1e-6)


@limits
def test_anchored_steps_get_where_plain_ones_do_not():
    problem = KMeansSDP(Gram.from_data(ring_points(40)), 4)
    never = 10**9
    anchored, plain = (
        solve(problem, ADMM(anchor_from=step, excursions_from=never), tol=1e-6, max_iter=3000) for step in (300, never)
    )
    assert_certified(anchored, RING_VALUES[40, 4], 1e-6)
    assert not plain.is_certified


def test_anchored_steps_keep_their_anchor_until_they_restart():
    problem = KMeansSDP(Gram.from_data(ring_points(30)), 4)
    anchors, penalties = [], []
    for iterate in itertools.islice(ADMM(anchor_from=0).iterates(problem), 150):
        anchors.append(np.array(iterate.state.anchor.T0))
        penalties.append(iterate.state.rho)
    same = [np.array_equal(a, b) for a, b in itertools.pairwise(anchors)]
    assert 100 < sum(same) < len(same)
    # The penalty may change only together with the anchor.
    assert all(a == b for a, b, kept in zip(penalties, penalties[1:], same, strict=False) if kept)


# Planted problems.


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("n", [5, 12, 25, 50])
def test_planted_values_are_bracketed(n, hard, rng):
    for _ in range(3 if n < 30 else 1):
        example = planted(rng, n, max(2, n // 4), hard=hard)
        for gram in (Gram.from_kernel(example.D), Gram.from_data(points_of(example.D))):
            solution = solve(KMeansSDP(gram, example.K), "admm", tol=1e-5)
            assert_certified(solution, example.value, 1e-5)
            if hard:
                assert np.allclose(solution.Q, example.Q, rtol=0, atol=1e-2)


# Clarabel.

# n, number of problems: the reference takes seconds at the last.
REFERENCE_SIZES = [(3, 4), (6, 6), (10, 6), (16, 6), (25, 5), (40, 2), (55, 1)]


@limits
@pytest.mark.parametrize(("n", "index"), [(n, index) for n, count in REFERENCE_SIZES for index in range(count)])
def test_brackets_agree_with_an_interior_point_method(n, index, rng):
    clusters = rng.standard_normal((3, 4)) * [0.0, 1.0, 5.0][index % 3]
    X = rng.standard_normal((n, 4)) + clusters[rng.integers(0, 3, n)]
    K = float(rng.uniform(1.2, n - 0.2)) if index % 2 else float(min(max(2, n // 4), n - 1))
    reference = clarabel_bounds(centred_gram(X), K)
    assert reference.high - reference.low <= 1e-6 * reference.high
    solution = solve(KMeansSDP(Gram.from_data(X), K), "admm", tol=1e-5, max_iter=2000)
    assert_contains(solution.certificate, *reference)
    assert solution.certificate.gap <= 1e-2


# The subspace path.


@limits
@pytest.mark.parametrize("make", ["ring", "blobs", "planted", "indefinite"])
def test_subspace_path_agrees_with_the_exact_path(make, rng):
    n = 150
    if make == "ring":
        gram, K = Gram.from_data(ring_points(n)), 6
    elif make == "blobs":
        gram, K = Gram.from_data(rng.standard_normal((n, 5)) + 4 * np.eye(5)[rng.integers(0, 5, n)]), 5
    elif make == "planted":
        example = planted(rng, n, 8)
        gram, K = Gram.from_kernel(example.D), example.K
    else:
        X = rng.standard_normal((n, 3))
        gram, K = Gram.from_kernel(centred_gram(X) - 3 * np.eye(n), allow_indefinite=True), 6
    problem = KMeansSDP(gram, K)
    exact, subspace = (solve(problem, ADMM(exact_below=below), tol=1e-3, max_iter=600) for below in (n, 2))
    assert_contains(subspace.certificate, exact.certificate.lower, exact.certificate.upper)
    assert subspace.status is exact.status is Status.CERTIFIED
    assert subspace.n_iter <= 2 * exact.n_iter + 20
    if make == "planted":
        assert_certified(subspace, example.value, 1e-3)


def test_subspace_path_really_filters(monkeypatch):
    calls = []
    original = LeadingProjector._filter
    monkeypatch.setattr(LeadingProjector, "_filter", lambda self, A: calls.append(1) or original(self, A))
    problem = KMeansSDP(Gram.from_data(ring_points(60)), 3)
    nth_iterate(ADMM(exact_below=60).iterates(problem), 20)
    assert not calls
    nth_iterate(ADMM(exact_below=59).iterates(problem), 20)
    assert calls


def test_leading_projector_follows_a_drifting_matrix(rng):
    # A psd part of low rank, a large negative end of the spectrum, and a drift: the exact projection is the yardstick.
    n, total = 120, 4.0
    U = np.linalg.qr(rng.standard_normal((n, 10)))[0]
    A = U @ np.diag(np.linspace(3, 6, 10)) @ U.T - 20 * np.outer(U[:, 0] + 1, U[:, 0] + 1) / n
    projector = LeadingProjector(total, exact_limit=n, fixed=Ones(n))
    for _ in range(15):
        noise = rng.standard_normal((n, n))
        A = A + 2e-3 * (noise + noise.T)
        (U1, l1), (U2, l2) = projector.project(A), project_spectraplex(A, total, Ones(n))
        assert l1.sum() == pytest.approx(total, rel=1e-10)
        assert np.abs(U1.sum(axis=0)).max() <= 1e-10
        assert np.allclose((U1 * l1) @ U1.T, (U2 * l2) @ U2.T, rtol=0, atol=2e-2)


def test_leading_projector_notices_a_new_direction(rng):
    # A direction that the carried block cannot contain must be found, not lost: residuals alone would not tell.
    n = 100
    U = np.linalg.qr(rng.standard_normal((n, 4)))[0]
    U -= U.mean(axis=0)
    A = 5 * U @ U.T
    projector = LeadingProjector(3.0, exact_limit=n, fixed=Ones(n))
    for _ in range(5):
        projector.project(A)
    new = rng.standard_normal(n)
    new -= new.mean()
    A = A + 50 * np.outer(new, new) / (new @ new)
    for _ in range(5):
        found = projector.project(A)
    expected = project_spectraplex(A, 3.0, Ones(n))
    assert np.allclose((found[0] * found[1]) @ found[0].T, (expected[0] * expected[1]) @ expected[0].T, atol=1e-2)


# What a run promises.


@pytest.mark.parametrize("below", [2, 400])
def test_two_runs_are_bit_identical(below, rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((70, 3))), 5)
    first, second = (solve(problem, ADMM(exact_below=below), tol=1e-3) for _ in range(2))
    assert first.certificate == second.certificate
    assert first.n_iter == second.n_iter
    assert np.array_equal(first.Q, second.Q)
    for name in set(first.trace) - {"seconds"}:
        assert np.array_equal(first.trace[name], second.trace[name])


def test_warm_start_certifies_in_far_fewer_steps():
    problem = KMeansSDP(Gram.from_data(ring_points(40)), 4)
    cold = solve(problem, "admm", tol=1e-3)
    warm = solve(problem, "admm", tol=1e-3, start=cold.iterate)
    assert warm.status is Status.CERTIFIED
    assert warm.n_iter < cold.n_iter / 2


@pytest.mark.parametrize(("n", "K"), [(40, 4), (60, 6), (50, 5), (80, 4)])
def test_a_start_from_a_solution_begins_with_its_bounds(n, K):
    """Also where the multiplier behind the upper bound was not the last: on rings bounds rise and fall."""
    problem = KMeansSDP(Gram.from_data(ring_points(n)), K)
    cold = solve(problem, "admm", tol=1e-3)
    again = solve(problem, "admm", tol=1e-3, start=cold.iterate)
    assert again.n_iter == 0
    assert again.certificate.lower >= (1 - 1e-12) * cold.certificate.lower
    assert again.certificate.upper <= (1 + 1e-12) * cold.certificate.upper


def test_continued_run_is_the_uninterrupted_one():
    # Without penalty changes a step depends on T and rho alone.
    solver = ADMM(balance_until=0)
    problem = KMeansSDP(Gram.from_data(ring_points(30)), 4)
    whole = nth_iterate(solver.iterates(problem), 25)
    first = nth_iterate(solver.iterates(problem), 10)
    rest = nth_iterate(solver.iterates(problem, start=first), 15)
    assert np.array_equal(whole.state.T, rest.state.T)


def test_start_from_another_form_helps(rng):
    example = planted(rng, 40, 6)
    problem = KMeansSDP(Gram.from_kernel(example.D), example.K)
    cold = solve(problem, "admm", tol=1e-6)
    warm = solve(problem, "admm", tol=1e-6, start=Iterate(SoftPoint(example.V), N=example.N))
    assert warm.status is Status.CERTIFIED
    assert warm.n_iter < cold.n_iter


def test_start_is_not_changed(rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((12, 2))), 3)
    start = next(ADMM().iterates(problem))
    kept = start.state.T.copy()
    solve(problem, "admm", start=start)
    assert np.array_equal(start.state.T, kept)


def test_every_iterate_has_the_constraints_it_claims(rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((20, 3))), 4.5)
    for iterate in itertools.islice(ADMM().iterates(problem), 30):
        wrong = infeasibility(iterate.point.rows(0, 20), 4.5)
        assert max(wrong["row sums"], wrong["trace"], wrong["psd"]) <= 1e-11
        assert iterate.multiplier.min() >= 0


def test_penalty_is_balanced_and_then_left_alone():
    problem = KMeansSDP(Gram.from_data(ring_points(40) * 100), 4)
    steps = itertools.islice(ADMM(penalty=1e-4, balance_until=100).iterates(problem), 200)
    penalties = [iterate.residuals["penalty"] for iterate in steps]
    assert penalties[120] > 2 * penalties[0]
    assert len(set(penalties[100:])) == 1


@limits
@pytest.mark.parametrize("penalty", [1e-3, 1e3])
@pytest.mark.parametrize("relaxation", [1, 1.9])
def test_settings_change_the_speed_not_the_answer(penalty, relaxation):
    solver = ADMM(penalty=penalty, relaxation=relaxation)
    solution = solve(KMeansSDP(Gram.from_data(ring_points(24)), 3), solver, tol=1e-4, max_iter=3000)
    value = ring_value(24, 3)
    assert_contains(solution.certificate, value * (1 - LISTED_TOLERANCE), value * (1 + LISTED_TOLERANCE))
    assert solution.certificate.gap <= 1e-3


NAN, INF = float("nan"), float("inf")
# Name -> values out of range, values of a wrong type, message.
REFUSED = {
    "relaxation": ([0.99, 2, 2.5, NAN, -1], ["1.6", None, True], r"relaxation must be a real number in \[1, 2\)"),
    "penalty": ([0, -1, INF, NAN], ["automatic", None, False], "penalty must be a positive real number"),
    "balance_every": ([0, -3], [1.5, "10", True], "balance_every must be an integer >= 1"),
    "balance_after": ([-1], [0.5, None], "balance_after must be an integer >= 0"),
    "balance_bias": ([0.0, 1e9, NAN], ["1", None], r"balance_bias must be a real number in \[0.001, 1000\]"),
    "balance_until": ([-1], [0.5, None], "balance_until must be an integer >= 0"),
    "trusted_shortfall": ([-0.1, 1.5, NAN], ["0", None], r"trusted_shortfall must be a real number in \[0, 1\]"),
    "anchor_from": ([-1], [0.5, None], "anchor_from must be an integer >= 0"),
    "exact_below": ([1, 0, -5], [100.0, None], "exact_below must be an integer >= 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_are_checked_by_name(name):
    out_of_range, wrong_type, message = REFUSED[name]
    for value in out_of_range:
        with pytest.raises(ValueError, match=message):
            ADMM(**{name: value})
    for value in wrong_type:
        with pytest.raises(TypeError, match=message):
            ADMM(**{name: value})


def test_solver_is_found_by_name():
    problem = KMeansSDP(Gram.from_data(ring_points(5)), 2)
    assert resolve("admm", problem) == ADMM()
    assert SOLVERS["admm"] is ADMM
    assert hasattr(resolve("auto", problem), "iterates")
    custom = ADMM(relaxation=1.2)
    assert resolve(custom, problem) is custom
    with pytest.raises(ValueError, match=r"solver must be one of 'auto', 'admm'.*got 'simplex'"):
        resolve("simplex", problem)
    with pytest.raises(ValueError, match="solver must be one of"):
        resolve(ADMM, problem)
