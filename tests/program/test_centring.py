"""What centring in float64 costs: bounds hold for the data as given, however far off and however light a point is."""

from fractions import Fraction

import numpy as np
import pytest

from oracles import exact_squares, nearly_all
from sknomad import Gram, Iterate, KMeansSDP, certify


def answer_and_bounds(X, weights, K, grade, unit=1):
    squares = [[x / unit for x in row] for row in exact_squares(X, "data")]
    answer = nearly_all(squares, K, weights)
    labels = np.arange(len(X))
    labels[answer.pair[0]] = answer.pair[1]
    V = np.eye(len(X))[labels]
    Q = (V / np.maximum(V.sum(axis=0), 1)) @ V.T
    return answer.value, certify(KMeansSDP(Gram.from_data(X, weights=weights), K), Iterate(Q, N=answer.N), grade=grade)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize("K", [3, 3.5, 4])
@pytest.mark.parametrize(("far", "light"), [(1e12, 1e-30), (1e8, 1e-24), (1e12, 1e-10), (1e3, 1e-30), (1e12, 1.0)])
@pytest.mark.parametrize("place", [0, 2])
def test_a_light_point_far_away(grade, K, far, light, place):
    X, weights = np.insert([0.1, 0.3, 0.7], place, far)[:, None], np.insert([1.0, 1, 1], place, light)
    value, proof = answer_and_bounds(X, weights, K, grade)
    assert Fraction(proof.lower) <= value <= Fraction(proof.upper)
    if light <= 1e-24 and K == 4:  # it tells nothing of the others, and costs them no digits
        assert proof.gap < 1e-12


@pytest.mark.filterwarnings("ignore:X has a size")
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_a_large_constant_column_does_not_drown_a_small_one(grade):
    X = np.column_stack([np.full(4, 1e80), [3e-243, 4e-243, 7e-243, 1.5e-242]])
    gram = Gram.from_data(X)
    value, proof = answer_and_bounds(
        X, None, 3, grade, unit=Fraction(2) ** (2 * (gram.frame.first + gram.frame.second))
    )
    assert Fraction(proof.lower) <= value <= Fraction(proof.upper)
    assert proof.gap < 1e-9


@pytest.mark.filterwarnings("ignore:X has a size")
def test_differences_beyond_float64():
    gram = Gram.from_data([[1.7e308], [-1.7e308], [0.0]])
    unit = Fraction(2) ** (2 * (gram.frame.first + gram.frame.second))
    assert gram.trace == pytest.approx(float(2 * Fraction(1.7e308) ** 2 / unit), rel=1e-14)


@pytest.mark.parametrize(
    "make", [Gram.from_data, lambda X, weights: Gram.from_distances(abs(X - X.T), weights=weights)]
)
def test_weights_that_leave_nothing_in_float64_are_refused(make):
    X = np.array([[0.0], [1.0], [2.0]])
    with pytest.warns(UserWarning, match="weights have a size"), pytest.raises(ValueError, match="weights must leave"):
        make(X, weights=[1e300, 1e-300, 1e-300])
