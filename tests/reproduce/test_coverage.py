"""The map of the paper: no row of it stays empty after ``sknomad reproduce --all``."""

import ast
import importlib
import inspect

import pytest

from sknomad.reproduce import EXPERIMENTS, load
from sknomad.reproduce.coverage import PLACES
from sknomad.reproduce.errata import ERRATA


def _tree(module):
    return ast.parse(inspect.getsource(module))


def _with_what_it_shares(module):
    """The module of an experiment, and those of the room that it takes from: some hold its claims."""
    names = [node.module for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom) and node.level == 2]
    return [module, *(importlib.import_module(f"sknomad.reproduce.{name}") for name in names if name)]


def _places(name):
    """Places of the paper that the claims of an experiment name."""
    if name == "errata":
        return {erratum.place for erratum in ERRATA}
    calls = [
        node
        for module in _with_what_it_shares(load(name))
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "paper" and node.args
    ]
    return {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}


@pytest.fixture(scope="module")
def named():
    return {name: _places(name) for name in EXPERIMENTS}


def test_each_place_is_spoken_of_by_the_experiments_that_it_names(named):
    missing = [(place, name) for place, at in PLACES.items() for name in at.experiments if place not in named[name]]
    assert missing == []


def test_no_row_of_the_map_is_empty_without_a_gpu(named):
    everywhere = [
        name for name in EXPERIMENTS if not (about := load(name).EXPERIMENT).needs_gpu and not about.only_when_named
    ]
    assert set().union(*(named[name] for name in everywhere)) >= PLACES.keys()
