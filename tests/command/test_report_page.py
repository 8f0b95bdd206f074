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


def contents(page):
    return json.loads(re.search(r'id="contents">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])


def test_names_of_rows_units_and_all_options_reach_the_page(tmp_path):
    X, _ = two_rings(60)
    rows = [f"cell {i},{x:.9f},{1000 * y:.9f},note {i}" for i, (x, y) in enumerate(X)]
    (tmp_path / "cells.csv").write_text("id,x,y,comment\n" + "\n".join(rows) + "\n")
    page, out = tmp_path / "report.html", tmp_path / "out"
    words = ["fit", str(tmp_path / "cells.csv"), "-K", "12", "--tol", "0.01", "--drop", "comment", "--standardize"]
    assert main([*words, "--report", str(page), "--out", str(out)]) == 0
    found = contents(page)
    assert found["names"][:2] == ["cell 0", "cell 1"]
    assert found["columns"][1]["values"]["unit"] == pytest.approx(1000 * np.abs(X[:, 1]).max(), rel=1e-6)
    assert found["made"]["command"].endswith("-K 12 --drop comment --standardize --tol 0.01")
    assert (out / "points.csv").read_text().splitlines()[1].startswith("0,cell 0,")


def test_cluster_writes_a_page_too(table, tmp_path, capsys):
    page = tmp_path / "clusters.html"
    words = ["cluster", str(table), "-k", "2", "--tol", "0.01", "--label-column", "ring"]
    assert main([*words, "--report", str(page)]) == 0
    found = contents(page)
    assert found["verdict"].startswith("2 clusters, 60 points; every layer proven within ")
    assert found["made"]["command"] == f"sknomad cluster '{table}' -k 2 --label-column ring --tol 0.01"
    assert len(found["layers"]) >= 1
    assert main([*words, "--method", "kmeans", "--report", str(page)]) == 1
    assert "--report must go with --method manifolds" in capsys.readouterr().err


def test_points_in_no_manifold_are_counted_apart(tmp_path, capsys):
    X = np.vstack([two_rings(60)[0], [[3.0, 3.0]]])
    np.savetxt(tmp_path / "stray.csv", X, delimiter=",", header="x,y", comments="")
    assert main(["fit", str(tmp_path / "stray.csv"), "-K", "13", "--tol", "0.01"]) == 0
    assert "2 (points: 30, 30; 1 in none)" in capsys.readouterr().out


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
