"""The command ``sknomad verify``: a certificate and the data, claimed against proven."""

from __future__ import annotations

import argparse
import math

from .. import Verification, verify_certificate
from .command import DONE, NOT_PROVEN, as_json, show
from .given_table import read_given
from .shared_options import limited

OTHER_DATA = "other data than those it was made for"
WORDS = {"inertia": "inertia", "lower_bound": "lower bound", "lower": "lower", "upper": "upper"}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    with limited(options):
        table = read_given(options)
        result = verify_certificate(options.certificate, table.X, metric=options.metric, grade=options.grade)
    show(as_json(summarise(result, table.X.shape[0])) if options.json else describe(result, table.X.shape[0]))
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
    data = "those it was made for" if result.same_data else OTHER_DATA
    if result.n_data != result.n:
        data = f"{OTHER_DATA}: {result.n_data} points, not {result.n}"
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
        reason = result.reason.partition(";")[0]  # what follows is about weights, which a command has none of
        return f"does not hold: {reason}" if result.same_data else f"does not hold: other data; {reason}"
    if result.claim == "kmeans":
        return f"holds: no clustering into {result.K:g} groups has an inertia below {_text(proven['lower_bound'])}"
    return f"holds: {_text(proven['lower'])} <= optimum <= {_text(proven['upper'])}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else "unknown"
