"""Options that several commands share, and the context of limits in which a command runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Named here so that help needs no solver; a test holds them against the library's own.
METRICS = ("euclidean", "precomputed", "precomputed_distance")
SOLVERS = ("auto", "admm", "soft", "conditional_gradient", "burer_monteiro", "reference")
DEVICES = ("auto", "cpu", "cuda")
GRADES = ("eigen", "verified")
KINDS = (
    "csv, tsv or other text, npy, npz, mat, parquet, h5ad, also compressed; a folder of images; - for standard input"
)
SIZE_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def add_table(command: argparse.ArgumentParser) -> None:
    """The file with the points, and which of its columns are data."""
    command.add_argument("file", type=Path, metavar="FILE", help=f"one point per row: {KINDS}")
    table = command.add_argument_group("the table")
    table.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="NAMES",
        help="the data: names, numbers from 0 or patterns, with commas between (default: all others)",
    )
    table.add_argument("--drop", action="append", default=[], metavar="NAMES", help="columns to leave out")
    table.add_argument(
        "--label-column",
        action="append",
        default=[],
        metavar="NAME",
        help="column of known labels, kept apart; more than once for several",
    )
    table.add_argument(
        "--index-column",
        default="auto",
        metavar="NAME",
        help='column that only counts rows; "none" if there is none (default: look at the first)',
    )
    table.add_argument(
        "--missing",
        default="error",
        choices=("error", "drop", "mean"),
        help="missing values: refuse, drop their rows, or fill in the column's mean (default: error)",
    )
    table.add_argument("--standardize", action="store_true", help="bring every column to mean 0 and deviation 1")
    table.add_argument("--header", action=argparse.BooleanOptionalAction, help="first row holds names (default: look)")
    table.add_argument("--key", help="which array of an npz, mat or h5ad file to read")
    table.add_argument("--image-size", type=_width_and_height, metavar="WxH", help="bring all images to one size")


def add_resources(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """How much memory and how many threads a command may take; the group, for more limits."""
    limits = command.add_argument_group("limits")
    limits.add_argument(
        "--max-memory", type=_bytes, metavar="SIZE", help="refuse what is forecast to take more, such as 4G"
    )
    limits.add_argument("--threads", type=_at_least_one, metavar="N", help="most threads of the linear algebra")
    return limits


def add_limits(command: argparse.ArgumentParser) -> None:
    """Beside memory and threads: how much time, where it computes, and the seed of what is random."""
    limits = add_resources(command)
    add_time(limits)
    limits.add_argument("--device", default="auto", choices=DEVICES, help="where to compute (default: auto)")
    limits.add_argument("--seed", type=int, default=0, metavar="N", help="of what is random (default: 0)")


def add_time(limits: argparse._ArgumentGroup) -> None:
    """How much time a command may take."""
    limits.add_argument("--max-seconds", type=float, metavar="S", help="stop after this time, with what is proven then")


def add_proof(command: argparse.ArgumentParser) -> None:
    """How good the proof is to be."""
    command.add_argument("--tol", type=float, default=1e-3, help="certified relative gap to reach (default: 1e-3)")
    command.add_argument("--verify", action="store_true", help="prove the bound including rounding errors")


def add_metric(command: argparse.ArgumentParser) -> None:
    """What the numbers of the table are."""
    command.add_argument("--metric", default="euclidean", choices=METRICS, help="what FILE holds (default: points)")


def add_solver(command: argparse.ArgumentParser) -> None:
    """How the program is solved."""
    command.add_argument("--solver", default="auto", choices=SOLVERS, help="how to solve (default: auto)")


def add_voice(command: argparse.ArgumentParser) -> None:
    """What is printed, and how."""
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.add_argument("--quiet", action="store_true", help="no progress, notes or warnings: results and errors only")


def add_out(command: argparse.ArgumentParser, contents: str) -> None:
    """A folder for results."""
    command.add_argument("--out", type=Path, metavar="DIR", help=f"folder for {contents}")
    command.add_argument("--overwrite", action="store_true", help="write into a folder that is not empty")


@contextmanager
def limited(options: argparse.Namespace) -> Iterator[None]:
    """Context in which the options of `add_resources` hold."""
    from .._numerics.memory import limited_memory
    from .._numerics.threads import limited_threads

    with limited_threads(options.threads), limited_memory(options.max_memory):
        yield


def _bytes(text: str) -> int:
    """A size such as 512M or 4GiB.

    Examples
    --------
    >>> _bytes("4G"), _bytes("1.5 KiB")
    (4294967296, 1536)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"must be a size such as 512M or 4G, got {text!r}")
    return int(float(found[1]) * SIZE_UNITS[found[2]])


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def _width_and_height(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be width x height such as 32x32, got {text!r}")
    return int(found[1]), int(found[2])
