"""The dimension that points fill, from looks at them."""

import math

import numpy as np
import pytest

from sknomad import Gram
from sknomad._manifolds.dimension import intrinsic_dimension
from sknomad._manifolds.survey import look_around


def pieces(dimension, n=210):
    random = np.random.default_rng(dimension)
    if dimension == 1:
        angles = random.uniform(0, 2 * np.pi, n)
        return np.column_stack([np.cos(angles), np.sin(angles)]) + random.normal(0, 0.02, (n, 2))
    return random.uniform(size=(n, dimension))


@pytest.fixture(scope="module")
def estimates():
    return {d: intrinsic_dimension(look_around(Gram.from_data(pieces(d))).looks) for d in (1, 2, 5)}


def test_curves_are_told_from_surfaces_and_clouds(estimates):
    assert 0.8 < estimates[1] < 1.15
    assert 1.35 < estimates[2] < estimates[5]


def test_a_curve_in_many_dimensions_is_a_curve(estimates):
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0][:2]
    found = intrinsic_dimension(look_around(Gram.from_data(1e3 * pieces(1) @ turned)).looks)
    assert found == pytest.approx(estimates[1], rel=0.05)


def test_few_patches_tell_nothing():
    assert intrinsic_dimension(look_around(Gram.from_data(pieces(2, n=12))).looks) == math.inf
