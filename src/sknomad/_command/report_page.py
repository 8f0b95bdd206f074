"""The page that ``--report`` asks for."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from .. import NOMAD, MultiLayerNOMAD, report
from .table import Table

# Options that decide the answer, with what they are if nobody says so; flags have no value to repeat.
DECISIVE: dict[str, object] = {
    "K": "auto", "clusters": None, "several": False, "metric": "euclidean", "solver": "auto", "columns": [], "drop": [],
    "label_column": [], "index_column": "auto", "missing": "error", "standardize": False, "header": None, "key": None,
    "image_size": None, "tol": 1e-3, "max_seconds": None, "seed": 0, "verify": False,
}  # fmt: skip
# Those with another name on the command line than "--" and their own.
SPELLED = {"K": "-K", "clusters": "-k"}


def write_page(path: Path, model: NOMAD | MultiLayerNOMAD, table: Table, options: argparse.Namespace) -> None:
    """Write the page about a model that `options` asked for, with the first of the known labels of the table."""
    is_data = options.metric == "euclidean"
    labels = list(next(iter(table.labels.values()))) if table.labels else None
    report(
        model, table.as_given if is_data else None, path, names=table.row_names, labels=labels,
        columns=table.names if is_data else None, command=command_to_repeat(options),
    )  # fmt: skip


def command_to_repeat(options: argparse.Namespace) -> str:
    """The command with the options that decide the answer.

    Examples
    --------
    >>> given = {"command": "fit", "file": Path("my cells.csv"), "K": 16.0, "tol": 1e-3, "verify": True, "drop": ["id"]}
    >>> command_to_repeat(argparse.Namespace(**given))
    "sknomad fit 'my cells.csv' -K 16 --drop id --verify"
    """
    words = ["sknomad", options.command]
    if getattr(options, "file", None) is None:
        return shlex.join(words)
    words.append(str(options.file))
    for name, unsaid in DECISIVE.items():
        value = getattr(options, name, unsaid)
        if value != unsaid:
            words += _words(SPELLED.get(name, "--" + name.replace("_", "-")), value)
    return shlex.join(words)


def _words(option: str, value: object) -> list[str]:
    """An option as it is typed: lists by repeating it, flags by their name, sizes as width x height."""
    if isinstance(value, list):
        return [word for one in value for word in (option, str(one))]
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    if isinstance(value, tuple):
        return [option, "x".join(map(str, value))]
    return [option, f"{value:g}" if isinstance(value, float) else str(value)]
