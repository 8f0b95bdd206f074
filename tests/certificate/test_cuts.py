"""Cuts: every clustering obeys them, no weights prove too much, and with them gaps close."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hostile import forge, members_of, npy
from sknomad import (
    CertifiedKMeans,
    Gram,
    KMeansSDP,
    assignment_matrix,
    certify_kmeans,
    kmeans_objective,
    solve,
    verify_certificate,
)
from sknomad._certificate.cuts import Multipliers, clustering_upper_bound, cut_matrix, rounded_weights, violations
from sknomad._kmeans.cutting_planes import cut_operator, find_cuts
from sknomad._kmeans.inertia import inertia_bound


def clusterings(n, K):
    """Every clustering of n points into at most K groups, once."""
    for labels in itertools.product(range(K), repeat=n):
        seen = [label for position, label in enumerate(labels) if label not in labels[:position]]
        if seen == sorted(seen) and seen == list(range(len(seen))):
            yield np.array(labels)


def all_cuts(n):
    triples = itertools.product(range(n), repeat=3)
    return np.array([(i, j, k) for i, j, k in triples if i not in (j, k) and j <= k], dtype=np.int32)


def best_inertia(X, K):
    return min(kmeans_objective(X, labels) for labels in clusterings(len(X), K))


@pytest.mark.parametrize("n", [3, 6])
def test_every_clustering_obeys_every_cut(n):
    cuts = all_cuts(n)
    A = cut_operator(n, cuts)
    for labels in clusterings(n, n):
        Z = assignment_matrix(labels)
        assert violations(Z, cuts).max() <= 1e-15
        assert np.allclose(A @ Z.ravel(), -violations(Z, cuts))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_matrix_of_the_cuts_has_no_rounding_at_all(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    cuts = all_cuts(n)[rng.integers(0, len(all_cuts(n)), 50)]
    weights = rng.standard_normal(50) * 10.0 ** rng.uniform(-8, 8, 50)
    C, kept = cut_matrix(n, cuts, weights), rounded_weights(weights)
    assert np.all((kept >= 0) & (kept <= np.maximum(weights, 0)))
    assert np.allclose(kept, np.maximum(weights, 0), atol=1e-14 * np.abs(weights).sum())
    exact = np.full((n, n), Fraction(0))
    for (i, j, k), weight in zip(cuts, kept, strict=True):
        terms = [(i, i, 1), (i, j, -1)] + ([] if j == k else [(i, k, -1), (j, k, 1)])
        for a, b, sign in terms:
            exact[a, b] += Fraction(weight) * sign / 2
            exact[b, a] += Fraction(weight) * sign / 2
    assert all(Fraction(C[a, b]) == exact[a, b] for a in range(n) for b in range(n))
    assert exact.sum() == 0
    dense = (cut_operator(n, cuts).T @ kept).reshape(n, n)
    assert np.allclose(dense, C, rtol=1e-12, atol=1e-12 * np.abs(C).max())


@given(st.integers(0, 2**32 - 1), st.sampled_from(["eigen", "verified"]))
@settings(max_examples=60)
def test_no_weights_prove_too_much(seed, grade):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(4, 8)), int(rng.integers(2, 4))
    X = rng.standard_normal((n, 2)) * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e3])
    gram = Gram.from_data(X)
    cuts = all_cuts(n)[rng.integers(0, len(all_cuts(n)), 20)]
    scale = gram.trace / n * 10.0 ** rng.uniform(-3, 1)
    proof = Multipliers(scale * rng.standard_normal((n, n)), cuts, scale * rng.standard_normal(20))
    bound = inertia_bound(gram, clustering_upper_bound(KMeansSDP(gram, K), proof, grade=grade))
    assert bound <= best_inertia(X, K) * (1 + 1e-9) + 1e-9 * gram.trace


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_small_problems_are_closed_and_never_beyond_the_best(seed):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(6, 10)), int(rng.integers(2, 4))
    X = rng.standard_normal((n, 2))
    model = CertifiedKMeans(K, cuts=True, random_state=0, max_iter=400).fit(X)
    best = best_inertia(X, K)
    assert model.lower_bound_ <= best * (1 + 1e-9)
    assert model.inertia_ >= best * (1 - 1e-9)
    assert best - model.lower_bound_ <= 0.05 * best


# Best inertia known, and the gap of the plain relaxation.
@pytest.mark.parametrize(("K", "best", "plain"), [(2, 152.347952, 1.1e-2), (3, 78.851441, 4.2e-2)])
def test_iris_is_closed(tmp_path, K, best, plain):
    X = load_iris().data
    model = CertifiedKMeans(K, cuts=True, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(best, rel=1e-7)
    assert model.lower_bound_ < best
    assert model.gap_ <= 1e-3 < plain / 5
    model.certificate_.save(tmp_path / "cert")
    result = verify_certificate(tmp_path / "cert", X)
    assert result.holds
    assert result.proven["lower_bound"] == pytest.approx(model.lower_bound_, rel=1e-9)


def test_iris_in_the_verified_grade():
    model = CertifiedKMeans(2, cuts=True, random_state=0, grade="verified").fit(load_iris().data)
    assert model.gap_ <= 1e-3
    assert model.certificate_.grade == "verified"
    assert len(model.certificate_.multipliers.weights) > 100


def test_a_bound_from_cuts_is_none_on_the_program():
    """It lies below the value of the program, so it must never become the upper bound of a NOMAD solution."""
    X = load_iris().data[::3]
    proof = CertifiedKMeans(3, cuts=True, random_state=0).fit(X).certificate_
    problem = KMeansSDP(Gram.from_data(X), 3)
    solution = solve(problem, tol=1e-4)
    assert clustering_upper_bound(problem, proof.multipliers) < solution.certificate.lower


def test_cuts_smuggled_into_the_certificate_of_a_solution_are_ignored(tmp_path):
    X, path = load_iris().data[::3], tmp_path / "cert"
    proof = CertifiedKMeans(3, cuts=True, random_state=0).fit(X).certificate_.multipliers
    solution = solve(KMeansSDP(Gram.from_data(X), 3), tol=1e-4)
    solution.save_certificate(path)
    members = [*members_of(path.read_bytes()), ("cuts.npy", npy(proof.cuts)), ("weights.npy", npy(proof.weights))]
    path.write_bytes(forge(members, b"sknomad-certificate-1\n"))
    assert verify_certificate(path, X).proven["upper"] >= solution.certificate.lower


def test_the_search_finds_the_most_broken_cuts(rng):
    Z = solve(KMeansSDP(Gram.from_data(rng.standard_normal((25, 2))), 3), tol=1e-3).Q
    found = find_cuts(Z, 400, np.random.default_rng(0))
    amounts = violations(Z, found)
    assert len(np.unique(found, axis=0)) == len(found)
    assert np.all(amounts > 0)
    assert np.all(np.diff(amounts) <= 0)
    assert amounts[0] == pytest.approx(violations(Z, all_cuts(25)).max())
    assert len(find_cuts(assignment_matrix(rng.integers(0, 3, 25)), 400, np.random.default_rng(0))) == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fewer_cuts_than_allowed_where_time_is_short(rng):
    X = rng.standard_normal((60, 2))
    labels = CertifiedKMeans(4, random_state=0, max_iter=20).fit_predict(X)
    plain = certify_kmeans(X, labels)
    short = certify_kmeans(X, labels, cuts=True, max_iter=40)
    long = certify_kmeans(X, labels, cuts=True, max_iter=600)
    assert plain.lower_bound * (1 - 1e-2) <= short.lower_bound <= long.lower_bound <= long.inertia
    assert long.gap < plain.gap / 2


BAD = {
    "cuts must be True or False, got 'triangle'": ("triangle", TypeError),
    "cuts must be False for more than 5000 points, got True for 5001": (True, ValueError),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_options_get_a_sentence(message):
    cuts, error = BAD[message]
    with pytest.raises(error, match=message):
        CertifiedKMeans(2, cuts=cuts).fit(np.arange(5001.0)[:, None])


@pytest.mark.parametrize("cuts", [[[0, 0, 1]], [[0, 1, 0]], [[0, 1, 9]], [[-1, 0, 1]]])
def test_cuts_that_are_none_are_refused(cuts):
    with pytest.raises(ValueError, match="cuts must"):
        cut_matrix(3, np.array(cuts), np.ones(1))
    with pytest.raises(ValueError, match="one weight each"):
        Multipliers(np.zeros((3, 3)), np.array(cuts), np.ones(2))
