"""The benchmark of the automatic choice: its data have the parts they claim, and its files say what they must."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sknomad._manifolds import choice

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.exists():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)

PARTS = {"blobs8_50d": 8, "blobs30_5d": 30, "uneven6_10d": 6, "rings3": 3, "spirals2": 2, "lines5": 5, "mixed4": 4}


@pytest.fixture
def load(monkeypatch):
    """Modules of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


@pytest.mark.parametrize("kind", ["families", "single", "unseen", "images", "alone"])
@pytest.mark.parametrize("n", [100, 150])
def test_every_draw_has_the_points_asked_for_and_is_repeatable(load, kind, n):
    data = load("part_data")
    for name in data.names(kind, n):
        X, parts = data.draw(kind, name, n, 3)
        again, other = data.draw(kind, name, n, 3)[0], data.draw(kind, name, n, 4)[0]
        assert len(X) == len(parts) == n
        assert np.all(np.isfinite(X))
        assert np.array_equal(X, again)
        assert not np.array_equal(X, other)
        assert (parts.max() == 1) == (kind in ("single", "alone"))
        assert np.all(np.bincount(parts)[1:] > 0)


def test_families_have_the_parts_that_their_names_say(load):
    data = load("part_data")
    assert {name: data.draw("families", name, 300, 0)[1].max() for name in PARTS} == PARTS
    assert np.mean(data.draw("families", "noise_blobs4", 300, 0)[1] == 0) == pytest.approx(0.1)


def test_noise_of_hdbscan_has_the_nearest_label(load):
    X = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10), 4.0][:, None]
    labels = load("parts").hdbscan(X)
    assert len(set(labels.tolist())) == 2
    assert labels[-1] == labels[0] != labels[10]


def test_an_interval_is_of_data_sets_and_not_of_draws(load):
    rows = [{"data": "a", "x": [2, 1.0], "y": [2, 0.0]}] * 99 + [{"data": "b", "x": [2, 0.0], "y": [2, 1.0]}]
    assert load("part_tables").interval(rows, "x", "y") == "+0.000 [-1.000, +1.000]"


@pytest.mark.parametrize("few", [True, False])
def test_confidence_is_what_draws_for_calibration_say(load, few):
    constants = load("part_constants")
    files = [FOLDER / "results" / f"parts_{name}.json" for name in ("development", "reporting")]
    rows = constants.for_calibration([row for file in files for row in json.loads(file.read_text())["rows"]], few=few)
    assert max(row["seed"] for row in rows) < constants.CALIBRATED_BELOW
    assert {row["kind"] for row in rows} == {"sets", "families", "single"}
    names = {"several": "CONFIDENCE_IN_SEVERAL", "one": "CONFIDENCE_IN_ONE", "told": "CONFIDENCE_WHEN_TOLD"}
    for name, found in constants.confidence(rows).items():
        assert found == pytest.approx(getattr(choice, names[name] + "_FINE" * few), abs=0.02)


@pytest.mark.parametrize("name", ["development", "reporting"])
def test_rows_are_those_of_one_threshold(name):
    rows = json.loads((FOLDER / "results" / f"parts_{name}.json").read_text())["rows"]
    assert all((row["seed"] >= 100) == (name == "reporting") for row in rows)
    for row in rows:
        assert row["auto"] == row["several"] if row["strength"] > 0 else row["auto"][0] == 1
