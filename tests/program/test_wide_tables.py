"""Tables with far more columns than points: soft assignments pass over as many columns as there are points."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sknomad import Gram, KMeansSDP, solve
from sknomad._program.data_rows import rows_of
from sknomad.solvers import SoftAssignment


def wide(rng, n=60, d=900):
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.1 * rng.standard_normal((n, d))


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 61.0)], ids=["plain", "weighted"])
def test_fewer_columns_have_the_same_inner_products(weights, rng):
    gram = Gram.from_data(wide(rng), weights=weights)
    rows = rows_of(gram, np.empty(0))
    assert rows.host.shape[1] <= 60
    roots = np.ones(60) if gram.roots is None else gram.roots
    products = (rows.host @ rows.host.T) * np.outer(roots, roots)
    np.testing.assert_allclose(products, gram.dense(), atol=1e-12 * gram.norm)


def test_their_order_does_not_depend_on_the_order_of_points(rng):
    X, order = wide(rng), rng.permutation(60)
    one, other = (rows_of(Gram.from_data(data), np.empty(0)).host for data in (X, X[order]))
    np.testing.assert_allclose(one[order][:, :10], other[:, :10], atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_soft_assignments_find_the_same_value(scale, rng):
    """In the same coordinates given as a narrow table, they are the same problem."""
    X = wide(rng)
    gram = Gram.from_data(scale * X)
    narrow = Gram.from_data(scale * rows_of(Gram.from_data(X), np.empty(0)).host)
    with pytest.warns(ConvergenceWarning):
        values = [
            solve(KMeansSDP(one, 8), SoftAssignment(), tol=0.0, max_iter=10).certificate.lower / scale**2
            for one in (gram, narrow)
        ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_a_table_that_is_hardly_wider_than_long_stays_as_it_is(rng):
    X = rng.standard_normal((40, 40))
    assert rows_of(Gram.from_data(X), np.empty(0)).host.shape == (40, 40)
    assert rows_of(Gram.from_data(X[:, :7]), np.empty(0)).host.shape == (40, 7)
