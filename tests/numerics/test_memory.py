"""Free and total memory: the least of what the machine and its control group allow, on every system."""

from types import SimpleNamespace

import numpy as np
import pytest

from sknomad._numerics import memory


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine of 100 bytes, 60 of them available, and the files of a control group, absent at first."""
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(total=100, available=60))
    limit, usage = tmp_path / "limit", tmp_path / "usage"
    monkeypatch.setattr(memory, "GROUP_LIMIT", (str(tmp_path / "newer"), str(limit)))
    monkeypatch.setattr(memory, "GROUP_USAGE", (str(usage),))
    return SimpleNamespace(limit=limit, usage=usage)


def test_without_control_groups_it_is_the_machine(machine):
    assert (memory.total_memory(), memory.free_memory()) == (100, 60)


@pytest.mark.parametrize(("limit", "usage", "total", "free"), [(50, 20, 50, 30), (90, 20, 90, 60), (500, 20, 100, 60)])
def test_the_lesser_of_machine_and_group_counts(machine, limit, usage, total, free):
    machine.limit.write_text(f"{limit}\n")
    machine.usage.write_text(f"{usage}\n")
    assert (memory.total_memory(), memory.free_memory()) == (total, free)


def test_a_group_without_a_limit_is_no_limit(machine):
    machine.limit.write_text("max\n")
    machine.usage.write_text("20\n")
    assert (memory.total_memory(), memory.free_memory()) == (100, 60)


def test_arrays_on_the_host_have_the_memory_of_the_machine(machine):
    assert memory.free_memory_of(np.empty(0)) == 60


def test_of_this_machine():
    assert 0 < memory.free_memory() <= memory.total_memory()


@pytest.mark.gpu
def test_of_a_gpu():
    torch = pytest.importorskip("torch")
    template = torch.empty(0, device="cuda")
    before = memory.free_memory_of(template)
    taken = torch.empty(2**28, dtype=torch.uint8, device="cuda")
    assert before - memory.free_memory_of(template) >= taken.nbytes
    assert before <= torch.cuda.get_device_properties(0).total_memory
