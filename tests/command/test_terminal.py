"""What reaches a terminal or a pipe: no control characters of a stranger's, strict JSON, silence where nobody reads."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from running import run
from sknomad._command.command import as_json, printable

ESCAPES = "\x1b[31mred\x1b[0m\x07\x08\u202eevil\u2066\r\x9b2J\u2028"
QUOTED = f'"{ESCAPES}"'


def assert_harmless(*texts):
    for text in texts:
        assert all(line.isprintable() for line in text.splitlines()), repr(text)
        assert "\r" not in text


def strict(text):
    """JSON as the standard has it."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_header_with_escapes(capsys, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"a{ESCAPES},b\n1,2\n3,{ESCAPES}\n", encoding="utf-8")
    for options in ([], ["--label-column", "c"], ["--label-column", ESCAPES]):
        code, text, err = run(capsys, "fit", path, *options)
        assert (code, text) == (1, "")
        assert_harmless(err)
        assert err.count("\n") == 1


def test_labels_with_escapes(capsys, tmp_path):
    path = tmp_path / "table.csv"
    rows = "\n".join(f"{x},{y},{QUOTED if x else 'plain'}" for x, y in [(0, 0), (0, 1), (9, 0), (9, 1)])
    path.write_text(f"a,b,{QUOTED}\n{rows}\n", encoding="utf-8")
    code, text, err = run(capsys, "fit", path, "-K", 2, "--label-column", -1)
    assert code == 0
    assert_harmless(text, err)


@pytest.mark.skipif(os.name == "nt", reason="no such names")
def test_file_names_with_escapes(capsys, tmp_path):
    name = ESCAPES.replace("/", "") + "\n sknomad: error: all is well"
    path = tmp_path / f"{name}.npy"
    np.save(path, np.array([[0.0], [1.0], [10.0], [11.0]]))
    places = ["--save", tmp_path / f"{name}.model", "--certificate", tmp_path / f"{name}.cert"]
    code, text, err = run(capsys, "fit", path, "-K", 2, "--out", tmp_path / f"{name}.out", *places)
    assert code == 0
    assert err.count("\n") == 3
    assert_harmless(text, err)
    for arguments in (
        ["fit", tmp_path / f"{name}.csv"],
        ["fit", path, "-K", 2, "--out", path],
        ["fit", path, path],
        ["fit", path, "-K", name],
        ["verify", path, path],
        ["verify", tmp_path / f"{name}.cert", tmp_path / f"{name}.npz"],
        ["reproduce", name, "--out", tmp_path / name],
    ):
        code, text, err = run(capsys, *arguments)
        assert code in (1, 2)
        assert_harmless(text, err)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain, è 火 ≤", "plain, è 火 ≤"), ("\x1b[2J", "\\x1b[2J"), ("a\nb", "a\\nb"), ("\u202e", "\\u202e")],
)
def test_only_what_can_be_printed_is_printed(text, shown):
    assert printable(text) == shown
    assert printable("\udcff").encode() == b"\\udcff"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [["--tol", "inf"], ["--max-seconds", 0], ["--solver", "soft"]])
def test_json_is_strict(capsys, tmp_path, options):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).standard_normal((30, 2)))
    out = tmp_path / "out"
    _, text, _ = run(capsys, "fit", tmp_path / "X.npy", "-K", 4, "--json", "--out", out, *options)
    summary = strict(text)
    assert strict((out / "summary.json").read_text()) == summary
    if options[0] == "--tol":
        assert summary["tol"] is None
    if options[0] == "--solver":
        assert summary["upper"] is None


def test_every_number_that_is_none_is_null():
    value = {"a": math.inf, "b": [math.nan, 1.5, {"c": -math.inf}], "d": (2, "x", None, True), "e": np.float64("inf")}
    assert strict(as_json(value)) == {
        "a": None, "b": [None, 1.5, {"c": None}], "d": [2, "x", None, True], "e": None,
    }  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"], ["reproduce", "--list"], ["--help"]])
def test_closed_pipe_is_silence(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "sknomad", *arguments]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_closed_messages_are_silence_too(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "sknomad", "fit", str(tmp_path / "missing.csv")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stdout) == (0, "")
