"""The command ``sknomad verify``: a certificate and the data, claimed against proven."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from .._certificate.upper import GRADES
from .._program.inputs import METRICS
from .._solving.certificate_file import Verification, verify_certificate
from .command import DONE, NOT_PROVEN, Commands, as_json, show
from .table_file import read_table

WORDS = {"inertia": "inertia", "lower_bound": "lower bound", "lower": "lower", "upper": "upper"}


def add_verify(commands: Commands) -> None:
    """Enter the command ``verify``."""
    verify = commands.add_parser(
        "verify",
        help="check somebody's certificate",
        description="Compute from a certificate and the data what is proven, and compare with what is claimed.",
        epilog="Exit codes: 0 everything claimed is proven, 1 no certificate or no data, 3 not proven.",
    )
    verify.add_argument("certificate", type=Path, metavar="CERT", help="file that certificate.save(path) wrote")
    verify.add_argument("file", type=Path, metavar="DATA", help="csv, tsv, npy or npz; one point per row")
    verify.add_argument("--metric", default="euclidean", choices=METRICS)
    verify.add_argument("--header", action=argparse.BooleanOptionalAction, help="first row holds names (default: look)")
    verify.add_argument("--label-column", metavar="NAME", help="name or number of a column that is not data")
    verify.add_argument("--key", help="which array of an npz file to read")
    verify.add_argument("--grade", choices=list(GRADES), help="strength of the proof to compute (default: as claimed)")
    verify.add_argument("--json", action="store_true", help="print JSON")
    verify.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    table = read_table(options.file, header=options.header, label_column=options.label_column, key=options.key)
    result = verify_certificate(options.certificate, table.X, metric=options.metric, grade=options.grade)
    show(as_json(summarise(result, len(table.X))) if options.json else describe(result, len(table.X)))
    return DONE if result.holds else NOT_PROVEN


def summarise(result: Verification, rows: int) -> dict[str, object]:
    """For JSON; unknown numbers are None."""
    return {
        "holds": result.holds,
        "claim": result.claim,
        "K": result.K,
        "n_samples": rows,
        "grade": result.grade,
        "same_data": result.same_data,
        "claimed": {name: _finite(value) for name, value in result.claimed.items()},
        "proven": {name: _finite(value) for name, value in result.proven.items()},
    }


def describe(result: Verification, rows: int) -> str:
    """In plain words."""
    kind = "k-means" if result.claim == "kmeans" else "NOMAD"
    data = "those it was made for" if result.same_data else "not, to the bit, those it was made for"
    if result.n_data != result.n:
        data = f"{result.n_data} points, others than those it was made for"
    elif rows != result.n:
        data += f"; {rows} rows, {result.n} of them distinct"
    lines = [
        f"certificate   {kind}, K = {result.K:g}, {result.n} points, grade {result.grade}",
        f"data          {data}",
        f"{'':14}{'claimed':<18}proven here",
    ]
    lines += [f"{WORDS[k]:<14}{_text(v):<18}{_text(result.proven[k])}" for k, v in result.claimed.items()]
    lines.append(f"verdict       {_verdict(result)}")
    return "\n".join(lines)


def _verdict(result: Verification) -> str:
    proven = result.proven
    if not result.holds:
        return f"does not hold: {result.reason}"
    if result.claim == "kmeans":
        return f"holds: no clustering into {result.K:g} groups has an inertia below {_text(proven['lower_bound'])}"
    return f"holds: {_text(proven['lower'])} <= optimum <= {_text(proven['upper'])}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else "unknown"
