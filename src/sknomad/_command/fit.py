"""The commands ``sknomad fit`` and ``sknomad demo``: solve for a table, or for two spirals, and report."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import NOMAD, Status
from .._program.inputs import METRICS
from ..solvers import SOLVERS
from .command import DONE, FAILED, INTERRUPTED, NOT_PROVEN, Commands, as_json, say, show
from .progress_bar import GapBar
from .report import Summary, check_file_place, check_out, describe, summarise, write_run
from .report_page import write_report
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
    demo.set_defaults(run=_demo, file=None, K=64, metric="euclidean", solver="auto", save=None, certificate=None)
    _add_solve_options(demo)


def _add_solve_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for summary, points, affinity and picture")
    command.add_argument(
        "--report", type=Path, metavar="HTML", help="file for a page about the result, to open or mail"
    )
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
    taken = [] if options.file is None else [options.file.resolve()]
    places = (("--save", options.save), ("--certificate", options.certificate), ("--report", options.report))
    for option, path in places:
        if path is None:
            continue
        check_file_place(path, option)
        if path.resolve() in taken:
            raise ValueError(f"{option} must name a file of its own, got {str(path)!r}. Name another place.")
        taken.append(path.resolve())


def _run(options: argparse.Namespace, X: NDArray[np.number], truth: NDArray[np.int64] | NDArray[np.str_] | None) -> int:
    model = _fitted_model(options, X)
    summary = summarise(model, truth)
    all_written = _write_all(options, model, summary, X, truth)
    show(as_json(summary) if options.json else describe(summary))
    if not all_written:
        return FAILED
    return {Status.CERTIFIED: DONE, Status.INTERRUPTED: INTERRUPTED}.get(model.solution_.status, NOT_PROVEN)


def _fitted_model(options: argparse.Namespace, X: NDArray[np.number]) -> NOMAD:
    """Also of a fit that was interrupted, if it has an answer by then."""
    with GapBar() as bar:
        model = NOMAD(
            options.K,
            metric=options.metric,
            solver=options.solver,
            tol=options.tol,
            max_seconds=options.max_seconds,
            grade="verified" if options.verify else "eigen",
            callback=bar.update,
        )
        try:
            return model.fit(X)
        except KeyboardInterrupt:
            if "labels_" not in vars(model):
                raise
            return model


def _write_all(options: argparse.Namespace, model: NOMAD, summary: Summary, X: NDArray[np.number],
               truth: NDArray[np.int64] | NDArray[np.str_] | None) -> bool:  # fmt: skip
    """Write whatever was asked for; a place that fails is said and does not keep the others from being written."""
    writers: list[tuple[Path | None, Callable[[Path], object]]] = [
        (options.out, lambda out: write_run(out, model, summary, X, overwrite=options.overwrite)),
        (options.save, model.save),
        (options.certificate, model.solution_.save_certificate),
        (options.report, lambda path: write_report(path, model, X, None if truth is None else list(truth), options)),
    ]
    all_written = True
    for path, write in writers:
        if path is None:
            continue
        try:
            write(path)
            say(f"Wrote {path}.")
        except OSError as error:
            say(f"sknomad: error: {str(path)!r} could not be written: {error.strerror or error}.")
            all_written = False
    return all_written


def _number_or_auto(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a number or "auto", got {text!r}') from None
