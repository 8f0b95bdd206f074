"""The overview: one figure of a whole solve."""

from __future__ import annotations

import textwrap
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from .model import is_model
from .model_figure import model_figure
from .panels import convergence, heat_map, plane, scatter, square
from .style import MUTED, Array, Column, Trace, matplotlib_module, point_colours, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Manifolds unrolled in one overview; more would be too small to read.
MOST_PANELS = 6


def overview(
    model: Any = None,
    X: Any = None,
    labels: Column = None,
    embedding: ArrayLike | None = None,
    certificate_text: str = "",
    trace: Trace = None,
    *,
    Q: ArrayLike | None = None,
) -> Figure:
    """One figure of a whole solve: ``overview(model, X)``, or of arrays, ``overview(X, Q, labels, embedding, text)``.

    Of a model: the data, the map of all manifolds, ``Q``, its spectrum, what comes together at which threshold, and the
    bounds (or layers). Of arrays: data, Gram matrix, ``Q``, each manifold unrolled and, of a trace, the bounds. Points
    keep their colour through all panels: the hue is their manifold, the shade their place along it.

    Parameters
    ----------
    model : NOMAD, MultiLayerNOMAD or array of shape (n, d)
        Fitted, or the data.
    X : array of shape (n, d) or (n, n), optional
        Of a model, the data it was fitted to, None for kernels and distances; otherwise ``Q``.
    labels : array of shape (n,), optional
        Of a model, labels known beforehand; otherwise the manifold of each point. At most the six largest are unrolled.
    embedding : array of shape (n, 2), optional
        Each point in the coordinates of its own manifold; a model has them.
    certificate_text : str, default=""
        What is proved, in a sentence, printed under the headline; a model knows it.
    trace : mapping, optional
        Columns as in `convergence`; a model has them.
    Q : array of shape (n, n), optional
        Deprecated: ``overview(X=X, Q=Q, ...)`` of 0.1, where the data were called `X` and ``Q`` had a name of its own.

    Returns
    -------
    Figure
        To show or to save.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> points, _ = two_rings(60)
    >>> overview(NOMAD(K=12).fit(points), points).texts[0].get_text()
    '2 manifolds in 60 points'
    >>> Q = np.kron(np.eye(2), np.full((2, 2), 0.5))
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]]
    >>> figure = overview(X, Q, [0, 0, 1, 1], np.zeros((4, 2)), "Nothing is proved here.")
    >>> figure.texts[0].get_text()
    '2 manifolds in 4 points'
    """
    if Q is not None:
        warnings.warn("overview(X=..., Q=...) is now overview(X, Q, ...), by position.", DeprecationWarning, 2)
        model, X = (X if model is None else model), Q
    if is_model(model):
        return model_figure(model, X, labels)
    if model is None or X is None or labels is None or embedding is None:
        raise TypeError(
            "overview must get a fitted model, or the arrays X, Q, labels and embedding; got only some arrays. "
            "Pass overview(model, X)."
        )
    X, Q, labels = np.asarray(model, dtype=np.float64), square(X), np.asarray(labels, dtype=np.int64)
    check_consistent_length(X, Q, labels, embedding)
    points = _collapse_clusters(np.array(embedding, dtype=np.float64), labels, 1e-3 * np.sqrt(Q.max()))
    names, sizes = np.unique(labels[labels >= 0], return_counts=True)
    largest = names[np.sort(np.argsort(-sizes, kind="stable")[:MOST_PANELS])]
    colours, order = point_colours(labels, points[:, 0]), _order_along(points, labels)
    centred = X - X.mean(axis=0)
    with style():
        figure, (data, before, after), unrolled, bounds = _panels(len(largest), trace is not None)
        left_out = f", the {len(largest)} largest unrolled" if len(largest) < len(names) else ""
        headline = f"{len(names)} manifold{'s' if len(names) > 1 else ''} in {len(X)} points{left_out}"
        inch = 1 / figure.get_figheight()
        figure.text(0.014, 1 - 0.11 * inch, headline, size=13, weight="bold", va="top")
        figure.text(0.014, 1 - 0.37 * inch, textwrap.fill(certificate_text, 118), size=9, color=MUTED, va="top")
        scatter(data, plane(X), colours)
        heat_map(before, centred @ centred.T, labels, order, signed=True)
        heat_map(after, Q, labels, order)
        data.set_title("Data, principal components" if X.shape[1] > 2 else "Data")
        before.set_title("Gram matrix $D$ of the data")
        after.set_title(f"Solution $Q$ for $K = {np.trace(Q):.4g}$")
        for name, ax in zip(largest, unrolled, strict=True):
            mine = labels == name
            scatter(ax, points[mine], colours[mine])
            ax.set_title(f"Manifold {name}, unrolled", color=point_colours([name])[0])
        if trace is not None:
            convergence(trace, ax=bounds).set_title("Bounds on the optimum")
    return figure


def _panels(manifolds: int, has_trace: bool) -> tuple[Figure, list[Axes], list[Axes], Axes | None]:
    """Figure of the overview and its axes: three squares, then (below, if there is more) manifolds and bounds."""
    one_row = manifolds == 1 and not has_trace
    height = 3.75 if one_row else 7.2
    figure = matplotlib_module(".figure").Figure(figsize=(10, height), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.76 / height), w_pad=0.14, h_pad=0.08)
    grid = figure.add_gridspec(1, 4) if one_row else figure.add_gridspec(2, 3, height_ratios=(1.14, 1))
    above = [figure.add_subplot(grid[0, column]) for column in range(3)]
    rows, width = (1 if manifolds <= 3 else 2), min(max(manifolds, 1), 2 if has_trace else 3)
    place = grid[0, 3] if one_row else grid[1, :width]
    cells = place.subgridspec(rows, max(-(-manifolds // rows), 1))
    unrolled = [figure.add_subplot(cells[divmod(k, cells.ncols)]) for k in range(manifolds)]
    return figure, above, unrolled, figure.add_subplot(grid[1, width:]) if has_trace else None


def _collapse_clusters(points: Array, labels: NDArray[np.int64], floor: float) -> Array:
    """Move every manifold smaller than ``floor`` to one point: it is a cluster, and what is left is rounding."""
    for name in np.unique(labels):
        if np.ptp(points[labels == name], axis=0).max() < floor:
            points[labels == name] = 0.0
    return points


def _order_along(points: Array, labels: NDArray[np.int64]) -> NDArray[np.intp]:
    """Order points by manifold, then around its centre from the widest gap on: right for circles and horseshoes."""
    turn = np.zeros(len(points))
    for name in np.unique(labels):
        mine = labels == name
        angle = np.arctan2(*(points[mine] - points[mine].mean(axis=0)).T)
        around = np.sort(angle)
        last = around[np.argmax(np.diff(around, append=around[0] + 2 * np.pi))]
        turn[mine] = np.where(angle > last, angle, angle + 2 * np.pi)
    return np.lexsort((turn, labels))
