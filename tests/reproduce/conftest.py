"""Small experiments in place of those of the package."""

import sys
import types

import pytest

from sknomad import reproduce
from sknomad.reproduce import registry as _registry
from sknomad.reproduce import runner as _runner
from small_experiments import fake


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
