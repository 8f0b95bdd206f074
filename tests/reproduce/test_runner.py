"""The runner on small experiments: its files, its page, its errors, and going on after an interruption."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sknomad import reproduce
from sknomad._command import reproduce as _cli_reproduce
from sknomad.datasets.download import DataDamagedError, DataUnavailableError
from sknomad.reproduce import Claim, Verdict
from sknomad.reproduce import runner as _runner
from sknomad.reproduce import store as _store
from sknomad.reproduce.outcome import Outcome, State, Step
from small_experiments import Page, fake, run

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


# The runner.


def test_run_writes_everything_and_the_page_shows_it(tmp_path, experiments, capsys):
    code, out, err = run(capsys, "--all", "--quick", "--out", tmp_path / "deep" / "results")
    folder = tmp_path / "deep" / "results"
    assert code == 0
    assert "3 holds" in out
    assert "first: computed in" in err
    names = [f"{name}.{kind}" for name in ("first", "second", "third") for kind in ("npz", "json", "png", "svg")]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "index.html"])
    with np.load(folder / "first.npz") as archive:
        assert np.array_equal(archive["x"], np.random.default_rng(3).normal(size=4))
        facts = json.loads(str(archive["facts"]))
    assert facts["seed"] == 3
    assert facts["quick"] is True
    assert facts["versions"]["numpy"] == np.__version__
    report = json.loads((folder / "first.json").read_text())
    expected = {"sentence": "It is <so>.", "number": "4 points", "verdict": "holds", "why": "", "mend": ""}
    assert report["claims"] == [expected | {"place": "Figure 5", "quotation": "it is so"}]
    page = Page(folder / "index.html")
    assert page.images == ["first.png", "second.png", "third.png"]
    assert "It is <so>." in page.text
    assert "A <small> one & more." in page.text
    assert not [link for link in page.links if "://" in link]
    for link in page.links:
        assert link == "data:," or link[1:] in page.ids or (folder / link).is_file()
    assert "://" not in re.sub(r"<svg.*?</svg>", "", (folder / "index.html").read_text(), flags=re.S)


def test_a_second_run_computes_nothing_but_draws_and_judges_again(tmp_path, experiments):
    reproduce.run_experiments(["first"], tmp_path)
    experiments.first.claims = lambda arrays: [Claim("Now this.", "1", Verdict.BEYOND)]
    (outcome,) = reproduce.run_experiments(["first"], tmp_path)
    assert experiments.first.runs == 1
    assert outcome.state.name == "KEPT"
    assert json.loads((tmp_path / "first.json").read_text())["claims"][0]["sentence"] == "Now this."


@pytest.mark.parametrize("change", ["quick", "version", "damage", "overwrite"])
def test_what_must_be_computed_again_is(tmp_path, experiments, monkeypatch, change):
    reproduce.run_experiments(["first"], tmp_path)
    if change == "version":
        monkeypatch.setattr(_store, "versions", lambda: {"sknomad": "99"})
    if change == "damage":
        content = (tmp_path / "first.npz").read_bytes()
        (tmp_path / "first.npz").write_bytes(content[: len(content) // 2])
    reproduce.run_experiments(["first"], tmp_path, change == "quick", overwrite=change == "overwrite")
    assert experiments.first.runs == 2


def test_an_interrupted_run_goes_on_from_what_is_done(tmp_path, experiments, capsys):
    def stop(record, quick):
        raise KeyboardInterrupt

    compute, experiments.second.compute = experiments.second.compute, stop
    code, _, err = run(capsys, "--all", "--out", tmp_path)
    assert code == 130
    assert "what is finished is kept" in err
    assert Page(tmp_path / "index.html").images == ["first.png"]
    experiments.second.compute = compute
    assert run(capsys, "--all", "--out", tmp_path)[0] == 0
    assert (experiments.first.runs, experiments.second.runs, experiments.third.runs) == (1, 1, 1)


def test_one_that_fails_does_not_stop_the_others(tmp_path, experiments, capsys):
    def fail(record, quick):
        raise ArithmeticError("two and two\nis five")

    experiments.second.compute = fail
    code, out, err = run(capsys, "--all", "--out", tmp_path)
    assert code == 1
    assert "second: failed: ArithmeticError: two and two is five\n" in err
    assert "2 holds" in out
    page = Page(tmp_path / "index.html")
    assert page.images == ["first.png", "third.png"]
    assert "two and two is five" in page.text


def test_arrays_outlive_a_figure_that_fails(tmp_path, experiments):
    draw, experiments.first.draw = experiments.first.draw, lambda arrays: 1 / 0
    (outcome,) = reproduce.run_experiments(["first"], tmp_path)
    assert outcome.state.name == "FAILED"
    experiments.first.draw = draw
    (outcome,) = reproduce.run_experiments(["first"], tmp_path)
    assert outcome.state.name == "KEPT"
    assert experiments.first.runs == 1


@pytest.mark.parametrize("named", [True, False])
def test_missing_data_is_a_sentence_and_an_error_only_when_named(tmp_path, experiments, capsys, named):
    def missing(record, quick):
        raise DataUnavailableError("the cats must be at hand, got none.")

    experiments.second.compute = missing
    code, _, err = run(capsys, *(["second", "first"] if named else ["--all"]), "--out", tmp_path)
    assert code == (1 if named else 0)
    assert "second: skipped: the cats must be at hand, got none.\n" in err
    assert (tmp_path / "first.png").exists()


def test_damaged_data_is_an_error_that_names_the_file(tmp_path, experiments, capsys):
    def damaged(record, quick):
        raise DataDamagedError("data file must be intact, got 'cats.zip', which is not.")

    experiments.second.compute = damaged
    code, _, err = run(capsys, "--all", "--out", tmp_path)
    assert code == 1
    assert "'cats.zip'" in err
    assert (tmp_path / "third.png").exists()


def test_experiments_for_a_gpu_or_only_when_named_say_so(tmp_path, experiments, capsys):
    experiments.add("big", fake("big", only_when_named=True))
    experiments.add("gpu", fake("gpu", needs_gpu=True))
    code, _, err = run(capsys, "--all", "--out", tmp_path, "--device", "cpu")
    assert code == 0
    assert "big: skipped: it takes long and runs only when named." in err
    assert "gpu: skipped: it needs a CUDA device" in err
    assert "Not run here" in Page(tmp_path / "index.html").text
    assert run(capsys, "big", "--out", tmp_path)[0] == 0
    assert run(capsys, "gpu", "--out", tmp_path, "--device", "cpu")[0] == 1
    _, out, _ = run(capsys, "--list")
    assert "only when named" in out
    assert "needs a GPU" in out


def test_a_full_disk_is_one_sentence_and_keeps_what_is_done(tmp_path, experiments, capsys, monkeypatch):
    written_whole = _store.written_whole

    def no_room_for_the_second(path):
        if path.name == "second.npz":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written_whole(path)

    monkeypatch.setattr(_store, "written_whole", no_room_for_the_second)
    code, _, err = run(capsys, "--all", "--out", tmp_path)
    assert code == 1
    assert err.splitlines()[-1].startswith("sknomad: error:")
    assert "second.npz cannot be written: No space left on device. What is finished is kept" in err.splitlines()[-1]
    assert experiments.third.runs == 0
    assert Page(tmp_path / "index.html").images == ["first.png"]
    monkeypatch.setattr(_store, "written_whole", written_whole)
    assert run(capsys, "--all", "--out", tmp_path)[0] == 0
    assert experiments.first.runs == 1


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "file"
    _store.write_text(path, "old")
    with pytest.raises(OSError, match="cannot be written: full"), _store.result_file(path) as file:  # noqa: PT012
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "full")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_json_has_no_numbers_that_are_none(tmp_path):
    _store.write_json(tmp_path / "x.json", {"a": [float("inf"), 1.0], "b": {"c": float("nan")}})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [None, 1.0], "b": {"c": None}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "--out", "x"], "experiment must be one of first, second, third, got 'nothing'."),
        (["first"], "Pass --out DIR"),
        (["--out", "x"], "names of experiments, or --all, or --list"),
        (["first", "--all", "--out", "x"], "names of experiments, or --all, or --list"),
    ],
)
def test_wrong_usage_is_one_sentence(tmp_path, experiments, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == 1
    assert message in err
    assert len(err.splitlines()) == 1
    assert not out
    assert not list(tmp_path.iterdir())


def test_a_device_that_is_not_there_is_refused_at_once(tmp_path, experiments, capsys, monkeypatch):
    monkeypatch.setattr(_runner, "cuda_is_available", lambda: False)
    code, _, err = run(capsys, "--all", "--out", tmp_path, "--device", "cuda")
    assert code == 1
    assert "device must be one that is there" in err
    assert experiments.first.runs == 0


def test_out_must_be_a_folder(tmp_path, experiments, capsys):
    (tmp_path / "file").write_text("mine")
    code, _, err = run(capsys, "first", "--out", tmp_path / "file")
    assert code == 1
    assert "must be a folder" in err
    assert (tmp_path / "file").read_text() == "mine"


def test_progress_tells_beginning_and_end_with_a_forecast(tmp_path, experiments):
    experiments.add("second", fake("second", seconds=(40, 4)))
    steps = []
    reproduce.run_experiments(["first", "second"], tmp_path, progress=steps.append)
    assert [(step.name, step.outcome is None, step.position) for step in steps] == [
        ("first", True, 1), ("first", False, 1), ("second", True, 2), ("second", False, 2),
    ]  # fmt: skip
    assert steps[0].forecast_after == steps[2].forecast == 40
    assert steps[3].forecast_after == 0


def test_time_left_follows_the_pace_of_what_was_computed():
    bar = _cli_reproduce.ExperimentsBar()
    steps = [
        Step("a", None, 10, 30, 1, 3),
        Step("a", Outcome("a", State.COMPUTED, seconds=20.0), 10, 30, 1, 3),
        Step("b", None, 20, 10, 2, 3),
    ]
    bar.update(steps[0])
    assert bar.seconds_left(steps[0], 0.5) == 35  # at the pace of the forecast: half of 10, and 30
    bar.update(steps[1])
    bar.update(steps[2])
    assert bar.seconds_left(steps[2], 0.25) == 50  # twice as slow: three quarters of 40, and 20


def test_the_same_arrays_give_the_same_picture(tmp_path, experiments):
    reproduce.run_experiments(["first"], tmp_path)
    before = [(tmp_path / f"first.{kind}").read_bytes() for kind in ("png", "svg")]
    reproduce.run_experiments(["first"], tmp_path)
    assert before == [(tmp_path / f"first.{kind}").read_bytes() for kind in ("png", "svg")]
    assert b"<text" not in before[1]  # letters are paths: no fonts needed


# What the experiments measure, and how pictures are placed.


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt_from_the_keyboard(tmp_path):
    """Ctrl-C in the middle of a solve ends the run with what is finished, and exit code 130."""
    command = [sys.executable, "-m", "sknomad", "reproduce", "moons", "multilayer", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not (tmp_path / "out" / "moons.json").exists():
        assert process.poll() is None
        time.sleep(0.2)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "what is finished is kept" in err
    assert not (tmp_path / "out" / "multilayer.npz").exists()
