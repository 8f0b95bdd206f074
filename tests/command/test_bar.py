"""The one bar: it shows the search and both bounds, never goes back, and counts every step."""

import re
import sys

import numpy as np
import pytest

from running import run
from sknomad import NOMAD, MultiLayerNOMAD, Progress
from sknomad._command import progress_bar
from sknomad._command.progress_bar import SolveBar
from sknomad._manifolds.survey import MOST_STEPS
from sknomad.datasets import two_rings


@pytest.fixture
def terminal(capsys, monkeypatch):
    """A terminal that draws every step."""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: True)  # the stream of the test itself is made later
    monkeypatch.setattr(progress_bar, "REFRESH", 0.0)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")


def drawings(text):
    """Lengths of the bar, and what stands beside it, of everything drawn."""
    lines = [line for line in text.split(progress_bar.ERASE_LINE) if line]
    return [line.count("━") for line in lines], [line.lstrip("━╌ ") for line in lines]


@pytest.mark.parametrize(
    "make", [lambda bar: NOMAD(callback=bar.update), lambda bar: MultiLayerNOMAD(callback=bar.update)]
)
def test_search_and_bounds_in_one_bar_that_never_goes_back(capsys, terminal, make):
    X, searched = two_rings(60)[0], []
    with SolveBar(quiet=False) as bar:
        update = bar.update
        bar.update = lambda progress: searched.append(np.isinf(progress.tol)) or update(progress)
        model = make(bar).fit(X)
    lengths, texts = drawings(capsys.readouterr().err)
    assert lengths == sorted(lengths)
    assert texts[0].startswith("search for K: look 1, ")
    assert any(text.startswith("search for K: look 5, ") for text in texts)
    assert any(re.search(r"[\d.]+ <= optimum <= [\d.]+, gap \S+ \(goal 1e-03\)", text) for text in texts)
    assert not any("inf" in text for text in texts)
    assert 5 <= bar.search_steps == sum(searched) <= 5 * MOST_STEPS
    # The step that proves the gap ends the run before anybody is told of it.
    assert model.n_iter_ - 5 <= bar.solve_steps <= model.n_iter_


def test_one_program_fills_the_bar(capsys, terminal):
    with SolveBar(quiet=False, n_solves=1) as bar:
        for i, gap in enumerate([np.inf, 0.1, 0.05, 0.01, 0.002]):
            bar.update(Progress(i + 1, 0.1 * i, 100 * (1 - gap) if np.isfinite(gap) else -np.inf, 100.0, 1e-3, 8.0))
    lengths, texts = drawings(capsys.readouterr().err)
    assert lengths == sorted(lengths)
    assert "no bound yet" in texts[0]
    assert lengths[-2] >= 18
    assert lengths[-1] == 24


def test_bar_keeps_to_one_line(capsys, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    with SolveBar(quiet=False) as bar:
        bar.update(Progress(1, 0.0, 1.0, 2.0, 1e-3, 8.0))
    assert all(len(line) < 40 for line in capsys.readouterr().err.split(progress_bar.ERASE_LINE))


@pytest.mark.parametrize("reason", ["quiet", "dumb", "no terminal"])
def test_bar_can_be_silent(capsys, terminal, monkeypatch, reason):
    if reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if reason == "no terminal":
        monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: False)
    with SolveBar(quiet=reason == "quiet") as bar:
        bar.update(Progress(1, 0.0, 1.0, 2.0, 1e-3, 8.0))
    assert capsys.readouterr().err == ""


def test_work_counts_the_search(capsys, tmp_path):
    np.save(tmp_path / "X.npy", two_rings(60)[0])
    _, text, _ = run(capsys, "fit", tmp_path / "X.npy")
    found = re.search(r"work +(\d+) iterations and (\d+) in the search for K, [\d.]+ s in all \([\d.]+ s of it", text)
    assert int(found[2]) >= 5


def test_colour_only_where_it_is_wanted(capsys, terminal, monkeypatch, tmp_path):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31m" in run(capsys, "fit", tmp_path / "missing.csv")[2]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "fit", tmp_path / "missing.csv")[2]
