"""Isometric coordinates: known sheets and curves come out flat, whatever the form of the data."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

from sknomad import NOMAD, DensePoint, Gram, datasets
from sknomad._manifolds import unroll as module
from sknomad._manifolds.frames import unroll_by_cells
from sknomad._manifolds.unroll import unroll
from sknomad.solvers import SoftAssignment


def neighbourhoods(position, radius):
    """A dense point that links what lies within a radius of the truth."""
    return DensePoint((cdist(position, position) <= radius).astype(float))


def rolled(position):
    """A sheet rolled up along its first coordinate, an isometry."""
    t = np.sqrt(2 * (position[:, 0] + 20))  # nearly the arc length of a spiral of radius t
    fine = np.linspace(0, 40, 20001)
    arc = 0.5 * (fine * np.sqrt(1 + fine**2) + np.arcsinh(fine))
    t = np.interp(position[:, 0] + 20, arc, fine)
    return np.column_stack([t * np.cos(t), t * np.sin(t), position[:, 1]])


@pytest.fixture(scope="module")
def sheet():
    return np.random.default_rng(0).uniform([0, 0], [30, 10], (400, 2))


def test_a_rolled_sheet_comes_out_flat(sheet):
    flat = unroll(neighbourhoods(sheet, 3.0), Gram.from_data(rolled(sheet)), np.zeros(400, int), 0.01, 2)
    disparity = procrustes(sheet, flat)[2]
    assert disparity < 1e-2
    assert np.ptp(flat[:, 0]) == pytest.approx(30, rel=0.1)  # in the units of the data


@pytest.mark.parametrize("kind", ["sparse", "kernel", "distances"])
def test_other_forms_of_the_data_give_the_same(sheet, kind):
    X = rolled(sheet)
    gram = {
        "sparse": lambda: Gram.from_data(sp.csr_matrix(X)),
        "kernel": lambda: Gram.from_kernel(X @ X.T),
        "distances": lambda: Gram.from_distances(cdist(X, X)),
    }[kind]()
    parts = np.zeros(400, int)
    of_data = unroll(neighbourhoods(sheet, 3.0), Gram.from_data(X), parts, 0.01, 2)
    other = unroll(neighbourhoods(sheet, 3.0), gram, parts, 0.01, 2)
    np.testing.assert_allclose(np.abs(other), np.abs(of_data), atol=1e-5)


def test_pieces_are_joined_at_their_nearest_points():
    line = np.r_[0.0:1.0:11j, 3.0:4.0:11j, 9.0:10.0:11j][:, None]
    point = neighbourhoods(line, 0.25)
    flat = unroll(point, Gram.from_data(line), np.zeros(33, int), 0.01, 2)
    np.testing.assert_allclose(cdist(flat, flat), cdist(line, line), atol=1e-6)
    parts = np.repeat([0, 1, 2], 11)
    apart = unroll(point, Gram.from_data(line), parts, 0.01, 2)
    for part in range(3):
        mine = apart[parts == part]
        np.testing.assert_allclose(mine.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(np.ptp(mine[:, 0]), 1.0)


def test_landmarks_agree_with_all_ways(sheet, monkeypatch):
    point, gram, parts = neighbourhoods(sheet, 3.0), Gram.from_data(rolled(sheet)), np.zeros(400, int)
    everything = unroll(point, gram, parts, 0.01, 2)
    monkeypatch.setattr(module, "ALL_WAYS_UP_TO", 100)
    assert procrustes(everything, unroll(point, gram, parts, 0.01, 2))[2] < 2e-3


def test_few_points_and_single_ones():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]])
    flat = unroll(DensePoint(np.ones((3, 3))), Gram.from_data(X), np.array([0, 0, 1]), 0.01, 3)
    assert np.linalg.norm(flat[0] - flat[1]) == pytest.approx(5.0)
    np.testing.assert_array_equal(flat[2], 0)


def test_equal_points_and_weights_lie_in_one_place():
    X, _ = datasets.moons(40, noise=0.05, random_state=0)
    link = cdist(X, X) <= 0.8
    once = unroll(DensePoint(link * 1.0), Gram.from_data(X), np.zeros(40, int), 0.01, 2)
    copies = np.repeat(np.arange(40), 3)
    thrice = unroll(
        DensePoint(link[np.ix_(copies, copies)] * 1.0), Gram.from_data(X[copies]), np.zeros(120, int), 0.01, 2
    )
    np.testing.assert_allclose(np.abs(thrice), np.abs(once[copies]), atol=1e-9)


def test_the_order_of_rows_decides_nothing():
    grid = np.indices((9, 7)).reshape(2, -1).T.astype(float)
    shuffle = np.random.default_rng(0).permutation(63)
    one, other = (
        unroll(neighbourhoods(X, 3.2), Gram.from_data(X), np.zeros(63, int), 0.01, 2) for X in (grid, grid[shuffle])
    )
    np.testing.assert_allclose(cdist(other, other), cdist(one, one)[np.ix_(shuffle, shuffle)], atol=1e-8)


def test_a_ring_stays_closed_over_a_gap_in_the_sample():
    angle = np.r_[np.linspace(0, 2 * np.pi - 0.5, 80), 2 * np.pi - 0.25]
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    point, gram, parts = neighbourhoods(circle, 0.4), Gram.from_data(circle), np.zeros(81, int)
    opened = unroll(neighbourhoods(circle, 0.2), gram, parts, 0.01, 2)
    closed = unroll(point, gram, parts, 0.01, 2, rings=[np.arange(81)])
    assert procrustes(circle, closed)[2] < 1e-3 < 0.1 < procrustes(circle, opened)[2]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cells_lie_as_their_points_do():
    X = np.random.default_rng(0).uniform([0, 0], [8, 2], (500, 2))
    model = NOMAD(K=20, solver=SoftAssignment(rank=80), max_iter=60, tol=1.0).fit(X)
    gram, parts = model.solution_.problem.gram, np.zeros(500, int)
    assert model.n_manifolds_ == 1
    assert procrustes(X, unroll_by_cells(model._extension.anchors, gram, parts, 2))[2] < 0.02
