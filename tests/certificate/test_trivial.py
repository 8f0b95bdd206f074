"""Programs that need no solver: what is said of them is true of the numbers given, not of what rounding left."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import exact_squares, nearly_all
from sknomad import NOMAD, Gram, Iterate, KMeansSDP, certify
from sknomad._certificate.trivial import is_zero


def bounds(gram, K, grade="verified"):
    n = gram.n
    return certify(KMeansSDP(gram, K), Iterate(np.eye(n), N=np.zeros((n, n))), grade=grade)


@pytest.mark.filterwarnings("ignore:.*certified gap")
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_sparse_points_that_only_rounding_makes_equal(grade):
    model = NOMAD(K=1.5, grade=grade).fit(sp.csr_matrix([[1e9], [1e9 + 1]]))
    assert model.certificate_.lower <= 0.25 <= model.certificate_.upper


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_kernel_that_only_rounding_makes_zero(grade):
    kernel = np.array([[1e-9, 1e8], [1e8, 2e8]])
    proof = bounds(Gram.from_kernel(kernel), 1.5, grade)
    value = nearly_all(exact_squares(kernel, "kernel"), 1.5).value
    assert value == Fraction(1e-9) / 4
    assert Fraction(proof.lower) <= value <= Fraction(proof.upper)


@pytest.mark.parametrize(
    "gram",
    [
        Gram.from_data(np.full((4, 2), 1e9 + 0.1)),
        Gram.from_data(sp.csr_matrix(np.full((4, 2), 1e9 + 0.1))),
        Gram.from_data(np.full((4, 2), 0.3), weights=[1, 2, 3, 4e-9]),
        Gram.from_kernel(np.full((4, 4), 1e9 + 0.1)),
        Gram.from_distances(np.zeros((4, 4))),
    ],
    ids=["data", "sparse", "weighted", "kernel", "distances"],
)
def test_equal_points_are_known_to_be_equal(gram):
    proof = bounds(gram, 2.5)
    assert (proof.lower, proof.upper) == (0, 0)


@pytest.mark.filterwarnings("ignore:X has a size")
def test_rows_that_only_a_division_makes_equal_are_not_equal():
    gram = Gram.from_data(sp.csr_matrix([[1e305, 1e-100], [1e305, 2e-100]]))
    assert not is_zero(gram)
    assert bounds(gram, 1.5).upper > 0
