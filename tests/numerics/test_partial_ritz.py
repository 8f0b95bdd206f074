"""The projection of a block needs Ritz vectors near its threshold only, and a factor for the others."""

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, solve
from sknomad._numerics import partial_ritz as partial
from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.fixed_vector import Ones
from sknomad._numerics.projections import project_spectraplex
from sknomad.solvers import ADMM, SoftAssignment, _warm_eigenspace
from sknomad.solvers._warm_eigenspace import LeadingProjector

N_POINTS, WIDTH, TOTAL = 120, 40, 15.0


def centred_basis(rng, n=N_POINTS):
    columns = rng.standard_normal((n, n - 1))
    return np.linalg.qr(columns - columns.mean(axis=0))[0]


def near_block(rng, turned=3e-4):
    """A matrix, and orthonormal columns near its leading eigenvectors, whose span is that of the latter."""
    basis = centred_basis(rng)
    values = np.r_[np.linspace(-0.2, 0.0, N_POINTS - 1 - WIDTH), np.linspace(0.1, 1.0, WIDTH)]
    A = basis @ np.diag(values) @ basis.T
    angles = turned * rng.standard_normal((WIDTH, WIDTH))
    turn = np.linalg.qr(np.eye(WIDTH) + angles - angles.T)[0]
    return A, basis[:, -WIDTH:] @ (turn * np.sign(np.diag(turn)))


def projected(found):
    """The ``W`` that a block stands for."""
    root = to_numpy(found.root)
    columns = to_numpy(found.vectors)[:, -len(root) :] @ root
    return columns @ columns.T


def exact(A):
    U, weights = project_spectraplex(A, TOTAL, Ones(len(A)))
    return (U * weights) @ U.T


def test_a_part_of_the_rotation_gives_the_whole_projection(rng, xp):
    A, V = near_block(rng)
    found = partial.partial_ritz(xp.asarray(V), xp.asarray(A @ V), TOTAL, 3e-3)
    W, wanted = projected(found), exact(A)
    assert np.trace(W) == pytest.approx(TOTAL, rel=1e-12)
    assert np.linalg.norm(W - wanted) <= 3e-3 * np.linalg.norm(wanted)
    assert found.residual <= 1e-6
    vectors = to_numpy(found.vectors)
    assert np.abs(vectors.T @ vectors - np.eye(WIDTH)).max() <= 1e-12


def test_what_couples_across_the_threshold_is_not_left_out(rng):
    A, V = near_block(rng, turned=0.3)
    assert partial.partial_ritz(V, A @ V, TOTAL, 1e-6) is None


def test_a_block_without_columns_below_the_threshold_is_too_narrow(rng):
    A, V = near_block(rng)
    above = V[:, -8:]
    assert partial.partial_ritz(above, A @ above, TOTAL, 1.0) is None


def test_what_the_block_misses_is_measured(rng):
    A, V = near_block(rng)
    outside = centred_basis(rng)[:, :WIDTH]
    tilted = np.linalg.qr(V + 1e-2 * outside)[0]
    tilted *= np.sign(np.sum(tilted * V, axis=0))
    found = partial.partial_ritz(tilted, A @ tilted, TOTAL, 0.1)
    kept = found.vectors[:, -len(found.root) :]
    missing = A @ kept - found.vectors @ (found.vectors.T @ A @ kept)
    assert found.residual == pytest.approx(np.linalg.norm(missing), rel=1e-6)


def test_it_is_for_wide_blocks_on_a_gpu(monkeypatch):
    wide, narrow = np.zeros((300, partial.PARTIAL_FROM)), np.zeros((300, partial.PARTIAL_FROM - 1))
    assert not partial.partly_pays(wide)
    monkeypatch.setattr(partial, "is_on_gpu", lambda V: True)
    assert partial.partly_pays(wide)
    assert not partial.partly_pays(narrow)


def test_a_rough_projector_follows_a_drifting_matrix(rng, monkeypatch):
    monkeypatch.setattr(_warm_eigenspace, "partly_pays", lambda V: True)
    monkeypatch.setattr(_warm_eigenspace, "LARGEST_SHARE_CPU", 0.6)
    A, _ = near_block(rng)
    projector, used = LeadingProjector(TOTAL, exact_limit=N_POINTS, fixed=Ones(N_POINTS)), 0
    projector.roughness = 3e-3
    for _ in range(15):
        noise = rng.standard_normal(A.shape)
        A = A + 1e-4 * (noise + noise.T)
        U, weights = projector.project(A)
        used += projector._partial is not None
        wanted = exact(A)
        assert weights.sum() == pytest.approx(TOTAL, rel=1e-10)
        assert np.abs(np.sum(U * U, axis=0) - 1).max() <= 1e-12
        assert np.linalg.norm((U * weights) @ U.T - wanted) <= 0.02 * np.linalg.norm(wanted)
    assert used >= 10


def test_steps_certify_as_with_whole_rotations(rng, monkeypatch):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((150, 2))), 8)
    *_, soft = SoftAssignment(device="cpu").iterates(problem)
    solver, tries = ADMM(exact_below=2, excursion_gap=1e-3, device="cpu"), []
    whole = solve(problem, solver, tol=1e-3, start=soft)
    original = _warm_eigenspace.partial_ritz
    monkeypatch.setattr(_warm_eigenspace, "partly_pays", lambda V: True)
    monkeypatch.setattr(_warm_eigenspace, "partial_ritz", lambda *a: tries.append(original(*a)) or tries[-1])
    partly = solve(problem, solver, tol=1e-3, start=soft)
    assert sum(one is not None for one in tries) >= 5
    assert partly.is_certified
    assert partly.n_iter <= 1.5 * whole.n_iter
