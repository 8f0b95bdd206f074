"""``sknomad fit``: solve for a table, and report."""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from .. import NOMAD, Status
from .command import DONE, FAILED, INTERRUPTED, NOT_PROVEN, as_json, show, tell
from .given_table import read_given, remembered
from .places import check_places, write_all
from .progress_bar import SolveBar
from .report import describe, has_matplotlib, summarise, write_run
from .report_page import write_page
from .shared_options import limited
from .table import Table

# What the status of a solution means to whoever asked for a proof.
EXIT_CODES = {Status.CERTIFIED: DONE, Status.INTERRUPTED: INTERRUPTED}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.several and options.K != "auto":
        raise ValueError(f"--several must go with an automatic K, got -K {options.K:g}. Leave out one of them.")
    check_places(options)
    with limited(options):
        table = read_given(options)
        model, bar = fitted(options, table.X)
        model._table = remembered(table)
        return report(options, model, bar, table)


def fitted(options: argparse.Namespace, X: NDArray[np.number]) -> tuple[NOMAD, SolveBar]:
    """The model, also of a fit that was interrupted if it has an answer by then, and what was done for it."""
    with SolveBar(quiet=options.quiet, n_solves=1) as bar:
        model = NOMAD(
            options.K,
            allow_single_cluster=not options.several,
            metric=options.metric,
            solver=options.solver,
            tol=options.tol,
            max_seconds=options.max_seconds,
            grade="verified" if options.verify else "eigen",
            device=options.device,
            random_state=options.seed,
            checkpoint=options.checkpoint,
            callback=bar.update,
        )
        try:
            model.fit(X)
        except KeyboardInterrupt:
            if "labels_" not in vars(model):
                raise
    return model, bar


def report(
    options: argparse.Namespace,
    model: NOMAD,
    bar: SolveBar,
    table: Table,
) -> int:
    """Write what was asked for, show the summary, and return the exit code."""
    summary = summarise(model, table.labels, bar)
    all_written = write_all(options, [
        (options.out, lambda out: write_run(out, model, summary, table, overwrite=options.overwrite)),
        (options.save, model.save),
        (options.certificate, model.solution_.save_certificate),
        (options.report, lambda path: write_page(path, model, table, options)),
    ])  # fmt: skip
    if options.out is not None and not has_matplotlib():
        tell(options, "sknomad: note: there is no picture without matplotlib: pip install 'sknomad[plot]'.")
    show(as_json(summary) if options.json else describe(summary))
    return EXIT_CODES.get(model.solution_.status, NOT_PROVEN) if all_written else FAILED
