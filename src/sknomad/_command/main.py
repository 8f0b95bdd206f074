"""The parser of ``sknomad``, and what happens to warnings, errors and interrupts of its commands."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from .._numerics.ieee import UnsoundArithmeticError
from .._version import __version__
from .command import DONE, FAILED, INTERRUPTED, printable, say
from .doctor import add_doctor
from .fit import add_demo, add_fit
from .reproduce import add_reproduce
from .verify import add_verify

# What is said in one sentence; anything else is a defect, and shows where it comes from.
REFUSALS = (ValueError, TypeError, OSError, MemoryError, ImportError, ArithmeticError, UnsoundArithmeticError)


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
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here, where a reader that has gone can be told from an error
    except BrokenPipeError:
        _write_no_more()
        return DONE


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always")
            return int(options.run(options))
    except BrokenPipeError:
        raise
    except REFUSALS as error:
        say(f"sknomad: error: {_one_line(error)}")
        return FAILED
    except KeyboardInterrupt:
        say("sknomad: interrupted before there was a result; nothing was written.")
        return INTERRUPTED


def _write_no_more() -> None:
    """Let nothing more reach a pipe that nobody reads, not even what Python writes when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a stream of a test has no number
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class _Parser(argparse.ArgumentParser):
    """A parser that repeats nothing in its messages that could be a command to a terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
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
