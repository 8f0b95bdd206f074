"""Inertia without cancellation, and bounds on it in exact arithmetic: sparse data, kernels of any sign, distances."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from extreme_problems import draw_case
from oracles import exact_squares, inertia_of, least_inertia_of_all
from sknomad import CertifiedKMeans, Gram, KMeansSDP, certify_kmeans, inertia_bound, kmeans_objective, upper_bound

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csr_array, sp.coo_matrix])
def test_points_far_from_the_origin(rng, convert):
    """Sparse blobs shifted by 1e7 had an inertia below the least one."""
    X = 1e7 + np.repeat([[0.0, 0], [10, 0]], 10, axis=0) + rng.standard_normal((20, 2))
    labels = np.repeat([0, 1], 10)
    exact = float(inertia_of(exact_squares(X, "data"), labels.tolist()))
    assert kmeans_objective(convert(X), labels) == pytest.approx(exact, rel=1e-12)
    model = CertifiedKMeans(2, random_state=0, max_iter=20).fit(convert(X))
    assert np.array_equal(model.labels_, labels)
    assert model.inertia_ == pytest.approx(exact, rel=1e-12)
    assert model.lower_bound_ <= exact


def test_entries_that_are_not_there_cost_their_mean(rng):
    X = rng.standard_normal((30, 7)) * (rng.random((30, 7)) < 0.3)
    labels = rng.integers(0, 4, 30)
    exact = float(inertia_of(exact_squares(X, "data"), labels.tolist()))
    assert kmeans_objective(sp.csr_matrix(X), labels) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_equal_points_cost_exactly_nothing(convert):
    proof = certify_kmeans(convert([[0.1, 0.7]] * 3 + [[0.7, 0.0]] * 3), [0] * 3 + [1] * 3, grade="verified")
    assert (proof.inertia, proof.gap) == (0, 0)


def test_labels_of_several_kinds_are_refused():
    with pytest.raises(TypeError, match="labels must be of one kind"):
        kmeans_objective([[0.0], [1.0]], np.array([None, 1], dtype=object))


@pytest.mark.parametrize("seed", range(60))
def test_every_point_its_own_cluster_costs_exactly_nothing(seed):
    """Sparse rows of whole numbers were refused in two of five draws, for an inertia a little below zero."""
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.integers(0, 256, (6, rng.integers(1, 6))).astype(np.uint8))
    model = CertifiedKMeans(6, n_init=1, random_state=0).fit(X)
    assert (model.inertia_, model.lower_bound_, model.gap_) == (0, 0, 0)


def test_fewer_clusters_may_be_better_where_squared_distances_are_negative():
    """For two clusters 0 was proven; one cluster has an inertia of -1."""
    gram = Gram.from_kernel([[0.0, 1], [1, 0]], allow_indefinite=True)
    apart, together = certify_kmeans(gram, [0, 1]), certify_kmeans(gram, [0, 0])
    assert (apart.inertia, together.inertia) == (0, -1)
    assert apart.lower_bound <= -1
    assert apart.lower_bound == pytest.approx(-1)
    assert apart.gap == np.inf
    assert together.gap == pytest.approx(0, abs=1e-12)
    upper = upper_bound(KMeansSDP(gram, 2), None)
    assert inertia_bound(gram, upper, n_clusters=2) == inertia_bound(gram, upper) == apart.lower_bound
    assert inertia_bound(gram, np.inf) == -np.inf


def test_a_kernel_that_is_definite_but_for_rounding_keeps_its_bound(rng):
    """With equal points, rounding makes squared distances negative; that must not cost the bound."""
    X = np.repeat([[0.1, 0.2], [5.3, 0.7]], 5, axis=0) + 0.1 * rng.standard_normal((10, 2))
    X[1] = X[0] * (1 + 1e-16)
    proof = certify_kmeans(Gram.from_kernel(X @ X.T + 1e-9 * (np.eye(10) - 1)), np.repeat([0, 1], 5), grade="verified")
    assert proof.gap < 1e-3


def clustering_bounds(rng, grade):
    """A small problem of any kind and scale, its squared distances as fractions, and what is proven of some labels."""
    case = draw_case(rng)
    gram = case._replace(weights=None).gram()
    K = int(rng.integers(1, gram.n + 1))
    labels = rng.integers(0, K, gram.n)
    exponent = (1 if case.kind == "kernel" else 2) * (gram.frame.first + gram.frame.second)
    squares = exact_squares(case.table, "data" if case.kind == "sparse" else case.kind)
    squares = [[x / Fraction(2) ** exponent for x in row] for row in squares]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = certify_kmeans(gram, labels, n_clusters=K, grade=grade, max_iter=60, cuts=bool(rng.random() < 0.3))
    return case, squares, K, proof


def check(seeds, grade):
    for seed in seeds:
        case, squares, K, proof = clustering_bounds(np.random.default_rng([8, seed, len(grade)]), grade)
        if proof.lower_bound > -np.inf:
            assert Fraction(proof.lower_bound) <= least_inertia_of_all(squares, K), (seed, case, K, proof)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_no_clustering_is_better_than_the_bound(grade):
    check(range(60), grade)


@pytest.mark.slow
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_no_clustering_is_better_than_any_of_many_bounds(grade):
    check(range(1000, 3000), grade)
