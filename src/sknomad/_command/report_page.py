"""The page that ``--report`` asks for."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import NOMAD, report

# Options that decide the answer, with what they are if nobody says so; flags have no value to repeat.
DECISIVE: dict[str, object] = {
    "K": "auto", "metric": "euclidean", "solver": "auto", "label_column": None, "key": None, "tol": 1e-3,
    "max_seconds": None, "verify": False,
}  # fmt: skip


def write_page(
    path: Path,
    model: NOMAD,
    X: NDArray[np.number],
    known: Mapping[str, NDArray[Any]],
    options: argparse.Namespace,
    columns: Sequence[str] | None = None,
) -> None:
    """Write the page about a model that `options` asked for, with the first of the `known` labels."""
    is_data = options.metric == "euclidean"
    labels = list(next(iter(known.values()))) if known else None
    report(
        model, X if is_data else None, path, labels=labels, columns=columns if is_data else None,
        command=command_to_repeat(options),
    )  # fmt: skip


def command_to_repeat(options: argparse.Namespace) -> str:
    """The command with the options that decide the answer.

    Examples
    --------
    >>> command_to_repeat(argparse.Namespace(file=Path("my cells.csv"), K=16.0, tol=1e-3, verify=True))
    "sknomad fit 'my cells.csv' -K 16 --verify"
    """
    if getattr(options, "file", None) is None:
        return "sknomad demo"
    words = ["sknomad", "fit", str(options.file)]
    for name, unsaid in DECISIVE.items():
        value = getattr(options, name, unsaid)
        if value == unsaid:
            continue
        option = "-K" if name == "K" else "--" + name.replace("_", "-")
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [option] if one is True else [option, f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(words)
