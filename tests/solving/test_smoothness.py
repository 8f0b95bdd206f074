"""The smoothest point within the tolerance: proven like any other, and in one piece where its manifold is."""

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, datasets, solve
from sknomad._solving import smoothness
from sknomad._solving.smoothness import LONGEST, SWEEPS, smooth_points
from sknomad.solvers import ADMM


def problem_of(X, K, weights=None):
    return KMeansSDP(Gram.from_data(X, weights=weights), K)


def half_rings(n, noise=0.05, seed=0):
    return datasets.moons(n, noise=noise, random_state=seed)[0]


def noise(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


CASES = {
    "half-rings": lambda: problem_of(half_rings(120), 15),
    "large patches": lambda: problem_of(half_rings(90), 4),
    "tiny patches": lambda: problem_of(noise(60, 2), 29.5),
    "noise": lambda: problem_of(noise(50, 8), 6),
    "weights": lambda: problem_of(noise(40, 2), 6, weights=1 + np.arange(40) % 4),
    "huge": lambda: problem_of(1e60 * noise(40, 3), 5),
    "tiny": lambda: problem_of(1e-60 * noise(40, 3), 5),
    "equal points": lambda: problem_of(np.repeat(noise(8, 2), 5, axis=0), 8),
    "a kernel": lambda: KMeansSDP(Gram.from_kernel(np.exp(-(np.subtract.outer(*[np.linspace(0, 3, 40)] * 2) ** 2))), 6),
}


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_returned_is_proven(name, grade):
    problem = CASES[name]()
    best, smooth = (solve(problem, tol=2e-3, grade=grade, smooth=flag) for flag in (False, True))
    proof = smooth.certificate
    assert smooth.is_certified
    assert proof.grade == grade
    assert proof.gap <= 2e-3
    # The bounds of either run hold for the points of both, and the point has the value that is claimed for it.
    assert max(proof.lower, best.certificate.lower) <= min(proof.upper, best.certificate.upper)
    Q, roots = smooth.Q, problem.gram.roots
    assert np.sum(problem.gram.dense() * Q) == pytest.approx(proof.lower, rel=1e-9)
    u = np.ones(problem.n) if roots is None else roots
    np.testing.assert_allclose(Q @ u, u, atol=1e-10)
    assert Q.min() >= -1e-12
    assert np.trace(Q) == pytest.approx(problem.K)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_half_rings_are_not_broken_by_the_accidents_of_a_sample(seed):
    problem = problem_of(half_rings(300, seed=seed), 30)
    best, smooth = solve(problem), solve(problem, smooth=True)
    assert best.manifolds().max() + 1 > 2
    assert smooth.manifolds().max() + 1 == 2


def test_clusters_apart_stay_apart():
    X, truth = datasets.blobs(30, random_state=0)
    labels = solve(problem_of(X, len(set(truth))), smooth=True).manifolds()
    assert len(set(zip(labels, truth, strict=True))) == len(set(truth)) == labels.max() + 1


def test_the_order_of_points_does_not_matter(rng):
    X, order = half_rings(100), rng.permutation(100)
    one, other = (solve(problem_of(data, 12), smooth=True) for data in (X, X[order]))
    np.testing.assert_allclose(one.Q[np.ix_(order, order)], other.Q, atol=1e-8)


@pytest.mark.parametrize("name", ["half-rings", "noise"])
def test_it_costs_few_steps(name):
    problem = CASES[name]()
    alone, smooth = solve(problem), solve(problem, smooth=True)
    # The next look may be a fifth of the steps away.
    assert smooth.n_iter <= LONGEST * 1.2 * alone.n_iter + 11


def test_any_solver_can_have_it():
    problem = CASES["half-rings"]()
    alone, smooth = solve(problem, ADMM(), tol=2e-3), solve(problem, ADMM(), tol=2e-3, smooth=True)
    assert smooth.is_certified
    assert smooth.manifolds().max() <= alone.manifolds().max()


def test_what_cannot_be_proven_is_not_returned():
    problem = CASES["noise"]()
    with pytest.warns(UserWarning, match="max_iter"):
        best = solve(problem, tol=0.0, max_iter=5)
    with pytest.warns(UserWarning, match="max_iter"):
        smooth = solve(problem, tol=0.0, max_iter=5, smooth=True)
    assert smooth.certificate == best.certificate
    np.testing.assert_array_equal(smooth.Q, best.Q)


def test_many_points_have_none(monkeypatch):
    monkeypatch.setattr(smoothness, "MOST_POINTS", 100)
    problem = CASES["half-rings"]()
    assert not list(smooth_points(problem))
    np.testing.assert_array_equal(solve(problem, smooth=True).Q, solve(problem).Q)


@pytest.mark.parametrize("K", [1, 20])
def test_trivial_programs_have_none(K):
    problem = problem_of(noise(20, 2), K)
    assert not list(smooth_points(problem))
    assert solve(problem, smooth=True).is_certified


def test_more_sweeps_come_nearer():
    values = [one.value for one in smooth_points(CASES["half-rings"]())]
    assert len(values) == len(SWEEPS)
    assert values == sorted(values)


@pytest.mark.parametrize("value", ["no", 1, None])
def test_smooth_is_checked(value):
    with pytest.raises(TypeError, match="smooth must be True or False"):
        solve(CASES["noise"](), smooth=value)
