"""The parser of ``sknomad``, and what happens to warnings, errors and interrupts of its commands."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import TextIO

from .._version import __version__
from .command import FAILED, INTERRUPTED, say
from .doctor import add_doctor
from .fit import add_demo, add_fit
from .reproduce import add_reproduce
from .verify import add_verify


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
        say(f"sknomad: error: {_one_line(error)}")
        return FAILED
    except KeyboardInterrupt:
        say("sknomad: interrupted before there was a result; nothing was written.")
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sknomad",
        description="Separate and unroll the manifolds hidden in data, with a proof of how good the answer is.",
        epilog="Exit codes: 0 certified, 1 error, 2 usage, 3 finished without reaching the tolerance, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"sknomad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add_command in (add_fit, add_demo, add_doctor, add_verify, add_reproduce):
        add_command(commands)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say(f"sknomad: warning: {_one_line(message)}")


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
