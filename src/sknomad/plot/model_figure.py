"""The overview of a fitted model: what it found, what it learned, what is proven."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .map_panel import agrees, map
from .model import Labels, as_bound, check_column, counted, fitted, found_labels, position_along, word_for
from .panels import affinity, plane, scatter
from .proof_panels import bounds, spectrum
from .style import MUTED, Array, Column, matplotlib_module, point_colours, style
from .trees import layers, tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Points up to which the tree of divisions is drawn: it looks at all pairs.
TREE_UP_TO = 5000


def model_figure(model: Any, X: Any, given: Column) -> Figure:
    """Data, map and ``Q`` above; spectrum, tree and bounds, or layers, below."""
    labels = found_labels(model)
    fitted(model, "map_")
    data = _check_data(X, len(labels))
    known = check_column(given, "labels", len(labels))
    with style():
        figure = matplotlib_module(".figure").Figure(figsize=(11, 7.6), layout="constrained")
        figure.get_layout_engine().set(rect=(0, 0, 1, 0.9), w_pad=0.12, h_pad=0.1)
        above, below = figure.subplots(2, 3, height_ratios=(1.25, 1))
        figure.text(0.014, 0.985, headline(labels, word_for(model)), size=13, weight="bold", va="top")
        figure.text(0.014, 0.948, textwrap.fill(_sentence(model, labels, known), 140), size=9, color=MUTED, va="top")
        if data is None:
            above[0].set_axis_off()
        else:
            scatter(above[0], plane(data), point_colours(labels, position_along(model)))
            above[0].set_title("Data, principal components" if data.shape[1] > 2 else "Data")
        map(model, "order", given=given, ax=above[1]).set_title(f"Map: each {word_for(model)} laid flat")
        affinity(model, ax=above[2])
        spectrum(model, ax=below[0])
        if len(labels) <= TREE_UP_TO:
            tree(model, ax=below[1])
        else:
            below[1].set_axis_off()
        if hasattr(model, "layers_"):
            layers(model, ax=below[2])
        else:
            bounds(model, ax=below[2]).set_title("Bounds on the optimum")
    return figure


def headline(labels: Labels, word: str = "manifold") -> str:
    """What was found, in a line.

    Examples
    --------
    >>> headline(np.array([0, 0, 1, -1]))
    '2 manifolds in 4 points, 1 of them in none'
    """
    count, outside = int(labels.max()) + 1, int(np.sum(labels < 0))
    rest = f", {outside} of them in none" if outside else ""
    return f"{counted(count, word)} in {len(labels)} points{rest}"


def _sentence(model: Any, labels: Labels, known: NDArray[Any] | None) -> str:
    text = _proven_of_layers(model) if hasattr(model, "layers_") else _proven(model)
    if known is None:
        return text
    share = float(np.mean(agrees(labels, known)))
    return f"{text} {share:.1%} of the points have the given label that is most frequent in their {word_for(model)}."


def _proven_of_layers(model: Any) -> str:
    gap = max(layer.certificate.gap for layer in model.layers_)
    schedule = ", ".join(f"{layer.K:.4g}" for layer in model.layers_)
    return f"Layers K = {schedule}: each a program of its own, largest proven gap {gap:.1e}."


def _proven(model: Any) -> str:
    proof = model.certificate_
    text = f"K = {model.K_:.4g}: {as_bound(proof.lower, upper=False)} ≤ optimum, and no upper bound is known."
    if np.isfinite(proof.upper):
        between = f"{as_bound(proof.lower, upper=False)} ≤ optimum ≤ {as_bound(proof.upper, upper=True)}"
        text = f"K = {model.K_:.4g}: {between}, proven gap {proof.gap:.1e}, grade {proof.grade}."
    return text


def _check_data(X: Any, n: int) -> Array | None:
    if X is None:
        return None
    data = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if data.ndim != 2 or len(data) != n:
        raise ValueError(
            f"X must hold the {n} points that the model was fitted to, one per row, got shape {data.shape}. "
            "Pass the X of model.fit(X), or leave it out."
        )
    return data
