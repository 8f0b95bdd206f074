"""The solution path: the same answers as single solves, its facts, its picture."""

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, datasets, nomad_path, solve
from sknomad.metrics import active_modes


@pytest.fixture(scope="module")
def path():
    return nomad_path(datasets.two_rings(80)[0], [16, 3, 6, 12, 16])


def test_values_are_sorted_and_unique(path):
    assert path.K_values.tolist() == [3, 6, 12, 16]


def test_bounds_hold_for_solutions_found_alone(path):
    gram = Gram.from_data(datasets.two_rings(80)[0])
    for K, lower, upper in zip(path.K_values, path.lower, path.upper, strict=True):
        alone = solve(KMeansSDP(gram, K))
        assert lower <= alone.certificate.upper
        assert alone.certificate.lower <= upper
        assert (upper - lower) / upper <= 1e-3


def test_the_optimum_rises_with_K_to_the_trace(path):
    gram = Gram.from_data(datasets.two_rings(80)[0])
    assert np.all(np.diff(path.lower) > 0)
    assert np.all(path.lower <= gram.trace)


def test_parts_modes_and_stability(path):
    assert path.n_components.tolist() == [1, 1, 2, 2]
    assert path.labels[-1].tolist() == [0] * 40 + [1] * 40
    assert path.stability[:-1].tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(path.stability[-1])
    assert np.all(np.diff(path.active_modes) > 0)
    assert np.all(path.persistence > 0)
    Q = solve(KMeansSDP(Gram.from_data(datasets.two_rings(80)[0]), 3)).Q
    assert path.active_modes[0] == active_modes(Q)


@pytest.mark.parametrize(("solver", "share"), [("admm", 0.8), ("auto", 1.0)])
def test_starts_save_steps(solver, share):
    X, K_values = datasets.moons(60, random_state=0)[0], [6, 6.5, 7, 7.5, 8]
    steps = {}
    for name, runs in {"path": [K_values], "alone": [[K] for K in K_values]}.items():
        calls = []
        for values in runs:
            nomad_path(X, values, solver=solver, callback=lambda progress, calls=calls: calls.append(1) and False)
        steps[name] = len(calls)
    assert steps["path"] <= share * steps["alone"]


def test_kernel_gives_the_same():
    X, _ = datasets.two_rings(40)
    plain, kernel = nomad_path(X, [4, 8]), nomad_path(X @ X.T, [4, 8], metric="precomputed")
    assert np.array_equal(plain.n_components, kernel.n_components)
    assert np.allclose(plain.lower, kernel.lower, rtol=1e-3)


def test_picture_shows_every_quantity(path):
    pytest.importorskip("matplotlib")
    axes = path.plot().axes
    assert [ax.get_title(loc="left") for ax in axes] == [
        "Bounds on the optimum", "Parts", "Active modes", "How clear the parts are",
    ]  # fmt: skip
    lines = [np.asarray(line.get_ydata(), dtype=float) for ax in axes for line in ax.get_lines()]
    for shown in (path.lower, path.upper, path.n_components, path.active_modes, path.persistence, path.stability[:-1]):
        assert any(line.shape == shown.shape and np.allclose(line, shown) for line in lines)


def test_picture_of_a_single_K():
    pytest.importorskip("matplotlib")
    path = nomad_path(datasets.ring(20)[0], [4])
    figure = path.plot()
    figure.canvas.draw()
    *drawn, stability = [line for ax in figure.axes for line in ax.get_lines()]
    shown = (path.upper, path.lower, path.n_components, path.n_components, path.active_modes, path.persistence)
    for line, values in zip(drawn, shown, strict=True):
        assert np.array_equal(line.get_xydata(), np.column_stack([[4.0], values]))
    assert len(stability.get_xydata()) == 0  # there is no next K to agree with
    assert all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all() for ax in figure.axes)


@pytest.mark.parametrize(
    ("values", "error"), [([], ValueError), ([0.5], ValueError), (["a"], TypeError), (3, TypeError), ([99], ValueError)]
)
def test_bad_values_are_named(values, error):
    with pytest.raises(error, match="K"):
        nomad_path(datasets.ring(20)[0], values)


def test_bad_metric_is_named():
    with pytest.raises(ValueError, match="metric must be one of"):
        nomad_path(datasets.ring(20)[0], [3], metric="cosine")


def test_a_path_cut_short_goes_on_where_it_was(tmp_path):
    X, _ = datasets.two_rings(60)
    steps = []

    def until(progress):
        steps.append(progress)
        if len(steps) == 30:
            raise KeyboardInterrupt
        return False

    file, options = tmp_path / "run.ckpt", {"tol": 1e-4, "solver": "admm"}
    with pytest.raises(KeyboardInterrupt):
        nomad_path(X, [4, 12], callback=until, checkpoint=file, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt-K4"]
    seen = []
    path = nomad_path(X, [4, 12], callback=seen.append, checkpoint=file, **options)
    assert seen[0].iteration > 30
    assert path.largest_gap <= 1e-4
    again = nomad_path(X, [4, 12], checkpoint=file, **options)
    np.testing.assert_allclose(again.lower, path.lower, rtol=1e-4)


@pytest.mark.slow
def test_several_processes_solve_the_same_programs():
    X = datasets.two_rings(60)[0]
    one, two = (nomad_path(X, [4, 8, 16, 20], n_jobs=jobs) for jobs in (None, 2))
    assert np.array_equal(one.K_values, two.K_values)
    assert np.all(one.lower <= two.upper)
    assert np.all(two.lower <= one.upper)
    assert np.array_equal(one.n_components, two.n_components)


def test_no_callback_is_heard_from_other_processes():
    X = datasets.two_rings(20)[0]
    with pytest.raises(ValueError, match="callback must be None"):
        nomad_path(X, [2, 4], n_jobs=2, callback=print)
    with pytest.raises(ValueError, match="n_jobs must be"):
        nomad_path(X, [2, 4], n_jobs=0)
