"""Eigendecompositions in the precision of the matrix: in every library, and where NumPy's own loop is no help."""

import numpy as np
import pytest

from sknomad._numerics import arrays
from sknomad._numerics.arrays import eigh, to_numpy


def symmetric(rng, n=40):
    A = rng.standard_normal((n, n))
    return A + A.T


def assert_decomposes(A, values, vectors):
    """All eigenvalues, ascending, with orthonormal vectors, up to rounding in the precision they have."""
    values, vectors = to_numpy(values), to_numpy(vectors)
    rounding = 100 * np.finfo(values.dtype).eps
    assert np.all(np.diff(values) >= 0)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=rounding * np.linalg.norm(A, 2))
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=rounding * np.linalg.norm(A, 2))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(A)), atol=rounding)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_library_in_either_precision(xp, rng, dtype):
    A = symmetric(rng)
    values, vectors = eigh(xp.asarray(A, dtype=getattr(xp, dtype)))
    assert values.dtype == vectors.dtype == getattr(xp, dtype)
    assert_decomposes(A, values, vectors)


def test_single_precision_is_not_computed_in_double(rng):
    """Half the time is what the detour is for: a result as exact as double's would mean that it is not taken."""
    A = symmetric(rng, 200).astype(np.float32)
    error = np.abs(eigh(A)[0] - np.linalg.eigvalsh(A.astype(np.float64))).max()
    rounded = np.abs(np.linalg.eigh(A)[0] - np.linalg.eigvalsh(A.astype(np.float64))).max()
    assert error > rounded


def failing(A, signature):
    return np.full(len(A), np.nan, dtype=A.dtype), A


@pytest.mark.parametrize("loop", [None, failing], ids=["missing", "does not converge"])
def test_without_numpys_own_loop_its_public_function_answers(monkeypatch, rng, loop):
    monkeypatch.setattr(arrays, "_EIGH_OF_LOWER", loop)
    A = symmetric(rng)
    assert_decomposes(A, *eigh(A.astype(np.float32)))


def test_a_matrix_that_is_not_finite_is_refused_as_by_numpy():
    with pytest.raises(np.linalg.LinAlgError):
        eigh(np.full((4, 4), np.nan, dtype=np.float32))
