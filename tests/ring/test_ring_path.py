"""The optima of the ring as functions of K: diagonals, where they vanish, and interpolation."""

import numpy as np
import pytest
from scipy.linalg import circulant

from ring_cases import assert_feasible
from sknomad.ring import diagonal_path, inactive_K, ring_optimum, ring_path


def test_diagonal_path_holds_the_rows_of_the_optima():
    diagonals = diagonal_path(20, [1, 6.5, 3, 20], 11)
    assert diagonals.shape == (4, 11)
    for K, diagonal in zip([1, 6.5, 3, 20], diagonals, strict=True):
        assert np.allclose(diagonal, ring_optimum(20, K).row[:11], rtol=0, atol=1e-12)
    assert diagonal_path(20, [], 3).shape == (0, 3)


@pytest.mark.parametrize("n", [2, 3, 12, 21, 30])
def test_path_interpolates_to_the_optimum_everywhere(n):
    path = ring_path(n)
    assert path.K[0] == 1
    assert path.K[-1] == n
    assert np.all(np.diff(path.K) > 0)
    assert np.all(np.diff(path.values) > 0)
    lag = np.minimum(np.arange(n), n - np.arange(n))
    for K in np.linspace(1, n, 23):
        optimum = ring_optimum(n, K)
        row = np.array([np.interp(K, path.K, diagonal) for diagonal in path.diagonals.T])[lag]
        assert_feasible(circulant(row), K)
        assert n * np.cos(2 * np.pi * lag / n) @ row == pytest.approx(optimum.value, abs=1e-8)
        assert np.interp(K, path.K, path.values) == pytest.approx(optimum.value, abs=1e-8)
        if n % 2:  # Q is unique
            assert np.allclose(row, optimum.row, rtol=0, atol=1e-8)


def test_diagonals_vanish_from_the_antipode_inwards():
    n = 40
    inactive = inactive_K(n, range(1, n // 2 + 1))
    assert np.all(np.diff(inactive.first) < 0)
    assert inactive.first[[0, 1, -1]] == pytest.approx([n, n / 2, 2])
    assert inactive.first[-2] == pytest.approx(2 + 2 / (1 + 2 * np.cos(2 * np.pi / n)))
    assert np.all(inactive.final >= inactive.first)
    assert np.any(inactive.final > inactive.first + 0.1)  # some come back
    assert np.array_equal(inactive.first[:8], inactive.final[:8])  # the near ones do not


@pytest.mark.parametrize("h", [3, 7, 13, 14])
def test_inactive_K_is_where_the_optimum_changes(h):
    inactive = inactive_K(40, [h])
    first, final = inactive.first[0], inactive.final[0]
    assert ring_optimum(40, first - 1e-3).row[h] > 1e-7
    assert ring_optimum(40, first).row[h] < 1e-10
    assert ring_optimum(40, final - 1e-3).row[h] > 1e-7
    assert diagonal_path(40, np.linspace(final, 40, 40), h + 1)[:, h].max() < 1e-10
