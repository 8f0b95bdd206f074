"""``--checkpoint``: a process that is killed in the middle is gone on from by the same command."""

import json
import subprocess
import sys

import numpy as np
import pytest

from running import run

# The command in a process that ends without a word when its run has been kept some times.
KILLED = """
import os, sys
from sknomad import cli
from sknomad._solving import checkpoint
checkpoint.CHECKPOINT_SECONDS, checkpoint.WRITING_RATIO = 0.0, 0
write, written = checkpoint.write_run, []
def write_and_end(*arguments):
    write(*arguments)
    written.append(arguments)
    if len(written) == 2:
        os._exit(9)
checkpoint.write_run = write_and_end
cli.main(sys.argv[1:])
"""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 2.2 * np.eye(3)[np.arange(60) % 3, :2]
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([X, np.arange(60) % 3]), delimiter=",", header="x,y,label", comments="")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["certify", "--tol", "1e-4"],
        ["cluster", "-k", "3", "--tol", "1e-4"],
    ],
    ids=["certify", "cluster"],
)
def test_the_same_command_goes_on_where_a_killed_one_was(table, tmp_path, capsys, command):
    asked = [command[0], str(table), *command[1:], "--label-column", "label", "--quiet", "--json"]
    code, expected, _ = run(capsys, *asked)
    asked += ["--checkpoint", str(tmp_path / "run")]
    killed = subprocess.run([sys.executable, "-c", KILLED, *asked], check=False, capture_output=True)
    assert killed.returncode == 9
    kept = {path.name for path in tmp_path.iterdir()} - {"table.csv"}
    assert kept
    assert all(name.startswith("run") for name in kept)
    again, found, _ = run(capsys, *asked)
    assert again == code
    expected, found = json.loads(expected), json.loads(found)
    assert found["gap"] == pytest.approx(expected["gap"], rel=1e-3)
    assert found.get("cluster_sizes") == expected.get("cluster_sizes")


def test_a_checkpoint_of_another_table_is_one_sentence(table, tmp_path, capsys):
    asked = ["certify", table, "--label-column", "label", "--quiet", "--tol", "0.5", "--checkpoint", tmp_path / "run"]
    run(capsys, *asked)
    code, _, err = run(capsys, *asked, "--standardize")
    assert code == 1
    assert "checkpoint must belong to this problem" in err
