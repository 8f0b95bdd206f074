"""The fixed vector: both kinds against the matrix ``J = u u'`` itself, and `Ones` against equal weights."""

import numpy as np
import pytest
import scipy.sparse as sp

from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.fixed_vector import Ones, Weighted, fixed_vector

N = 7


@pytest.fixture(params=["ones", "weighted"])
def fixed(request, rng):
    roots = rng.uniform(0.5, 2, N)
    return Ones(N) if request.param == "ones" else Weighted(roots / np.linalg.norm(roots))


@pytest.fixture
def u(fixed):
    return fixed.vector(np.empty(0))


def test_the_vector_has_norm_one(fixed, u):
    assert fixed.n == len(u) == N
    assert np.linalg.norm(u) == pytest.approx(1)
    assert fixed.first_entry(np.empty(0)) == u[0]
    assert np.allclose(fixed.ones(np.empty(0)), np.sqrt(N) * u)


def test_the_vector_is_a_new_one(fixed, u):
    u[0] += 1
    assert fixed.first_entry(np.empty(0)) == pytest.approx(u[0] - 1)


def test_what_is_read_off_J(fixed, u, rng):
    J, columns = np.outer(u, u), rng.standard_normal((N, 3))
    i, j = rng.integers(N, size=(2, 12))
    assert np.allclose(np.broadcast_to(fixed.rows(slice(2, 5), 3.0), (3, N)), 3 * J[2:5])
    assert np.allclose(fixed.entries(i, j, 3.0), 3 * J[i, j])
    assert np.allclose(np.broadcast_to(fixed.times(columns), columns.shape), J @ columns)
    assert fixed.mean_value(columns @ columns.T) == pytest.approx(np.sum(columns @ columns.T * J))


def test_centring_removes_the_vector_and_nothing_else(fixed, u, rng):
    V, P = rng.standard_normal((N, 3)), np.eye(N) - np.outer(u, u)
    assert np.allclose(fixed.centre(V), P @ V)
    assert np.allclose(fixed.centre(V[:, 0]), P @ V[:, 0])
    assert np.allclose(fixed.centre_both(V @ V.T), P @ V @ V.T @ P)


def test_entries_in_units_of_the_mean_matrix(fixed, u, rng):
    Q, unit = rng.standard_normal((N, N)), N * np.outer(u, u)
    assert np.allclose(fixed.relative(Q), Q / unit)
    raised = fixed.raise_entries(Q, 0.3)
    assert np.allclose(raised, np.maximum(Q, 0.3 * unit))


def test_scaling_by_the_vector(fixed, u, rng):
    scale = u if fixed.is_weighted else np.ones(N)
    Q = rng.standard_normal((N, N))
    assert np.allclose(fixed.scale_rows(Q), scale[:, None] * Q)
    assert np.allclose(fixed.scale_sparse_rows(sp.csr_matrix(Q)).toarray(), scale[:, None] * Q)
    assert np.allclose(fixed.scale_pairs(Q[2:5], slice(2, 5)), (np.outer(scale, scale) * Q)[2:5])
    assert np.allclose(fixed.share_sums(Q[2:5], slice(2, 5)), scale[2:5] ** 2 @ Q[2:5])
    assert np.allclose(fixed.sums(Q), scale @ Q)


def test_equal_weights_are_ones(xp, rng):
    ones, equal = Ones(N), Weighted(xp.full((N,), N**-0.5, dtype=xp.float64))
    V = xp.asarray(rng.standard_normal((N, N)))
    assert np.allclose(to_numpy(ones.vector(V)), to_numpy(equal.vector(V)))
    for method in ("centre", "relative"):
        assert np.allclose(to_numpy(getattr(ones, method)(V)), to_numpy(getattr(equal, method)(V)))
    assert np.allclose(to_numpy(ones.raise_entries(V, 0.1)), to_numpy(equal.raise_entries(V, 0.1)))
    assert ones.mean_value(V) == pytest.approx(equal.mean_value(V))


def test_a_copy_has_the_library_and_precision_of_its_template(xp):
    template = xp.zeros(0, dtype=xp.float32)
    q = Weighted(np.full(N, N**-0.5)).like(template).q
    assert type(q) is type(template)
    assert q.dtype == xp.float32


def test_what_constructors_take(rng):
    q = np.full(N, N**-0.5)
    assert fixed_vector(None, N) == Ones(N)
    assert fixed_vector(q, N).q is q
    given = Weighted(q)
    assert fixed_vector(given, N) is given
