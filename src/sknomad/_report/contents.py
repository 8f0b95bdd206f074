"""What a report says, as plain numbers and text: the page draws from these alone."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from .._estimators.nomad import NOMAD
from .._kmeans.inertia import inertia_bound
from .._numerics.arrays import Array, Table, is_sparse, to_numpy
from .._version import __version__
from ..plot.model import as_bound
from ..plot.proof_panels import leading_eigenvalues
from .thumbnails import sprite_sheet

# What `json` writes.
Content: TypeAlias = "bool | int | float | str | list[Content] | dict[str, Content] | None"

# Side of the picture of Q, columns of the data to colour by, and characters of a name: what a page has room for.
MOST_PIXELS, MOST_COLUMNS, LONGEST_NAME = 256, 12, 200
# Eigenvalues shown.
MOST_EIGENVALUES = 40
# Points up to which the tree of divisions is made, which looks at all pairs.
TREE_UP_TO = 5000


def contents_of(
    model: NOMAD, X: Table | None, images: ArrayLike | None, names: Sequence[str] | None,
    labels: Sequence[str] | None, columns: Sequence[str] | None, command: str | None,
) -> dict[str, Content]:  # fmt: skip
    """Everything the page shows of a fitted model."""
    found = np.asarray(to_numpy(model.labels_))
    return {
        "verdict": verdict(model),
        "n": len(found),
        "manifolds": np.bincount(found[found >= 0], minlength=model.n_manifolds_).tolist(),
        "closed": np.asarray(to_numpy(model.is_closed_)).tolist(),
        "labels": numbers(found, np.int32),
        "map": scaled_numbers(to_numpy(model.map_)),
        "order": numbers(to_numpy(model.order_), np.float32),
        "names": None if names is None else [str(name)[:LONGEST_NAME] for name in names],
        "given": None if labels is None else [str(label)[:LONGEST_NAME] for label in labels],
        "columns": _columns(X, columns),
        "sheet": _sheet(images, len(found)),
        "affinity": _affinity(model, found),
        "spectrum": leading_eigenvalues(model)[:MOST_EIGENVALUES].tolist(),
        "tree": _tree(model, len(found)),
        "bounds": _bounds(model),
        "proof": _proof(model),
        "made": _made(model, command),
    }


def verdict(model: NOMAD) -> str:
    """What was found and how sure it is, in one sentence."""
    found = np.asarray(to_numpy(model.labels_))
    count, outside = model.n_manifolds_, int(np.sum(found < 0))
    what = f"{count} manifold{'' if count == 1 else 's'}, {len(found):,} points"
    rest = f" ({outside:,} in none)" if outside else ""
    gap = model.certificate_.gap
    if not math.isfinite(gap):
        return f"{what}{rest}; how close to the best possible answer is not known."
    return f"{what}{rest}; proven within {percent(gap)} of the best possible."


def percent(share: float) -> str:
    """A share in per cent, rounded up, so that what is said is proven.

    Examples
    --------
    >>> percent(0.00041), percent(0.1234), percent(0.0)
    ('0.041 %', '13 %', '0 %')
    """
    if share <= 0:
        return "0 %"
    digits = 1 - math.floor(math.log10(100 * share))
    rounded = math.ceil(100 * share * 10**digits - 1e-9) / 10**digits
    return f"{rounded:.{max(digits, 0)}f} %"


def numbers(values: Array, kind: type[np.generic]) -> dict[str, Content]:
    """An array for the page: little-endian numbers in base 64."""
    array = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    return {"type": np.dtype(kind).name, "base64": base64.b64encode(array.tobytes()).decode("ascii")}


def scaled_numbers(values: Array) -> dict[str, Content]:
    """Numbers of any size in single precision, with the unit that they are multiples of."""
    unit = float(np.abs(values).max(initial=0.0)) or 1.0
    with np.errstate(under="ignore"):
        return {**numbers(values / unit, np.float32), "unit": unit}


def _columns(X: Table | None, names: Sequence[str] | None) -> list[Content]:
    if X is None:
        return []
    shown = X[:, :MOST_COLUMNS]
    shown = shown.toarray() if is_sparse(shown) else np.asarray(shown, dtype=np.float64)
    titles = [f"column {j}" for j in range(shown.shape[1])] if names is None else [str(name) for name in names]
    return [
        {"name": title[:LONGEST_NAME], "values": scaled_numbers(shown[:, j])}
        for j, title in enumerate(titles[: shown.shape[1]])
    ]


def _sheet(images: ArrayLike | None, n: int) -> Content:
    if images is None:
        return None
    sheet, side = sprite_sheet(images, n)
    return {"side": side, "png": base64.b64encode(sheet).decode("ascii")}


def _affinity(model: NOMAD, found: Array) -> dict[str, Content]:
    """``Q`` sorted by manifold and along it, in blocks, from 0 to 255."""
    along = np.nan_to_num(np.asarray(to_numpy(model.order_)), nan=0.5)
    rows = np.lexsort((along, np.where(found < 0, model.n_manifolds_, found)))
    side = min(len(found), MOST_PIXELS)
    bins = np.empty(len(found), dtype=np.int64)
    bins[rows] = np.arange(len(found)) * side // len(found)
    blocks = np.maximum(model.mean_affinity(bins), 0.0)
    largest = float(blocks.max()) or 1.0
    strip = found[rows[np.searchsorted(bins[rows], np.arange(side))]]
    return {
        "side": side,
        "largest": largest,
        "pixels": numbers(np.round(255 * np.sqrt(blocks / largest)), np.uint8),
        "strip": strip.tolist(),
    }


def _tree(model: NOMAD, n: int) -> Content:
    if n > TREE_UP_TO:
        return None
    tree = model.division_tree()
    heights = {name: np.minimum(getattr(tree, name), 99.0).tolist() for name in ("born", "ends")}
    whole = {name: getattr(tree, name).tolist() for name in ("parent", "sizes", "labels", "middles")}
    return {**whole, **heights}


def _bounds(model: NOMAD) -> dict[str, Content]:
    trace = model.solution_.trace
    return {name: [_finite(value) for value in np.asarray(trace[name])] for name in ("seconds", "lower", "upper")}


def _proof(model: NOMAD) -> dict[str, Content]:
    proof, gram = model.certificate_, model.solution_.problem.gram
    inertia = inertia_bound(gram, proof.upper) if gram.is_of_points else 0.0
    return {
        "lower": _finite(proof.lower),
        "upper": _finite(proof.upper),
        "gap": _finite(proof.gap),
        "grade": proof.grade,
        "found": as_bound(proof.lower, upper=False),
        "best": as_bound(proof.upper, upper=True),
        "inertia": as_bound(inertia, upper=False) if inertia > 0 else None,
        "most": math.floor(model.K_),
    }


def _made(model: NOMAD, command: str | None) -> dict[str, Content]:
    settings = {name: repr(value) for name, value in model.get_params().items() if name not in ("callback", "verbose")}
    python = f"from sknomad import NOMAD\nmodel = {model!r}.fit(X)"
    solution = model.solution_
    return {
        "command": command,
        "python": python,
        "settings": cast("Content", settings),
        "facts": {
            "K": f"{model.K_:g}",
            "status": solution.status.value,
            "steps": model.n_iter_,
            "seconds": round(solution.seconds, 2),
            "columns of X": int(model.n_features_in_),
            "confidence in the number": None if math.isnan(model.confidence_) else round(model.confidence_, 2),
            "sknomad": __version__,
        },
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
