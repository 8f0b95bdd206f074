"""Projections on the simplex and the spectraplex, and the exact removal of the ones vector."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import complement_of_ones
from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.block_eigen import orthonormal
from sknomad._numerics.fixed_vector import Ones
from sknomad._numerics.projections import (
    ky_fan_sum,
    lift,
    project_simplex,
    project_spectraplex,
    restrict,
    simplex_threshold,
)

entries = st.floats(-1e3, 1e3, allow_subnormal=False)
vectors = hnp.arrays(np.float64, st.integers(1, 12), elements=entries)
totals = st.floats(1e-3, 1e3)
seeds = st.integers(0, 2**32 - 1)


def symmetric(rng, n, kind="random"):
    """A symmetric matrix; the special kinds have eigenvalues that could be mistaken for that of the ones vector."""
    A = rng.standard_normal((n, n))
    return {
        "random": A + A.T,
        "zero": np.zeros((n, n)),
        "low rank": np.outer(A[:, 0], A[:, 0]),
        "all negative": -A @ A.T - np.eye(n),
        "identity": np.eye(n),
        "ones on top": A + A.T + 1e3 * np.ones((n, n)),
        "ones below": A + A.T - 1e3 * np.ones((n, n)),
    }[kind]


KINDS = ["random", "zero", "low rank", "all negative", "identity", "ones on top", "ones below"]
matrices = st.builds(
    lambda seed, n, kind: symmetric(np.random.default_rng(seed), n, kind),
    seeds,
    st.integers(2, 10),
    st.sampled_from(KINDS),
)


def spectraplex_point(A, total):
    U, weights = project_spectraplex(A, total, Ones(len(A)))
    return (U * weights) @ U.T


def feasible_point(rng, n, total):
    """Some psd matrix of the given trace whose rows sum to zero."""
    B = complement_of_ones(n) @ rng.standard_normal((n - 1, rng.integers(1, n)))
    return B @ B.T * (total / np.sum(B * B))


# The simplex.


@given(vectors, totals)
def test_simplex_projection_is_feasible_and_idempotent(v, total):
    p = project_simplex(v, total)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(total, rel=1e-9, abs=1e-12 * np.abs(v).max())
    assert np.allclose(project_simplex(p, total), p, rtol=0, atol=1e-12 * total + 1e-12 * np.abs(v).max())


@given(vectors, totals, seeds)
def test_simplex_projection_satisfies_the_variational_inequality(v, total, seed):
    p = project_simplex(v, total)
    others = np.vstack([total * np.random.default_rng(seed).dirichlet(np.ones(len(v)), 5), total * np.eye(len(v))])
    scale = max(np.abs(v).max(), total, 1.0)
    assert ((others - p) @ (v - p)).max() <= 1e-11 * scale**2


@given(st.integers(1, 12), totals, seeds, st.floats(1e-6, 10))
def test_simplex_projection_is_nonexpansive(n, total, seed, step):
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(n) * total
    w = v + step * rng.standard_normal(n)
    moved = np.linalg.norm(project_simplex(v, total) - project_simplex(w, total))
    assert moved <= np.linalg.norm(v - w) + 1e-12 * (total + step)


@given(vectors, totals)
def test_threshold_solves_its_equation(v, total):
    t = simplex_threshold(v, total)
    scale = max(np.abs(v).max(), total)
    assert np.maximum(v - t, 0).sum() == pytest.approx(total, rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 1e100, 1e300])
def test_simplex_projection_keeps_its_sum_whatever_the_size_of_the_values(rng, size):
    # Values that dwarf the total must not cancel it: a wrong trace of Q is a false lower bound.
    for total in (0.3, 1.7):
        for v in (rng.random(7), np.ones(7), np.array([1, 1, 1, 0.1, 0.1, 0.1, -1])):
            p = project_simplex(size * v, total)
            assert p.min() >= 0
            assert p.sum() == pytest.approx(total, rel=1e-12)


def test_simplex_projection_by_hand():
    assert np.allclose(project_simplex(np.array([3.0, 1.0, -5.0]), 1), [1, 0, 0])
    assert np.allclose(project_simplex(np.array([1.0, 1.0, 1.0]), 1.5), 0.5)
    assert np.allclose(project_simplex(np.array([-1.0, -2.0]), 1), [1, 0])
    assert np.array_equal(project_simplex(np.array([5.0, 2.0]), 0), [0, 0])


# The ones vector.


@given(matrices)
def test_restriction_has_the_spectrum_on_the_complement_of_ones(A):
    basis = complement_of_ones(len(A))
    expected = np.linalg.eigvalsh(basis.T @ A @ basis)
    assert np.allclose(
        np.linalg.eigvalsh(restrict(A, Ones(len(A)))), expected, rtol=0, atol=1e-13 * len(A) * np.linalg.norm(A)
    )


@given(matrices)
def test_restriction_and_lift_are_adjoint(A):
    Z = np.eye(len(A) - 1)
    U = lift(Z, Ones(len(Z) + 1))
    assert np.allclose(
        U.T @ A @ U, restrict(A, Ones(len(A))), rtol=0, atol=1e-13 * len(A) * max(np.linalg.norm(A), 1e-300)
    )
    assert np.allclose(U.T @ U, Z, atol=1e-14)


@given(st.integers(2, 200), seeds)
def test_lifted_columns_sum_to_zero(n, seed):
    Z = np.random.default_rng(seed).standard_normal((n - 1, 3))
    assert np.abs(lift(Z, Ones(n)).sum(axis=0)).max() <= 1e-14 * n * np.linalg.norm(Z)


@pytest.mark.parametrize("multiple", [0.0, 1.0, -1.0, 1e8, -1e8])
def test_restriction_does_not_see_multiples_of_ones(rng, multiple):
    A = symmetric(rng, 9)
    assert np.allclose(
        restrict(A + multiple, Ones(len(A))), restrict(A, Ones(len(A))), rtol=0, atol=1e-14 * max(abs(multiple), 1) * 9
    )


# The spectraplex.


@given(matrices, totals)
def test_spectraplex_projection_is_feasible(A, total):
    U, weights = project_spectraplex(A, total, Ones(len(A)))
    n = len(A)
    assert U.shape[0] == n
    assert 1 <= U.shape[1] <= n - 1
    assert weights.min() > 0
    assert weights.sum() == pytest.approx(total, rel=1e-10, abs=1e-12 * np.linalg.norm(A))
    assert np.abs(U.sum(axis=0)).max() <= 1e-13 * n
    assert np.allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)


@given(matrices, totals)
def test_spectraplex_projection_is_idempotent(A, total):
    W = spectraplex_point(A, total)
    assert np.allclose(spectraplex_point(W, total), W, rtol=0, atol=1e-11 * (total + np.linalg.norm(A)))


@given(matrices, totals, seeds)
def test_spectraplex_projection_satisfies_the_variational_inequality(A, total, seed):
    rng = np.random.default_rng(seed)
    W = spectraplex_point(A, total)
    scale = max(np.linalg.norm(A), total)
    for _ in range(5):
        other = feasible_point(rng, len(A), total)
        assert np.sum((A - W) * (other - W)) <= 1e-11 * scale**2


@given(matrices, totals, seeds)
def test_spectraplex_projection_is_nonexpansive(A, total, seed):
    step = symmetric(np.random.default_rng(seed), len(A))
    moved = np.linalg.norm(spectraplex_point(A + step, total) - spectraplex_point(A, total))
    assert moved <= np.linalg.norm(step) + 1e-11 * (np.linalg.norm(A) + total)


def test_ones_vector_gets_no_mass_though_it_has_the_largest_eigenvalue():
    # All other eigenvalues are -1, that of the ones vector is 0 or 99: an eigendecomposition of A itself would take it.
    for top in (0.0, 99.0):
        A = -np.eye(6) + (1 + top) / 6
        assert np.allclose(spectraplex_point(A, 2.0), 2 / 5 * (np.eye(6) - 1 / 6))


# Sums of the largest values.


@given(hnp.arrays(np.float64, st.integers(1, 6), elements=entries), st.floats(0, 1))
@example(np.array([-3.0, -1.0, -2.0]), 1.0)
@example(np.array([1.0, 1.0, 0.0]), 0.5)
def test_ky_fan_sum_is_the_best_choice(values, share):
    count = share * len(values)
    whole = math.floor(count)
    indices = range(len(values))
    best = max(
        (
            sum(values[list(chosen)]) + (count - whole) * (values[extra] if extra is not None else 0)
            for chosen in itertools.combinations(indices, whole)
            for extra in ([i for i in indices if i not in chosen] or [None])
        ),
    )
    assert ky_fan_sum(values, count) == pytest.approx(best, rel=1e-12, abs=1e-9)


# The same text on every array library.


def test_array_libraries_agree(xp, rng):
    fixed = Ones(8)
    for kind in KINDS:
        A = symmetric(rng, 8, kind)
        B = xp.asarray(A)
        values, weights = xp.asarray(A[0]), project_simplex(A[0], 1.3)
        assert np.allclose(
            to_numpy(restrict(B, fixed)), restrict(A, fixed), rtol=0, atol=1e-12 * (1 + np.linalg.norm(A))
        )
        assert np.allclose(to_numpy(project_simplex(values, 1.3)), weights, rtol=0, atol=1e-10)
        assert simplex_threshold(values, 1.3) == pytest.approx(simplex_threshold(A[0], 1.3))
        assert ky_fan_sum(values, 2.5) == pytest.approx(ky_fan_sum(A[0], 2.5))
        U, weights = (to_numpy(part) for part in project_spectraplex(B, 2.0, fixed))
        W = spectraplex_point(A, 2.0)
        assert np.allclose((U * weights) @ U.T, W, rtol=0, atol=1e-9)
    assert type(lift(xp.asarray(A[1:, :2]), fixed)) is type(B)


def test_single_precision_stays_single(xp, rng):
    A = xp.asarray(symmetric(rng, 6).astype(np.float32))
    U, weights = project_spectraplex(A, 1.5, Ones(6))
    assert U.dtype == weights.dtype == xp.float32
    assert float(xp.sum(weights)) == pytest.approx(1.5, rel=1e-5)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_orthonormal_keeps_the_span(xp, rng, condition, dtype):
    directions = np.linalg.qr(rng.standard_normal((60, 8)))[0]
    scales = np.geomspace(1, 1 / condition, 8)
    mixing = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    V = (directions * scales) @ mixing * np.geomspace(1e-3, 1e3, 8)
    Z = to_numpy(orthonormal(xp.asarray(V, dtype=getattr(xp, dtype)))).astype(float)
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(Z.T @ Z, np.eye(8), rtol=0, atol=100 * eps)
    if condition * eps < 1e-3:
        lost = directions - Z @ (Z.T @ directions)
        assert np.abs(lost).max() <= 1e3 * condition * eps


def test_orthonormal_of_dependent_columns_is_still_orthonormal(xp, rng):
    column = rng.standard_normal((20, 1))
    Z = to_numpy(orthonormal(xp.asarray(np.hstack([column, column, 0 * column]))))
    np.testing.assert_allclose(Z.T @ Z, np.eye(3), rtol=0, atol=1e-12)
