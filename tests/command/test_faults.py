"""Full disks, folders that may not be written to, closed pipes and Ctrl-C: nothing is left half-written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from running import run
from sknomad._command import places, report
from sknomad.datasets import two_rings

OUTPUTS = {
    "fit": ["-K", 8, "--out", "result", "--report", "result.html", "--tol", 0.1],
    "cluster": ["--out", "result", "--report", "result.html", "--tol", 0.1],
    "path": ["-K", 4, 8, "--out", "result", "--tol", 0.1],
    "certify": ["--label-column", 0, "-k", 30, "--certificate", "result.cert", "--tol", 1],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with points in it and nothing else."""
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", two_rings(30)[0].round(1) + 2)
    return tmp_path


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("command", OUTPUTS)
def test_full_disk(capsys, folder, monkeypatch, command):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", no_space)
    monkeypatch.setattr(os, "replace", no_space)
    code, _, err = run(capsys, command, "X.npy", *OUTPUTS[command])
    assert code == 1
    assert "could not be written: No space left on device" in err
    assert left_in(folder) == ["X.npy"]


def test_full_disk_of_tables(capsys, folder, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    code, _, err = run(capsys, "datasets", "ring", "--out", "ring.csv")
    assert code == 1
    assert "No space left" in err
    assert left_in(folder) == ["X.npy"]


@pytest.mark.parametrize("command", OUTPUTS)
def test_read_only_folder(capsys, folder, monkeypatch, command):
    monkeypatch.setattr(places, "_may_write", lambda folder: False)
    code, text, err = run(capsys, command, "X.npy", *OUTPUTS[command])
    assert (code, text) == (1, "")
    assert "may be written to" in err
    assert left_in(folder) == ["X.npy"]


@pytest.mark.parametrize("command", ["fit", "cluster", "path"])
def test_interrupt_while_writing(capsys, folder, monkeypatch, command):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    for name in ("points_of", "write_text"):
        monkeypatch.setattr(report, name, interrupt)
    monkeypatch.setattr(f"sknomad._command.{command}.write_text", interrupt, raising=False)
    code, _, err = run(capsys, command, "X.npy", *OUTPUTS[command])
    assert code == 130
    assert "nothing is left half-written" in err
    assert left_in(folder) == ["X.npy"]


@pytest.mark.parametrize(
    ("command", "worker"),
    [
        ("fit", "sknomad.NOMAD.fit"), ("cluster", "sknomad.MultiLayerNOMAD.fit"),
        ("path", "sknomad._command.path.nomad_path"), ("certify", "sknomad._command.certify.certify_kmeans"),
    ],
)  # fmt: skip
def test_interrupt_before_there_is_an_answer(capsys, folder, monkeypatch, command, worker):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, interrupt)
    code, text, err = run(capsys, command, "X.npy", *OUTPUTS[command])
    assert (code, text) == (130, "")
    assert "interrupted" in err
    assert left_in(folder) == ["X.npy"]


def test_missing_folder_is_named(capsys, folder):
    code, _, err = run(capsys, "fit", "X.npy", "--save", "missing/model.sknomad")
    assert code == 1
    assert f"Make the folder {str(folder / 'missing')!r} first" in err
    from sknomad import CertifiedKMeans

    model = CertifiedKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    with pytest.raises(FileNotFoundError, match="must exist; make it first") as error:
        model.save("missing/model.sknomad")
    assert error.value.filename == "missing"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_output_is_one_sentence():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sknomad", "doctor"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr
