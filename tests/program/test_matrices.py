"""Kernels and distances as they are given: what is no matrix of distances is refused, and no entry is rounded away."""

from fractions import Fraction

import numpy as np
import pytest

from oracles import exact_squares, nearly_all
from sknomad import NOMAD, Gram, Iterate, KMeansSDP, certify
from sknomad._program.duplicates import read_groups

BLOCKS = np.array([[5.0, 5, 1, 1], [5, 5, 1, 1], [1, 1, 5, 5], [1, 1, 5, 5]])


@pytest.mark.parametrize(
    "read", [Gram.from_distances, NOMAD(2, metric="precomputed_distance").fit], ids=["gram", "estimator"]
)
def test_distances_of_points_from_themselves_are_refused(read):
    """Merged, equal rows gave -24 where the program of four points gives 0."""
    with pytest.raises(ValueError, match=r"distances must be zero on the diagonal, got 5 at row 0\. Set it to zero"):
        read(BLOCKS)


def is_merged(kernel):
    """With every point given twice."""
    return read_groups(None, np.kron(kernel, np.ones((2, 2))), "precomputed") is not None


def test_kernels_are_merged_only_where_no_squared_distance_is_negative_at_all():
    below, above = np.nextafter(1.0, 0), np.nextafter(1.0, 2)
    assert is_merged([[1.0, below], [below, 1.0]])
    assert not is_merged([[1.0, above], [above, 1.0]])
    small = 1.5 * 2.0**-53
    assert 1 + small == above  # rounded up: the squared distance, 1 + small - above, is negative
    assert not is_merged([[1.0, above / 2], [above / 2, small]])


@pytest.mark.filterwarnings("ignore:kernel has a size")
@pytest.mark.parametrize("size", [5e-324, 1.5e-323, 1e-310])
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_the_smallest_numbers_are_not_halved_away(size, grade):
    kernel = size * np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 3]])
    gram = Gram.from_kernel(kernel)
    exponent = gram.frame.first
    squares = [[x / Fraction(2) ** exponent for x in row] for row in exact_squares(kernel, "kernel")]
    answer = nearly_all(squares, 2.5)
    proof = certify(KMeansSDP(gram, 2.5), Iterate(np.eye(3), N=answer.N), grade=grade)
    assert Fraction(proof.lower) <= answer.value <= Fraction(proof.upper)
    assert proof.upper == pytest.approx(float(answer.value), rel=1e-12)


def test_the_smallest_numbers_must_be_symmetric_as_they_are():
    with pytest.raises(ValueError, match=r"kernel must be symmetric: max \|D - D.T\| is 4.9e-324, allowed 0"):
        Gram.from_kernel([[1e-300, 5e-324], [1e-323, 1e-300]])


def test_weights_of_equal_points_are_summed_with_one_rounding(rng):
    own = 10.0 ** rng.uniform(-10, 10, 400)
    groups = read_groups(own, np.repeat([[1.0], [2.0]], 200, axis=0), "euclidean")
    for group, total in enumerate(groups.weights):
        assert total == float(sum(map(Fraction, own[groups.of == group].tolist())))
