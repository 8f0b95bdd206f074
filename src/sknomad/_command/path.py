"""``sknomad path``: how the solution, its parts and its bounds change with ``K``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import NOMADPath, nomad_path
from ..solvers import configured
from .command import DONE, FAILED, NOT_PROVEN, as_json, show
from .given_table import read_given
from .places import check_places, write_all
from .progress_bar import SolveBar
from .report import finite, has_matplotlib, write_folder, write_text
from .shared_options import limited
from .tables import aligned, csv_text

# Points per patch, n/K, of the K that are looked at unless others are named, and how many of them.
COARSEST, FINEST, N_VALUES = 50, 4, 5


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    check_places(options)
    with limited(options):
        table = read_given(options)
        values = options.K or _usual_values(table.X.shape[0])
        with SolveBar(quiet=options.quiet, n_solves=len(set(values))) as bar:
            path = nomad_path(
                table.X,
                values,
                solver=configured(options.solver, options.tol, options.device, options.seed),
                metric=options.metric,
                tol=options.tol,
                max_seconds=None if options.max_seconds is None else options.max_seconds / len(values),
                grade="verified" if options.verify else "eigen",
                callback=bar.update,
                checkpoint=options.checkpoint,
            )
        all_written = write_all(options, [(options.out, lambda out: _write(out, path, overwrite=options.overwrite))])
        show(as_json({"path": _rows(path), "seconds": round(bar.seconds, 3)}) if options.json else describe(path))
    if not all_written:
        return FAILED
    return DONE if path.largest_gap <= options.tol else NOT_PROVEN


def _usual_values(n: int) -> list[float]:
    """From coarse to fine patches, evenly on the logarithmic scale."""
    lowest, highest = max(n / COARSEST, min(2.0, n)), max(n / FINEST, min(2.0, n))
    return [round(float(K), 3) for K in np.geomspace(lowest, highest, N_VALUES)]


def _rows(path: NOMADPath) -> list[dict[str, float | int | None]]:
    return [
        {
            "K": float(K),
            "parts": int(path.n_components[i]),
            "persistence": finite(path.persistence[i]),
            "stability": finite(path.stability[i]),
            "lower": finite(path.lower[i]),
            "upper": finite(path.upper[i]),
            "gap": finite(path.certificates[i].gap),
        }
        for i, K in enumerate(path.K_values)
    ]


def describe(path: NOMADPath) -> str:
    """A line for each ``K``."""
    rows = [["" if v is None else f"{v:.6g}" for v in row.values()] for row in _rows(path)]
    return aligned(list(_rows(path)[0]), rows)


def _write(out: Path, path: NOMADPath, *, overwrite: bool) -> None:
    rows = _rows(path)
    columns = {name: ["" if row[name] is None else row[name] for row in rows] for name in rows[0]}
    files: dict[str, Callable[[Path], None]] = {"path.csv": lambda place: write_text(place, csv_text(columns))}
    if has_matplotlib():
        files["path.png"] = lambda place: path.plot().savefig(place)
    write_folder(out, files, overwrite=overwrite)
