"""Components of products: the same as those of all entries, at a fraction of the cost."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sknomad._numerics.arrays import row_slices
from sknomad._points import product_components as module
from sknomad._points.components import find_manifolds, in_order
from sknomad._points.forms import DensePoint, SoftPoint
from sknomad._points.product_components import product_components


def assignments(rng, n, r, density):
    V = rng.random((n, r)) * (rng.random((n, r)) < density)
    V[np.arange(n), rng.integers(r, size=n)] += 0.05
    V = V[:, V.any(axis=0)]
    return V / V.sum(axis=1)[:, None]


def components_of_all_entries(left, right, cut):
    return components((left @ right).toarray() > cut)


def components(links):
    return in_order(connected_components(sp.csr_matrix(links), directed=False)[1])


@pytest.mark.parametrize("seed", range(60))
def test_same_as_those_of_all_entries(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        monkeypatch.setattr(module, "MOST_BOUNDED", 2)
    point = SoftPoint(
        assignments(rng, int(rng.integers(2, 120)), int(rng.integers(1, 25)), rng.choice([0.02, 0.1, 0.5]))
    )
    left, right = point.sparse_factors()
    norms = np.sqrt(point.diagonal())
    similarity = point.dense() / np.outer(norms, norms)
    for threshold in (0.0, 1e-3, 1e-2, 0.1, 0.5, 0.9, 1.0 + 1e-9):
        cut = threshold * point.diagonal().max()
        assert np.array_equal(
            in_order(product_components(left, right, cut)), components_of_all_entries(left, right, cut)
        )
        assert np.array_equal(find_manifolds(point, threshold), components(similarity > threshold))
        assert np.array_equal(find_manifolds(DensePoint(point.dense()), threshold), components(similarity > threshold))


def test_links_through_many_cells_together_are_found():
    # No single cell links the two points; all of them together do.
    V = sp.csr_matrix(np.vstack([np.full((2, 10), 0.1), np.eye(10)]))
    assert product_components(V, V.T.tocsr(), 0.09).tolist()[:2] == [0, 0]


def test_few_entries_of_a_hundred_thousand_points_are_formed(monkeypatch):
    rng = np.random.default_rng(0)
    formed = []
    monkeypatch.setattr(module, "row_slices", lambda n, size: formed.append(n) or row_slices(n, size))
    V, cells = np.zeros((100_000, 64)), rng.integers(63, size=100_000)
    V[np.arange(len(V)), cells], V[np.arange(len(V)), cells + 1] = 0.7, 0.3
    assert find_manifolds(SoftPoint(V), 1e-2).max() == 0
    assert sum(formed) < 1000  # rows
