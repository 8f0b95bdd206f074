"""Projections of nearly full rank, by the few eigenvectors that they do not keep."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from sknomad import DensePoint, Gram, KMeansSDP, SpectralPoint
from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.fixed_vector import Ones, Weighted
from sknomad._numerics.projections import lift, project_simplex, project_spectraplex, restrict
from sknomad.solvers import ADMM
from sknomad.solvers import _trailing_block as trailing
from sknomad.solvers._thin_end import ThinEndProjector

N_POINTS, N_BELOW = 90, 3


def spread(rng, n=N_POINTS, below=N_BELOW):
    """A symmetric matrix whose projection of trace n/4 misses about `below` directions."""
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.r_[np.linspace(-0.3, -0.1, below), np.linspace(0.05, 0.5, n - below)]
    return basis @ np.diag(values) @ basis.T


def first_block(A, total, fixed):
    values, Z = np.linalg.eigh(restrict(A, fixed))
    rank = int(np.sum(project_simplex(values, total) > 0))
    size = trailing.trailing_size(fixed.n, rank)
    return trailing.TrailingBlock(lift(Z[:, :size], fixed), values[:size], float(values[-1]), 0)


def exact(A, total, fixed):
    U, weights = project_spectraplex(A, total, fixed)
    return SpectralPoint(U, weights, fixed).dense(), len(weights)


def fixed_vectors(rng, n=N_POINTS):
    weights = rng.random(n) + 0.5
    return [Ones(n), Weighted(weights / np.linalg.norm(weights))]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_drifting_matrix_is_followed(rng, is_weighted):
    A, fixed, total = spread(rng), fixed_vectors(rng)[is_weighted], N_POINTS / 4
    block = first_block(A, total, fixed)
    for _ in range(20):
        noise = rng.standard_normal(A.shape)
        A = A + 2e-4 * (noise + noise.T)
        found = trailing.project_by_complement(A, total, fixed, block)
        wanted, rank = exact(A, total, fixed)
        assert found.rank == rank
        assert np.linalg.norm(found.Q - wanted) <= trailing.RESIDUAL_TOLERANCE * np.sqrt(total)
        assert np.abs(found.Q - found.Q.T).max() <= 1e-15
        assert np.trace(found.Q) == pytest.approx(total + 1, rel=1e-12)
        block = found.block


def test_every_array_library_gives_the_same(rng, xp):
    A, fixed, total = spread(rng), Ones(N_POINTS), N_POINTS / 4
    block = first_block(A, total, fixed)
    here = trailing.project_by_complement(A, total, fixed, block)
    there = trailing.project_by_complement(xp.asarray(A), total, fixed, block.like(xp.zeros(1, dtype=xp.float64)))
    assert to_numpy(there.Q) == pytest.approx(here.Q, abs=1e-12)
    assert there.rank == here.rank


def test_a_matrix_that_is_feasible_up_to_a_shift_misses_nothing(rng):
    # All eigenvalues stay above the threshold: nothing but the trace has to change.
    A, fixed, total = spread(rng, below=0), Ones(N_POINTS), N_POINTS / 4
    found = trailing.project_by_complement(A, total, fixed, first_block(A, total, fixed))
    assert found.rank == N_POINTS - 1
    assert np.allclose(found.Q, exact(A, total, fixed)[0], rtol=0, atol=1e-12)


def test_a_block_that_has_become_too_narrow_is_not_believed(rng):
    A, fixed, total = spread(rng), Ones(N_POINTS), N_POINTS / 4
    block = first_block(A, total, fixed)
    assert trailing.project_by_complement(spread(rng, below=30), total, fixed, block) is None


def test_a_sudden_direction_far_below_is_found(rng):
    A, fixed, total = spread(rng), Ones(N_POINTS), N_POINTS / 4
    block = first_block(A, total, fixed)
    new = fixed.centre(rng.standard_normal(N_POINTS))
    A = A - 3 * np.outer(new, new) / (new @ new)
    for _ in range(3):
        found = trailing.project_by_complement(A, total, fixed, block)
        if found is None:
            return  # a full decomposition follows, which misses nothing
        block = found.block
    assert np.allclose(found.Q, exact(A, total, fixed)[0], rtol=0, atol=1e-3)


def test_threshold_of_some_small_values_is_that_of_all(rng):
    values, total = np.sort(rng.standard_normal(50)), 40.0
    below, threshold = trailing._below(values[:30], values.sum() - total, 50)
    assert threshold == pytest.approx((values - project_simplex(values, total))[-1])
    assert below == np.sum(project_simplex(values, total) == 0)


def test_projector_changes_ends_as_ranks_change(rng):
    fixed, total = Ones(N_POINTS), N_POINTS / 4
    projector = ThinEndProjector(total, exact_limit=N_POINTS, fixed=fixed)
    wide, few = spread(rng), np.linalg.qr(rng.standard_normal((N_POINTS, 30)))[0]
    seen = []
    for share in [*np.linspace(0, 1, 40), *np.linspace(1, 0, 40)]:
        A = (1 - share) * wide + share * few @ few.T
        point, rank = projector.nearest(A)
        wanted, wanted_rank = exact(A, total, fixed)
        assert np.linalg.norm(point.dense() - wanted) <= 0.05 * np.linalg.norm(wanted)
        assert abs(rank - wanted_rank) <= 3
        seen.append(type(point))
    assert seen[1] is DensePoint
    assert seen[40] is SpectralPoint
    assert seen[-1] is DensePoint


def test_steps_are_those_of_full_decompositions():
    problem = KMeansSDP(Gram.from_data(make_moons(150, noise=0.05, random_state=0)[0]), 30)
    full, thin = (last_step(ADMM(exact_below=below), problem, 60) for below in (150, 2))
    assert isinstance(full.point, SpectralPoint)
    assert isinstance(thin.point, DensePoint)
    assert isinstance(thin.state.block, trailing.TrailingBlock)
    assert np.linalg.norm(thin.point.dense() - full.point.dense()) <= 1e-2 * np.linalg.norm(full.point.dense())


def test_a_run_goes_on_exactly_from_a_trailing_block():
    problem = KMeansSDP(Gram.from_data(make_moons(150, noise=0.05, random_state=0)[0]), 30)
    solver = ADMM(exact_below=2)
    middle, end = last_step(solver, problem, 30), last_step(solver, problem, 40)
    assert isinstance(middle.state.block, trailing.TrailingBlock)
    again = last_step(solver, problem, 10, start=middle)
    assert np.array_equal(again.point.dense(), end.point.dense())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda block: replace(block, vectors=block.vectors * np.nan),
        lambda block: replace(block, vectors=block.vectors[:100]),
        lambda block: replace(block, vectors=block.vectors[:, :0], values=block.values[:0]),
        lambda block: replace(block, values=block.values[:2]),
        lambda block: replace(block, values=block.values + 1e300),
        lambda block: replace(block, vectors=0 * block.vectors),
        lambda block: replace(block, highest=np.nan),
    ],
)
def test_a_forged_block_costs_a_decomposition_and_nothing_else(spoil):
    problem = KMeansSDP(Gram.from_data(make_moons(150, noise=0.05, random_state=0)[0]), 30)
    solver = ADMM(exact_below=2)
    middle, end = last_step(solver, problem, 30), last_step(solver, problem, 40)
    forged = replace(middle, state=replace(middle.state, block=spoil(middle.state.block)))
    found = last_step(solver, problem, 10, start=forged)
    assert np.linalg.norm(found.point.dense() - end.point.dense()) <= 1e-2 * np.linalg.norm(end.point.dense())


def last_step(solver, problem, count, start=None):
    iterates = solver.iterates(problem, start)
    for _ in range(count - 1):
        next(iterates)
    return next(iterates)
