"""``sknomad cluster``: clusters of any shape, or k-means with a proof."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import CertifiedKMeans, MultiLayerNOMAD
from ..solvers import configured
from .command import DONE, FAILED, INTERRUPTED, NOT_PROVEN, as_json, show
from .given_table import read_given, remembered
from .places import check_places, write_all
from .progress_bar import SolveBar
from .report import (
    HINT_ON_ONE,
    agreement,
    described_agreement,
    described_work,
    finite,
    listed_sizes,
    number,
    points_of,
    write_folder,
    write_text,
)  # fmt: skip
from .report_page import write_page
from .shared_options import limited
from .table import Table
from .tables import csv_text


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    _check_method(options)
    check_places(options)
    with limited(options):
        table = read_given(options)
        bounded = "best inertia" if options.method == "kmeans" else "optimum"
        with SolveBar(quiet=options.quiet, bounded=bounded) as bar:
            model, interrupted = _fitted(options, table, bar)
        model._table = remembered(table)
        summary = _summarise(options, model, table, bar)
        all_written = write_all(options, _writers(options, model, table, summary))
        show(as_json(summary) if options.json else describe(summary))
    if not all_written:
        return FAILED
    if interrupted:
        return INTERRUPTED
    return DONE if summary["is_certified"] else NOT_PROVEN


def _check_method(options: argparse.Namespace) -> None:
    if options.method == "kmeans":
        if options.clusters is None:
            raise ValueError("--method kmeans must have a number of clusters, got none. Pass -k N.")
        if options.metric != "euclidean":
            raise ValueError(f"--method kmeans must have points, got --metric {options.metric}.")
        if options.report is not None:
            raise ValueError("--report must go with --method manifolds, got --method kmeans. Use --out or --json.")
    elif options.certificate is not None or options.cuts:
        raise ValueError("--certificate and --cuts must go with --method kmeans, got --method manifolds.")


def _fitted(options: argparse.Namespace, table: Table, bar: SolveBar) -> tuple[Any, bool]:
    """The model, and whether it was interrupted after it had an answer."""
    shared = {
        "n_clusters": options.clusters,
        "tol": options.tol,
        "max_seconds": options.max_seconds,
        "grade": "verified" if options.verify else "eigen",
        "solver": configured(options.solver, options.tol, options.device, options.seed),
        "checkpoint": options.checkpoint,
        "callback": bar.update,
    }
    model: MultiLayerNOMAD | CertifiedKMeans
    if options.method == "kmeans":
        model = CertifiedKMeans(**shared, cuts=options.cuts, random_state=options.seed)
    else:
        model = MultiLayerNOMAD(**shared, allow_single_cluster=not options.several, metric=options.metric)
    try:
        model.fit(table.X)
    except KeyboardInterrupt:
        if "labels_" not in vars(model):
            raise
        return model, True
    return model, False


def _summarise(options: argparse.Namespace, model: Any, table: Table, bar: SolveBar) -> dict[str, Any]:
    """What was found and proven, ready for JSON."""
    sizes = sorted(map(int, np.bincount(model.labels_)), reverse=True)
    summary: dict[str, Any] = {
        "method": options.method,
        "n_samples": len(model.labels_),
        "n_features": int(model.n_features_in_),
        "n_clusters": len(sizes),
        "cluster_sizes": sizes,
        "adjusted_rand_indices": agreement(table.labels, model.labels_),
        "tol": options.tol,
        "iterations": model.n_iter_,
        "search_iterations": bar.search_steps,
        "seconds": round(bar.seconds, 3),
        "search_seconds": round(bar.search_seconds, 3),
    }
    if options.method == "kmeans":
        proof = model.certificate_
        proven = {"inertia": proof.inertia, "lower_bound": proof.lower_bound, "gap": proof.gap, "grade": proof.grade}
        return {**summary, **proven, "is_certified": bool(proof.gap <= options.tol)}
    gap = max(layer.certificate.gap for layer in model.layers_)
    return {
        **summary,
        "confidence": finite(model.confidence_),
        "schedule": model.schedule_,
        "gap": finite(gap),
        "is_certified": bool(gap <= options.tol),
    }


def describe(summary: dict[str, Any]) -> str:
    """The summary in plain words."""
    is_kmeans = summary["method"] == "kmeans"
    found = f"{summary['n_clusters']} (points: {listed_sizes(summary['cluster_sizes'])})"
    if summary.get("confidence") is not None:
        found += f", confidence {summary['confidence']:.2f}"
    lines = [
        f"points        {summary['n_samples']} in {summary['n_features']} dimensions",
        f"clusters      {found}",
        *described_agreement(summary["adjusted_rand_indices"]),
    ]
    if is_kmeans:
        lines.append(f"inertia       {number(summary['inertia'])}; none is below {number(summary['lower_bound'])}")
    else:
        lines.append(f"layers        K = {', '.join(f'{K:g}' for K in summary['schedule'])}")
    gap = f"gap           {number(summary['gap'])}" + ("" if is_kmeans else ", the largest of the layers")
    lines += [f"{gap} (asked for {summary['tol']:g})", f"work          {described_work(summary)}"]
    if summary["n_clusters"] == 1 and summary.get("confidence") is not None:
        lines.append(HINT_ON_ONE)
    return "\n".join(lines)


def _writers(
    options: argparse.Namespace, model: Any, table: Table, summary: dict[str, Any]
) -> list[tuple[Path | None, Callable[[Path], object]]]:
    is_kmeans = options.method == "kmeans"
    columns = {"row": table.rows, "cluster": model.labels_} if is_kmeans else points_of(model, table, "cluster")
    files: dict[str, Callable[[Path], None]] = {
        "summary.json": lambda path: write_text(path, as_json(summary)),
        "summary.txt": lambda path: write_text(path, describe(summary)),
        "points.csv": lambda path: write_text(path, csv_text(columns)),
    }
    return [
        (options.out, lambda out: write_folder(out, files, overwrite=options.overwrite)),
        (options.save, model.save),
        (options.certificate, lambda path: model.certificate_.save(path)),
        (options.report, lambda path: write_page(path, model, table, options)),
    ]
