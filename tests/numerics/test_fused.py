"""Fused passes over a state on a GPU are the plain passes; without a GPU the plain ones run."""

import numpy as np
import pytest

from sknomad import Gram, Iterate, KMeansSDP, SpectralPoint
from sknomad._certificate.iterate import NegativePart
from sknomad._numerics import fused, rough
from sknomad._numerics.arrays import inverse_of_lower, to_numpy
from sknomad._numerics.fixed_vector import Ones, Weighted
from sknomad.solvers import _admm_state as passes


def state(n, rng):
    T = rng.standard_normal((n, n)) / n
    return T + T.T


def factor(n, rank, rng):
    return np.linalg.qr(rng.standard_normal((n, rank)))[0], rng.random(rank)


def fixed_vectors(n, rng):
    weights = rng.random(n) + 0.1
    return [Ones(n), Weighted(weights / np.linalg.norm(weights))]


def test_arrays_on_a_cpu_are_passed_over_plainly(xp):
    T = xp.zeros((30_001, 1))
    assert not fused.can_fuse(T)
    assert not rough.can_be_rough(T)


def test_inverse_of_a_triangle(xp, rng):
    L = np.tril(rng.standard_normal((6, 6))) + 4 * np.eye(6)
    assert to_numpy(inverse_of_lower(xp.asarray(L))) @ L == pytest.approx(np.eye(6), abs=1e-12)


class Stub:
    """The mathematics of the kernels in NumPy, and a count of their calls."""

    def __init__(self, monkeypatch):
        self.calls = 0
        monkeypatch.setattr(fused, "can_fuse", lambda T: True)
        monkeypatch.setattr(fused, "part_times", self.part_times)
        monkeypatch.setattr(fused, "advance_and_sum", self.advance_and_sum)

    def part_times(self, T, V, *, is_negative=False):
        self.calls += 1
        return (np.maximum(-T, 0) if is_negative else np.abs(T)) @ V

    def advance_and_sum(self, T, U, weights, relaxation, fixed):
        self.calls += 1
        before = np.maximum(T, 0)
        step = (U * weights) @ U.T + fixed.rows() - before
        T += relaxation * step
        after = np.maximum(T, 0)
        return np.array([np.sum(part**2) for part in (step, after - before, after, T - after)])


@pytest.mark.parametrize("is_weighted", [False, True])
def test_passes_hand_the_same_to_the_kernels(is_weighted, rng, monkeypatch):
    n = 23
    T, (U, weights), V = state(n, rng), factor(n, 5, rng), rng.standard_normal((n, 3))
    fixed = fixed_vectors(n, rng)[is_weighted]
    gram = passes.GramOperator(Gram.from_data(rng.standard_normal((n, 2))), np.empty(0))

    def results():
        first, second = T.copy(), T.copy()
        passes.advance(first, SpectralPoint(U, weights, fixed), 1.7)
        residuals = passes.advance_and_measure(second, SpectralPoint(U, weights, fixed), 1.7)
        products = [passes.StepMatrix(T, gram, 2.0) @ V, NegativePart(T, 3.0).times(V, [slice(0, 9), slice(9, n)])]
        return [first, second, np.array([residuals.primal, residuals.dual]), *products]

    plain = results()
    stub = Stub(monkeypatch)
    for found, wanted in zip(results(), plain, strict=True):
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-14)
    assert stub.calls == 4


@pytest.mark.gpu
@pytest.mark.parametrize(("n", "columns"), [(3000, 3000), (3001, 3016), (3001, 3001)])
def test_kernels_do_what_plain_passes_do(n, columns):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(n + columns)
    T = torch.full((n, columns), torch.nan, device="cuda")[:, :n]  # padding is never used
    T[:, :] = torch.asarray(state(n, rng))
    for count in (1, 64, 65, 300):
        V = torch.asarray(rng.standard_normal((n, count)), dtype=torch.float32, device="cuda")
        for is_negative, part in ((False, torch.abs(T)), (True, torch.clip(-T, min=0))):
            wanted = part.double() @ V.double()
            found = fused.part_times(T, V, is_negative=is_negative)
            assert found.shape == (n, count)
            assert float(torch.linalg.norm(found - wanted)) <= 2e-5 * float(torch.linalg.norm(wanted))
    U, weights = (torch.asarray(part, dtype=torch.float32, device="cuda") for part in factor(n, 37, rng))
    for fixed in fixed_vectors(n, rng):
        fixed = fixed.like(T)
        moved = T.clone()
        wanted = passes.advance_and_measure(moved, SpectralPoint(U, weights, fixed), 1.8)
        found = T.clone() if columns == n else torch.empty((n, columns), device="cuda")[:, :n]
        found[:, :] = T
        sums = fused.advance_and_sum(found, U, weights, 1.8, fixed)
        assert float(torch.linalg.norm(found - moved)) <= 1e-5 * float(torch.linalg.norm(moved - T))
        residuals = passes._residuals(*map(float, sums))
        assert residuals.primal == pytest.approx(wanted.primal, rel=1e-4)
        assert residuals.dual == pytest.approx(wanted.dual, rel=1e-4)


@pytest.mark.gpu
def test_only_large_float32_states_on_a_gpu_are_fused():
    torch = pytest.importorskip("torch")
    large = torch.empty((30_001, 4), device="cuda")
    assert fused.can_fuse(large)
    assert not fused.can_fuse(large.double())
    assert not fused.can_fuse(large[:30_000])
    assert not fused.can_fuse(large[:, ::2])


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1000, 1003])
def test_rough_products_have_four_digits(n):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(n)
    A, V = torch.asarray(state(n, rng), device="cuda"), torch.asarray(rng.standard_normal((n, 37)), device="cuda")
    assert rough.can_be_rough(A)
    found, wanted = rough.RoughMatrix(A) @ V.float(), A @ V
    assert float(torch.linalg.norm(found - wanted)) <= 1e-4 * float(torch.linalg.norm(wanted))


@pytest.mark.gpu
def test_inverse_of_a_triangle_on_a_gpu():
    torch = pytest.importorskip("torch")
    L = torch.tril(torch.rand((50, 50), dtype=torch.float64, device="cuda")) + 9 * torch.eye(50, device="cuda")
    assert float(torch.max(torch.abs(inverse_of_lower(L) @ L - torch.eye(50, device="cuda")))) <= 1e-12


@pytest.mark.gpu
def test_padded_state_is_as_good_as_any():
    torch = pytest.importorskip("torch")
    n = 1003
    rng = np.random.default_rng(1)
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((n, 3))), 5)
    U, weights = factor(n, 4, rng)
    iterate = Iterate(SpectralPoint(U, weights, Ones(n)), N=np.abs(state(n, rng)))
    template = torch.empty(0, dtype=torch.float64, device="cuda")
    T = passes.warm_state(problem, iterate, 2.0, template)
    assert T.shape == (n, n)
    wanted = passes.warm_state(problem, iterate, 2.0, np.empty(0))
    assert to_numpy(T) == pytest.approx(wanted, rel=1e-12, abs=1e-14)
