"""The commands ``sknomad fit`` and ``sknomad demo``: solve for a table, or for two spirals, and report."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import NOMAD, Status
from .._program.inputs import METRICS
from ..solvers import SOLVERS
from .command import DONE, INTERRUPTED, NOT_PROVEN, Commands, say
from .progress_bar import GapBar
from .report import check_out, describe, summarise, write_run
from .table_file import read_table


def add_fit(commands: Commands) -> None:
    """Enter the command ``fit``."""
    fit = commands.add_parser("fit", help="solve for a table of points", description="Solve for the rows of a table.")
    fit.set_defaults(run=_fit)
    fit.add_argument("file", type=Path, metavar="FILE", help="csv, tsv, npy or npz; one point per row")
    fit.add_argument("-K", default="auto", type=_number_or_auto, help="about n/K neighbours per point (default: auto)")
    fit.add_argument("--metric", default="euclidean", choices=METRICS)
    fit.add_argument("--header", action=argparse.BooleanOptionalAction, help="first row holds names (default: look)")
    fit.add_argument("--label-column", metavar="NAME", help="name or number of a column that is not data")
    fit.add_argument("--solver", default="auto", choices=list(SOLVERS), help="how to solve (default: auto)")
    fit.add_argument("--key", help="which array of an npz file to read")
    fit.add_argument(
        "--certificate", type=Path, metavar="CERT", help="file for the proof, to be read by sknomad verify"
    )
    fit.add_argument("--save", type=Path, metavar="MODEL", help="file for the fitted model, to be read by sknomad.load")
    _add_solve_options(fit)


def add_demo(commands: Commands) -> None:
    """Enter the command ``demo``."""
    demo = commands.add_parser(
        "demo", help="two entangled spirals, solved and proven", description="Two entangled spirals, solved and proven."
    )
    # What only `fit` asks for.
    demo.set_defaults(run=_demo, K=64, metric="euclidean", solver="auto", save=None, certificate=None)
    _add_solve_options(demo)


def _add_solve_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for summary, points, affinity and picture")
    command.add_argument("--overwrite", action="store_true", help="write into a folder that is not empty")
    command.add_argument("--tol", type=float, default=1e-3, help="certified relative gap to reach (default: 1e-3)")
    command.add_argument("--max-seconds", type=float, metavar="S", help="stop after this time")
    command.add_argument("--verify", action="store_true", help="prove the bound including rounding errors")
    command.add_argument("--json", action="store_true", help="print the summary as JSON")


def _fit(options: argparse.Namespace) -> int:
    _check_places(options)
    table = read_table(options.file, header=options.header, label_column=options.label_column, key=options.key)
    return _run(options, table.X, table.labels)


def _demo(options: argparse.Namespace) -> int:
    from ..datasets import double_swiss_roll

    _check_places(options)
    X, truth = double_swiss_roll(200)
    say("Two entangled spirals of 100 points each; solving the K-means SDP with K = 64.")
    return _run(options, X, truth)


def _check_places(options: argparse.Namespace) -> None:
    """Before the work, so that no result is lost to a place that cannot take it."""
    if options.out is not None:
        check_out(options.out, overwrite=options.overwrite)
    for name, path in (("save", options.save), ("certificate", options.certificate)):
        if path is not None and not path.resolve().parent.is_dir():
            raise ValueError(f"--{name} must name a file in an existing folder, got {str(path)!r}.")


def _run(options: argparse.Namespace, X: NDArray[np.number], truth: NDArray[np.int64] | NDArray[np.str_] | None) -> int:
    with GapBar() as bar:
        model = NOMAD(
            options.K,
            metric=options.metric,
            solver=options.solver,
            tol=options.tol,
            max_seconds=options.max_seconds,
            grade="verified" if options.verify else "eigen",
            callback=bar.update,
        ).fit(X)
    summary = summarise(model, truth)
    if options.out is not None:
        paths = write_run(options.out, model, summary, X, overwrite=options.overwrite)
        say(f"Wrote {', '.join(path.name for path in paths)} to {options.out}.")
    for path, write in ((options.save, model.save), (options.certificate, model.solution_.save_certificate)):
        if path is not None:
            write(path)
            say(f"Wrote {path}.")
    print(json.dumps(summary, indent=2) if options.json else describe(summary))
    return {Status.CERTIFIED: DONE, Status.INTERRUPTED: INTERRUPTED}.get(model.solution_.status, NOT_PROVEN)


def _number_or_auto(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a number or "auto", got {text!r}') from None
