"""Generic solvers through CVXPY: answers that are judged, not believed."""

import importlib.util
import tracemalloc

import cvxpy
import numpy as np
import pytest

import sknomad.solvers._reference as module
from oracles import centred_gram, clarabel_bounds, planted, ring_points, ring_value
from sknomad import Gram, KMeansSDP, certify, cli, datasets, solve
from sknomad.solvers import SOLVERS, Reference
from sknomad.solvers._reference import _program, translated


def test_clarabel_closes_the_gap_to_1e_6_in_one_iterate():
    problem = KMeansSDP(Gram.from_data(3 * ring_points(40)), 4)
    solution = solve(problem, Reference("CLARABEL"), tol=1e-6)
    assert solution.is_certified
    assert solution.n_iter == 1
    value = 9 * ring_value(40, 4)
    assert solution.certificate.lower <= value * (1 + 1e-9)
    assert solution.certificate.upper >= value * (1 - 1e-9)


def test_multiplier_is_that_of_the_textbook_and_in_the_data_s_units(rng):
    X = 20 * rng.standard_normal((20, 3))
    low, high = clarabel_bounds(centred_gram(X), 4)
    iterate = next(Reference().iterates(KMeansSDP(Gram.from_data(X), 4)))
    N = iterate.N
    assert N.min() >= 0
    assert np.array_equal(N, N.T)
    proof = certify(KMeansSDP(Gram.from_data(X), 4), iterate)
    assert proof.upper == pytest.approx(high, rel=1e-6)
    assert proof.lower == pytest.approx(low, rel=1e-6)
    # Complementarity: a multiplier only where the entry is zero.
    assert float(np.sum(N * np.maximum(iterate.Q.Q, 0))) < 1e-5 * high


def test_settings_reach_the_solver_and_a_bad_answer_shows_as_a_wide_gap():
    # SCS says `optimal` at its default tolerance; how good that is, only the judge says.
    problem = KMeansSDP(Gram.from_data(ring_points(40)), 4)
    loose = next(Reference("SCS", eps=1e-2).iterates(problem))
    tight = next(Reference("scs", eps=1e-6, max_iters=20_000).iterates(problem))
    assert loose.residuals["steps"] < tight.residuals["steps"]
    proofs = [certify(problem, iterate) for iterate in (loose, tight)]
    assert proofs[0].gap > 10 * proofs[1].gap
    for proof in proofs:
        assert proof.lower <= ring_value(40, 4) <= proof.upper
    # Its own word is not inside the bracket: believed, it would have been a false bound.
    assert loose.residuals["claimed"] > proofs[0].lower * (1 + 1e-3)


def test_one_translation_serves_every_problem_of_a_size(rng):
    _program.cache_clear()
    for K in (2, 3.5):
        example = planted(rng, 12, 3)
        problem = KMeansSDP(Gram.from_kernel(example.D), example.K if K == 2 else K)
        proof = certify(problem, next(Reference().iterates(problem)))
        assert proof.gap < 1e-6
        if K == 2:
            assert proof.lower <= example.value * (1 + 1e-9)
            assert proof.upper >= example.value * (1 - 1e-9)
    assert (_program.cache_info().misses, _program.cache_info().hits) == (1, 1)


def test_without_cvxpy_the_error_says_what_to_install(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "cvxpy" else find(name))
    with pytest.raises(ImportError, match=r"Reference needs cvxpy: pip install 'sknomad\[reference\]'\."):
        Reference()


@pytest.mark.parametrize("name", ["MOSEK_NOT_HERE", "OSQP"])
def test_a_solver_that_is_not_installed_or_takes_no_matrices_is_refused_with_the_list(name):
    with pytest.raises(ValueError, match=rf"solver must be an installed semidefinite solver \(.*SCS.*\), got '{name}'"):
        Reference(name)
    with pytest.raises(TypeError, match="solver must be the name"):
        Reference(3)


def test_a_solver_that_returns_nothing_is_one_sentence(monkeypatch):
    problem = KMeansSDP(Gram.from_data(ring_points(12)), 3)

    def fail(*arguments, **settings):
        raise cvxpy.SolverError("Solver failed.")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(ArithmeticError, match="CLARABEL must return a point, got none: Solver failed"):
        next(Reference("CLARABEL").iterates(problem))
    _program.cache_clear()
    monkeypatch.setattr(cvxpy.Problem, "solve", lambda *arguments, **settings: None)
    with pytest.raises(ArithmeticError, match="SCS must return a point, got none with status None"):
        next(Reference("SCS").iterates(problem))


def test_a_solver_stopped_at_once_is_judged_all_the_same():
    problem = KMeansSDP(Gram.from_data(ring_points(12)), 3)
    proof = certify(problem, next(Reference("CLARABEL", max_iter=0).iterates(problem)))
    assert proof.gap > 0.1
    assert proof.lower <= ring_value(12, 3) <= proof.upper


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_a_setting_the_solver_does_not_know_is_named(solver):
    problem = KMeansSDP(Gram.from_data(ring_points(12)), 3)
    with pytest.raises(TypeError, match=f"settings must be ones that {solver} knows, got nonsense"):
        next(Reference(solver, nonsense=1).iterates(problem))


def test_by_name_in_python_and_on_the_command_line(capsys, tmp_path):
    X, _ = datasets.blobs(30, random_state=0)
    assert solve(KMeansSDP(Gram.from_data(X), 6), "reference", tol=1e-6).is_certified
    np.save(tmp_path / "points.npy", X)
    assert cli.main(["fit", str(tmp_path / "points.npy"), "-K", "6", "--solver", "reference"]) == 0
    assert "manifolds     6" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["fit", str(tmp_path / "points.npy"), "--solver", "magic"])
    message = capsys.readouterr().err
    for name in SOLVERS:
        assert name in message


def test_memory_is_told_before_it_is_needed():
    problem = KMeansSDP(Gram.from_data(np.arange(2000.0)[:, None]), 10)
    with pytest.raises(MemoryError, match="Reference needs"):
        solve(problem, Reference("CLARABEL"))
    assert Reference("SCS").memory(problem) < Reference("CLARABEL").memory(problem) / 100


def test_settings_are_part_of_what_a_solver_is():
    assert Reference("SCS", eps=1e-5) == Reference("scs", eps=1e-5) != Reference("SCS")
    assert repr(Reference("SCS", eps=1e-5)) == "Reference(solver='SCS', settings=(('eps', 1e-05),))"


def test_identical_calls_take_identical_steps():
    problem = KMeansSDP(Gram.from_data(ring_points(20)), 4)
    first, second = (next(Reference("SCS", eps=1e-6).iterates(problem)) for _ in range(2))
    assert first.residuals["steps"] == second.residuals["steps"] > 0
    np.testing.assert_array_equal(first.Q.Q, second.Q.Q)


def test_translation_stays_small():
    tracemalloc.start()
    try:
        translated(KMeansSDP(Gram.from_data(ring_points(150)), 10)).problem.get_problem_data("SCS")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6  # a matrix of parameters takes gigabytes
