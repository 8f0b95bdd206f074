"""What a fit reports: a summary for people, the same for programs, and the files of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from .. import NOMAD
from .._files.atomic import folder_written_whole
from .command import as_json
from .places import check_out
from .progress_bar import SolveBar
from .table import Table
from .tables import csv_text

# One part is the cautious answer, and may not be what was hoped for.
HINT_ON_ONE = (
    "hint          no division is clear; --several if you know that there is one, other --columns to look again"
)


class Summary(TypedDict):
    """What a fit found and proved, ready for JSON; unknown numbers are None."""

    n_samples: int
    n_features: int
    K: float
    status: str
    lower: float | None
    upper: float | None
    gap: float | None
    tol: float
    grade: str
    unit: float
    iterations: int
    search_iterations: int
    seconds: float  # of all of the fit
    search_seconds: float  # of the search for K
    n_manifolds: int
    manifold_sizes: list[int]
    n_in_none: int  # points of sets too small to be manifolds
    confidence: NotRequired[float]  # where K was sought
    adjusted_rand_index: NotRequired[float]  # where true labels were given, those of the first column
    adjusted_rand_indices: NotRequired[dict[str, float]]  # by column


def summarise(model: NOMAD, labels: Mapping[str, NDArray[Any]], bar: SolveBar) -> Summary:
    """The result of a fit, compared with true labels where they are given."""
    proof, solution = model.certificate_, model.solution_
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    summary: Summary = {
        "n_samples": int(model.labels_.size),
        "n_features": int(model.n_features_in_),
        "K": model.K_,
        "status": solution.status.name.lower(),
        "lower": finite(proof.lower),
        "upper": finite(proof.upper),
        "gap": finite(proof.gap),
        "tol": float(model.tol),
        "grade": proof.grade,
        "unit": solution.problem.gram.unit,
        "iterations": model.n_iter_,
        "search_iterations": bar.search_steps,
        "seconds": round(bar.seconds, 3),
        "search_seconds": round(bar.search_seconds, 3),
        "n_manifolds": int(sizes.size),
        "manifold_sizes": sorted(map(int, sizes), reverse=True),
        "n_in_none": int(np.sum(model.labels_ < 0)),
    }
    if np.isfinite(model.confidence_):
        summary["confidence"] = round(float(model.confidence_), 3)
    if labels:
        scores = agreement(labels, model.labels_)
        summary["adjusted_rand_index"], summary["adjusted_rand_indices"] = next(iter(scores.values())), scores
    return summary


def describe(summary: Summary) -> str:
    """The summary in plain words."""
    outside = f"; {summary['n_in_none']} in none" if summary["n_in_none"] else ""
    lines = [
        f"points        {summary['n_samples']} in {summary['n_features']} dimensions, K = {summary['K']:g}",
        f"manifolds     {summary['n_manifolds']} (points: {listed_sizes(summary['manifold_sizes'])}{outside})",
        *described_agreement(summary.get("adjusted_rand_indices", {})),
        f"proven        {number(summary['lower'])} <= optimum <= {number(summary['upper'])}",
        f"gap           {number(summary['gap'])} (asked for {summary['tol']:g}, grade {summary['grade']})",
        f"work          {described_work(summary)}, {summary['status']}",
    ]
    if "confidence" in summary:
        lines[1] += f", confidence {summary['confidence']:.2f}"
        if summary["n_manifolds"] == 1:
            lines.append(HINT_ON_ONE)
    return "\n".join(lines)


def described_work(summary: Mapping[str, Any]) -> str:
    """Steps and time of all of a fit, the search included."""
    search = summary["search_iterations"]
    steps = f"{summary['iterations']} iterations" + (f" and {search} in the search for K" if search else "")
    share = f" ({summary['search_seconds']:.1f} s of it the search)" if search else ""
    return f"{steps}, {summary['seconds']:.1f} s in all{share}"


def described_agreement(scores: Mapping[str, float]) -> list[str]:
    """A line for each column of known labels."""
    name = "given labels  adjusted Rand index"
    if len(scores) == 1:
        return [f"{name} {next(iter(scores.values())):.3f}"]
    return [f"{name} {score:.3f} with {column}" for column, score in scores.items()]


def agreement(labels: Mapping[str, NDArray[Any]], found: NDArray[Any]) -> dict[str, float]:
    """Adjusted Rand index of what was found with each column of known labels."""
    return {name: float(adjusted_rand_score(known, found)) for name, known in labels.items()}


def listed_sizes(sizes: list[int]) -> str:
    """The largest of them."""
    return ", ".join(map(str, sizes[:8])) + (", ..." if len(sizes) > 8 else "")


def write_run(out: Path, model: NOMAD, summary: Summary, table: Table, *, overwrite: bool) -> None:
    """Write all files of a run into `out`, which appears complete or not at all."""
    writers: dict[str, Callable[[Path], None]] = {
        "summary.json": lambda path: write_text(path, as_json(summary)),
        "summary.txt": lambda path: write_text(path, describe(summary)),
        "points.csv": lambda path: write_text(path, csv_text(points_of(model, table, "manifold"))),
        "affinity.npz": lambda path: np.savez_compressed(path, Q=_affinity(model)),
    }
    if has_matplotlib():
        writers["overview.png"] = lambda path: _write_figure(path, model, table.X)
    write_folder(out, writers, overwrite=overwrite)


def points_of(model: Any, table: Table, word: str) -> dict[str, Any]:
    """Columns with an entry for each point: row of the file, its name if it has one, and all that was found."""
    named = {} if table.row_names is None else {"name": table.row_names}
    return {
        "row": table.rows,
        **named,
        word: model.labels_,
        "order": model.order_,
        **{f"embedding_{j + 1}": column for j, column in enumerate(model.embedding_.T)},
        "map_x": model.map_[:, 0],
        "map_y": model.map_[:, 1],
    }


def write_folder(out: Path, writers: Mapping[str, Callable[[Path], None]], *, overwrite: bool) -> None:
    """Write files, by name, into a folder that appears complete or not at all."""
    check_out(out, overwrite=overwrite)
    with folder_written_whole(out) as folder:
        for name, write in writers.items():
            write(folder / name)


def write_text(path: Path, text: str) -> None:
    """Write a text file that ends with a line end, the same on every system."""
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


def has_matplotlib() -> bool:
    """Whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def finite(value: float) -> float | None:
    """A number for JSON; None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def number(value: float | None) -> str:
    """A number for people."""
    return "unknown" if value is None else f"{value:.8g}"


def _affinity(model: NOMAD) -> NDArray[np.float64]:
    """``Q``, dense: the command never asks for a sparse one."""
    return cast("NDArray[np.float64]", model.affinity_)


def _write_figure(path: Path, model: NOMAD, X: NDArray[np.number]) -> None:
    from .. import plot

    plot.overview(model, X if model.metric == "euclidean" else None).savefig(path)
