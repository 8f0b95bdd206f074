"""`sknomad reproduce`: the contract of every experiment, the runner on small ones, the files and the page."""

import errno
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sknomad import Gram, cli, reproduce
from sknomad._certificate.bounds import certify
from sknomad._command import reproduce as _cli_reproduce
from sknomad.datasets.download import DataDamagedError, DataUnavailableError
from sknomad.reproduce import EXPERIMENTS, Claim, Experiment, Record, Verdict
from sknomad.reproduce import figure_parts as _figure
from sknomad.reproduce import figure_style as _look
from sknomad.reproduce import registry as _registry
from sknomad.reproduce import runner as _runner
from sknomad.reproduce import store as _store
from sknomad.reproduce.claims import judge
from sknomad.reproduce.measure import circulance_error, explained, nearest, purity, strongest, winding_number
from sknomad.reproduce.record import certificates
from sknomad.ring import ring_optimum, ring_points

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

KNOWN_DATA = {"mnist", "teapots", "yale", "coil20", "coil100"}


def fake(name, **about):
    """A small experiment that notes how often it is computed."""
    module = types.SimpleNamespace(
        EXPERIMENT=Experiment(f"About {name}", "A <small> one & more.", seed=3, **about), runs=0
    )

    def compute(record, quick):
        module.runs += 1
        record["x"] = record.rng.normal(size=4)
        record.solve("pairs", [[0.0], [1.0], [10.0], [11.0]], 2)

    def draw(arrays):
        figure, axes = _figure.figure(1, width="column", row_height=1.0)
        axes[0, 0].plot(arrays["x"])
        return figure

    module.compute, module.draw = compute, draw
    module.claims = lambda arrays: [Claim("It is <so>.", f"{len(arrays['x'])} points", Verdict.HOLDS)]
    return module


@pytest.fixture
def experiments(monkeypatch):
    """Only small experiments, by name; tests add to them."""
    modules = {name: fake(name) for name in ("first", "second", "third")}
    registered = {name: name for name in modules}
    for place in (_registry, _runner, reproduce, sys.modules["sknomad.reproduce.page"]):
        monkeypatch.setattr(place, "EXPERIMENTS", registered)
    monkeypatch.setattr(_runner, "load", lambda name: modules[name])
    monkeypatch.setattr(reproduce, "load", lambda name: modules[name])

    def add(name, module):
        modules[name] = module
        registered[name] = name

    return types.SimpleNamespace(add=add, **{name: modules[name] for name in registered})


def run(capsys, *arguments):
    try:
        code = cli.main(["reproduce", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


class Page(HTMLParser):
    """What a page refers to, and its text; complains of tags that do not match."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self, path):
        super().__init__()
        self.images, self.links, self.words, self.open, self.ids = [], [], [], [], set()
        self.feed(path.read_text(encoding="utf-8"))
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "img":
            self.images.append(attributes["src"])
            assert attributes["alt"]
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


# The contract of the experiments of this package.


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_honours_the_contract(name):
    module = reproduce.load(name)
    experiment = module.EXPERIMENT
    assert isinstance(experiment, Experiment)
    assert experiment.title
    assert experiment.caption.endswith(".")
    assert 1 <= len(re.findall(r"\.(?:\s|$)", experiment.caption)) <= 3
    assert set(experiment.data) <= KNOWN_DATA
    assert list(inspect.signature(module.compute).parameters) == ["record", "quick"]
    assert list(inspect.signature(module.draw).parameters) == ["arrays"]
    assert list(inspect.signature(module.claims).parameters) == ["arrays"]
    full, quick = experiment.seconds
    assert full >= quick > 0


def test_experiments_are_in_the_order_of_the_paper():
    places = [_registry.ORDER.index(name) for name in EXPERIMENTS]
    assert places == sorted(places)
    assert {"opening", "ring", "two-rings", "moons", "teapots", "yale"} <= set(EXPERIMENTS)
    assert {"mnist-1", "mnist-2", "turntable", "square", "multilayer"} <= set(EXPERIMENTS)


def test_layers_have_every_schedule_of_the_paper():
    module = reproduce.load("multilayer")
    for name, main in module.MAIN.items():
        assert main in module.SCHEDULES[name]
        for schedule in module.SCHEDULES[name]:
            sizes = [int(K) for K in schedule.split("-")]
            assert sizes == sorted(sizes, reverse=True)
            assert sizes[-1] == 2
    assert len(module.SCHEDULES["spirals"]) == 9


@pytest.mark.parametrize("name", ["moons", "two-rings"])
def test_a_small_experiment_from_end_to_end(tmp_path, name):
    (outcome,) = reproduce.run_experiments([name], tmp_path, quick=True)
    assert outcome.state.name == "COMPUTED"
    report = json.loads((tmp_path / f"{name}.json").read_text())
    assert {claim["verdict"] for claim in report["claims"]} == {"holds"}
    assert all(proof["gap"] <= 1e-3 for proof in report["certificates"])


def test_ring_experiment_agrees_with_the_linear_program_and_knows_what_is_not_completely_positive():
    module = reproduce.load("ring")
    arrays = {
        "K": np.arange(1, 101),
        "value": np.array([ring_optimum(100, K).value for K in range(1, 101)]),
        "solved/K": np.array([16]),
        "solved/lower": np.array([ring_optimum(100, 16).value * (1 - 1e-4)]),
        "solved/upper": np.array([ring_optimum(100, 16).value * (1 - 5e-5)]),  # below the optimum: false
    }
    from sknomad.reproduce.ring_claims import _solver

    assert _solver(arrays).verdict is Verdict.FAILS
    arrays["solved/upper"] = arrays["value"][[15]] * (1 + 1e-6)
    assert _solver(arrays).verdict is Verdict.HOLDS
    assert module.N == 100


# Claims and records.


def test_claims_need_a_number_and_a_reason():
    with pytest.raises(ValueError, match="must have a sentence and a number"):
        Claim("It works.", "well", Verdict.HOLDS)
    with pytest.raises(ValueError, match="must say why it fails"):
        Claim("It works.", "3", Verdict.FAILS)
    with pytest.raises(ValueError, match="must say why it differs"):
        Claim("It works.", "3", Verdict.DIFFERS, "  ")
    claim = Claim("It works.", "3", Verdict.DIFFERS, "Because.")
    assert Claim.from_json(json.loads(json.dumps(claim.to_json()))) == claim
    assert judge("It works.", "3", np.False_, "Because.", Verdict.DIFFERS) == claim
    assert judge("It works.", "3", np.True_, "Because.").why == ""


def test_record_keeps_the_certificate_of_every_solve():
    record = Record(seed=0)
    X = ring_points(12)
    solution = record.solve("ring", X, 3, tol=1e-6)
    again = record.solve("gram", Gram.from_data(X), 3)
    proofs = certificates(record.arrays())
    assert [proof["name"] for proof in proofs] == ["ring", "gram"]
    assert proofs[0]["lower"] == solution.certificate.lower
    assert proofs[0]["upper"] >= ring_optimum(12, 3).value >= proofs[0]["lower"]
    assert proofs[0]["gap"] <= 1e-6
    assert proofs[1]["iterations"] == again.n_iter
    assert proofs[1]["grade"] == "eigen"


def test_record_of_wide_data_solves_the_same_problem(rng):
    X = rng.normal(size=(12, 40))
    solution = Record().solve("wide", X, 3)
    gram = Gram.from_data(X)
    assert np.allclose(solution.problem.gram.dense(), gram.dense(), atol=1e-10)
    assert solution.problem.gram.factor.shape[1] <= 12


def test_record_passes_an_interrupt_on(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sknomad._solving.run_state.Run.judge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Record().solve("rings", ring_points(12), 3)


def test_record_refuses_what_no_file_can_keep():
    with pytest.raises(TypeError, match="objects"):
        Record()["x"] = np.array([{}, None])


def test_certificates_from_elsewhere_can_be_kept():
    record = Record()
    solution = record.solve("here", ring_points(8), 2)
    record.certificate("there", solution.problem, certify(solution.problem, solution.iterate), 1.5, 7)
    assert certificates(record.arrays())[1]["seconds"] == 1.5


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
    assert report["claims"] == [{"sentence": "It is <so>.", "number": "4 points", "verdict": "holds", "why": ""}]
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
    experiments.first.claims = lambda arrays: [Claim("Now this.", "1", Verdict.HOLDS)]
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
        _runner.Step("a", None, 10, 30, 1, 3),
        _runner.Step("a", _runner.Outcome("a", _runner.State.COMPUTED, seconds=20.0), 10, 30, 1, 3),
        _runner.Step("b", None, 20, 10, 2, 3),
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


def test_measures_on_cases_known_by_hand(rng):
    n = 30
    Q = ring_optimum(n, 5).Q
    assert circulance_error(Q) < 1e-12
    noise = rng.normal(size=(n, n))
    assert 0.1 < circulance_error(noise) <= 1
    angle = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert winding_number(circle) == 1
    assert winding_number(np.column_stack([np.cos(2 * angle), np.sin(2 * angle)]) + 5) == 2
    assert set(nearest(circle, 2)[0]) == {1, n - 1}
    assert set(strongest(Q, 2)[4]) == {3, 5}
    assert purity(nearest(circle, 2), np.arange(n) // 10) == pytest.approx(1 - 6 / (2 * n))
    assert explained(nearest(circle, 2), circle[:, 0]) > 0.99
    assert explained(nearest(circle, 2), rng.normal(size=n)) < 0.5


def test_thumbnails_do_not_overlap(rng):
    with _look.look():
        _, axes = _figure.figure(1, width="column")
        points = rng.normal(size=(300, 2))
        _figure.scatter(axes[0, 0], points)
        side = np.ptp(axes[0, 0].get_xlim())
        shown = _figure.thumbnails(axes[0, 0], points, np.zeros((300, 10, 8), np.uint8), height=0.1)
    assert 10 < len(shown) == len(set(shown.tolist()))
    apart = np.abs(points[shown][:, None] - points[shown])
    np.fill_diagonal(apart[:, :, 0], np.inf)
    assert np.all((apart[:, :, 0] >= 0.08 * side) | (apart[:, :, 1] >= 0.1 * side))
    # None is left out that would have fitted.
    for index in set(range(300)) - set(shown.tolist()):
        apart = np.abs(points[shown] - points[index])
        assert np.any((apart[:, 0] < 1.05 * 0.08 * side) & (apart[:, 1] < 1.05 * 0.1 * side))


def test_draw_leaves_the_settings_of_matplotlib_alone(experiments):
    import matplotlib

    before = dict(matplotlib.rcParams)
    _look.draw_figure(experiments.first, {"x": np.arange(3.0)})
    assert dict(matplotlib.rcParams) == before


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_quick(tmp_path, capsys):
    """Everything that can run here does, without a failed experiment and with every difference explained."""
    code, out, err = run(capsys, "--all", "--quick", "--out", tmp_path)
    assert code == 0, err
    page = Page(tmp_path / "index.html")
    assert all((tmp_path / image).is_file() for image in page.images)
    reports = [json.loads(path.read_text()) for path in Path(tmp_path).glob("*.json")]
    assert len(reports) >= 5
    for claim in (claim for report in reports for claim in report["claims"]):
        assert claim["verdict"] == "holds" or claim["why"]
    assert "claims:" in out
