"""Algorithms 1 and 2 of the paper: the proven rate, every constant, the traps, and a certificate at the end."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

import sknomad.solvers._conditional_gradient as module
from oracles import centred_gram, ring_points, ring_value
from sknomad import Gram, Iterate, KMeansSDP, certify, conditional_gradient, datasets, solve
from sknomad._algorithms.frank_wolfe import smallest_eigenpairs, unit_vector
from sknomad.solvers import ADMM, ConditionalGradient
from sknomad.solvers._conditional_gradient_steps import (
    ScaledMatrix,
    augmented_lagrangian,
    best_on_span,
    exact_step,
    form_gradient,
    violations,
)


def centred_psd(rng, n, trace):
    B = rng.standard_normal((n, n))
    B -= B.mean(axis=0)
    return B @ B.T * (trace / np.sum(B * B))


# Algorithm 1.


def quadratic(A):
    """``-|Z - A|^2 / 2`` and its gradient: on the set with trace s its curvature is s^2."""
    return lambda Z: -0.5 * float(np.sum((Z - A) ** 2)), lambda Z: A - Z


def best_quadratic_value(A, s, b):
    """Eigenvalues on the complement of b projected on the simplex of sum s, by bisection."""
    P = np.eye(len(A)) - np.outer(b, b) / (b @ b)
    values, vectors = np.linalg.eigh(P @ A @ P + 1e6 * np.outer(b, b) / (b @ b))
    values, vectors = values[:-1], vectors[:, :-1]
    low, high = values[0] - s, values[-1]
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(values - middle, 0).sum() > s else (low, middle)
    Z = (vectors * np.maximum(values - low, 0)) @ vectors.T
    return -0.5 * float(np.sum((Z - A) ** 2))


@pytest.mark.parametrize(("s", "size"), [(0.5, 0.05), (7.0, 1.0)])
def test_rate_and_gap_of_the_paper_hold_at_each_of_1000_steps(s, size, rng):
    n = 40
    A = size * rng.standard_normal((n, n))
    A = A + A.T
    b = rng.standard_normal(n)
    f, gradient = quadratic(A)
    best = best_quadratic_value(A, s, b)
    result = conditional_gradient(f, gradient, s, b, max_iter=1000)
    t = np.arange(1, 1001)
    shortfall = best - result.values
    assert result.n_iter == 1000
    assert np.all(shortfall >= -1e-9 * abs(best))
    assert np.all(shortfall <= 8 * s**2 / (t + 2) + 1e-9)
    # The lemma: the gap, which comes for free, is never less than the true shortfall.
    assert np.all(result.gaps >= shortfall - 1e-7 * abs(best))
    assert result.gaps[-1] < result.gaps[0] / 10
    assert np.trace(result.Z) == pytest.approx(s)
    assert np.abs(result.Z @ b).max() < 1e-10 * s * np.linalg.norm(b)
    assert np.linalg.eigvalsh(result.Z)[0] > -1e-12 * s
    assert (result.value, result.gap) == (result.values[-1], result.gaps[-1])


def test_gap_stops_the_run(rng):
    A = rng.standard_normal((35, 35))
    f, gradient = quadratic(A + A.T)
    result = conditional_gradient(f, gradient, 2.0, np.ones(35), tol=0.05, max_iter=10_000)
    assert result.gap <= 0.05 < result.gaps[:-1].min()


@pytest.mark.parametrize("n", [2, 3, 12, 60])
def test_b_is_never_returned_when_all_other_eigenvalues_are_on_the_wrong_side(n, rng):
    b = unit_vector(rng.standard_normal(n))
    A = centred_psd(rng, n, 1.0) + 5 * np.eye(n)  # P A P has the eigenvalue 0 for b only, and it is the smallest
    values, vectors = smallest_eigenpairs(A, b)
    P = np.eye(n) - np.outer(b, b)
    assert abs(b @ vectors[:, 0]) < 1e-12
    assert values[0] == pytest.approx(np.linalg.eigvalsh(P @ A @ P)[1], rel=1e-7)


def test_several_eigenpairs_and_degenerate_matrices(rng):
    n, b = 50, unit_vector(np.ones(50))
    A = rng.standard_normal((n, n))
    A = A + A.T
    P = np.eye(n) - 1 / n
    exact = np.linalg.eigvalsh(P @ A @ P)
    values, V = smallest_eigenpairs(A, b, 4)
    assert np.allclose(values, exact[:4])
    assert np.allclose(V.T @ V, np.eye(4), atol=1e-8)
    for degenerate in (np.zeros((n, n)), np.ones((n, n)), np.eye(n)):
        values, V = smallest_eigenpairs(degenerate, b, start=np.ones(n))
        assert values[0] == pytest.approx(degenerate[0, 0] - degenerate[0, 1], abs=1e-12)
        assert np.linalg.norm(V) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"f": lambda Z: math.nan}, r"f must return a finite number, got nan at step 1\. Check f"),
        ({"gradient": lambda Z: np.full((3, 3), math.nan)}, "gradient must return finite numbers, got NaN"),
        ({"gradient": lambda Z: np.zeros(3)}, r"gradient must return an array of shape \(3, 3\), got \(3,\)"),
        ({"s": -1.0}, "s must be a positive finite number, got -1"),
        ({"b": np.zeros(3)}, "b must be finite and not zero"),
        ({"b": np.ones((3, 1))}, "b must be a vector"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1.0}, "tol must be"),
    ],
)
def test_bad_input_to_algorithm_1_is_one_sentence(arguments, message):
    given = {"f": lambda Z: 0.0, "gradient": lambda Z: np.zeros((3, 3)), "s": 1.0, "b": np.ones(3)} | arguments
    with pytest.raises(ValueError, match=message):
        conditional_gradient(**given)


# Algorithm 2, written out again with full eigendecompositions.


def paper_constants(t, i):
    return {"inner": 10, "alpha": 2 / ((t + 1) + (i + 1) + 2), "gamma": 1.0, "skips": False}


def code_constants(t, i):
    return {"inner": 15, "alpha": 2 / (15 * t + i + 2), "gamma": (t + 1) ** 0.5, "skips": True}


def plain_algorithm_2(X, K, constants, outer):
    n = len(X)
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=1).max()
    D, J, P = X @ X.T, np.full((n, n), 1 / n), np.eye(n) - 1 / n
    W, G = np.zeros((n, n)), np.zeros((n, n))
    for t in range(outer):
        for i in range(constants(t, 0)["inner"]):
            c = constants(t, i)
            A = P @ (-D + G + c["gamma"] * np.minimum(W + J, 0)) @ P
            values, vectors = np.linalg.eigh(A + 1e3 * J)
            if c["skips"] and values[0] >= 0:
                continue
            v = vectors[:, 0]
            W = (1 - c["alpha"]) * W + c["alpha"] * (K - 1) * np.outer(v, v)
        G = np.minimum(G + (W + J), 0)
    return W + J, G


@pytest.mark.parametrize(("preset", "constants"), [("paper", paper_constants), ("code", code_constants)])
def test_every_constant_of_both_presets(preset, constants, rng, monkeypatch):
    X, K, outer = rng.standard_normal((50, 6)), 5.5, 6
    asked = []

    def exact(A, b, count=1, *, tol, start=None):
        asked.append(tol)
        return smallest_eigenpairs(A, b, count, tol=1e-13, start=start)

    monkeypatch.setattr(module, "smallest_eigenpairs", exact)
    problem = KMeansSDP(Gram.from_data(X), K)
    iterate = next(itertools.islice(ConditionalGradient(preset).iterates(problem), outer - 1, None))
    Q, G = plain_algorithm_2(X, K, constants, outer)
    assert np.abs(iterate.Q.Q - Q).max() < 1e-6 * np.abs(Q).max()
    scale = float(np.sum((X - X.mean(axis=0)) ** 2, axis=1).max())
    assert np.abs(iterate.N + scale * G).max() < 1e-5 * np.abs(scale * G).max()
    if preset == "paper":
        assert asked == [1 / (t + 2) for t in range(outer) for _ in range(10)]
    else:
        assert asked == [1 / (i + 1) for _ in range(outer) for i in range(15)]


def test_code_takes_no_step_upwards_and_paper_does(monkeypatch):
    problem = KMeansSDP(Gram.from_data(ring_points(12)), 3)
    v = ring_points(12)[:, 0] / np.linalg.norm(ring_points(12)[:, 0])
    monkeypatch.setattr(module, "smallest_eigenpairs", lambda *a, **k: (np.array([0.5]), v[:, None]))
    assert np.all(next(ConditionalGradient("code").iterates(problem)).state.W == 0)
    assert np.trace(next(ConditionalGradient("paper").iterates(problem)).state.W) > 1


# Traps of published code.


def test_gradient_belongs_to_the_function(rng):
    # A gradient without the factor 2 of its penalty differs from this quotient by a factor.
    n, gamma = 12, 3.0
    W, S = centred_psd(rng, n, 2.0), centred_psd(rng, n, 2.0)
    S -= W
    B = rng.standard_normal((n, n))
    B = B + B.T
    A, h = np.empty((n, n)), 1e-5
    form_gradient(ScaledMatrix(W.copy()), B, gamma, A)
    slope = (augmented_lagrangian(W + h * S, B, gamma) - augmented_lagrangian(W - h * S, B, gamma)) / (2 * h)
    assert float(np.sum(A * S)) == pytest.approx(slope, rel=1e-6)
    assert W.min() < -1 / n  # the penalty takes part


def test_nothing_negative_is_no_violation():
    assert violations(np.full((4, 4), 0.25), 2.0) == (0.0, 0.0)
    violation, rmse = violations(np.array([[1.0, -0.3], [-0.1, 1.0]]), 1.5)
    assert (violation, rmse) == (pytest.approx(0.4), pytest.approx(math.sqrt(0.05)))


def test_run_does_not_depend_on_the_origin_or_the_unit(rng):
    # Scaling by the norm of uncentred points would make the first depend on the shift.
    X = rng.integers(-20, 20, (40, 3)).astype(float)
    runs = [
        list(itertools.islice(ConditionalGradient().iterates(KMeansSDP(Gram.from_data(A), 6)), 5))[-1]
        for A in (X, X + 4096, X * 1024)
    ]
    assert np.array_equal(runs[1].Q.Q, runs[0].Q.Q)
    assert np.array_equal(runs[2].Q.Q, runs[0].Q.Q)
    assert np.array_equal(runs[2].N, runs[0].N * 1024**2)
    authors = ConditionalGradient(data_norm=float(np.linalg.norm(X + 4096, axis=1).max()))
    other = list(itertools.islice(authors.iterates(KMeansSDP(Gram.from_data(X), 6)), 5))[-1]
    assert not np.allclose(other.Q.Q, runs[0].Q.Q, atol=1e-3)


# As a solver.


def test_iterates_satisfy_everything_but_nonnegativity_and_carry_a_multiplier(rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((45, 4))), 5)
    for iterate in itertools.islice(ConditionalGradient().iterates(problem), 20):
        Q = iterate.Q.Q
        assert np.allclose(Q.sum(axis=0), 1, atol=1e-12)
        assert np.trace(Q) == pytest.approx(5)
        assert np.linalg.eigvalsh(Q)[0] > -1e-12
        assert iterate.N.min() >= 0
        assert iterate.residuals["violation"] == pytest.approx(-Q.min() * 45 / 5)
    assert certify(problem, iterate).gap < 0.2


def test_own_stopping_test_ends_the_run():
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    iterates = list(itertools.islice(ConditionalGradient(stop="timing").iterates(problem), 1500))
    assert len(iterates) < 1500
    *before, last = [(i.residuals["violation"] < 1e-2) and (i.residuals["rmse"] < 1e-4) for i in iterates]
    assert last
    assert not any(before)
    looser = sum(1 for _ in ConditionalGradient(stop=(0.1, 1e-2)).iterates(problem))
    assert looser < len(iterates)


def test_an_eigenvector_as_start_hides_no_smaller_eigenvalue(rng):
    A = rng.standard_normal((60, 60))
    A, b = A + A.T, unit_vector(np.ones(60))
    exact, vectors = np.linalg.eigh((np.eye(60) - 1 / 60) @ A @ (np.eye(60) - 1 / 60))
    for k in (3, 20):
        assert smallest_eigenpairs(A, b, start=vectors[:, k])[0][0] == pytest.approx(exact[0], rel=1e-7)


def test_continuing_is_the_same_as_not_stopping(tmp_path):
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    solver = ConditionalGradient()
    straight = list(itertools.islice(solver.iterates(problem), 12))[-1]
    first = list(itertools.islice(solver.iterates(problem), 5))[-1]
    resumed = list(itertools.islice(solver.iterates(problem, first), 7))[-1]
    assert np.array_equal(straight.Q.Q, resumed.Q.Q)
    path = tmp_path / "run.ckpt"
    with pytest.warns(match="reached max_iter"):
        solve(problem, solver, tol=1e-9, max_iter=25, checkpoint=path)
    with pytest.warns(match="reached max_iter"):
        kept = solve(problem, solver, tol=1e-9, max_iter=60, checkpoint=path)
    with pytest.warns(match="reached max_iter"):
        whole = solve(problem, solver, tol=1e-9, max_iter=60)
    assert np.array_equal(kept.iterate.Q.Q, whole.iterate.Q.Q)
    assert kept.certificate == whole.certificate


def test_a_good_start_stays_good():
    problem = KMeansSDP(Gram.from_data(ring_points(60)), 6)
    start = solve(problem, ADMM(), tol=1e-5).iterate
    warm = next(ConditionalGradient().iterates(problem, start))
    cold = next(ConditionalGradient().iterates(problem))
    assert certify(problem, warm).gap < 5e-2 < certify(problem, cold).gap
    feasible = Iterate(np.full((60, 60), 1 / 60))
    assert np.isfinite(next(ConditionalGradient().iterates(problem, feasible)).Q.Q).all()
    # And the other way round: its iterate starts ADMM.
    again = solve(problem, ADMM(), tol=1e-3, start=warm)
    assert again.is_certified


def test_kernels_distances_and_sparse_data_are_the_same_problem(rng):
    X = np.where(rng.random((40, 5)) < 0.5, rng.standard_normal((40, 5)), 0)
    D = centred_gram(X)
    distances = np.sqrt(np.maximum(np.add.outer(np.diag(D), np.diag(D)) - 2 * D, 0)) * (1 - np.eye(40))
    grams = [Gram.from_data(X), Gram.from_kernel(D), Gram.from_distances(distances), Gram.from_data(sp.csr_matrix(X))]
    proofs = [solve(KMeansSDP(gram, 6), ConditionalGradient(), tol=2e-2).certificate for gram in grams]
    assert max(p.lower for p in proofs) <= min(p.upper for p in proofs)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points(n, rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((n, 2))), 1.5)
    assert solve(problem, ConditionalGradient(), tol=1e-2).is_certified


@pytest.mark.parametrize("options", [{"line_search": True}, {"block": 4}, {"block": 3, "line_search": True}])
@pytest.mark.parametrize("preset", ["code", "paper"])
def test_options_reach_the_same_optimum(preset, options):
    problem = KMeansSDP(Gram.from_data(ring_points(40)), 4)
    solution = solve(problem, ConditionalGradient(preset, **options), tol=3e-2, max_iter=400)
    assert solution.is_certified
    assert solution.certificate.lower <= ring_value(40, 4) <= solution.certificate.upper


def test_line_search_is_exact(rng):
    for gamma in (1e-3, 1.0, 50.0):
        W = centred_psd(rng, 15, 3.0)
        S = centred_psd(rng, 15, 3.0) - W
        B = rng.standard_normal((15, 15)) / 15
        a = exact_step(W, B, gamma, S)
        grid = np.linspace(0, 1, 2001)
        best = min(augmented_lagrangian(W + x * S, B, gamma) for x in grid)
        assert augmented_lagrangian(W + a * S, B, gamma) <= best + 1e-12


def test_block_step_is_the_best_on_its_span(rng):
    n, mass, curvature = 20, 3.0, 0.7
    A = rng.standard_normal((n, n))
    A, W = A + A.T, centred_psd(rng, n, mass)
    V = np.linalg.qr(rng.standard_normal((n, 3)))[0]

    def model(S):
        return float(np.sum(A * S)) + curvature / 2 * float(np.sum((S - W) ** 2))

    U, weights = best_on_span(A, ScaledMatrix(W), V, curvature, mass)
    best = model((U * weights) @ U.T)
    assert weights.sum() == pytest.approx(mass)
    for _ in range(300):
        C = rng.standard_normal((3, 3))
        assert model(V @ (C @ C.T * (mass / np.sum(C * C))) @ V.T) >= best - 1e-10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "fast"}, "preset must be one of 'paper', 'code', got 'fast'"),
        ({"penalty": -1.0}, "penalty must be a positive real number, got -1"),
        ({"multiplier_step": 0}, "multiplier_step must be a positive real number, got 0"),
        ({"block": 0}, "block must be an integer >= 1"),
        ({"stop": "soon"}, "stop must be one of 'figures', 'timing', got 'soon'"),
        ({"stop": 0.1}, "stop must be None, one of 'figures', 'timing', or a pair of positive numbers, got 0.1"),
        ({"stop": (1e-3, -1.0)}, r"stop\[1\] must be a positive real number, got -1"),
        ({"data_norm": 0.0}, "data_norm must be a positive real number or None, got 0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ConditionalGradient(**settings)


def test_violation_falls_as_a_power_of_the_steps_and_faster_with_the_code_s_constants():
    # The paper's text says linear, a straight line on semi-log axes; on log-log axes the fit is better.
    problem = KMeansSDP(Gram.from_data(datasets.trefoil(80)[0]), 8)
    steps = np.arange(10, 151)
    slopes = {}
    for preset in ("paper", "code"):
        iterates = itertools.islice(ConditionalGradient(preset).iterates(problem), 150)
        rmse = np.log([iterate.residuals["rmse"] for iterate in iterates])[steps - 1]
        slopes[preset] = np.polyfit(np.log(steps), rmse, 1)[0]
        misfit = [np.polyfit(x, rmse, 1, full=True)[1][0] for x in (np.log(steps), steps)]
        assert misfit[0] < misfit[1] / 2
    assert -1.2 < slopes["paper"] < -0.5
    assert -2.5 < slopes["code"] < -1.2
