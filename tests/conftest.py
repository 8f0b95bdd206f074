"""Hypothesis profiles and the fixtures that every test file shares."""

from __future__ import annotations

import importlib
import importlib.util
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

# The rooms have fixtures of their own; as modules with doctests these files would all have one name.
collect_ignore_glob = ["*/conftest.py"]

# Modules with assertions that several test files share: their failures are explained as those of tests are.
pytest.register_assert_rewrite("made_up", "ring_cases", "scripted", "small_experiments")

# Solving is slow by hypothesis' standards, and timing is never a failure here.
# Explaining a failure traces every line of it, and most problems are named by a seed that cannot shrink.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,  # what a newcomer sees is not decided by chance
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)],
)
# For `make fuzz`: a seed from the command line decides everything, and nothing is remembered from run to run.
settings.register_profile("fuzz", parent=settings.get_profile("steady"), derandomize=False, database=None)
settings.load_profile("steady")

# Importable name -> namespace that follows the array API standard.
NAMESPACES = {
    "numpy": "array_api_compat.numpy",
    "array_api_strict": "array_api_strict",
    "torch": "array_api_compat.torch",
}


@pytest.fixture(scope="session", params=[name for name in NAMESPACES if importlib.util.find_spec(name)])
def xp(request):
    """Each installed array library in turn, as an array API namespace."""
    return importlib.import_module(NAMESPACES[request.param])


@pytest.fixture
def seed(request):
    """A seed of the test's own, the same on every run and wherever its file lies."""
    return zlib.crc32(request.node.name.encode())


@pytest.fixture
def rng(seed):
    """Random numbers that are the same on every run."""
    return np.random.default_rng(seed)
