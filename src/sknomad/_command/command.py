"""What every command of ``sknomad`` has: a place among the others, an exit code, and a voice beside its results."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Mapping

# Exit codes: all is proven (or done), an error, finished without the proof asked for, and interrupted.
DONE, FAILED, NOT_PROVEN, INTERRUPTED = 0, 1, 3, 130


RED, YELLOW = "31", "33"


def say(text: str) -> None:
    """Write a line to standard error, where everything goes that is not a result."""
    print(printable(text), file=sys.stderr)


def tell(options: argparse.Namespace, text: str) -> None:
    """Say something that is good to know, unless the user wants to hear errors only."""
    if not options.quiet:
        say(text)


def say_coloured(prefix: str, colour: str, text: str) -> None:
    """Say something with a prefix in colour, on a terminal whose user has nothing against it (``NO_COLOR``)."""
    has_colours = os.name != "nt" or "WT_SESSION" in os.environ
    if has_colours and sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
    print(f"{prefix} {printable(text)}", file=sys.stderr)


def show(result: str) -> None:
    """Write a result, of one line or several, to standard output."""
    print("\n".join(printable(line) for line in result.split("\n")))


def printable(text: str) -> str:
    r"""`text` with escapes for whatever would move a terminal's cursor, change its colours or turn its writing round.

    Examples
    --------
    >>> printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_json(value: object) -> str:
    """JSON as the standard has it: numbers that are not finite are null.

    Examples
    --------
    >>> as_json([1.5, float("inf")]).split()
    ['[', '1.5,', 'null', ']']
    """
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
