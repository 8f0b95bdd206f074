"""The benchmark against peers loads, judges a tiny solve, and is drawn from its file."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
DATASETS = {"mnist", "ring", "simulated"}
SOLVERS = {
    "sknomad-auto", "sknomad-admm", "sknomad-soft",
    "conditional-gradient", "burer-monteiro", "scs", "clarabel", "k-means",
}  # fmt: skip

if not FOLDER.exists():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)


@pytest.fixture
def benchopt():
    """The framework; what it warns of is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield pytest.importorskip("benchopt", reason="benchopt is not installed: pip install 'sknomad[bench]'")


@pytest.fixture
def plot():
    """benchmarks/plot.py as a module."""
    pytest.importorskip("pandas", reason="pandas is not installed: pip install 'sknomad[bench]'")
    spec = importlib.util.spec_from_file_location("benchmarks_plot", FOLDER / "plot.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_of_the_benchmark_loads(benchopt):
    from benchopt.benchmark import Benchmark

    benchmark = Benchmark(FOLDER / "benchopt")
    parts = [*benchmark.get_datasets(), *benchmark.get_solvers(), benchmark.get_benchmark_objective()]
    assert {part.name for part in benchmark.get_datasets()} == DATASETS
    assert {part.name for part in benchmark.get_solvers()} == SOLVERS
    assert all(part.is_installed(raise_on_not_installed=True) for part in parts)


def test_a_tiny_run_is_judged_and_drawn(benchopt, plot, tmp_path):
    path = benchopt.run_benchmark(
        FOLDER / "benchopt",
        solver_names=["sknomad-admm", "sknomad-soft", "k-means", "scs[eps=1e-6]"],
        dataset_names=["ring[n=12,K=3]"],
        max_runs=100,
        timeout=20,
        plot_result=False,
        show_progress=False,
        no_cache=True,
        output_file=str(tmp_path / "tiny.parquet"),
    )
    table = plot.read_results(path)
    last = table.groupby("solver").last()
    assert set(last.index) == {"sknomad-admm", "sknomad-soft", "k-means", "scs"}
    assert last.loc["sknomad-admm", "objective_value"] <= 1e-6  # where the objective, and nobody else, stops it
    assert last.loc["scs", "objective_value"] < 1e-3
    # Without a multiplier there is no bound, and a clustering has the value that its inertia says.
    assert np.isinf(last.loc[["sknomad-soft", "k-means"], "objective_value"]).all()
    assert last.loc["k-means", "objective_lower"] == pytest.approx(12 - last.loc["k-means", "objective_kmeans_inertia"])
    assert last["objective_lower"].max() <= last["objective_upper"].min()
    plot.draw(table).savefig(tmp_path / "tiny.png")


def test_the_figure_shows_the_best_bounds_so_far(plot, tmp_path):
    import pandas as pd

    rows = [("admm", 1.0, 8.0, 12.0), ("admm", 2.0, 9.0, 11.0), ("admm", 3.0, 7.0, 10.0), ("soft", 1.5, 9.5, np.inf)]
    table = pd.DataFrame(rows, columns=["solver_name", "time", "objective_lower", "objective_upper"])
    table.assign(dataset_name="ring[K=3,n=12]", idx_rep=0).to_csv(tmp_path / "rows.csv", index=False)
    table = plot.read_results(tmp_path / "rows.csv")
    gaps = {solver: (gap.tolist(), short.tolist()) for solver, _, gap, short in plot.curves(table)}
    assert gaps["admm"][0] == pytest.approx([4 / 12, 2 / 11, 1 / 10])
    assert gaps["admm"][1] == pytest.approx([0.2, 0.1, 0.1])
    assert gaps["soft"] == ([np.inf], [pytest.approx(0.05)])
    assert plot.title(table["dataset_name"][0]) == "ring, n = 12, K = 3"
    assert len(plot.draw(table).axes) == 2


def test_no_bound_of_certified_kmeans_lies_above_any_inertia_met():
    rows = json.loads((FOLDER / "results" / "certified_kmeans.json").read_text())["rows"]
    known = {("iris", 2): 152.347952, ("iris", 3): 78.851441, ("iris", 4): 57.228473}
    for row in rows:
        case = row["case"], row["K"]
        met = [other["inertia"] for other in rows if (other["case"], other["K"]) == case]
        assert row["bound"] <= min([*met, known.get(case, np.inf)])
        assert row["inertia"] <= row["kmeans_inertia"] * (1 + 1e-12)
        assert row["inertia"] >= known.get(case, 0) * (1 - 1e-8)


def test_tables_are_what_the_result_files_say():
    command = [sys.executable, str(FOLDER / "tables.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
