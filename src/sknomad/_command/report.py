"""What a fit reports: a summary for people, the same for programs, and the files of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from .. import NOMAD
from .._files.atomic import folder_written_whole
from .command import as_json


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
    seconds: float
    n_manifolds: int
    manifold_sizes: list[int]
    adjusted_rand_index: NotRequired[float]  # where true labels were given


def summarise(model: NOMAD, truth: NDArray[np.int64] | NDArray[np.str_] | None = None) -> Summary:
    """The result of a fit, compared with true labels where they are given."""
    proof, solution = model.certificate_, model.solution_
    sizes = np.bincount(model.labels_)
    summary: Summary = {
        "n_samples": int(model.labels_.size),
        "n_features": int(model.n_features_in_),
        "K": model.K_,
        "status": solution.status.name.lower(),
        "lower": _finite(proof.lower),
        "upper": _finite(proof.upper),
        "gap": _finite(proof.gap),
        "tol": float(model.tol),
        "grade": proof.grade,
        "unit": solution.problem.gram.unit,
        "iterations": model.n_iter_,
        "seconds": round(solution.seconds, 3),
        "n_manifolds": int(sizes.size),
        "manifold_sizes": sorted(map(int, sizes), reverse=True),
    }
    if truth is not None:
        summary["adjusted_rand_index"] = float(adjusted_rand_score(truth, model.labels_))
    return summary


def describe(summary: Summary) -> str:
    """The summary in plain words."""
    sizes = summary["manifold_sizes"]
    shown = ", ".join(map(str, sizes[:8])) + (", ..." if len(sizes) > 8 else "")
    lines = [
        f"points        {summary['n_samples']} in {summary['n_features']} dimensions, K = {summary['K']:g}",
        f"manifolds     {summary['n_manifolds']} (points: {shown})",
        f"proven        {_number(summary['lower'])} <= optimum <= {_number(summary['upper'])}",
        f"gap           {_number(summary['gap'])} (asked for {summary['tol']:g}, grade {summary['grade']})",
        f"work          {summary['iterations']} iterations, {summary['seconds']:.1f} s, {summary['status']}",
    ]
    if "adjusted_rand_index" in summary:
        lines.insert(2, f"given labels  adjusted Rand index {summary['adjusted_rand_index']:.3f}")
    return "\n".join(lines)


def write_run(
    out: Path, model: NOMAD, summary: Summary, X: NDArray[np.number], *, overwrite: bool = False
) -> list[Path]:
    """Write all files of a run into `out`, which appears complete or not at all; return their paths."""
    check_out(out, overwrite=overwrite)
    writers: dict[str, Callable[[Path], None]] = {
        "summary.json": lambda path: _write_text(path, as_json(summary)),
        "summary.txt": lambda path: _write_text(path, describe(summary)),
        "points.csv": lambda path: _write_points(path, model),
        "affinity.npz": lambda path: np.savez_compressed(path, Q=_affinity(model)),
    }
    if _has_matplotlib():
        writers["overview.png"] = lambda path: _write_figure(path, model, X)
    with folder_written_whole(out) as folder:
        for name, write in writers.items():
            write(folder / name)
    return [out / name for name in writers]


def check_out(out: Path, *, overwrite: bool) -> None:
    """Refuse a place that is a file or cannot be made, or a folder with something in it unless told to overwrite."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {str(out)!r}. Name another place.")
    if out.exists() and any(out.iterdir()) and not overwrite:
        raise ValueError(f"--out must be a new or empty folder, got {str(out)!r}. Pass --overwrite to write into it.")
    above = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
    if not above.is_dir() or not _may_write(out if out.exists() else above):
        raise ValueError(f"--out must be a folder that may be written to, got {str(out)!r}. Name another place.")


def check_file_place(path: Path, option: str) -> None:
    """Refuse a file that cannot be made, naming the option that asks for it."""
    if path.is_dir():
        raise ValueError(f"{option} must name a file, got the folder {str(path)!r}. Name a file in it.")
    folder = path.absolute().parent
    if not folder.is_dir() or not _may_write(folder):
        raise ValueError(f"{option} must name a file in an existing folder that may be written to, got {str(path)!r}.")


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _affinity(model: NOMAD) -> NDArray[np.float64]:
    """``Q``, dense: the command never asks for a sparse one."""
    return cast("NDArray[np.float64]", model.affinity_)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")


def _write_points(path: Path, model: NOMAD) -> None:
    names = ["row", "manifold", *(f"embedding_{j + 1}" for j in range(model.embedding_.shape[1]))]
    lines = [",".join(names)]
    for i, (label, coordinates) in enumerate(zip(model.labels_, model.embedding_, strict=True)):
        lines.append(",".join([str(i), str(label), *(f"{c:.10g}" for c in coordinates)]))
    _write_text(path, "\n".join(lines))


def _write_figure(path: Path, model: NOMAD, X: NDArray[np.number]) -> None:
    from .. import plot

    plot.overview(model, X if model.metric == "euclidean" else None).savefig(path)


def _has_matplotlib() -> bool:
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.8g}"
