"""`solve_by_landmarks`: bounds around the optimum for whatever rows come, and plain words where they do not help."""

import math
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from landmark_cases import points
from sknomad import Gram, KMeansSDP, Status, solve, solve_by_landmarks
from sknomad._landmark import choice, rows
from sknomad._scale import landmark_lower
from sknomad.datasets import double_swiss_roll


def quietly(X, K, **options):
    """The solution, whatever gap it ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve_by_landmarks(X, K, **options)


@pytest.mark.parametrize("K", [5.0, 7.5])
def test_bounds_enclose_those_of_the_dense_solver(K):
    X = double_swiss_roll(200, random_state=0)[0]
    dense = solve(KMeansSDP(Gram.from_data(X), K), tol=5e-3).certificate
    for grade in ("eigen", "verified"):
        found = quietly(X, K, n_landmarks=100, tol=5e-3, grade=grade)
        assert found.certificate.grade == grade
        assert found.certificate.lower <= dense.upper
        assert found.certificate.upper >= dense.lower
        assert found.certificate.gap < 0.01


def test_the_goal_is_reached_and_said_to_be():
    X = double_swiss_roll(3000, random_state=1)[0]
    found = solve_by_landmarks(X, 8, tol=5e-3)
    assert found.is_certified
    assert found.certificate.gap <= 5e-3
    assert len(found.landmarks) == 250
    assert found.residual < 1e-4


def test_assignments_have_the_value_that_is_claimed():
    X = double_swiss_roll(1500, random_state=2)[0]
    found = quietly(X, 8, n_landmarks=100, tol=0.02)
    V, centred = found.assign(X), X - X.mean(axis=0)
    sizes = V.sum(axis=0)
    value, trace = np.sum((centred.T @ V) ** 2 / sizes), np.sum(V**2 / sizes)
    assert trace == pytest.approx(8, rel=1e-3)
    assert found.certificate.lower == pytest.approx(value, rel=1e-3)
    assert found.certificate.lower <= value + 1e-3 * value


def test_the_multiplier_is_nonnegative_and_between_landmarks():
    found = quietly(double_swiss_roll(800, random_state=2)[0], 6, n_landmarks=60, tol=0.05)
    assert found.multiplier.shape == (60, 60)
    assert found.multiplier.min() >= 0
    assert found.multiplier.max() > 0


def test_blocks_memory_maps_and_arrays_are_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "BLOCK_ROWS", 256)
    X = double_swiss_roll(1000, random_state=3)[0].astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    options = {"n_landmarks": 60, "tol": 0.05}
    here, there = quietly(X, 6, **options), quietly(mapped, 6, **options)
    assert here.certificate == there.certificate
    assert quietly(X, 6, **options).certificate == here.certificate
    in_one_block = quietly(X.astype(float).tolist(), 6, **options).certificate
    assert in_one_block.upper == pytest.approx(here.certificate.upper, rel=1e-6)


@pytest.mark.parametrize("kind", ["copies", "far", "tiny", "line", "cloud"])
def test_unkind_points_get_true_bounds(kind):
    X = points(kind, 100, np.random.default_rng(5))
    dense = solve(KMeansSDP(Gram.from_data(X), 5), tol=5e-3).certificate
    for m in (10, 100, 300):  # few, as many as there are points, more than that
        found = quietly(X, 5, n_landmarks=m, grade="verified", max_iter=40)
        assert found.certificate.lower <= dense.upper
        assert found.certificate.upper >= dense.lower


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_extreme_scales_are_divided_by_a_power_of_two(size):
    X = double_swiss_roll(300, random_state=4)[0]
    plain = quietly(X, 5, n_landmarks=50, max_iter=30)
    with pytest.warns(UserWarning, match="divided by 2"):
        found = quietly(X * size, 5, n_landmarks=50, max_iter=30)
    assert found.certificate.gap == pytest.approx(plain.certificate.gap, rel=1e-3)
    assert np.allclose(found.landmarks / size, plain.landmarks)


@pytest.mark.parametrize(("K", "value"), [(1, 0.0), (6, 70.0)])
def test_programs_that_are_known_without_solving(K, value):
    X = np.arange(6.0)[:, None] * 2
    found = solve_by_landmarks(X, K)
    assert found.certificate.lower == pytest.approx(value)
    assert found.certificate.upper == pytest.approx(value)
    assert found.is_certified


def test_equal_points_keep_nothing():
    found = solve_by_landmarks(np.full((30, 2), 1e9), 4)
    assert (found.certificate.lower, found.certificate.upper) == (0, 0)
    assert found.assign(np.full((2, 2), 1e9)).tolist() == [[1], [1]]


def test_two_points():
    found = quietly(np.array([[0.0], [2.0]]), 1.5)
    assert found.certificate.lower <= 1.0 <= found.certificate.upper <= 2.1


def test_points_that_fill_many_dimensions_are_said_to():
    X = np.random.default_rng(0).standard_normal((600, 12))
    with pytest.warns(ConvergenceWarning, match="Landmarks do not pay here: 40 of them leave out"):
        found = solve_by_landmarks(X, 5, n_landmarks=40, max_iter=40)
    assert found.residual > 0.1
    assert math.isfinite(found.certificate.upper)


def test_limits_end_the_run_with_bounds_that_stand():
    X = double_swiss_roll(600, random_state=6)[0]
    with pytest.warns(ConvergenceWarning, match="Raise the limit"):
        short = solve_by_landmarks(X, 6, n_landmarks=60, tol=0, max_iter=3)
    assert (short.status, short.n_iter) == (Status.MAX_ITER, 3)
    with pytest.warns(ConvergenceWarning, match="Raise the limit"):
        hasty = solve_by_landmarks(X, 6, n_landmarks=60, tol=0, max_seconds=0, grade="verified")
    assert hasty.status is Status.MAX_SECONDS
    assert hasty.certificate.upper < Gram.from_data(X).trace * 1.01
    assert 0 < hasty.certificate.lower <= short.certificate.upper
    assert hasty.landmarks == pytest.approx(X.mean(axis=0)[None, :])


def test_after_the_deadline_no_pass_is_begun(monkeypatch):
    made = []
    sums_after = landmark_lower.sums_after
    monkeypatch.setattr(landmark_lower, "sums_after", lambda *given: made.append(1) or sums_after(*given))
    table = rows.CentredRows.of(double_swiss_roll(600, random_state=6)[0])
    least, _ = landmark_lower.find_cells(table, 6, 0, max_passes=15, deadline=-math.inf)
    assert len(made) == 1
    best, _ = landmark_lower.find_cells(table, 6, 0, max_passes=15, deadline=math.inf)
    assert len(made) > 2
    assert 0 < least <= best


def test_after_the_deadline_landmarks_are_not_doubled(monkeypatch):
    monkeypatch.setattr(choice, "FIRST_COUNT", 20)
    table = rows.CentredRows.of(double_swiss_roll(600, random_state=6)[0])
    counts = [choice.choose_landmarks(table, "auto", 0.0, 0, deadline).weights.m for deadline in (-math.inf, math.inf)]
    assert counts[0] == 20
    assert counts[1] > 20


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 2.0]]), ValueError, "got nan at row 1, column 0"),
        (np.zeros((1, 2)), ValueError, "at least 2 rows"),
        (np.zeros((5, 0)), ValueError, "at least 2 rows and 1 column"),
        (np.zeros(5), ValueError, "at least 2 rows"),
        (np.array([["a", "b"], ["c", "d"]]), TypeError, "real numbers"),
        (np.zeros((3, 2), dtype=complex), TypeError, "real numbers"),
        (np.ma.masked_array(np.zeros((3, 2)), True), TypeError, "without a mask"),
        (sp.csr_matrix((3, 2)), TypeError, "dense table"),
        (np.array([[2**60 + 1], [0]]), ValueError, "2\\*\\*53"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X, error, words):
    with pytest.raises(error, match=words):
        solve_by_landmarks(X, 2)


@pytest.mark.parametrize(
    "options",
    [{"K": 0.5}, {"K": 40}, {"n_landmarks": 1}, {"n_landmarks": 2.5}, {"tol": -1}, {"grade": "sure"}, {"max_iter": 0}],
)
def test_settings_out_of_range_are_refused(options):
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(options))} must be"):
        solve_by_landmarks(np.arange(20.0)[:, None], **{"K": 3, **options})


def test_rows_of_another_width_are_refused():
    found = quietly(double_swiss_roll(200, random_state=7)[0], 4, n_landmarks=40, max_iter=10)
    with pytest.raises(ValueError, match="must have 2 columns"):
        found.assign(np.zeros((3, 5)))


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_matrices_may_be_those_of_another_library(grade):
    strict = pytest.importorskip("array_api_strict")
    X = double_swiss_roll(300, random_state=8)[0]
    options = {"n_landmarks": 40, "max_iter": 10, "grade": grade}
    here = quietly(X, 5, device="cpu", **options)
    there = quietly(X, 5, device=strict.zeros(0, dtype=strict.float64), **options)
    assert there.certificate.upper == pytest.approx(here.certificate.upper, rel=1e-10)
    assert isinstance(there.multiplier, np.ndarray)


@pytest.mark.gpu
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_matrices_may_be_on_a_gpu(grade):
    X = double_swiss_roll(3000, random_state=8)[0]
    options = {"n_landmarks": 200, "max_iter": 20, "grade": grade}
    here, there = (quietly(X, 8, device=device, **options) for device in ("cpu", "cuda"))
    assert there.certificate.upper == pytest.approx(here.certificate.upper, rel=1e-6)


def test_memory_beside_the_data_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(rows, "BLOCK_ROWS", 250)
    monkeypatch.setattr(choice, "SMALLEST_SAMPLE", 300)
    monkeypatch.setattr(choice, "SAMPLE_PER_LANDMARK", 10)
    monkeypatch.setattr(landmark_lower, "SMALLEST_SAMPLE", 300)
    peaks = []
    for n in (1000, 2000, 8000):  # the first pays for imports
        X = np.tile(double_swiss_roll(1000, random_state=9)[0], (n // 1000, 1))
        tracemalloc.start()
        quietly(X, 4, n_landmarks=30, max_iter=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] + X.nbytes / 2
