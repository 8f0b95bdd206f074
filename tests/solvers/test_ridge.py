"""The program with a ridge: its solution is a projection, which tells what it must satisfy."""

import itertools
import math

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, datasets
from sknomad._manifolds.survey import MOST_STEPS, SMALL_RESIDUAL
from sknomad.solvers._ridge import Ridge

# Steps after which no more is to be gained.
MANY = 1500


def after(steps, problem, **settings):
    """The point after so many steps, dense."""
    *_, last = itertools.islice(Ridge(**{"device": "cpu", "ridge": 3.0, **settings}).iterates(problem), steps)
    return np.asarray(last.point.dense())


def absolute(ridge, problem):
    """A ridge in the units of the data."""
    return ridge * problem.gram.norm / (math.sqrt(problem.n) * problem.K**1.5)


def clusterings(rng, n, K, count):
    """Feasible points of trace `K`: clusterings into `K` parts, and random mixtures of two."""
    for _ in range(count):
        pair = []
        for _ in range(2):
            labels = rng.permutation(np.r_[np.arange(K), rng.integers(0, K, n - K)])
            V = np.eye(K)[labels]
            pair.append(V / V.sum(axis=0) @ V.T)
        share = rng.uniform()
        yield pair[0]
        yield share * pair[0] + (1 - share) * pair[1]


PROBLEMS = {
    "half-rings": lambda: (datasets.moons(60, random_state=0)[0], 8),
    "noise": lambda: (np.random.default_rng(1).normal(size=(50, 6)), 12),
    "blobs": lambda: (datasets.blobs(48, random_state=0)[0], 6),
}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    X, K = PROBLEMS[request.param]()
    return KMeansSDP(Gram.from_data(X), K)


def test_the_limit_is_feasible(problem):
    Q = after(MANY, problem)
    assert Q.min() > -2e-5
    assert np.allclose(Q.sum(axis=1), 1, atol=1e-9)
    assert np.trace(Q) == pytest.approx(problem.K, rel=1e-9)
    assert np.linalg.eigvalsh(Q).min() > -1e-9


def test_the_limit_is_the_feasible_point_nearest_to_the_data(problem):
    """A point ``Q`` is nearest to ``A`` if no feasible one makes an acute angle with ``A - Q``."""
    rng = np.random.default_rng(0)
    Q, D = after(MANY, problem), problem.gram.dense()
    away = D / absolute(3.0, problem) - Q
    others = list(clusterings(rng, problem.n, int(problem.K), 200))
    others += [after(MANY, problem, ridge=0.1), after(MANY, problem, ridge=30.0)]
    slack = 1e-6 * np.linalg.norm(away) * math.sqrt(problem.K)
    assert max(np.sum(away * (other - Q)) for other in others) < slack


def steps_of_a_look(problem):
    """The points of a run that ends where a look does."""
    solver = Ridge(device="cpu", end_at=SMALL_RESIDUAL)
    return [np.asarray(it.point.dense()) for it in itertools.islice(solver.iterates(problem), MOST_STEPS)]


def test_the_steps_of_a_look_come_near_to_the_limit(problem):
    """A start from ``T = J``, the mean of all points, is ten times as far away."""
    points, limit = steps_of_a_look(problem), after(MANY, problem, ridge=6.0)
    assert len(points) <= 12
    assert np.linalg.norm(points[-1] - limit) < 0.25 * np.linalg.norm(limit)


def test_a_run_ends_where_little_of_the_point_is_negative(problem):
    points = steps_of_a_look(problem)
    assert len(points) < MOST_STEPS
    assert np.linalg.norm(np.minimum(points[-1], 0)) < SMALL_RESIDUAL * np.linalg.norm(points[-1])


def test_where_the_cone_does_not_matter_one_step_is_enough():
    """On a ring the solution without the cone is psd: it is the solution."""
    angles = np.arange(60) * 2 * np.pi / 60
    problem = KMeansSDP(Gram.from_data(np.column_stack([np.cos(angles), np.sin(angles)])), 15)
    points = steps_of_a_look(problem)
    assert len(points) == 1
    assert np.allclose(points[0], after(MANY, problem, ridge=6.0), atol=1e-4)


def test_far_outliers_do_not_keep_a_look_from_its_limit():
    """From ``T = J`` one eigenvalue of a look at heavy tails was 74 after 45 steps."""
    X = np.random.default_rng(0).standard_t(3, size=(300, 5))
    problem = KMeansSDP(Gram.from_data(X), 75)
    assert np.linalg.eigvalsh(steps_of_a_look(problem)[-1])[-1] < 3


def test_the_limit_moves_no_further_than_the_data(problem):
    """A projection is nonexpansive: the solution of NOMAD itself may jump."""
    rng = np.random.default_rng(2)
    Q, D = after(MANY, problem), problem.gram.dense()
    noise = rng.normal(size=D.shape)
    noise = 0.02 * problem.gram.norm * (noise + noise.T) / np.linalg.norm(noise + noise.T)
    centre = np.eye(problem.n) - 1 / problem.n
    moved = KMeansSDP(Gram.from_kernel(D + centre @ noise @ centre, allow_indefinite=True), problem.K)
    # The same ridge and penalty in the units of the data.
    scale = problem.gram.norm / moved.gram.norm
    other = after(MANY, moved, ridge=3.0 * scale, penalty=1.3 * scale)
    change = np.linalg.norm(moved.gram.dense() - D) / absolute(3.0, problem)
    assert np.linalg.norm(other - Q) < change + 1e-6


@pytest.mark.parametrize("scale", [1e-40, 1e-3, 1e6, 1e40])
def test_scale_changes_nothing(scale):
    X, K = PROBLEMS["noise"]()
    one, other = (KMeansSDP(Gram.from_data(points), K) for points in (X, scale * X))
    assert np.allclose(after(30, one), after(30, other), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e30, 1e40])
def test_single_precision_takes_any_scale(scale):
    """Inner products of such sizes are no float32: it ended in an error deep inside, in `NOMAD()` too."""
    X, K = PROBLEMS["noise"]()
    one, other = (KMeansSDP(Gram.from_data(points), K) for points in (X, scale * X))
    assert np.allclose(after(30, other, device="cpu32"), after(30, one), atol=1e-4)


def test_a_smaller_ridge_has_a_larger_value_and_a_larger_norm(problem):
    points = [after(MANY, problem, ridge=ridge) for ridge in (10.0, 3.0, 1.0)]
    values = [np.sum(problem.gram.dense() * Q) for Q in points]
    norms = [np.linalg.norm(Q) for Q in points]
    assert np.all(np.diff(values) > -1e-9 * values[-1])
    assert np.all(np.diff(norms) > -1e-9 * norms[-1])


def test_single_precision_and_followed_eigenvectors_give_the_same():
    X = datasets.moons(450, noise=0.05, random_state=0)[0]
    problem = KMeansSDP(Gram.from_data(X), 60)
    one, other = after(30, problem, device="cpu32"), after(30, problem)
    assert np.linalg.norm(one - other) < 0.02 * np.linalg.norm(other)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ({"ridge": -1.0}, "ridge"),
        ({"penalty": 0.0}, "penalty"),
        ({"relaxation": 2.0}, "relaxation"),
        ({"end_at": 2.0}, "end_at"),
    ],
)
def test_settings_are_checked(bad, word):
    with pytest.raises(ValueError, match=word):
        Ridge(**bad)
