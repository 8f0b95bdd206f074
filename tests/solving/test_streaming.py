"""Soft assignments of rows in blocks: the same steps as the solver in memory, whatever the blocks are."""

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, SoftPoint, solve
from sknomad._numerics.row_blocks import RowBlocks
from sknomad._numerics.threads import limited_threads
from sknomad._numerics.weighted_simplex import weighted_rows
from sknomad._program.data_rows import rows_of
from sknomad._solving.streaming import stream_soft
from sknomad.datasets import two_rings
from sknomad.solvers import _soft_stream
from sknomad.solvers._soft_stream import Cells, add_in_order, assignments, next_cells, sweep, value_of
from sknomad.solvers._soft_updates import row_scores


@pytest.fixture(scope="module")
def X():
    return two_rings(300, random_state=0)[0]


@pytest.fixture(scope="module")
def cells(X):
    return stream_soft(RowBlocks(X), 12).cells


def test_a_row_is_that_of_the_solver_in_memory(X, cells):
    problem = KMeansSDP(Gram.from_data(X), 12)
    V = assignments(X, cells)
    sums = rows_of(problem.gram, np.empty(0)).sums(V)
    centred = add_in_order(RowBlocks(X).each(sweep, cells))
    assert centred.sizes == pytest.approx(sums.sizes)
    assert centred.squares == pytest.approx(sums.squares)
    after = next_cells(cells, centred, 12)
    rows = rows_of(problem.gram, np.empty(0))
    expected = weighted_rows(row_scores(rows, sums, after.lam), sums.sizes / (2 * after.lam))
    assert assignments(X, after) == pytest.approx(expected, abs=1e-8)


def test_value_is_that_of_a_feasible_point(X, cells):
    problem = KMeansSDP(Gram.from_data(X), 12)
    sums = add_in_order(RowBlocks(X).each(sweep, cells))
    value = value_of(sums, 300, 12, problem.gram.trace)
    assert value == pytest.approx(SoftPoint(assignments(X, cells)).value(problem.gram), rel=2e-2)
    best = solve(problem, tol=1e-3).certificate
    assert 0.97 * best.lower <= value <= best.upper


def test_origin_does_not_matter(X, cells):
    moved = Cells(cells.centroids - 3.0, cells.sizes, cells.squares, cells.lam, cells.origin + 3.0)
    assert assignments(X, moved) == pytest.approx(assignments(X, cells), abs=1e-9)


def test_sums_are_those_of_the_blocks_in_order(X, cells):
    shares = [sweep(X[start : start + 70], cells) for start in range(0, 300, 70)]
    assert add_in_order(shares).products == pytest.approx(sweep(X, cells).products)
    again = add_in_order(sweep(X[start : start + 70], cells) for start in range(0, 300, 70))
    assert all(np.array_equal(a, b) for a, b in zip(add_in_order(shares), again, strict=True))


def test_rows_in_small_pieces_have_the_same_assignments(X, cells, monkeypatch):
    whole, sums = assignments(X, cells), sweep(X, cells)
    monkeypatch.setattr(_soft_stream, "ENTRIES_TOGETHER", 7 * len(cells.sizes))
    assert assignments(X, cells) == pytest.approx(whole, abs=1e-12)
    assert all(a == pytest.approx(b) for a, b in zip(sweep(X, cells), sums, strict=True))


def test_sums_have_the_same_bits_with_any_number_of_threads(X, cells, monkeypatch):
    monkeypatch.setattr("sknomad._numerics.row_blocks.MOST_BLOCK_ROWS", 40)
    found = []
    for count in (1, 3):
        with limited_threads(count):
            found.append(add_in_order(RowBlocks(X).each(sweep, cells)))
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("K", [1, 1.5, 2, 299, 300])
def test_extreme_traces(X, K):
    streamed = stream_soft(RowBlocks(X), K, most_sweeps=3)
    V = assignments(X, streamed.cells)
    assert np.isfinite(V).all()
    assert V.sum(axis=1) == pytest.approx(np.ones(300))


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**200])
def test_scale_does_not_matter(X, cells, scale):
    scaled = stream_soft(RowBlocks(X * scale), 12).cells
    assert assignments(X * scale, scaled) == pytest.approx(assignments(X, cells), abs=1e-5)


def test_sweeps_end_when_told(X):
    told = []
    streamed = stream_soft(RowBlocks(X), 12, on_sweep=lambda count, value: told.append(value) or count == 1)
    assert streamed.sweeps == 1
    assert len(told) == 2
