"""Projections on the Fantope: nearest points, and blocks that keep up with matrices that change slowly."""

import numpy as np
import pytest

from sknomad._landmark import fantope
from sknomad._landmark.fantope import FantopeProjector


def symmetric(n, rng):
    A = rng.standard_normal((n, n))
    return A + A.T


def exact(A, total):
    return FantopeProjector(total).project(A)


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    A = symmetric(9, rng)
    Z = exact(A, 3.5)
    values = np.linalg.eigvalsh(Z)
    assert np.trace(Z) == pytest.approx(3.5)
    assert values.min() >= -1e-12
    assert values.max() <= 1 + 1e-12
    for _ in range(20):  # the variational inequality
        other = exact(A + rng.standard_normal() * np.diag(rng.standard_normal(9)), 3.5)
        assert np.sum((A - Z) * (other - Z)) <= 1e-9


@pytest.fixture
def decompositions(monkeypatch):
    """Counts full decompositions; blocks are tried from small matrices on."""
    monkeypatch.setattr(fantope, "SMALLEST_FOR_BLOCKS", 50)
    counted, plain = [], FantopeProjector._exactly
    monkeypatch.setattr(FantopeProjector, "_exactly", lambda self, A: counted.append(1) or plain(self, A))
    return counted


def spread_spectrum(rng, n=150):
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (basis * np.concatenate([np.linspace(2, 1, 10), rng.uniform(-1, 0.2, n - 10)])) @ basis.T


def test_blocks_follow_a_matrix_that_changes_slowly(decompositions):
    rng = np.random.default_rng(1)
    A, projector = spread_spectrum(rng), FantopeProjector(4.5)
    for _ in range(20):
        A = A + 2e-3 * symmetric(len(A), rng) / np.sqrt(len(A))
        found = projector.project(A)
        values, vectors = np.linalg.eigh(A)
        right = (vectors * fantope.fantope_shares(values, 4.5)) @ vectors.T
        assert np.linalg.norm(found - right) <= 0.05 * np.linalg.norm(right)
        assert np.trace(found) == pytest.approx(4.5)
    assert len(decompositions) <= 3


def test_a_jump_is_met_by_a_decomposition(decompositions):
    rng = np.random.default_rng(2)
    projector = FantopeProjector(4.5)
    for _ in range(3):
        A = spread_spectrum(rng)
        found = projector.project(A)
        values, vectors = np.linalg.eigh(A)
        right = (vectors * fantope.fantope_shares(values, 4.5)) @ vectors.T
        assert np.linalg.norm(found - right) <= 0.05 * np.linalg.norm(right)


def test_other_libraries_are_taken(decompositions):
    xp = pytest.importorskip("array_api_strict")
    A, projector = spread_spectrum(np.random.default_rng(3)), FantopeProjector(4.5)
    for _ in range(2):
        found = projector.project(xp.asarray(A))
    assert np.trace(np.asarray(found)) == pytest.approx(4.5)
