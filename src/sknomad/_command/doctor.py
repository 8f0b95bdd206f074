"""`sknomad doctor`: what this installation has to work with."""

from __future__ import annotations

import argparse
import platform
from dataclasses import asdict, dataclass

from .._numerics.memory import free_memory, total_memory
from .._numerics.threads import usable_cores
from .._version import __version__, installed_version
from .command import DONE, as_json, show

NEEDED = ("numpy", "scipy", "scikit-learn", "array-api-compat", "psutil", "threadpoolctl")
# By package: the extra that brings it, and what for.
EXTRAS = {
    "matplotlib": ("plot", "figures"),
    "torch": ("gpu", "GPUs"),
    "cvxpy": ("reference", "other solvers"),
    "clarabel": ("reference", "other solvers"),
    "scs": ("reference", "other solvers"),
    "jinja2": ("report", "the page of sknomad reproduce"),
    "pooch": ("data", "downloads of data sets"),
    "pillow": ("data", "images"),
    "pyarrow": ("files", "Parquet files"),
    "anndata": ("sc", "single cells, h5ad files"),
    "pandas": ("sc", "single cells"),
    "scanpy": ("sc", "pictures of single cells"),
    "dask": ("distributed", "clusters"),
    "distributed": ("distributed", "clusters"),
    "umap-learn": ("peers", "comparisons"),
    "pacmap": ("peers", "comparisons"),
}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
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
        processors=usable_cores(),
        memory_gib=_gib(total_memory()),
        memory_free_gib=_gib(free_memory()),
    )


def describe(facts: Facts) -> str:
    """The facts of `examine`, a line each, with what to install for what is missing."""
    lines = [f"{'sknomad':<18}{facts.sknomad}", f"{'python':<18}{facts.python} on {facts.platform}"]
    for name, found in facts.packages.items():
        lines.append(f"{name:<18}{found or _remedy(name)}")
    lines += [f"{'BLAS':<18}{library}" for library in facts.linear_algebra]
    lines.append(f"{'processors':<18}{facts.processors}")
    lines.append(f"{'memory':<18}{facts.memory_free_gib} GiB free of {facts.memory_gib} GiB")
    return "\n".join(lines)


def _remedy(package: str) -> str:
    """What to do about a package that is not there."""
    if package not in EXTRAS:
        return "MISSING: pip install sknomad"
    extra, purpose = EXTRAS[package]
    return f"not installed; for {purpose}: pip install 'sknomad[{extra}]'"


def _linear_algebra() -> list[str]:
    from threadpoolctl import threadpool_info  # sees what NumPy and SciPy have loaded by now

    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return [f"{info['internal_api']} {info['version']}, {info['num_threads']} threads" for info in libraries]


def _gib(size: int) -> float:
    return round(size / 2**30, 1)
