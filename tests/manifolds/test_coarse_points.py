"""Few points that stand for many."""

import numpy as np
import pytest

from sknomad import Gram
from sknomad._manifolds.choice import choose
from sknomad._manifolds.coarse_points import MOST_GROUPS, SMALLEST_MASS, coarsen
from sknomad._manifolds.look import Landscape, make_look


def overlapping_clouds(n, seed):
    """Two normal clouds, three standard deviations apart."""
    random = np.random.default_rng(seed)
    side = np.arange(n) % 2
    return random.normal(size=(n, 2)) + np.c_[3.0 * side, np.zeros(n)], side


def test_few_points_stand_for_themselves():
    coarse = coarsen(Gram.from_data(np.arange(12.0)[:, None]))
    assert coarse.of_point.tolist() == list(range(12))
    assert coarse.masses.tolist() == [1.0] * 12


@pytest.mark.parametrize("n", [MOST_GROUPS + 1, 1200])
def test_masses_are_shares_of_the_points(n):
    coarse = coarsen(Gram.from_data(overlapping_clouds(n, 0)[0]))
    assert coarse.gram.n <= MOST_GROUPS
    points = np.bincount(coarse.of_point, minlength=coarse.gram.n)
    assert coarse.masses == pytest.approx(points / points.mean())


def test_weights_are_masses_where_they_would_be_too_many_points():
    weights = np.linspace(1, 7, 300)
    coarse = coarsen(Gram.from_data(np.random.default_rng(0).normal(size=(300, 2)), weights=weights))
    assert coarse.masses == pytest.approx(weights / weights.mean())


def test_masses_beside_copies_are_what_copies_leave():
    coarse = coarsen(Gram.from_data([[0.0], [1.0], [2.0]], weights=[100.4, 200.2, 299.4]))
    assert coarse.gram.n == pytest.approx(MOST_GROUPS, abs=2)
    assert coarse.masses == pytest.approx(1, rel=0.02)


def test_weights_of_any_size_leave_masses_positive():
    weights = np.r_[np.full(300, 1e-30), np.full(100, 1.0)]
    masses = coarsen(Gram.from_data(np.random.default_rng(0).normal(size=(400, 2)), weights=weights)).masses
    assert np.all(np.isfinite(masses))
    assert masses.min() >= SMALLEST_MASS


def test_density_rises_with_mass_and_not_with_its_unit():
    Q = np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    look = make_look(2.0, Q, np.array([3.0, 3, 3, 1, 1, 1]))
    for density in look.density.values():
        assert density[0] - density[3] == pytest.approx(0.65 * np.log(3))
    again = make_look(2.0, Q, np.full(6, 5.0)).density[Landscape.PLAIN]
    assert np.ptp(again) == pytest.approx(0)


@pytest.mark.parametrize("seed", [1, 2])
def test_clouds_that_overlap_are_two_however_many_points_they_have(seed):
    """Groups lie evenly: without what they stand for, 4000 points of two clouds were one."""
    X, side = overlapping_clouds(4000, seed)
    choice = choose(Gram.from_data(X))
    assert choice.n_parts == 2
    assert np.mean(choice.labels == side) > 0.9 or np.mean(choice.labels != side) > 0.9
