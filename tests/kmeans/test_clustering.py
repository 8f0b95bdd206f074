"""The correspondence with K-means: inertia, the Q of a clustering, and the proof it starts; traps of published code."""

import gzip
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from oracles import centred_gram, infeasibility
from sknomad import (
    DensePoint,
    Gram,
    Iterate,
    KMeansSDP,
    assignment_matrix,
    certify,
    datasets,
    kmeans_objective,
    lloyd_iterate,
)
from sknomad._points.embedding import embed
from sknomad.solvers import ADMM, BurerMonteiro, ConditionalGradient, SoftAssignment

IRIS_INERTIA = 78.851441


@pytest.fixture(scope="module")
def iris():
    X = load_iris().data
    return X, KMeans(3, n_init=10, random_state=0).fit_predict(X)


def test_inertia_is_that_of_scikit_learn_in_every_form(iris):
    X, labels = iris
    assert kmeans_objective(X, labels) == pytest.approx(IRIS_INERTIA, rel=1e-7)
    for other in (X + 1e6, sp.csr_matrix(X), Gram.from_data(X), Gram.from_kernel(X @ X.T)):
        assert kmeans_objective(other, labels) == pytest.approx(IRIS_INERTIA, rel=1e-5)
    assert kmeans_objective(X, np.arange(150)) == 0


def test_inertia_and_assignment_matrix_are_one_formula(rng):
    X, labels = rng.standard_normal((30, 4)), rng.choice(["a", "b", "c"], 30)
    Q, D = assignment_matrix(labels), centred_gram(X)
    assert max(infeasibility(Q, len(set(labels))).values()) < 1e-12
    assert np.allclose(Q @ Q, Q)
    assert kmeans_objective(X, labels) == pytest.approx(np.trace(D) - np.sum(D * Q))
    by_hand = sum(np.sum((X[labels == k] - X[labels == k].mean(axis=0)) ** 2) for k in set(labels))
    assert kmeans_objective(X, labels) == pytest.approx(by_hand)


def test_a_clustering_proves_something_about_itself(iris):
    X, labels = iris
    problem = KMeansSDP(Gram.from_data(X), 3)
    iterate = lloyd_iterate(problem, labels)
    proof = certify(problem, iterate)
    assert problem.gram.trace - proof.lower == pytest.approx(IRIS_INERTIA, rel=1e-6)
    bound = problem.gram.trace - proof.upper
    without = problem.gram.trace - certify(problem, Iterate(iterate.Q, N=np.zeros((150, 150)))).upper
    assert without < 20 < 65 < bound < 75.54 < IRIS_INERTIA
    # A few steps from there nearly close what the relaxation leaves.
    *_, warm = itertools.islice(ADMM().iterates(problem, iterate), 10)
    *_, cold = itertools.islice(ADMM().iterates(problem), 10)
    after = [problem.gram.trace - certify(problem, other, repair_steps=0).upper for other in (warm, cold)]
    assert after[0] > max(bound, after[1]) + 2
    assert after[0] < 75.54


def test_separated_clusters_are_proven_at_once():
    X, labels = datasets.blobs(90, random_state=0)
    problem = KMeansSDP(Gram.from_data(X), 6)
    assert certify(problem, lloyd_iterate(problem, labels)).gap < 1e-9


def test_given_multiplier_is_used_and_the_sought_one_is_no_worse(iris):
    X, labels = iris
    problem = KMeansSDP(Gram.from_data(X), 3)
    best = certify(problem, lloyd_iterate(problem, labels)).upper
    for multiplier in (0.0, 10.0, 100.0, 1000.0):
        iterate = lloyd_iterate(problem, labels, multiplier=multiplier)
        assert iterate.state.lam == multiplier
        assert certify(problem, iterate).upper >= best * (1 - 1e-4)


@pytest.mark.parametrize("solver", [ADMM(), SoftAssignment(), ConditionalGradient(), BurerMonteiro("K")])
def test_every_solver_starts_from_labels(solver, iris):
    X, labels = iris
    problem = KMeansSDP(Gram.from_data(X), 3)
    first = next(solver.iterates(problem, lloyd_iterate(problem, labels)))
    assert certify(problem, first).lower > 0.9 * (problem.gram.trace - IRIS_INERTIA)


def test_bad_labels_are_named():
    problem = KMeansSDP(Gram.from_data(np.eye(5)), 2)
    with pytest.raises(ValueError, match=r"labels must be 5 labels, one per point, got shape \(3,\)"):
        lloyd_iterate(problem, [0, 1, 1])
    with pytest.raises(ValueError, match="labels must be one label per point"):
        assignment_matrix([[0, 1]])


# Traps of published code.


def test_no_eigenvector_of_several_components_is_dropped_as_the_ones_vector():
    # Eigenvalue 1 of Q repeats once per component: dropping the first eigenvector may drop the separation itself.
    labels = np.repeat([0, 1], [7, 12])
    coordinate = embed(DensePoint(assignment_matrix(labels)), 1)[:, 0]
    assert np.ptp(coordinate[labels == 0]) < 1e-10
    assert np.ptp(coordinate[labels == 1]) < 1e-10
    assert abs(coordinate[0] - coordinate[-1]) > 0.1


@pytest.mark.data
def test_images_are_taken_without_replacement():
    folder = Path(os.environ.get("SKNOMAD_DATA", "nowhere")) / "mnist"
    if not folder.is_dir():
        pytest.skip("SKNOMAD_DATA is not set to a folder with mnist/")
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        ones = images[np.frombuffer(file.read(), np.uint8, offset=8) == 1]
    assert len(np.unique(ones[:1000], axis=0)) == 1000  # how benchmarks take them: a repeat would make D singular
