"""What every command of ``sknomad`` has: a place among the others, an exit code, and a voice beside its results."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from typing import TypeAlias

# Where a command enters itself, its options and the function that runs it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# Exit codes: all is proven (or done), an error, finished without the proof asked for, and interrupted.
DONE, FAILED, NOT_PROVEN, INTERRUPTED = 0, 1, 3, 130


def say(text: str) -> None:
    """Write a line to standard error, where everything goes that is not a result."""
    print(printable(text), file=sys.stderr)


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
