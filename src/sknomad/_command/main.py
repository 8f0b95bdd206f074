"""``sknomad``: finds the command, and what happens to its warnings, errors and interrupts."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from .command import DONE, FAILED, INTERRUPTED, RED, YELLOW, say, say_coloured
from .parser import make_parser

# What messages call options, and what they are called here.
IN_PYTHON = {
    r"\bcuts=True\b": "--cuts",
    r"\bPass sample_weight=\S+": "Leave equal rows as they were",
    r"\bmax_seconds\b": "--max-seconds",
    r"\ballow_single_cluster=False\b": "--several",
    r"\bn_clusters\b": "-k",
    r"\bsolver=\"(\w+)\"": r"--solver \1",
    r"\btol=": "--tol ",
}


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
    except OSError as error:  # of a disk that is full, most likely
        with contextlib.suppress(OSError):
            say_coloured("sknomad: error:", RED, f"standard output could not be written: {error.strerror or error}.")
        _write_no_more()
        return FAILED


def _run(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):  # names of files and columns may have letters that a terminal has not
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = make_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            _hear_warnings(options)
            command = import_module(f".{options.command}", __package__)
            return int(command.run(options))
    except BrokenPipeError:
        raise
    except _refusals() as error:
        say_coloured("sknomad: error:", RED, _one_line(error))
        return FAILED
    except KeyboardInterrupt:
        say("sknomad: interrupted before there was a result; nothing is left half-written.")
        return INTERRUPTED


def _refusals() -> tuple[type[Exception], ...]:
    """What is said in one sentence; anything else is a defect, and shows where it comes from."""
    from .._numerics.ieee import UnsoundArithmeticError  # not before there is an error: help needs no library

    return (ValueError, TypeError, OSError, MemoryError, ImportError, ArithmeticError, UnsoundArithmeticError)


def _hear_warnings(options: argparse.Namespace) -> None:
    """Show each warning in a line of its own, or none."""
    if getattr(options, "quiet", False):
        warnings.simplefilter("ignore")
        return
    warnings.showwarning = _show_warning
    warnings.simplefilter("always")
    warnings.simplefilter("ignore", DeprecationWarning)  # addressed to programmers


def _write_no_more() -> None:
    """Let nothing more reach a pipe that nobody reads, not even what Python writes when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a stream of a test has no number
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say_coloured("sknomad: warning:", YELLOW, _one_line(message))


def _one_line(message: object) -> str:
    """A message as one line, with the options of the command where it speaks of those of Python."""
    text = " ".join(str(message).split())
    for in_python, here in IN_PYTHON.items():
        text = re.sub(in_python, here, text)
    return text
