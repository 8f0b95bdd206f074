"""`sknomad doctor`: what this installation has to work with."""

from __future__ import annotations

import argparse
import os
import platform
from dataclasses import asdict, dataclass

from .._numerics.memory import free_memory, total_memory
from .._version import __version__, installed_version
from .command import DONE, Commands, as_json, show

NEEDED = ("numpy", "scipy", "scikit-learn", "array-api-compat", "psutil", "threadpoolctl")
EXTRAS = {
    "matplotlib": "plot",
    "torch": "gpu",
    "cvxpy": "reference",
    "jinja2": "report",
    "pooch": "data",
}


def add_doctor(commands: Commands) -> None:
    """Enter the command ``doctor``."""
    doctor = commands.add_parser("doctor", help="versions, BLAS and memory", description="What there is to work with.")
    doctor.set_defaults(run=_doctor)
    doctor.add_argument("--json", action="store_true", help="print JSON")


def _doctor(options: argparse.Namespace) -> int:
    facts = examine()
    show(as_json(asdict(facts)) if options.json else describe(facts))
    return DONE


@dataclass(frozen=True)
class Facts:
    """What there is to work with."""

    sknomad: str
    python: str
    platform: str
    packages: dict[str, str | None]  # versions; None where not installed
    linear_algebra: list[str]  # libraries and their threads
    processors: int
    memory_gib: float
    memory_free_gib: float


def examine() -> Facts:
    """Versions, linear algebra library, processors and memory."""
    return Facts(
        sknomad=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        packages={name: installed_version(name) for name in (*NEEDED, *EXTRAS)},
        linear_algebra=_linear_algebra(),
        processors=_processors(),
        memory_gib=_gib(total_memory()),
        memory_free_gib=_gib(free_memory()),
    )


def describe(facts: Facts) -> str:
    """The facts of `examine`, a line each, with what to install for what is missing."""
    lines = [f"{'sknomad':<18}{facts.sknomad}", f"{'python':<18}{facts.python} on {facts.platform}"]
    for name, found in facts.packages.items():
        missing = f"not installed: pip install 'sknomad[{EXTRAS[name]}]'" if name in EXTRAS else "MISSING"
        lines.append(f"{name:<18}{found or missing}")
    lines += [f"{'BLAS':<18}{library}" for library in facts.linear_algebra]
    lines.append(f"{'processors':<18}{facts.processors}")
    lines.append(f"{'memory':<18}{facts.memory_free_gib} GiB free of {facts.memory_gib} GiB")
    return "\n".join(lines)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _linear_algebra() -> list[str]:
    from threadpoolctl import threadpool_info  # sees what NumPy and SciPy have loaded by now

    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return [f"{info['internal_api']} {info['version']}, {info['num_threads']} threads" for info in libraries]


def _gib(size: int) -> float:
    return round(size / 2**30, 1)
