"""``sknomad certify``: how much better than given labels any clustering could be."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import KMeansCertificate, certify_kmeans
from .._solving.solution import Status
from .command import DONE, FAILED, INTERRUPTED, NOT_PROVEN, as_json, show, tell
from .given_table import read_given
from .number_text import is_missing
from .places import check_file_place, write_all
from .progress_bar import SolveBar
from .raw_table import TableError
from .report import number
from .shared_options import limited
from .table import Table, TableChoices
from .table_file import read_raw

# Names of a column of labels, where a file of them has several.
LABEL_NAMES = ("label", "labels", "cluster", "clusters", "manifold", "cluster_id", "y")
# How noise is written.
NOISE = ("-1", "-1.0")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.certificate is not None:
        check_file_place(options.certificate, "--certificate")
    with limited(options):
        table = read_given(options)
        X, labels, n_noise = _clustered(options, table, _labels(options, table))
        if n_noise:
            tell(options, f"sknomad: note: {n_noise} points without a cluster are set apart.")
        with SolveBar(quiet=options.quiet, n_solves=1, bounded="best inertia") as bar:
            proof = certify_kmeans(
                X,
                labels,
                callback=bar.update,
                cuts=options.cuts,
                n_clusters=options.clusters,
                grade="verified" if options.verify else "eigen",
                tol=options.tol,
                max_seconds=options.max_seconds,
                parts=options.parts,
                n_jobs=options.jobs,
                checkpoint=options.checkpoint,
            )
        all_written = write_all(options, [(options.certificate, proof.save)])
        show(as_json(_summary(proof, n_noise, bar)) if options.json else describe(proof, n_noise, bar, options.tol))
    if not all_written:
        return FAILED
    if proof.status is Status.INTERRUPTED:
        return INTERRUPTED
    return DONE if proof.gap <= options.tol else NOT_PROVEN


def _labels(options: argparse.Namespace, table: Table) -> NDArray[np.str_]:
    """A label for each point, from the one place that was named."""
    if len(table.labels) + (options.labels is not None) != 1:
        raise ValueError(
            f"certify must have labels from one place, got {len(table.labels)} of --label-column and "
            f"{0 if options.labels is None else 1} of --labels. Pass one of them, once."
        )
    if options.labels is None:
        return next(iter(table.labels.values()))
    labels = _labels_in(options.labels)
    if len(labels) != table.n_given:
        raise TableError(f"--labels must have one for each of {table.n_given} rows of FILE, got {len(labels)}.")
    return labels[table.rows]


def _labels_in(path: Path) -> NDArray[np.str_]:
    raw = read_raw(path, TableChoices())
    names = [name for name in raw.names if name.lower() in LABEL_NAMES] or raw.names
    if len(names) != 1:
        raise TableError(f"--labels must be a file with one column, or one called label, got {', '.join(raw.names)}.")
    j = raw.names.index(names[0])
    column = raw.columns[j] if raw.matrix is None else raw.matrix[:, j]
    return np.array([str(value).strip() for value in column])


def _clustered(
    options: argparse.Namespace, table: Table, labels: NDArray[np.str_]
) -> tuple[NDArray[np.number], NDArray[np.generic], int]:
    """Points that have a cluster, their labels, and how many have none."""
    empty = np.array([is_missing(label) for label in labels])
    signs = set(labels[~empty]) <= {*NOISE, "1", "1.0", "+1"} and not set(labels[~empty]) <= set(NOISE)
    noise = empty | (np.isin(labels, NOISE) & (not signs))
    count = int(noise.sum())
    if count and options.noise == "refuse":
        raise ValueError(
            f"labels must name a cluster for every point, got {count} points with none (-1, or nothing). "
            "Pass --noise drop to set them apart."
        )
    if count == len(labels):
        raise ValueError("labels must name a cluster for some points, got none.")
    return table.X[~noise], labels[~noise], count


def _summary(proof: KMeansCertificate, n_noise: int, bar: SolveBar) -> dict[str, object]:
    return {
        "n_samples": len(proof.labels),
        "n_noise": n_noise,
        "n_clusters": proof.n_clusters,
        "inertia": proof.inertia,
        "lower_bound": proof.lower_bound,
        "gap": proof.gap,
        "grade": proof.grade,
        "parts": None if proof.parts is None else {"done": proof.parts.done, "total": proof.parts.count},
        "status": proof.status.name.lower(),
        "seconds": round(bar.seconds, 3),
    }


def describe(proof: KMeansCertificate, n_noise: int, bar: SolveBar, tol: float) -> str:
    """In plain words."""
    apart = f", {n_noise} set apart" if n_noise else ""
    lines = [
        f"points        {len(proof.labels)} in {proof.n_clusters} clusters{apart}",
        f"inertia       {number(proof.inertia)}",
        f"proven        no clustering into {proof.n_clusters} groups has one below {number(proof.lower_bound)}",
        f"gap           {number(proof.gap)} (asked for {tol:g}, grade {proof.grade})",
        f"work          {bar.seconds:.1f} s, {proof.status.name.lower()}",
    ]
    if proof.parts is not None:
        lines.insert(-1, f"parts         {proof.parts.done} of {proof.parts.count} proven")
    elif proof.gap > tol:
        lines.append("hint          --cuts often closes what is left open, in more time")
    return "\n".join(lines)
