"""Panels and the overview: data, affinity, embedding and bounds."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from .style import (
    DIVERGING,
    FAINT,
    INK,
    MUTED,
    SEQUENTIAL,
    Array,
    Column,
    Trace,
    axes_or_new,
    colour_map,
    matplotlib_module,
    point_colours,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_PANELS = 6  # manifolds unrolled in one overview; more would be too small to read


def affinity(Q: ArrayLike, labels: Column = None, *, order: Column = None, ax: Axes | None = None) -> Axes:
    """Heat map of the learned neighbourhoods ``Q``, an (n, n) matrix.

    Labels are drawn as coloured strips at the edges. ``order`` gives the indices of the points in the order of
    drawing; without it, points are sorted by label.
    """
    with style():
        return _heat_map(axes_or_new(ax), _square(Q), labels, order)


def embedding(
    points: ArrayLike, labels: Column = None, parameter: Column = None, *, cyclic: bool = False, ax: Axes | None = None
) -> Axes:
    """Scatter of (n, 2) points at equal scales, coloured by label or parameter as in `point_colours`."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), got {points.shape}. Pass two columns.")
    check_consistent_length(points, labels, parameter)
    if labels is None and parameter is None:
        labels = np.zeros(len(points))
    with style():
        return _scatter(axes_or_new(ax), points, point_colours(labels, parameter, cyclic=cyclic))


def scatter_data(
    X: ArrayLike, labels: Column = None, parameter: Column = None, *, cyclic: bool = False, ax: Axes | None = None
) -> Axes:
    """Scatter of data of any dimension, beyond two by principal components; the rest as for `embedding`."""
    return embedding(_plane(np.asarray(X, dtype=np.float64)), labels, parameter, cyclic=cyclic, ax=ax)


def convergence(trace: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Lower and upper bounds against time, the gap between them shaded.

    ``trace`` has columns ``lower``, ``upper`` and ``seconds`` or, failing that, ``iteration``, of equal length.
    Entries that are not finite, bounds not known yet, are left out.
    """
    clock = "seconds" if "seconds" in trace else "iteration"
    if missing := {clock, "lower", "upper"}.difference(trace):
        raise ValueError(f"trace must have columns {clock}, lower, upper, got {[*trace]}. Add {sorted(missing)}.")
    time, lower, upper = (np.asarray(trace[name], dtype=np.float64) for name in (clock, "lower", "upper"))
    known = np.isfinite(lower) & np.isfinite(upper)
    spans_decades = time.size > 0 and 0 < 100 * time.min() < time.max()
    with style():
        ax = axes_or_new(ax)
        ax.fill_between(time[known], lower[known], upper[known], step="post", color=FAINT, linewidth=0)
        for name, bound in (("upper", upper), ("lower", lower)):
            finite = np.isfinite(bound)
            ax.plot(time[finite], bound[finite], drawstyle="steps-post", color=INK, label=name)
        ax.set(xlabel=clock, ylabel=r"$\langle D, Q \rangle$", xscale="log" if spans_decades else "linear")
        ax.ticklabel_format(axis="y", useOffset=False)
        if known.any():
            _frame_bounds(ax, lower[known], upper[known])
    return ax


def overview(
    X: ArrayLike, Q: ArrayLike, labels: ArrayLike, embedding: ArrayLike, certificate_text: str, trace: Trace = None
) -> Figure:
    """One figure of a whole solve: data, Gram matrix, ``Q``, each manifold unrolled and, of a trace, the bounds.

    Points keep their colour through all panels: the hue is their manifold, the shade their place along the first
    axis of its embedding. Rows of both matrices are sorted by manifold, then around its embedding.

    Parameters
    ----------
    X, Q : arrays of shapes (n, d) and (n, n)
    labels : array of shape (n,)
        Manifold of each point. At most the six largest are drawn unrolled.
    embedding : array of shape (n, 2)
        Each point in the coordinates of its own manifold.
    certificate_text : what is proved, in a sentence; printed under the headline
    trace : mapping of columns as in `convergence`, optional
    """
    X, Q, labels = np.asarray(X, dtype=np.float64), _square(Q), np.asarray(labels, dtype=np.int64)
    check_consistent_length(X, Q, labels, embedding)
    points = _collapse_clusters(np.array(embedding, dtype=np.float64), labels, 1e-3 * np.sqrt(Q.max()))
    names, sizes = np.unique(labels[labels >= 0], return_counts=True)
    largest = names[np.sort(np.argsort(-sizes, kind="stable")[:_MOST_PANELS])]
    colours, order = point_colours(labels, points[:, 0]), _order_along(points, labels)
    centred = X - X.mean(axis=0)
    with style():
        figure, (data, before, after), unrolled, bounds = _panels(len(largest), trace is not None)
        left_out = f", the {len(largest)} largest unrolled" if len(largest) < len(names) else ""
        headline = f"{len(names)} manifold{'s' if len(names) > 1 else ''} in {len(X)} points{left_out}"
        inch = 1 / figure.get_figheight()
        figure.text(0.014, 1 - 0.11 * inch, headline, size=13, weight="bold", va="top")
        figure.text(0.014, 1 - 0.37 * inch, textwrap.fill(certificate_text, 118), size=9, color=MUTED, va="top")
        _scatter(data, _plane(X), colours)
        _heat_map(before, centred @ centred.T, labels, order, signed=True)
        _heat_map(after, Q, labels, order)
        data.set_title("Data, principal components" if X.shape[1] > 2 else "Data")
        before.set_title("Gram matrix $D$ of the data")
        after.set_title(f"Solution $Q$ for $K = {np.trace(Q):.4g}$")
        for name, ax in zip(largest, unrolled, strict=True):
            mine = labels == name
            _scatter(ax, points[mine], colours[mine])
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


def _heat_map(ax: Axes, matrix: Array, labels: Column, order: Column, *, signed: bool = False) -> Axes:
    check_consistent_length(matrix, labels, order)
    sorted_rows = np.argsort(np.zeros(len(matrix)) if labels is None else np.asarray(labels), kind="stable")
    rows = sorted_rows if order is None else np.asarray(order, dtype=np.intp)
    high = float(np.abs(matrix).max())
    colours, low = (colour_map(DIVERGING), -high) if signed else (colour_map(SEQUENTIAL), 0.0)
    image = ax.imshow(matrix[np.ix_(rows, rows)], cmap=colours, vmin=low, vmax=high)
    ax.set(xticks=[], yticks=[], anchor="NW")
    ax.spines[:].set(visible=True, color=FAINT)
    if labels is not None:
        strip = point_colours(np.asarray(labels)[rows])
        for place, pixels in (((-0.045, 0, 0.03, 1), strip[:, None]), ((0, 1.015, 1, 0.03), strip[None])):
            edge = ax.inset_axes(place)
            edge.imshow(pixels, aspect="auto", interpolation="nearest")
            edge.set_axis_off()
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((0, -0.06, 1, 0.03)), orientation="horizontal")
    bar.outline.set_visible(False)
    ticks = (low, 0.0, high) if signed else (low, high)
    bar.set_ticks(ticks, labels=[f"{tick:.3g}".replace("-", "\N{MINUS SIGN}") for tick in ticks])
    bar.ax.tick_params(length=0)
    for text, side in zip(bar.ax.get_xticklabels()[:: len(ticks) - 1], ("left", "right"), strict=True):
        text.set(horizontalalignment=side)  # the end labels stay within the panel
    return ax


def _scatter(ax: Axes, points: Array, colours: Array) -> Axes:
    ax.scatter(points[:, 0], points[:, 1], s=float(np.clip(4000 / len(points), 3, 26)), c=colours, linewidths=0)
    ax.set(box_aspect=1, adjustable="datalim", aspect="equal", anchor="NW", xticks=[], yticks=[], frame_on=False)
    return ax


def _frame_bounds(ax: Axes, lower: Array, upper: Array) -> None:
    """Name the gap reached, and leave the wild first bounds out of the frame: they would flatten the rest."""
    low, high, best = np.quantile(lower, 0.25), np.quantile(upper, 0.75), upper.min()
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.set_title(f"gap {(best - lower.max()) / (abs(best) or 1.0):.1e}", loc="right", weight="normal")


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


def _plane(X: Array) -> Array:
    if X.shape[1] <= 2:
        return np.pad(X, ((0, 0), (0, 2 - X.shape[1])))
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    plane = left[:, :2] * singular[:2]
    return plane * np.sign(plane[np.argmax(np.abs(plane), axis=0), [0, 1]])  # same data, same picture


def _square(Q: ArrayLike) -> Array:
    Q = np.asarray(Q, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1]:
        raise ValueError(f"Q must be a square matrix, got shape {Q.shape}. Pass one row and column per point.")
    return Q
