"""States that no solver left: refused in a sentence, or left out where they only save time."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from sknomad import Gram, KMeansSDP, solve
from sknomad._numerics.arrays import to_numpy
from sknomad.solvers import ADMM, BurerMonteiro, ConditionalGradient, SoftAssignment
from sknomad.solvers._warm_eigenspace import WarmBlock

N_POINTS = 60
PLACES = [np.zeros(0), np.zeros(0, np.float32)]
NO_REALS = [np.nan, 1 + 2j, "many", [], np.zeros(3), 10**400, True]
NO_SIZES = [*NO_REALS, None, -1.0, 0.0, 1e300, 1e-300]
NO_COUNTS = [*NO_REALS, -1, 1.5]
NO_ARRAYS = [
    lambda a: a * np.nan,
    lambda a: a + np.inf,
    lambda a: a + 1e40,
    lambda a: a[:-1],
    lambda a: a[:0],
    lambda a: a[..., None],
    lambda a: a[0],
    lambda a: a + 1j,
    lambda a: a.astype(object),
    lambda a: a.astype(str),
    lambda a: a.tolist(),
    lambda a: 3,
]


def moons(*, is_weighted=False, K=4):
    X = make_moons(N_POINTS, noise=0.05, random_state=0)[0]
    weights = np.linspace(0.5, 2, N_POINTS) if is_weighted else None
    return KMeansSDP(Gram.from_data(X, weights=weights), K)


def last_step(solver, problem, count, start=None):
    iterates = solver.iterates(problem, start)
    for _ in range(count - 1):
        next(iterates)
    return next(iterates)


def with_state(iterate, **changes):
    return replace(iterate, state=replace(iterate.state, **changes))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda block: replace(block, vectors=block.vectors * np.nan),
        lambda block: replace(block, vectors=block.vectors * np.inf),
        lambda block: replace(block, vectors=block.vectors.astype(np.float64) * 1e300),
        lambda block: replace(block, vectors=0 * block.vectors),
        lambda block: replace(block, vectors=np.ones_like(block.vectors) / 8),
        lambda block: replace(block, vectors=block.vectors[:-1]),
        lambda block: replace(block, vectors=block.vectors.ravel()),
        lambda block: replace(block, vectors=block.vectors[:, :0], values=block.values[:0]),
        lambda block: replace(block, vectors=np.tile(block.vectors, 4), values=np.tile(block.values, 4)),
        lambda block: replace(block, vectors=block.vectors + 1j),
        lambda block: replace(block, vectors=block.vectors.astype(object)),
        lambda block: replace(block, vectors=None),
        lambda block: replace(block, values=block.values[:2]),
        lambda block: replace(block, values=block.values[0]),
        lambda block: replace(block, values=block.values * np.nan),
        lambda block: replace(block, values=block.values.astype(np.float64) + 1e300),
        lambda block: replace(block, values=0 * block.values, lowest=0.0),
        lambda block: replace(block, values=block.values.tolist()),
        lambda block: replace(block, lowest=np.nan),
        lambda block: replace(block, lowest=-np.inf),
        lambda block: replace(block, lowest=1e6),
        lambda block: replace(block, lowest="low"),
        lambda block: replace(block, lowest=10**400),
        lambda block: replace(block, age=None),
        lambda block: replace(block, age=-(10**9)),
        lambda block: replace(block, age=10**400),
        lambda block: "block",
    ],
)
@pytest.mark.parametrize("place", PLACES, ids=["double", "single"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_forged_leading_block_costs_a_decomposition_and_nothing_else(spoil, place, is_weighted):
    problem, solver = moons(is_weighted=is_weighted), ADMM(exact_below=2, device=place)
    middle, end = last_step(solver, problem, 30), last_step(solver, problem, 40)
    assert isinstance(middle.state.block, WarmBlock)
    found = last_step(solver, problem, 10, start=with_state(middle, block=spoil(middle.state.block)))
    difference = np.linalg.norm(to_numpy(found.point.dense()) - to_numpy(end.point.dense()))
    assert difference <= 1e-2 * np.linalg.norm(to_numpy(end.point.dense()))


def assert_refused(problem, solver, start):
    with pytest.raises((TypeError, ValueError), match=r" must .*\.$") as caught:
        solve(problem, solver, start=start, max_iter=5)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.traceback[-1].path.match("sknomad/*/*.py")


@pytest.mark.parametrize("bad", NO_ARRAYS)
def test_admm_refuses_arrays_that_are_no_state(bad):
    problem, solver = moons(), ADMM(anchor_from=3)
    start = last_step(solver, problem, 8)
    assert_refused(problem, solver, with_state(start, T=bad(start.state.T)))
    anchor = start.state.anchor
    assert_refused(problem, solver, with_state(start, anchor=replace(anchor, T0=bad(anchor.T0))))


@pytest.mark.parametrize("bad", NO_SIZES)
def test_admm_refuses_numbers_that_are_no_penalty(bad):
    problem = moons()
    assert_refused(problem, ADMM(), with_state(last_step(ADMM(), problem, 3), rho=bad))


@pytest.mark.parametrize("bad", NO_COUNTS)
def test_admm_refuses_numbers_that_count_no_steps(bad):
    problem, solver = moons(), ADMM(anchor_from=3)
    start = last_step(solver, problem, 8)
    assert_refused(problem, solver, with_state(start, step=bad))
    assert_refused(problem, solver, with_state(start, sought_since=bad))
    assert_refused(problem, solver, with_state(start, trust=replace(start.state.trust, step=bad)))
    assert_refused(problem, solver, with_state(start, anchor=replace(start.state.anchor, count=bad)))


@pytest.mark.parametrize("bad", NO_REALS)
def test_admm_refuses_what_is_no_residual_no_anchor_and_no_value(bad):
    problem, solver = moons(), ADMM(anchor_from=3)
    start = last_step(solver, problem, 8)
    for name in ("residuals", "anchor", "trust"):
        assert_refused(problem, solver, with_state(start, **{name: bad}))
    for name in ("goal", "far", "value"):
        assert_refused(problem, solver, with_state(start, trust=replace(start.state.trust, **{name: bad})))
    for name in ("primal", "dual"):
        assert_refused(problem, solver, with_state(start, residuals=replace(start.state.residuals, **{name: bad})))
    for name in ("first", "last"):
        assert_refused(problem, solver, with_state(start, anchor=replace(start.state.anchor, **{name: bad})))


@pytest.mark.parametrize("bad", [None, 1, "many"])
def test_admm_refuses_what_is_neither_true_nor_false(bad):
    problem = moons()
    assert_refused(problem, ADMM(), with_state(last_step(ADMM(), problem, 3), keeps_rows=bad))


@pytest.mark.parametrize("bad", NO_SIZES)
@pytest.mark.parametrize("follower", [SoftAssignment(), ADMM()], ids=["soft", "admm"])
def test_soft_assignments_refuse_numbers_that_are_no_multiplier(bad, follower):
    problem = moons()
    assert_refused(problem, follower, with_state(last_step(SoftAssignment(), problem, 2), lam=bad))


@pytest.mark.parametrize("bad", NO_COUNTS)
def test_soft_assignments_refuse_numbers_that_count_nothing(bad):
    problem, solver = moons(), SoftAssignment()
    start = last_step(solver, problem, 2)
    assert_refused(problem, solver, with_state(start, stalled=bad))
    assert_refused(problem, solver, with_state(start, growth_left=bad))


@pytest.mark.parametrize("bad", NO_REALS)
def test_soft_assignments_refuse_what_is_no_value(bad):
    problem, solver = moons(), SoftAssignment()
    start = last_step(solver, problem, 2)
    assert_refused(problem, solver, with_state(start, best=bad))
    assert_refused(problem, solver, with_state(start, gains=bad))
    assert_refused(problem, solver, with_state(start, gains=(0.5, bad)))


@pytest.mark.parametrize("bad", NO_ARRAYS)
def test_soft_assignments_refuse_what_are_no_thresholds(bad):
    problem, solver = moons(), SoftAssignment()
    start = last_step(solver, problem, 2)
    assert_refused(problem, solver, with_state(start, thresholds=bad(start.state.thresholds)))


@pytest.mark.parametrize("bad", NO_ARRAYS)
def test_the_papers_solvers_refuse_arrays_that_are_no_state(bad):
    problem = moons()
    for solver, names in ((BurerMonteiro("K"), ("rows",)), (ConditionalGradient(), ("W", "G", "v"))):
        start = last_step(solver, problem, 2)
        for name in names:
            assert_refused(problem, solver, with_state(start, **{name: bad(getattr(start.state, name))}))


@pytest.mark.parametrize("bad", NO_COUNTS)
def test_conditional_gradients_refuse_numbers_that_count_no_steps(bad):
    problem, solver = moons(), ConditionalGradient()
    assert_refused(problem, solver, with_state(last_step(solver, problem, 2), step=bad))


@pytest.mark.parametrize("bad", NO_REALS)
def test_low_rank_steps_refuse_numbers_that_are_no_multiplier(bad):
    problem, solver = moons(), BurerMonteiro("K")
    assert_refused(problem, solver, with_state(last_step(solver, problem, 2), trace=bad))
