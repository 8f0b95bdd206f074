"""The command: results on stdout, messages on stderr, exit codes, and nothing half-written."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from running import run
from sknomad import datasets
from sknomad._command import report as _report


@pytest.fixture
def rings(tmp_path):
    X, truth = datasets.two_rings(60)
    path = tmp_path / "rings.csv"
    lines = [
        "x,y,ring",
        *(f"{x:.17g},{y:.17g},{'outer' if t == 0 else 'inner'}" for (x, y), t in zip(X, truth, strict=True)),
    ]
    path.write_text("\n".join(lines))
    return path


def test_fit_writes_everything_and_reports(capsys, rings, tmp_path):
    out = tmp_path / "deep" / "result"
    code, text, err = run(capsys, "fit", rings, "-K", 16, "--label-column", "ring", "--out", out)
    assert code == 0
    assert "manifolds     2 (points: 30, 30)" in text
    assert "adjusted Rand index 1.000" in text
    assert "Wrote" in err
    assert sorted(p.name for p in out.iterdir()) == [
        "affinity.npz", "overview.png", "points.csv", "summary.json", "summary.txt",
    ]  # fmt: skip
    summary = json.loads((out / "summary.json").read_text())
    assert summary["lower"] <= summary["upper"]
    assert summary["gap"] <= 1e-3
    Q = np.load(out / "affinity.npz")["Q"]
    assert np.allclose(Q.sum(axis=1), 1)
    points = np.genfromtxt(out / "points.csv", delimiter=",", names=True)
    assert points.shape == (60,)
    assert set(points["manifold"]) == {0, 1}


def test_json_is_all_of_stdout(capsys, rings):
    code, text, _ = run(capsys, "fit", rings, "-K", 16, "--label-column", 2, "--json", "--verify")
    summary = json.loads(text)
    assert code == 0
    assert summary["grade"] == "verified"
    assert summary["n_features"] == 2
    assert summary["status"] == "certified"


def test_not_reaching_tol_is_3_with_bounds(capsys, rings):
    code, text, err = run(capsys, "fit", rings, "-K", 16, "--label-column", "ring", "--max-seconds", 0, "--json")
    summary = json.loads(text)
    assert code == 3
    assert summary["status"] == "max_seconds"
    assert summary["lower"] > 0
    assert "warning" in err
    assert "bounds stand" in err


def test_usage_is_2(capsys, rings):
    for arguments in ([], ["fit"], ["fit", rings, "-K", "lots"], ["bake"], ["fit", rings, "--metric", "cosine"]):
        assert run(capsys, *arguments)[0] == 2


BAD_FILES = {
    "missing.csv": (None, "existing file"),
    "empty.csv": (b"", "empty file"),
    "words.csv": (b"a,b\n1,2\n3,four\n", "column 'b' ('four' in data row 1)"),
    "ragged.csv": (b"1,2\n3\n4,5\n", "2 cells in every row, got 1"),
    "holes.csv": (b"a,b\n1,2\n3,\n5,6\n", "no missing values, got 1 in 'b'"),
    "infinite.csv": (b"a,b\n1,2\n3,inf\n5,6\n", "got inf in column 'b', data row 1"),
    "one_row.csv": (b"a,b\n1,2\n", "at least 2 rows"),
    "only_header.csv": (b"a,b\n", "at least 2 rows"),
    "noise.dat": (b"\x00\x01\x02", "other bytes"),
    "table.xlsx": (b"PK", "Save the sheet as CSV"),
    "junk.npy": (b"not numpy", "NumPy file"),
    "truncated.npz": (b"PK\x03\x04junk", "NumPy file"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_one_sentence(capsys, tmp_path, name):
    content, message = BAD_FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    out = tmp_path / "out"
    code, text, err = run(capsys, "fit", tmp_path / name, "--out", out)
    assert code == 1
    assert text == ""
    assert message in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not out.exists()


def test_pickled_array_is_refused(capsys, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    code, _, err = run(capsys, "fit", tmp_path / "objects.npy")
    assert code == 1
    assert "without pickled objects" in err


def test_bad_K_names_the_rule(capsys, rings):
    code, _, err = run(capsys, "fit", rings, "-K", 61, "--label-column", "ring")
    assert (code, err) == (1, "sknomad: error: K must be a real number in [1, n_samples=60], got 61.0.\n")


def test_bad_column_lists_the_columns(capsys, rings):
    code, _, err = run(capsys, "fit", rings, "--label-column", "rong")
    assert code == 1
    assert "Columns: x, y, ring" in err


def test_out_is_never_overwritten_unasked(capsys, rings, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("precious")
    arguments = ["fit", rings, "-K", 16, "--label-column", "ring", "--out", out]
    code, text, err = run(capsys, *arguments)
    assert (code, text) == (1, "")
    assert "--overwrite" in err
    assert [p.name for p in out.iterdir()] == ["thesis.txt"]
    assert run(capsys, *arguments, "--overwrite")[0] == 0
    assert (out / "thesis.txt").read_text() == "precious"
    assert (out / "summary.json").exists()
    code, _, err = run(capsys, "fit", rings, "--label-column", "ring", "--out", rings)
    assert code == 1
    assert "must be a folder" in err


def test_failure_while_writing_leaves_nothing(capsys, rings, tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_report, "points_of", no_space)
    out = tmp_path / "out"
    code, _, err = run(capsys, "fit", rings, "-K", 16, "--label-column", "ring", "--out", out)
    assert code == 1
    assert "No space left" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rings.csv"]


def test_demo_and_doctor(capsys, tmp_path):
    code, text, _ = run(capsys, "demo", "--out", tmp_path / "demo", "--tol", "5e-3")
    assert code == 0
    assert "manifolds     2 (points: 100, 100)" in text
    assert (tmp_path / "demo" / "overview.png").stat().st_size > 50_000
    code, text, _ = run(capsys, "doctor", "--json")
    facts = json.loads(text)
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["memory_gib"] > 0
    code, text, _ = run(capsys, "doctor")
    assert "scikit-learn" in text


def test_progress_bar_only_on_a_terminal(capsys, monkeypatch, rings):
    arguments = ["fit", rings, "-K", 16, "--label-column", "ring"]
    assert "━" not in run(capsys, *arguments)[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _, text, err = run(capsys, *arguments)
    assert "━" in err
    assert "━" not in text


# The command, with an interrupt (Ctrl-C) in the middle of the solver's work: after the third look at the bounds.
INTERRUPTED_COMMAND = """
import os, signal, sys
from sknomad import cli
from sknomad._solving.judging import ProgramJudge

signal.signal(signal.SIGINT, signal.default_int_handler)  # tests started in the background ignore interrupts
judge, looks = ProgramJudge.judge, []

def interrupt_after_three(self, run, *, thorough):
    judge(self, run, thorough=thorough)
    looks.append(run.iteration)
    if len(looks) == 3:
        os.kill(os.getpid(), signal.SIGINT)

ProgramJudge.judge = interrupt_after_three
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt_gives_130_and_the_bounds_so_far(tmp_path):
    out = tmp_path / "out"
    np.save(tmp_path / "X.npy", datasets.double_swiss_roll(200)[0])
    options = ["fit", tmp_path / "X.npy", "-K", "64", "--tol", "0", "--json", "--out", out]
    command = [sys.executable, "-c", INTERRUPTED_COMMAND, *map(str, options)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 130, process.stderr
    summary = json.loads(process.stdout)
    assert summary["status"] == "interrupted"
    assert 0 < summary["lower"] <= summary["upper"]
    assert (out / "summary.json").exists()


def test_import_pulls_in_no_extra():
    extras = ("matplotlib", "torch", "cvxpy", "jinja2", "pooch", "anndata")
    code = f"import sys, sknomad; print([m for m in {extras} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.fixture
def no_fit(monkeypatch):
    def fit(*_):
        raise AssertionError("the work was begun")

    monkeypatch.setattr("sknomad._command.fit.NOMAD.fit", fit)


def test_places_are_checked_before_the_work(capsys, rings, tmp_path, no_fit):
    (tmp_path / "folder").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    missing, within_a_file = tmp_path / "missing" / "file", rings / "file"
    for option, places in {
        "--save": [tmp_path / "folder", missing, within_a_file, rings],
        "--certificate": [tmp_path / "folder", missing, within_a_file, rings],
        "--out": [rings, within_a_file, tmp_path / "full"],
    }.items():
        for place in places:
            code, text, err = run(capsys, "fit", rings, "--label-column", "ring", option, place)
            assert (code, text) == (1, ""), (option, place)
            assert f"{option} must" in err
    code, _, err = run(capsys, "fit", rings, "--save", tmp_path / "a", "--certificate", tmp_path / "a")
    assert code == 1
    assert "--certificate must" in err


def test_folders_that_may_not_be_written_to_are_refused(capsys, rings, tmp_path, no_fit):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if os.access(locked, os.W_OK):
        pytest.skip("who runs this may write everywhere")
    for option in ("--save", "--certificate", "--out"):
        code, _, err = run(capsys, "fit", rings, "--label-column", "ring", option, locked / "file")
        assert code == 1
        assert f"{option} must" in err


def test_a_result_that_cannot_be_written_is_still_shown(capsys, rings, tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_report, "points_of", no_space)
    model = tmp_path / "model"
    arguments = ["fit", rings, "-K", 16, "--label-column", "ring", "--out", tmp_path / "out", "--save", model]
    code, text, err = run(capsys, *arguments)
    assert code == 1
    assert "No space left" in err
    assert "manifolds     2 (points: 30, 30)" in text
    assert model.exists()
