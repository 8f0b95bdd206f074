"""What every command of ``sknomad`` has: a place among the others, an exit code, and a voice beside its results."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

# Where a command enters itself, its options and the function that runs it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# Exit codes: all is proven (or done), an error, finished without the proof asked for, and interrupted.
DONE, FAILED, NOT_PROVEN, INTERRUPTED = 0, 1, 3, 130


def say(text: str) -> None:
    """Write a line to standard error, where everything goes that is not a result."""
    print(text, file=sys.stderr)
