"""What a problem is made of is its own: nobody who keeps a reference, or a class of his own, changes what is proven."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import centred_gram
from sknomad import FactorPoint, Gram, Iterate, KMeansSDP, SoftPoint, SpectralPoint, certify, kmeans_objective, solve
from sknomad._certificate.cuts import Multipliers
from sknomad._certificate.iterate import NegativePart

X = np.random.default_rng(0).standard_normal((6, 2))
DISTANCES = np.linalg.norm(X[:, None] - X, axis=-1)
MAKERS = {
    "data": (Gram.from_data, X),
    "data by columns": (Gram.from_data, np.asfortranarray(X)),
    "data backwards": (Gram.from_data, X[::-1, ::-1].copy()[::-1, ::-1]),
    "sparse": (Gram.from_data, sp.csr_matrix(X)),
    "sparse by columns": (Gram.from_data, sp.csc_array(X)),
    "kernel": (Gram.from_kernel, X @ X.T),
    "distances": (Gram.from_distances, DISTANCES),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_problem_does_not_change_with_what_it_was_made_of(kind, is_weighted):
    make, table = MAKERS[kind]
    table, weights = table.copy(), np.arange(1.0, 7)
    gram = make(table, weights=weights if is_weighted else None)
    before = gram.dense()
    (table.data if sp.issparse(table) else table)[...] = 7.0
    weights[:] = 1e9
    assert np.array_equal(gram.dense(), before)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_numbers_of_a_problem_cannot_be_written_to(kind):
    make, table = MAKERS[kind]
    for array in make(table, weights=np.ones(6)).contents():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_callback_that_writes_into_the_kernel_changes_nothing():
    kernel, given = X @ X.T, X @ X.T
    wanted = solve(KMeansSDP(Gram.from_kernel(kernel), 2.5), grade="verified", tol=1e-6).certificate

    def spoil(progress):
        given[:] = 100 * np.eye(6)

    found = solve(KMeansSDP(Gram.from_kernel(given), 2.5), grade="verified", tol=1e-6, callback=spoil).certificate
    assert found == wanted


def test_files_mapped_into_memory_are_read_once(tmp_path):
    np.save(tmp_path / "kernel.npy", X @ X.T)
    mapped = np.load(tmp_path / "kernel.npy", mmap_mode="r+")
    gram = Gram.from_kernel(mapped)
    mapped[:] = 0
    assert np.allclose(gram.dense(), centred_gram(X))


# Sparse matrices that are not what they say.


def entries(data, indices, indptr, shape):
    return sp.csr_matrix((np.array(data), np.array(indices), np.array(indptr)), shape=shape)


def test_entries_given_twice_are_their_sum(rng):
    twice = entries([1.0, 2, 5, 4, -1], [0, 0, 1, 1, 1], [0, 2, 3, 5], (3, 2))
    twice.has_canonical_format = True  # which it has not
    dense, labels = np.array([[3.0, 0], [0, 5], [0, 3]]), [0, 0, 1]
    assert np.allclose(Gram.from_data(twice).dense(), centred_gram(dense))
    assert kmeans_objective(twice, labels) == pytest.approx(kmeans_objective(dense, labels))
    assert twice.nnz == 5  # the user's own is as it was


def broken(**parts):
    matrix = sp.csr_matrix(np.eye(3))
    vars(matrix).update(parts)
    return matrix


BROKEN = {
    "a column too far": broken(indices=np.array([0, 1, 70_000_000], dtype=np.int32)),
    "a negative column": broken(indices=np.array([0, -1, 2], dtype=np.int32)),
    "rows that end before they begin": broken(indptr=np.array([0, 2, 1, 3], dtype=np.int32)),
    "too few numbers": broken(data=np.ones(1)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_sparse_matrices_are_refused(name):
    """SciPy's own code reads whatever memory such a matrix points to."""
    with pytest.raises(ValueError, match="X must be a well-formed sparse matrix, got one in which"):
        Gram.from_data(BROKEN[name])


def test_broken_coordinates_are_refused():
    matrix = sp.coo_matrix(np.eye(3))
    matrix.row[0] = 70_000_000
    with pytest.raises(ValueError, match="X must be a well-formed sparse matrix, got one in which"):
        Gram.from_data(matrix)


# Classes that answer as they like.


class Liar(np.ndarray):
    """Every operation gives zero."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return np.zeros(6)

    def __getitem__(self, key):
        return 0.0


class SoftLiar(SoftPoint):
    def as_soft(self, fixed=None):
        return self

    def value(self, gram):
        return 1e9

    def trace(self):
        return 2.5


class SpectralLiar(SpectralPoint):
    def value(self, gram):
        return 1e9


class FactorLiar(FactorPoint):
    def as_soft(self, fixed=None):
        return SoftLiar(np.eye(6))


class NegativeLiar(NegativePart):
    def rows(self, block, stop):
        return np.zeros((6, stop))

    def formed(self):
        return np.zeros((6, 6))


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_arrays_of_derived_classes_are_taken_as_arrays(grade, rng):
    problem, N = KMeansSDP(Gram.from_data(X), 2.5), rng.random((6, 6))
    U, l = np.linalg.qr(rng.standard_normal((6, 2)))[0], np.ones(2)  # noqa: E741
    liar = lambda array: array.view(Liar)  # noqa: E731
    assert Gram.from_data(liar(X)).trace == problem.gram.trace
    for honest, lying in (
        (Iterate(N, N=N), Iterate(liar(N), N=liar(N))),
        (Iterate(SoftPoint(N), N=NegativePart(-N, 1.0)), Iterate(SoftPoint(liar(N)), N=NegativePart(liar(-N), 1.0))),
        (Iterate(SpectralPoint(U, l)), Iterate(SpectralPoint(liar(U), liar(l)))),
        (Iterate(FactorPoint(N)), Iterate(FactorPoint(liar(N)))),
    ):
        assert certify(problem, lying, grade=grade) == certify(problem, honest, grade=grade)
    assert type(Multipliers(liar(N)).N) is np.ndarray


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_points_and_multipliers_of_derived_classes_prove_what_their_numbers_prove(grade, rng):
    problem, N = KMeansSDP(Gram.from_data(X), 2.5), rng.random((6, 6))
    U = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    best = solve(problem, tol=1e-6).certificate.upper
    upper = certify(problem, Iterate(np.eye(6), N=NegativePart(-N, 1.0)), grade=grade).upper
    for point in (SoftLiar(N), SpectralLiar(U, np.ones(2)), FactorLiar(N)):
        proof = certify(problem, Iterate(point, N=NegativeLiar(-N, 1.0)), grade=grade)
        assert proof.lower <= best
        assert proof.upper == upper
