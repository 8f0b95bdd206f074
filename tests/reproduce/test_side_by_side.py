"""Experiments beside each other: the same files as one by one, those that read the clock alone, and what is told."""

import os
import signal

import numpy as np
import pytest

from sknomad import cli
from sknomad._command import reproduce as _cli_reproduce
from sknomad._command.reproduce import ExperimentsBar
from sknomad._numerics.sizes import ONE_THREAD
from sknomad._numerics.threads import threads_now
from sknomad.reproduce import EXPERIMENTS, load, run_experiments
from sknomad.reproduce.outcome import Outcome, State, Step
from sknomad.reproduce.registry import source_of
from sknomad.reproduce.side_by_side import Plan
from sknomad.reproduce.threads import ONE_THREAD_UP_TO, threads_of_a_solve

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

FORECASTS = {"a": 1.0, "clock": 5.0, "b": 9.0, "c": 3.0}


def test_long_ones_come_first_and_those_that_read_the_clock_last():
    plan = Plan.of(FORECASTS, {"clock"}, 2)
    assert (plan.together, plan.after, plan.at_once) == (("b", "c", "a"), ("clock",), 2)
    assert plan.seconds_after({"b"}, FORECASTS) == (3 + 1) / 2 + 5


@pytest.mark.parametrize(("forecasts", "at_once"), [(FORECASTS, 1), ({"a": 1.0, "clock": 5.0}, 4)])
def test_where_nothing_can_be_beside_another_the_order_stays(forecasts, at_once):
    plan = Plan.of(forecasts, {"clock"}, at_once)
    assert (plan.together, plan.after, plan.at_once) == ((), tuple(forecasts), 1)


def test_every_experiment_that_keeps_seconds_to_judge_runs_alone():
    keep_seconds = {name for name in EXPERIMENTS if 'seconds"]' in (source_of(name) or "")}
    assert {"burer-monteiro", "cost", "timing"} <= keep_seconds
    assert keep_seconds <= {name for name in EXPERIMENTS if load(name).EXPERIMENT.runs_alone}


@pytest.mark.parametrize(
    ("arguments", "has_gpu", "expected"),
    [([], False, 3), ([], True, 1), (["--device", "cpu"], True, 3), (["--jobs", "7"], True, 7)],
)
def test_as_many_processes_as_cores_unless_there_is_a_gpu(monkeypatch, arguments, has_gpu, expected):
    monkeypatch.setattr(_cli_reproduce, "count_of_jobs", lambda n_jobs: 3)
    monkeypatch.setattr(_cli_reproduce, "cuda_is_available", lambda: has_gpu)
    asked = []
    monkeypatch.setattr(
        _cli_reproduce.reproduce, "run_experiments", lambda *_, n_jobs, **__: asked.append(n_jobs) or []
    )
    assert cli.main(["reproduce", "ring", "--out", "nowhere", "--quiet", *arguments]) == 0
    assert asked == [expected]


def test_solvers_run_by_hand_have_the_threads_of_a_solve():
    assert ONE_THREAD_UP_TO == ONE_THREAD
    before = threads_now()
    with threads_of_a_solve(ONE_THREAD + 1):
        assert threads_now() == before
    with threads_of_a_solve(ONE_THREAD):
        assert threads_now() == 1
    assert threads_now() == before


def test_two_processes_find_what_one_does(tmp_path):
    names = ["moons", "two-rings"]
    steps = []
    together = run_experiments(names, tmp_path / "two", quick=True, progress=steps.append, n_jobs=2)
    one_by_one = run_experiments(names, tmp_path / "one", quick=True)
    assert [outcome.name for outcome in together] == names == [outcome.name for outcome in one_by_one]
    assert all(outcome.state is State.COMPUTED for outcome in together)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == sorted(
        path.name for path in (tmp_path / "one").iterdir()
    )
    with np.load(tmp_path / "two" / "moons.npz") as two, np.load(tmp_path / "one" / "moons.npz") as one:
        np.testing.assert_allclose(two["certificate/moons/upper"], one["certificate/moons/upper"], rtol=1e-9)
    assert sorted(step.name for step in steps if step.outcome is None) == sorted(names)
    assert [step.position for step in steps if step.outcome is None] == [1, 2]
    assert steps[-1].outcome is not None
    assert steps[-1].forecast_after == 0


def test_a_process_that_is_killed_is_one_sentence(tmp_path):
    with pytest.raises(MemoryError, match=r"ended from outside.*--jobs 1"):
        list(Plan(("a", "b"), (), 2).outcomes(_kill_itself, lambda name: None))


def _kill_itself(name):
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def test_the_bar_goes_on_with_the_one_that_has_begun_beside_it():
    bar = ExperimentsBar(quiet=True)
    first, second = Step("a", None, 10, 30, 1, 3), Step("b", None, 20, 10, 2, 3)
    for step in (first, second, Step("a", Outcome("a", State.COMPUTED, seconds=5.0), 10, 30, 1, 3)):
        bar.update(step)
    assert bar.step is second
