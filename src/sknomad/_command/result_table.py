"""A table as the result of a command: printed, as JSON, or in a file that appears whole or not at all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._files.atomic import written_whole
from .command import as_json, show, tell
from .tables import csv_text


def give_table(options: argparse.Namespace, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length to ``--out`` where it is given, and print them where it is not, or as JSON."""
    if options.out is not None:
        with written_whole(options.out) as file:
            file.write(csv_text(columns).encode())
        tell(options, f"Wrote {options.out}.")
    if options.json:
        show(as_json({name: np.asarray(column).tolist() for name, column in columns.items()}))
    elif options.out is None:
        show(csv_text(columns).rstrip("\n"))
