"""The contract of the experiments of this package, and small ones from end to end."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

from sknomad import reproduce
from sknomad.reproduce import EXPERIMENTS, Experiment, Verdict
from sknomad.reproduce import registry as _registry
from sknomad.ring import ring_optimum
from small_experiments import Page, run

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

KNOWN_DATA = {"mnist", "teapots", "yale", "coil20", "coil100"}


# The contract of the experiments of this package.


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_honours_the_contract(name):
    module = reproduce.load(name)
    experiment = module.EXPERIMENT
    assert isinstance(experiment, Experiment)
    assert experiment.title
    assert experiment.caption.endswith(".")
    assert 1 <= len(re.findall(r"\.(?:\s|$)", experiment.caption)) <= 4
    assert set(experiment.data) <= KNOWN_DATA
    assert list(inspect.signature(module.compute).parameters) == ["record", "quick"]
    assert list(inspect.signature(module.draw).parameters) == ["arrays"]
    assert list(inspect.signature(module.claims).parameters) == ["arrays"]
    full, quick = experiment.seconds
    assert full >= quick > 0


def test_what_takes_a_gpu_or_very_long_says_so():
    assert reproduce.load("mnist-all").EXPERIMENT.needs_gpu
    assert reproduce.load("mnist-zeros").EXPERIMENT.only_when_named


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
    assert all(claim["place"] and claim["quotation"] for claim in report["claims"])
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

    assert _solver(arrays).verdict is Verdict.OURS
    arrays["solved/upper"] = arrays["value"][[15]] * (1 + 1e-6)
    assert _solver(arrays).verdict is Verdict.HOLDS
    assert module.N == 100


# What the experiments measure, and how pictures are placed.


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
        assert claim["verdict"] in ("holds", "beyond the paper") or claim["why"]
    assert "claims:" in out
