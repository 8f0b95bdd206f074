"""Every form of ``Q`` answers every question as its matrix does, with and without weights."""

import numpy as np
import pytest

from sknomad import DensePoint, FactorPoint, Gram, KMeansSDP, MixedPoint, SoftPoint, SpectralPoint
from sknomad._numerics.fixed_vector import Ones, Weighted
from sknomad._numerics.projections import lift
from sknomad._points.mixed import interior_point, shares_for_trace
from sknomad._points.point import Point
from sknomad._points.unweighted import PlainPoint

N = 9
ROOTS = np.sqrt(np.linspace(0.3, 4, N))
FIXED = {"ones": Ones(N), "weighted": Weighted(ROOTS / np.linalg.norm(ROOTS))}


def soft_assignments(rng):
    V = rng.random((N, 4)) * (rng.random((N, 4)) < 0.6) + 0.1 * np.eye(N, 4)
    V[:, 0] += 0.05
    return V / V.sum(axis=1, keepdims=True)


def soft_matrix(V, fixed):
    u = fixed.vector(np.empty(0))
    return u[:, None] * (V / (u**2 @ V)) @ V.T * u


def spectral(rng, fixed):
    U, l = lift(np.linalg.qr(rng.standard_normal((N - 1, 3)))[0], fixed), rng.random(3)  # noqa: E741
    u = fixed.vector(np.empty(0))
    return SpectralPoint(U, l, fixed), np.outer(u, u) + (U * l) @ U.T


def dense(rng, fixed):
    B = rng.standard_normal((N, N))
    return DensePoint(B @ B.T), B @ B.T


def soft(rng, fixed):
    V = soft_assignments(rng)
    return SoftPoint(V, fixed), soft_matrix(V, fixed)


def factor(rng, fixed):
    Y = rng.standard_normal((N, 3))
    return FactorPoint(Y), Y @ Y.T


def mixed(rng, fixed):
    base, Q = spectral(rng, fixed)
    u = fixed.vector(np.empty(0))
    return MixedPoint(base, 0.2, 0.3, fixed), 0.5 * Q + 0.2 * np.eye(N) + 0.3 * np.outer(u, u)


def plain(rng, fixed):
    base, Z = mixed(rng, fixed)
    return PlainPoint(base, ROOTS), Z / np.outer(ROOTS, ROOTS)


def plain_soft(rng, fixed):
    base, Z = soft(rng, fixed)
    return PlainPoint(base, ROOTS), Z / np.outer(ROOTS, ROOTS)


@pytest.fixture(params=FIXED)
def fixed(request):
    return FIXED[request.param]


@pytest.mark.parametrize("form", [dense, spectral, soft, factor, mixed, plain, plain_soft])
def test_every_form_answers_as_its_matrix(form, fixed, rng):
    point, Q = form(rng, fixed)
    i, j = rng.integers(N, size=(2, 20))
    columns = rng.standard_normal((N, 2))
    assert isinstance(point, Point)
    assert point.n == N
    assert np.allclose(point.dense(), Q, atol=1e-13)
    assert np.allclose(point.rows(2, 5), Q[2:5], atol=1e-13)
    assert np.allclose(point.entries(i, j), Q[i, j], atol=1e-13)
    assert np.allclose(point.diagonal(), np.diagonal(Q), atol=1e-13)
    assert np.allclose(point.product(columns), Q @ columns, atol=1e-12)
    assert point.trace() == pytest.approx(np.trace(Q))


@pytest.mark.parametrize("form", [dense, spectral, soft, factor, mixed])
def test_value_is_the_inner_product_with_the_gram_matrix(form, fixed, rng):
    point, Q = form(rng, fixed)
    gram = Gram.from_data(rng.standard_normal((N, 3)), weights=ROOTS**2 if fixed.is_weighted else None)
    assert point.value(gram) == pytest.approx(np.sum(gram.dense() * Q))


@pytest.mark.parametrize("form", [soft, plain_soft])
def test_sparse_factors_multiply_to_the_matrix(form, fixed, rng):
    point, Q = form(rng, fixed)
    left, right = point.sparse_factors()
    assert left.nnz < N * 4
    assert np.allclose((left @ right).toarray(), Q, atol=1e-13)


@pytest.mark.parametrize("form", [dense, spectral, factor, mixed, plain])
def test_other_forms_have_no_sparse_factors(form, fixed, rng):
    assert form(rng, fixed)[0].sparse_factors() is None


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_one_wrong_number_is_noticed(value):
    good, bad = np.eye(N)[:, :3], np.eye(N)[:, :3]
    bad[1, 1] = value
    for form in (
        lambda U: DensePoint(np.pad(U, ((0, 0), (0, N - 3)))),
        SoftPoint,
        FactorPoint,
        lambda U: SpectralPoint(U, np.ones(3)),
    ):
        for wrap in (lambda point: point, MixedPoint, lambda point: PlainPoint(point, ROOTS)):
            assert wrap(form(good)).is_finite()
            assert not wrap(form(bad)).is_finite()
    assert not SpectralPoint(good, bad[1]).is_finite()


def test_constructors_take_the_vector_itself_or_nothing(rng):
    V, q = soft_assignments(rng), FIXED["weighted"].q
    for make in (
        SoftPoint,
        lambda V, *u: SpectralPoint(V, np.ones(4), *u),
        lambda V, *u: MixedPoint(SoftPoint(V), 0, 0, *u),
    ):
        assert make(V).fixed == Ones(N)
        assert make(V, q).fixed.q is q
        assert make(V, FIXED["weighted"]).fixed is FIXED["weighted"]


@pytest.mark.parametrize("K", [1.5, 3, 8])
def test_the_trace_is_set_and_rows_keep_their_sums(K, fixed, rng):
    point = MixedPoint(soft(rng, fixed)[0], 0.1, 0.2, fixed).with_trace(K)
    u = fixed.vector(np.empty(0))
    assert point.trace() == pytest.approx(K)
    assert np.allclose(point.product(u[:, None])[:, 0], u)
    assert point.dense().min() >= 0


def test_a_full_trace_needs_no_more():
    assert shares_for_trace(5.0, 5.0, 5) == (0.0, 0.0)


@pytest.mark.parametrize("K", [1, 2.5, N])
def test_the_interior_point_is_feasible(K, fixed, rng):
    gram = Gram.from_data(rng.standard_normal((N, 2)), weights=ROOTS**2 if fixed.is_weighted else None)
    Q, u = interior_point(KMeansSDP(gram, K)).dense(), fixed.vector(np.empty(0))
    assert np.trace(Q) == pytest.approx(K)
    assert np.allclose(Q @ u, u)
    assert Q.min() >= 0
