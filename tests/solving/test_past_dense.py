"""Where dense arrays do not fit, `solve` bounds the optimum by landmarks, or says in a sentence why it cannot."""

import itertools
import math
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import sknomad
from landmark_cases import points
from sknomad import NOMAD, Gram, KMeansSDP, Status, solve, verify_certificate
from sknomad._landmark import choice, rows
from sknomad._landmark.multiplier import LandmarkMultiplier
from sknomad._solving import advice, past_dense
from sknomad.solvers import Auto

N = 450
SPIRAL = points("spiral", N, np.random.default_rng(0))
SETTINGS = {"tol": 0.01}


@pytest.fixture(autouse=True)
def small_memory(monkeypatch):
    """Dense arrays of more than a few hundred points do not fit."""
    monkeypatch.setattr(Auto, "_proof_fits", lambda self, problem: False)
    monkeypatch.setattr(advice, "free_memory_of", lambda template: 2**20)
    monkeypatch.setattr(choice, "FIRST_COUNT", 60)
    monkeypatch.setattr(choice, "LAST_COUNT", 120)


@pytest.fixture(scope="module")
def dense():
    return solve(KMeansSDP(Gram.from_data(SPIRAL), 8), "admm", **SETTINGS).certificate


def problem_of(X, K=8):
    return KMeansSDP(Gram.from_data(X), K)


def said(problem, **options):
    with pytest.warns(ConvergenceWarning) as caught:
        found = solve(problem, **options)
    return found, str(caught[-1].message)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_points_of_a_curve_are_certified(grade, dense):
    found = solve(problem_of(SPIRAL), grade=grade, **SETTINGS)
    assert found.status is Status.CERTIFIED
    assert found.certificate.grade == grade
    assert found.certificate.gap <= 0.01
    assert found.certificate.lower <= dense.upper
    assert found.certificate.upper >= dense.lower
    assert found.landmarks.upper_bound(found.problem, grade) == pytest.approx(found.certificate.upper, rel=1e-12)


def test_history_and_callback_see_the_bound_fall():
    seen = []
    found = solve(problem_of(SPIRAL), callback=lambda progress: seen.append(progress.upper), tol=3e-3)
    finite = [bound for bound in seen if math.isfinite(bound)]
    assert len(finite) >= 2
    assert finite == sorted(finite, reverse=True)
    assert found.trace["upper"][-1] == found.certificate.upper
    assert found.n_iter == found.trace["iteration"][-1]


def test_a_callback_ends_the_steps():
    found = solve(problem_of(SPIRAL), callback=lambda progress: math.isfinite(progress.upper), tol=1e-4)
    assert found.status is Status.STOPPED
    assert math.isfinite(found.certificate.upper)


def test_an_interrupt_keeps_the_bounds():
    def interrupt(progress):
        if math.isfinite(progress.upper):
            raise KeyboardInterrupt

    found = solve(problem_of(SPIRAL), callback=interrupt, tol=1e-4)
    assert found.status is Status.INTERRUPTED
    assert math.isfinite(found.certificate.upper)


def test_an_interrupt_before_the_first_bound_keeps_the_point(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(past_dense, "choose_landmarks", interrupted)
    found = solve(problem_of(SPIRAL), **SETTINGS)
    assert found.status is Status.INTERRUPTED
    assert found.certificate.lower > 0
    assert found.certificate.upper == math.inf


def test_limits_hold_for_all_steps_together():
    steps = []
    solve(problem_of(SPIRAL), callback=lambda p: steps.append(p.iteration) or math.isfinite(p.upper), tol=0)
    found, text = said(problem_of(SPIRAL), tol=0, max_iter=steps[-1] + 5)
    assert found.status is Status.MAX_ITER
    assert found.n_iter == steps[-1] + 5
    assert "Raise max_iter or tol" in text


def test_a_gap_that_stays_open_asks_for_more_landmarks():
    found, text = said(problem_of(SPIRAL), tol=1e-9)
    assert found.status is Status.EXHAUSTED
    assert "Raise tol, or use solve_by_landmarks with more than" in text


def test_a_run_that_goes_on_from_a_file_finds_its_landmarks_again(tmp_path):
    first, second = (solve(problem_of(SPIRAL), checkpoint=tmp_path / "run", **SETTINGS) for _ in range(2))
    assert first.is_certified
    assert second.is_certified
    assert second.certificate.upper == pytest.approx(first.certificate.upper, rel=1e-3)


def test_points_that_fill_many_dimensions_are_told_so():
    found, text = said(problem_of(np.random.default_rng(1).standard_normal((N, 12))), **SETTINGS)
    assert found.certificate.upper == math.inf
    assert found.landmarks is None
    assert "landmarks leave out" in text
    assert "too much for a bound without such arrays" in text


@pytest.mark.parametrize(
    ("gram", "needed"),
    [
        (Gram.from_data(SPIRAL[:420], weights=np.arange(1.0, 421)), "no weights, nor equal points merged into weights"),
        (Gram.from_kernel(SPIRAL[:420] @ SPIRAL[:420].T), "the rows of the data instead of a kernel: pass those"),
        (Gram.from_data(sp.csr_matrix(SPIRAL[:420])), "a dense table of at most 1000 columns: pass coordinates of"),
    ],
    ids=["weights", "kernel", "sparse"],
)
def test_what_landmarks_do_not_take_is_said(gram, needed):
    found, text = said(KMeansSDP(gram, 8), **SETTINGS)
    assert found.certificate.upper == math.inf
    assert "One needs dense 420 x 420 arrays" in text
    assert f"landmarks need no such arrays, but {needed}" in text


def test_a_limit_before_the_bound_is_named():
    found, text = said(problem_of(SPIRAL), max_iter=1, tol=0)
    assert found.certificate.upper == math.inf
    assert text.endswith("landmarks need no such arrays, after the first phase: raise max_iter.")


def test_wide_tables_are_left_alone(monkeypatch):
    monkeypatch.setattr(rows, "MOST_COLUMNS", 1)
    found, text = said(problem_of(SPIRAL), **SETTINGS)
    assert found.certificate.upper == math.inf
    assert text.endswith("but at most 1 columns, got 2: pass coordinates of PCA.")


def test_time_that_is_over_when_landmarks_are_placed_ends_the_run(monkeypatch):
    clock = itertools.count(step=1000.0)
    monkeypatch.setattr(past_dense, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found, text = said(problem_of(SPIRAL), max_seconds=500, **SETTINGS)
    assert found.status is Status.MAX_SECONDS
    assert found.certificate.lower > 0
    assert found.certificate.upper == math.inf
    assert text.endswith("raise max_seconds.")


def test_estimator_model_file_and_certificate_file(tmp_path):
    model = NOMAD(8, **SETTINGS).fit(SPIRAL)
    assert model.certificate_.gap <= 0.01
    model.save(tmp_path / "model")
    assert sknomad.load(tmp_path / "model").solution_.landmarks.M.shape == model.solution_.landmarks.M.shape
    model.solution_.save_certificate(tmp_path / "proof")
    result = verify_certificate(tmp_path / "proof", SPIRAL)
    assert result.holds
    assert result.proven["upper"] == pytest.approx(model.certificate_.upper, rel=1e-12)
    others = verify_certificate(tmp_path / "proof", SPIRAL * 2)
    assert not others.same_data
    assert others.proven["upper"] >= 4 * model.certificate_.lower


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_whatever_a_file_says_of_landmarks_proves_nothing_false(grade, dense):
    found = solve(problem_of(SPIRAL), **SETTINGS)
    rng, right = np.random.default_rng(2), found.landmarks
    wrong = [
        replace(right, M=-right.M),
        replace(right, M=rng.standard_normal(right.M.shape) * right.M.max()),
        replace(right, C=np.zeros_like(right.C)),
        replace(right, C=rng.standard_normal(right.C.shape) * 1e6),
        replace(right, places=np.zeros_like(right.places)),
        replace(right, places=right.places[::-1]),
    ]
    for multiplier in wrong:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert multiplier.upper_bound(found.problem, grade) >= dense.lower


def test_landmarks_of_another_space_are_refused():
    found = solve(problem_of(SPIRAL), **SETTINGS)
    flat = LandmarkMultiplier(np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="landmarks must lie among dense points"):
        replace(found, landmarks=flat)
    with pytest.raises(ValueError, match="finite"):
        replace(found.landmarks, M=np.full_like(found.landmarks.M, np.nan))
