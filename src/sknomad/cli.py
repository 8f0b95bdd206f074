"""The command ``sknomad``: results on standard output, everything else on standard error.

Exit codes: 0 certified, 1 error, 2 usage, 3 finished without reaching the tolerance, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._certificate.solution import Status
from ._command.report import check_out, describe, summarise, write_run
from ._command.reproduce import add_reproduce
from ._command.table_file import read_table
from ._command.verify import add_verify
from ._estimators.nomad import NOMAD
from ._solving.run_state import Progress
from ._version import __version__
from .solvers import SOLVERS

__all__ = ["main"]

CERTIFIED, FAILED, NOT_CERTIFIED, INTERRUPTED = 0, 1, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``sknomad``; None takes them from the command line.

    Returns
    -------
    int
        0 certified, 1 error, 3 finished without reaching the tolerance, 130 interrupted; wrong usage exits with 2.

    Examples
    --------
    >>> from sknomad.cli import main
    >>> main(["reproduce", "--list"])  # doctest: +ELLIPSIS
    opening         Opening: a knot and two spirals...
    0
    """
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always")
            return int(options.run(options))
    except (ValueError, TypeError, OSError, MemoryError, ImportError, ArithmeticError) as error:
        _say(f"sknomad: error: {_one_line(error)}")
        return FAILED
    except KeyboardInterrupt:
        _say("sknomad: interrupted before there was a result; nothing was written.")
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sknomad",
        description="Separate and unroll the manifolds hidden in data, with a proof of how good the answer is.",
        epilog="Exit codes: 0 certified, 1 error, 2 usage, 3 finished without reaching the tolerance, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"sknomad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_demo(commands)
    _add_doctor(commands)
    add_verify(commands, print)
    add_reproduce(commands)
    return parser


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser("fit", help="solve for a table of points", description="Solve for the rows of a table.")
    fit.set_defaults(run=_fit)
    fit.add_argument("file", type=Path, metavar="FILE", help="csv, tsv, npy or npz; one point per row")
    fit.add_argument("-K", default="auto", type=_number_or_auto, help="about n/K neighbours per point (default: auto)")
    fit.add_argument("--metric", default="euclidean", choices=["euclidean", "precomputed", "precomputed_distance"])
    fit.add_argument("--header", action=argparse.BooleanOptionalAction, help="first row holds names (default: look)")
    fit.add_argument("--label-column", metavar="NAME", help="name or number of a column that is not data")
    fit.add_argument("--solver", default="auto", choices=list(SOLVERS), help="how to solve (default: auto)")
    fit.add_argument("--key", help="which array of an npz file to read")
    fit.add_argument(
        "--certificate", type=Path, metavar="CERT", help="file for the proof, to be read by sknomad verify"
    )
    fit.add_argument("--save", type=Path, metavar="MODEL", help="file for the fitted model, to be read by sknomad.load")
    _add_common(fit)


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo", help="two entangled spirals, solved and proven", description="Two entangled spirals, solved and proven."
    )
    demo.set_defaults(run=_demo)
    _add_common(demo)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser("doctor", help="versions, BLAS and memory", description="What there is to work with.")
    doctor.set_defaults(run=_doctor)
    doctor.add_argument("--json", action="store_true", help="print JSON")


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for summary, points, affinity and picture")
    command.add_argument("--overwrite", action="store_true", help="write into a folder that is not empty")
    command.add_argument("--tol", type=float, default=1e-3, help="certified relative gap to reach (default: 1e-3)")
    command.add_argument("--max-seconds", type=float, metavar="S", help="stop after this time")
    command.add_argument("--verify", action="store_true", help="prove the bound including rounding errors")
    command.add_argument("--json", action="store_true", help="print the summary as JSON")


def _fit(options: argparse.Namespace) -> int:
    _check_out(options)
    table = read_table(options.file, header=options.header, label_column=options.label_column, key=options.key)
    return _run(options, table.X, table.labels, options.K, options.metric, options.solver)


def _demo(options: argparse.Namespace) -> int:
    from .datasets import double_swiss_roll

    _check_out(options)
    X, truth = double_swiss_roll(200)
    _say("Two entangled spirals of 100 points each; solving the K-means SDP with K = 64.")
    return _run(options, X, truth, 64, "euclidean")


def _check_out(options: argparse.Namespace) -> None:
    """Before the work, so that no result is lost to a place that cannot take it."""
    if options.out is not None:
        check_out(options.out, overwrite=options.overwrite)
    for name in ("save", "certificate"):
        path = getattr(options, name, None)
        if path is not None and not path.resolve().parent.is_dir():
            raise ValueError(f"--{name} must name a file in an existing folder, got {str(path)!r}.")


def _run(options: argparse.Namespace, X: Any, truth: Any, K: Any, metric: str, solver: str = "auto") -> int:
    with _ProgressBar() as bar:
        model = NOMAD(
            K,
            metric=metric,
            solver=solver,
            tol=options.tol,
            max_seconds=options.max_seconds,
            grade="verified" if options.verify else "eigen",
            callback=bar.update,
        ).fit(X)
    summary = summarise(model, truth)
    if options.out is not None:
        paths = write_run(options.out, model, summary, X, overwrite=options.overwrite)
        _say(f"Wrote {', '.join(path.name for path in paths)} to {options.out}.")
    for name, write in (("save", model.save), ("certificate", model.solution_.save_certificate)):
        if getattr(options, name, None) is not None:
            write(getattr(options, name))
            _say(f"Wrote {getattr(options, name)}.")
    print(json.dumps(summary, indent=2) if options.json else describe(summary))
    return _exit_code(model.solution_.status)


def _doctor(options: argparse.Namespace) -> int:
    from ._command import doctor as _doctor

    facts = _doctor.examine()
    print(json.dumps(facts, indent=2) if options.json else _doctor.describe(facts))
    return 0


def _exit_code(status: Status) -> int:
    return {Status.CERTIFIED: CERTIFIED, Status.INTERRUPTED: INTERRUPTED}.get(status, NOT_CERTIFIED)


def _number_or_auto(text: str) -> Any:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a number or "auto", got {text!r}') from None


class _ProgressBar:
    """One line on a terminal that shows how far the proven gap has closed; silent in a pipe."""

    WIDTH = 30

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self.first_gap: float | None = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")

    def update(self, progress: Progress) -> None:
        if not self.shown:
            return
        gap = progress.gap
        filled = int(self.WIDTH * self._share(gap, progress.tol))
        bar = "━" * filled + "╌" * (self.WIDTH - filled)
        proven = f"gap {gap:.1e}" if math.isfinite(gap) else "no bound yet"
        sys.stderr.write(
            f"\r\x1b[K{bar} {proven}, goal {progress.tol:.0e}  step {progress.iteration}, {progress.seconds:.0f} s"
        )
        sys.stderr.flush()

    def _share(self, gap: float, tol: float) -> float:
        """Progress on the logarithmic scale, on which gaps shrink evenly."""
        if not math.isfinite(gap):
            return 0.0
        self.first_gap = self.first_gap or gap
        if gap <= tol or self.first_gap <= tol or tol <= 0:
            return float(gap <= tol)
        return max(0.0, math.log(self.first_gap / gap) / math.log(self.first_gap / tol))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    _say(f"sknomad: warning: {_one_line(message)}")


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _say(text: str) -> None:
    print(text, file=sys.stderr)
