"""The parser of ``sknomad``: every command with its options and an example, and none of the library loaded."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from .._version import __version__
from .command import printable
from .shared_options import (
    DEVICES,
    GRADES,
    KINDS,
    add_limits,
    add_metric,
    add_out,
    add_proof,
    add_resources,
    add_solver,
    add_table,
    add_time,
    add_voice,
)  # fmt: skip

FIRST_DATA = "sknomad datasets two_rings -n 100 --out rings.csv"
FIRST_FIT = "sknomad fit rings.csv --label-column label --out result"
SHELLS = ("bash", "zsh", "fish")
EXIT_CODES = """exit codes:
  0    done: certified, or everything claimed is proven
  1    an error, said in one sentence
  2    wrong usage
  3    finished without the proof that was asked for; what is reported holds
  130  interrupted; what was reported by then holds"""


class Command(NamedTuple):
    """A command: its words in help, its options, and an example that runs as it stands."""

    name: str  # also that of the module whose `run` does it
    help: str
    description: str
    examples: tuple[str, ...]
    add_options: Callable[[argparse.ArgumentParser], None]


def _add_save(command: argparse.ArgumentParser) -> None:
    command.add_argument("--save", type=Path, metavar="MODEL", help="file for the fitted model: sknomad transform")


def _add_checkpoint(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--checkpoint", type=Path, metavar="FILE", help=what)


def _add_several(command: argparse.ArgumentParser) -> None:
    command.add_argument("--several", action="store_true", help="it is known that there is more than one part")


def _add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--report", type=Path, metavar="HTML", help="file for a page about the result, to open or mail"
    )


def _add_solving(command: argparse.ArgumentParser, written: str) -> None:
    """What is solved how, and where what is `written` and the model go."""
    add_metric(command)
    add_solver(command)
    add_proof(command)
    add_out(command, written)
    _add_save(command)


def _fit(command: argparse.ArgumentParser) -> None:
    add_table(command)
    command.add_argument(
        "-K", default="auto", type=_number_or_auto, help="about n/K neighbours per point (default: auto)"
    )
    _add_several(command)
    _add_solving(command, "summary, points, affinity and picture")
    command.add_argument("--certificate", type=Path, metavar="CERT", help="file for the proof: sknomad verify")
    _add_report(command)
    _add_checkpoint(command, "file that keeps a long run: the same command goes on from it")
    add_limits(command)
    add_voice(command)


def _cluster(command: argparse.ArgumentParser) -> None:
    add_table(command)
    command.add_argument("-k", "--clusters", type=int, metavar="N", help="number of clusters (default: find it)")
    command.add_argument(
        "--method",
        default="manifolds",
        choices=("manifolds", "kmeans"),
        help="sieve manifolds of any shape, or k-means with a proof (default: manifolds)",
    )
    _add_several(command)
    command.add_argument("--cuts", action="store_true", help="with --method kmeans: close what the relaxation leaves")
    _add_solving(command, "summary and labels")
    command.add_argument(
        "--certificate", type=Path, metavar="CERT", help="with --method kmeans: file for the proof: sknomad verify"
    )
    _add_report(command)
    _add_checkpoint(command, "file, or files, that keep a long run: the same command goes on from there")
    add_limits(command)
    add_voice(command)


def _certify(command: argparse.ArgumentParser) -> None:
    add_table(command)
    command.add_argument(
        "--labels", type=Path, metavar="FILE", help="file with a label per point, instead of --label-column"
    )
    command.add_argument(
        "--noise",
        default="refuse",
        choices=("refuse", "drop"),
        help="points labelled -1: refuse them, or set them apart (default: refuse)",
    )
    command.add_argument(
        "-k",
        "--clusters",
        type=int,
        metavar="N",
        help="most clusters of those to compare with (default: as many as labels)",
    )
    command.add_argument("--cuts", action="store_true", help="close what the relaxation leaves open, in more time")
    command.add_argument(
        "--parts", nargs="?", const="auto", metavar="N", type=_number_of_parts,
        help="divide the points into N parts, or as many as are right: for more than some thousand points",
    )  # fmt: skip
    command.add_argument("--jobs", type=int, metavar="N", help="with --parts: processes (default: 1; -1: all cores)")
    _add_checkpoint(command, "file that keeps a long run; with --parts: folder that keeps finished parts")
    add_proof(command)
    command.add_argument("--certificate", type=Path, metavar="CERT", help="file for the proof: sknomad verify")
    add_time(add_resources(command))
    add_voice(command)


def _path(command: argparse.ArgumentParser) -> None:
    add_table(command)
    command.add_argument("-K", type=float, nargs="+", metavar="K", help="which K (default: five from n/50 to n/4)")
    add_metric(command)
    add_solver(command)
    add_proof(command)
    add_out(command, "the table and its picture")
    _add_checkpoint(command, "files that keep a long run, one for each K: the same command goes on from them")
    add_limits(command)
    add_voice(command)


def _transform(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, metavar="MODEL", help="file that --save wrote")
    add_table(command)
    command.add_argument("--out", type=Path, metavar="CSV", help="file for the places (default: print them)")
    command.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    add_resources(command)
    add_voice(command)


def _verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("certificate", type=Path, metavar="CERT", help="file that --certificate wrote")
    add_table(command)
    add_metric(command)
    command.add_argument("--grade", choices=GRADES, help="strength of the proof to compute (default: as claimed)")
    add_resources(command)
    add_voice(command)


def _reproduce(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="NAME", help="experiments, see --list")
    command.add_argument("--all", action="store_true", help="all but those that take a GPU or very long")
    command.add_argument("--list", action="store_true", help="what there is")
    command.add_argument("--quick", action="store_true", help="at reduced size, a few minutes in all")
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results; an interrupted run goes on")
    command.add_argument("--device", default="auto", choices=DEVICES, help="where to solve")
    command.add_argument(
        "--jobs", type=int, metavar="N", help="experiments at a time (default: as many as cores, up to 4; GPU: 1)"
    )
    command.add_argument("--overwrite", action="store_true", help="compute again what is in the folder already")
    add_voice(command)


def _datasets(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", metavar="NAME", help="data set to write (default: list them)")
    command.add_argument("-n", "--points", type=int, metavar="N", help="number of points (default: 200)")
    command.add_argument("--out", type=Path, metavar="CSV", help="file for the points (default: print them)")
    command.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of what is random (default: 0)")
    add_voice(command)


def _demo(command: argparse.ArgumentParser) -> None:
    add_proof(command)
    add_out(command, "summary, points, affinity and picture")
    _add_report(command)
    add_limits(command)
    add_voice(command)


def _completion(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=SHELLS, help="for which shell")


COMMANDS = (
    Command("fit", "separate and unroll the manifolds of a table", "Solve for the rows of a table.",
            (FIRST_FIT, "sknomad fit rings.csv --label-column label --report report.html",
             "sknomad fit rings.csv -K 16 --label-column label --save rings.sknomad --certificate rings.cert"), _fit),
    Command("cluster", "clusters of any shape, or k-means with a proof",
            "Find clusters: their number is found too unless it is given.",
            ("sknomad cluster rings.csv --label-column label --out clusters --report clusters.html",
             "sknomad datasets blobs --out blobs.csv",
             "sknomad cluster blobs.csv --label-column label --method kmeans -k 6"), _cluster),
    Command("certify", "how much better than given labels any clustering could be",
            "Prove how close to the best k-means clustering given labels are, wherever they come from.",
            ("sknomad datasets blobs --out blobs.csv",
             "sknomad certify blobs.csv --label-column label --certificate blobs.cert"), _certify),
    Command("path", "how the solution changes with K", "Solve for several K, each from the solution before.",
            ("sknomad path rings.csv --label-column label -K 4 8 16",), _path),
    Command("transform", "places of new points in a fitted model",
            "Place the rows of a table in a model; its columns are found by the names that the model knows.",
            ("sknomad transform rings.sknomad rings.csv --out placed.csv",), _transform),
    Command("verify", "check somebody's certificate",
            "Compute from a certificate and the data what is proven, and compare with what is claimed.",
            ("sknomad verify rings.cert rings.csv --label-column label",), _verify),
    Command("reproduce", "the paper's experiments, with a verdict on each claim",
            "Compute the paper's experiments again: figures, arrays, and whether each claim holds.",
            ("sknomad reproduce --list",), _reproduce),
    Command("datasets", "points on known manifolds, as a table", "List data sets, or write one as CSV.",
            (FIRST_DATA,), _datasets),
    Command("doctor", "versions, extras, BLAS and memory", "What there is to work with.",
            ("sknomad doctor",), add_voice),
    Command("demo", "two entangled spirals, solved and proven", "Two entangled spirals, solved and proven.",
            ("sknomad demo --tol 1e-2",), _demo),
    Command("completion", "completion of commands and options in a shell",
            "Print a script; bash: source <(sknomad completion bash)", ("sknomad completion bash",), _completion),
)  # fmt: skip


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help with room for the longest option beside what it does."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{**options, "max_help_position": 30})


class Parser(argparse.ArgumentParser):
    """A parser that repeats nothing in its messages that could be a command to a terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it parses has the name of a command as `command`."""
    parser = Parser(
        prog="sknomad",
        description="Separate and unroll the manifolds hidden in data, with a proof of how good the answer is.",
        epilog=f"FILE is {KINDS}.\n\nbegin with:\n  {FIRST_DATA}\n  {FIRST_FIT}\n\n{EXIT_CODES}",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"sknomad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        examples = "\n".join(f"  {example}" for example in command.examples)
        one = commands.add_parser(
            command.name,
            help=command.help,
            description=command.description,
            epilog=f"examples:\n{examples}\n\n{EXIT_CODES}",
            formatter_class=_Help,
        )
        command.add_options(one)
    return parser


def _number_of_parts(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a whole number or "auto", got {text!r}') from None


def _number_or_auto(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a number or "auto", got {text!r}') from None
