"""Which experiments there are: the modules of `experiments`, in the order of the paper."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import cast

from .experiment import ExperimentModule

PACKAGE = f"{__name__.rpartition('.')[0]}.experiments"

ORDER = (
    "opening", "ring", "density", "two-rings", "moons", "teapots", "yale", "mnist-1", "mnist-2", "turntable", "square",
    "tolerance", "multilayer", "geodesics", "cp-rank", "burer-monteiro", "frank-wolfe", "convergence", "solvers",
    "cost", "timing", "mnist-zeros", "mnist-all", "kmeans", "further", "sphere", "online", "errata",
)  # fmt: skip


def _discover() -> dict[str, str]:
    modules = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / "experiments")])]
    names = [name.replace("_", "-") for name in modules if not name.startswith("_")]
    rank = {name: place for place, name in enumerate(ORDER)}
    names.sort(key=lambda name: (rank.get(name, len(ORDER)), name))
    return {name: f"{PACKAGE}.{name.replace('-', '_')}" for name in names}


# Name of each experiment -> its module, imported only when asked for.
EXPERIMENTS: dict[str, str] = _discover()


def load(name: str) -> ExperimentModule:
    """The module of the experiment `name`.

    Parameters
    ----------
    name : str
        A key of `EXPERIMENTS`.

    Returns
    -------
    module
        With ``TITLE``, ``compute``, ``draw``, ``claims`` and so on.

    Examples
    --------
    >>> load("ring").EXPERIMENT.title
    'The ring'
    """
    check_names([name])
    return cast(ExperimentModule, importlib.import_module(EXPERIMENTS[name]))


def source_of(name: str) -> str | None:
    """The code of an experiment; None if it is of no file."""
    spec = importlib.util.find_spec(EXPERIMENTS[name]) if "." in EXPERIMENTS[name] else None
    return Path(spec.origin).read_text(encoding="utf-8") if spec is not None and spec.origin is not None else None


def check_names(names: list[str]) -> None:
    """Refuse names of no experiment, and list those there are."""
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}.")
