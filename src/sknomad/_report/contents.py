"""What a report says, as plain numbers and text: the page draws from these alone."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._estimators.nomad import NOMAD
from .._manifolds.path import NOMADPath
from .._numerics.arrays import Array, Table, is_sparse, to_numpy
from ..plot.model import counted, word_for
from ..plot.panels import binned
from ..plot.proof_panels import leading_eigenvalues
from .other_traces import over_K, searched
from .proof import Content, Model, bounds_of, made, n_found, proof_of, verdict
from .thumbnails import sprite_sheet

# Side of the picture of Q, columns of the data to colour by, and characters of a name: what a page has room for.
MOST_PIXELS, MOST_COLUMNS, LONGEST_NAME = 256, 12, 200
# Layers shown, and the side of the picture of each.
MOST_LAYERS, LAYER_PIXELS = 8, 96
# Eigenvalues shown.
MOST_EIGENVALUES = 40
# Points up to which the tree of divisions is made, which looks at all pairs.
TREE_UP_TO = 5000


def contents_of(
    model: Model, X: Table | None, images: ArrayLike | None, names: Sequence[str] | None,
    labels: Sequence[str] | None, columns: Sequence[str] | None, command: str | None, K_path: NOMADPath | None,
) -> dict[str, Content]:  # fmt: skip
    """Everything the page shows of a fitted model."""
    found = np.asarray(to_numpy(model.labels_))
    return {
        "verdict": verdict(model),
        "word": word_for(model),
        "n": len(found),
        "manifolds": np.bincount(found[found >= 0], minlength=n_found(model)).tolist(),
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
        "search": searched(model.search_),
        "path": over_K(model.search_, K_path),
        "layers": _layers(model, found),
        "bounds": bounds_of(model),
        "proof": proof_of(model),
        "made": made(model, command),
    }


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


def _sorted(model: Model, found: Array) -> Array:
    """Points by manifold, then along it; those in none come last."""
    along = np.nan_to_num(np.asarray(to_numpy(model.order_)), nan=0.5)
    return np.lexsort((along, np.where(found < 0, n_found(model), found)))


def _affinity(model: Model, found: Array) -> dict[str, Content]:
    """``Q`` sorted by manifold and along it, in blocks, from 0 to 255."""
    rows, side = _sorted(model, found), min(len(found), MOST_PIXELS)
    bins = np.empty(len(found), dtype=np.int64)
    bins[rows] = np.arange(len(found)) * side // len(found)
    strip = found[rows[np.searchsorted(bins[rows], np.arange(side))]]
    return {**_pixels(model.mean_affinity(bins)), "strip": strip.tolist()}


def _pixels(blocks: Array) -> dict[str, Content]:
    """Nonnegative numbers as shades, by the root, from 0 to 255."""
    shades = np.maximum(blocks, 0.0)
    largest = float(shades.max()) or 1.0
    return {
        "side": len(shades),
        "largest": largest,
        "pixels": numbers(np.round(255 * np.sqrt(shades / largest)), np.uint8),
    }


def _layers(model: Model, found: Array) -> Content:
    """The ``Q`` of each layer, small, and what was found in it; None of a model without layers."""
    if isinstance(model, NOMAD):
        return None
    rows = _sorted(model, found)
    return [
        {
            **_pixels(binned(np.asarray(layer.Q), rows, LAYER_PIXELS)),
            "said": f"K = {layer.K:.4g}, {counted(layer.n_components_found, 'part')}, gap {layer.certificate.gap:.0e}",
        }
        for layer in model.layers_[:MOST_LAYERS]
    ]


def _tree(model: Model, n: int) -> Content:
    if n > TREE_UP_TO:
        return None
    tree = model.division_tree()
    heights = {name: np.minimum(getattr(tree, name), 99.0).tolist() for name in ("born", "ends")}
    whole = {name: getattr(tree, name).tolist() for name in ("parent", "sizes", "labels", "middles")}
    return {**whole, **heights}
