"""Freed memory is kept where the environment of a Dask worker says to give it back, and only as long as work lasts."""

import pytest

from sknomad._numerics import freed_memory
from sknomad._numerics.freed_memory import KEPT_ARRAY, KEPT_IN_ALL, MAP_THRESHOLD, TRIM_THRESHOLD, kept_memory


@pytest.fixture
def settings(monkeypatch):
    """What the C library was told last, by the number of the setting."""
    told = {}
    monkeypatch.setattr(freed_memory, "_mallopt", lambda: told.__setitem__)
    return told


def test_a_worker_keeps_memory_while_it_works_and_gives_it_back_afterwards(settings, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with kept_memory:
        with kept_memory:
            assert settings == {MAP_THRESHOLD: KEPT_ARRAY, TRIM_THRESHOLD: KEPT_IN_ALL}
        assert settings[TRIM_THRESHOLD] == KEPT_IN_ALL
    assert settings == {MAP_THRESHOLD: 2**17, TRIM_THRESHOLD: 65536}


def test_an_error_restores_the_settings(settings, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with pytest.raises(ZeroDivisionError), kept_memory:
        raise ZeroDivisionError
    assert settings[TRIM_THRESHOLD] == 65536


@pytest.mark.parametrize("given", [None, "", "much", "-1"])
def test_other_processes_are_left_alone(settings, monkeypatch, given):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if given is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", given)
    with kept_memory:
        assert settings == {}
    assert settings == {}


def test_a_system_without_the_setting_does_without(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: object())
    assert freed_memory._mallopt() is None
    with kept_memory:
        pass
