"""Files of an experiment: written whole or not at all, and read back only if they are intact."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import json
import math
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, TypedDict, cast
from zipfile import BadZipFile

import numpy as np

from .._files.atomic import written_whole
from .._version import __version__, installed_version
from ..solvers import cuda_is_available
from .record import Arrays, Proof

# Entry of an npz file that tells how its arrays came about.
FACTS = "facts"
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "matplotlib")


@dataclass(frozen=True)
class Facts:
    """How the arrays of an experiment came about."""

    name: str  # of the experiment
    quick: bool  # whether at reduced size
    seed: int
    seconds: float  # that computing took
    versions: dict[str, str]  # of packages
    machine: str  # processors, and the GPU if one was used
    date: str  # day on which it was computed


class Report(TypedDict):
    """The JSON file of a finished experiment: its `Facts`, what it is about, and what came out."""

    name: str
    quick: bool
    seed: int
    seconds: float
    versions: dict[str, str]
    machine: str
    date: str
    title: str
    caption: str
    claims: list[dict[str, str]]  # each as from `Claim.to_json`
    certificates: list[Proof]


def versions() -> dict[str, str]:
    """Versions of this library, of Python and of what the numbers depend on."""
    found = {name: installed_version(name) for name in PACKAGES}
    here = {"sknomad": __version__, "python": platform.python_version()}
    return here | {name: version for name, version in found.items() if version is not None}


def machine(device: str) -> str:
    """Processors in words, and the GPU if `device` may be one.

    Examples
    --------
    >>> "core" in machine("cpu")
    True
    """
    cores = os.cpu_count() or 1
    words = f"{cores} core{'s' * (cores > 1)} of {_processor()}"
    return f"{words}, {gpu_name()}" if device != "cpu" and cuda_is_available() else words


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def gpu_name() -> str:
    """What the CUDA device calls itself."""
    return str(importlib.import_module("torch").cuda.get_device_name(0))


def today() -> str:
    """The date, in UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


@contextlib.contextmanager
def result_file(path: Path) -> Iterator[IO[bytes]]:
    """Context with a file to write: nobody ever sees half of it, and a full disk is said in a sentence."""
    try:
        with written_whole(path) as file:
            yield file
    except OSError as error:
        raise OSError(
            f"{path} cannot be written: {error.strerror or error}. What is finished is kept; make room for the rest "
            "and run the same command again."
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8, whole or not at all."""
    with result_file(path) as file:
        file.write(text.encode())


def write_json(path: Path, content: object) -> None:
    """Write JSON that every parser reads: numbers that are not finite become null."""
    write_text(path, json.dumps(_finite(content), indent=1) + "\n")


def write_arrays(path: Path, arrays: Arrays, facts: Facts) -> None:
    """Write arrays and the facts about them as a compressed npz file."""
    if FACTS in arrays:
        raise ValueError(f"arrays must not use the name {FACTS!r}, which is taken.")
    contents: Any = {**arrays, FACTS: np.array(json.dumps(asdict(facts)))}  # NumPy's stubs allow no mapping here
    with result_file(path) as file:
        np.savez_compressed(file, **contents)


def read_arrays(path: Path) -> tuple[Arrays, Facts] | None:
    """Arrays and facts of a file of `write_arrays`; None if there is none, or none that is intact."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return arrays, Facts(**json.loads(str(arrays.pop(FACTS))))
    except (OSError, ValueError, TypeError, KeyError, BadZipFile, EOFError):
        return None


def read_report(path: Path) -> Report | None:
    """The report of a finished experiment; None if there is none, or none that is intact."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_complete = isinstance(content, dict) and Report.__required_keys__ <= content.keys()
    return cast(Report, content) if is_complete else None


def _finite(content: object) -> object:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
