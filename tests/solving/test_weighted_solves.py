"""Solving with weights: whole weights are repeated rows, and what knows no weights says so."""

import itertools
import warnings

import numpy as np
import pytest

from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, certify_kmeans, kmeans_objective, lloyd_iterate, solve
from sknomad._numerics.arrays import to_numpy
from sknomad._points.forms import DensePoint
from sknomad.solvers import ADMM, Auto, BurerMonteiro, ConditionalGradient, SoftAssignment
from weighted_problems import FORMS, gram_of, infeasibility, random_weights

# Whole weights are repeated rows.


@pytest.fixture
def repeated(rng):
    X, w = rng.standard_normal((14, 3)), rng.integers(1, 5, 14)
    return X, w, np.repeat(np.arange(14), w)


@pytest.mark.parametrize(
    ("form", "K"), [("data", 3), ("data", 4.5), ("sparse", 3.2), ("kernel", 5), ("distances", 4.5)]
)
def test_whole_weights_are_repeated_rows(form, K, repeated):
    X, w, copies = repeated
    one = solve(KMeansSDP(gram_of(form, X, w), K), "admm", tol=1e-6)
    many = solve(KMeansSDP(gram_of(form, X[copies]), K), "admm", tol=1e-6)
    assert one.certificate.lower <= many.certificate.upper
    assert many.certificate.lower <= one.certificate.upper
    assert one.certificate.upper == pytest.approx(many.certificate.upper, rel=2e-6)
    Q = (one.Q / np.sqrt(np.outer(w, w)))[np.ix_(copies, copies)]
    assert np.allclose(Q, many.Q, atol=2e-4)
    assert infeasibility(one.Q, w, K) < 1e-12


@pytest.mark.parametrize("exact_below", [400, 4], ids=["full", "subspace"])
def test_every_step_is_that_of_repeated_rows(exact_below, repeated):
    """Plain steps, anchored ones and excursions: the state of the one is that of the other, spread over copies."""
    X, w, copies = repeated
    spread, K = (
        np.sqrt(np.outer(w, w)),
        2.5,
    )  # small: no eigenvalue zero, as differences of copies have, gets any weight
    solver = ADMM(exact_below=exact_below, anchor_from=20)
    one = solver.iterates(KMeansSDP(gram_of("data", X, w), K))
    many = solver.iterates(KMeansSDP(gram_of("data", X[copies]), K))
    for step, (a, b) in enumerate(itertools.islice(zip(one, many, strict=True), 700 if exact_below == 400 else 60)):
        if step in (0, 7, 25, 59, 610, 650, 699):
            # The warm subspace is approximate, by another error for another size.
            atol = 1e-9 if exact_below == 400 else 1e-2
            assert np.allclose((a.point.dense() / spread)[np.ix_(copies, copies)], b.point.dense(), atol=atol)
            N = (to_numpy(a.multiplier) / spread)[np.ix_(copies, copies)]
            assert np.allclose(N, b.multiplier, atol=atol * np.abs(b.multiplier).max() * 10)


def test_soft_assignments_started_alike_have_the_same_values(repeated):
    X, w, copies = repeated
    V = np.random.default_rng(0).random((14, 6))
    V /= V.sum(axis=1, keepdims=True)
    gram, whole, solver = gram_of("data", X, w), gram_of("data", X[copies]), SoftAssignment(rank=6)
    one = solver.iterates(KMeansSDP(gram, 3.5), Iterate(SoftPoint(V)))
    many = solver.iterates(KMeansSDP(whole, 3.5), Iterate(SoftPoint(V[copies])))
    for a, b in itertools.islice(zip(one, many, strict=True), 8):
        assert a.point.value(gram) == pytest.approx(b.point.value(whole), rel=1e-8)
        assert np.allclose(a.point.V[copies], b.point.V, atol=1e-6)


@pytest.mark.parametrize("solver", ["soft", Auto(points_below=4), ADMM(device="cpu32"), ADMM(exact_below=4)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_all_solvers_that_take_weights(form, solver, rng):
    X, w = rng.standard_normal((16, 2)), random_weights(rng, 16)
    problem = KMeansSDP(gram_of(form, X, w), 4)
    best = solve(problem, "admm", tol=1e-6).certificate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve(problem, solver, tol=1e-4, max_iter=2000)
    assert best.lower * (1 - 0.02) <= found.certificate.lower <= best.upper
    assert found.certificate.upper >= best.lower
    assert infeasibility(found.Q, w, 4) < 1e-6 if solver == "soft" else infeasibility(found.Q, w, 4) < 1e-12


def test_only_ratios_matter(rng):
    X, w = rng.standard_normal((15, 3)), random_weights(rng, 15)
    one, other = (solve(KMeansSDP(Gram.from_data(X, weights=c * w), 4), "admm", tol=1e-6) for c in (1, 3.7))
    assert np.allclose(one.Q, other.Q, atol=1e-9)
    assert other.certificate.upper == pytest.approx(3.7 * one.certificate.upper, rel=1e-9)


def test_a_tiny_weight_is_as_good_as_none(rng):
    X, w = rng.standard_normal((13, 2)), random_weights(rng, 13)
    without = solve(KMeansSDP(Gram.from_data(X[1:], weights=w[1:]), 4), "admm", tol=1e-6).certificate
    errors = []
    for tiny in (1e-1, 1e-3, 1e-5):
        w[0] = tiny
        found = solve(KMeansSDP(Gram.from_data(X, weights=w), 4), "admm", tol=1e-6).certificate
        errors.append(abs(found.upper - without.upper))
    assert errors[2] < 1e-3 * errors[0]
    assert errors[2] < 1e-4 * without.upper


# What knows no weights says so.


@pytest.mark.parametrize("solver", [ConditionalGradient(), BurerMonteiro(), "burer_monteiro"], ids=str)
def test_solvers_without_weights_refuse(solver):
    problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [5.0]], weights=[1, 2, 3]), 2)
    with pytest.raises(ValueError, match="problem must have no weights for"):
        solve(problem, solver)


def test_functions_without_weights_refuse():
    gram = Gram.from_data([[0.0], [1.0], [5.0]], weights=[1, 2, 3])
    calls = [
        lambda: certify_kmeans(gram, [0, 0, 1]),
        lambda: kmeans_objective(gram, [0, 0, 1]),
        lambda: lloyd_iterate(KMeansSDP(gram, 2), [0, 0, 1]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="gram must have no weights for"):
            call()


def test_a_stopped_run_goes_on(tmp_path, rng):
    X, w, path = rng.standard_normal((20, 2)), random_weights(rng, 20), tmp_path / "run"
    problem = KMeansSDP(Gram.from_data(X, weights=w), 5)
    whole = solve(problem, "admm", tol=1e-6)
    solve(problem, "admm", tol=1e-6, checkpoint=path, callback=lambda progress: progress.iteration == 20)
    rest = solve(problem, "admm", tol=1e-6, checkpoint=path)
    assert rest.n_iter == whole.n_iter
    assert np.allclose(rest.Q, whole.Q, atol=1e-10)
    with pytest.raises(ValueError, match="checkpoint"):
        solve(KMeansSDP(Gram.from_data(X, weights=2 * w), 5), "admm", tol=1e-6, checkpoint=path)
    with pytest.raises(ValueError, match="checkpoint"):
        solve(KMeansSDP(Gram.from_data(X), 5), "admm", tol=1e-6, checkpoint=path)


def test_dense_start_is_taken(rng):
    X, w = rng.standard_normal((12, 2)), random_weights(rng, 12)
    problem = KMeansSDP(Gram.from_data(X, weights=w), 3)
    first = solve(problem, "admm", tol=1e-5)
    again = solve(problem, "admm", tol=1e-5, start=Iterate(DensePoint(first.Q), N=first.iterate.multiplier))
    assert again.n_iter < first.n_iter
