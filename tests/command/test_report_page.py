"""``--report`` writes a page, refuses places that cannot take one, and says how to repeat the fit."""

import json
import re

import numpy as np
import pytest

from sknomad.cli import main
from sknomad.datasets import two_rings


@pytest.fixture
def table(tmp_path):
    X, labels = two_rings(60)
    path = tmp_path / "my rings.csv"
    np.savetxt(path, np.column_stack([X, labels]), delimiter=",", header="x,y,ring", comments="")
    return path


def test_fit_writes_a_page_with_the_command_that_repeats_it(table, tmp_path, capsys):
    page = tmp_path / "report.html"
    words = ["fit", str(table), "-K", "12", "--tol", "0.01", "--label-column", "ring", "--report", str(page)]
    assert main(words) == 0
    assert f"Wrote {page}." in capsys.readouterr().err
    contents = re.search(r'id="contents">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1]
    made = json.loads(contents)
    assert made["made"]["command"] == f"sknomad fit '{table}' -K 12 --label-column ring --tol 0.01"
    assert len(set(made["given"])) == 2
    assert made["manifolds"] == [30, 30]


def test_distances_have_no_columns_to_colour_by(tmp_path):
    X, _ = two_rings(40)
    np.save(tmp_path / "d.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    page = tmp_path / "report.html"
    words = ["fit", str(tmp_path / "d.npy"), "-K", "10", "--tol", "0.01", "--metric", "precomputed_distance"]
    assert main([*words, "--report", str(page)]) == 0
    contents = re.search(r'id="contents">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert json.loads(contents)["columns"] == []


def test_places_that_cannot_take_a_page_are_refused_before_the_work(table, tmp_path, capsys):
    assert main(["fit", str(table), "--report", str(tmp_path)]) == 1
    assert "--report must name a file" in capsys.readouterr().err
    assert main(["fit", str(table), "--report", str(table)]) == 1
    assert "--report must name a file of its own" in capsys.readouterr().err
