"""Panels: data, affinity, embedding and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from .model import (
    check_column,
    check_permutation,
    codes,
    first_solved,
    fitted,
    found_labels,
    is_model,
    position_along,
    sorted_points,
    word_for,
)
from .panel import panel
from .style import (
    DIVERGING,
    FAINT,
    INK,
    SEQUENTIAL,
    Array,
    Column,
    axes_or_new,
    colour_map,
    point_colours,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows of a matrix drawn one by one; of more, means of blocks.
MOST_PIXELS = 1000


@panel
def affinity(Q: Any, labels: Column = None, *, order: Column = None, ax: Axes | None = None) -> Axes:
    """Heat map of the learned neighbourhoods ``Q``, beyond a thousand rows as means of small blocks.

    Parameters
    ----------
    Q : NOMAD, MultiLayerNOMAD or array of shape (n, n)
        A fitted model, whose rows are sorted by manifold and along it (of layers the first), or the affinity.
    labels : array of shape (n,), optional
        Drawn as coloured strips at the edges; for a model those found, unless others are given.
    order : array of shape (n,), optional
        Indices of the points in the order of drawing; without it they are sorted by label.

    Examples
    --------
    >>> affinity(np.eye(3), [0, 1, 0]).images[0].get_array().shape
    (3, 3)
    """
    if is_model(Q):
        return _affinity_of_model(Q, labels, order, ax)
    matrix = square(Q)
    with style():
        return heat_map(axes_or_new(ax), matrix, labels, check_permutation(order, len(matrix)))


def _affinity_of_model(model: Any, labels: Column, order: Column, ax: Axes | None) -> Axes:
    found = found_labels(model)
    n = len(found)
    shown = check_column(labels, "labels", n)
    rows = check_permutation(order, n)
    rows = sorted_points(model) if rows is None else rows
    bins = np.empty(n, dtype=np.int64)
    bins[rows] = np.arange(n) * min(n, MOST_PIXELS) // n
    matrix = fitted(model, "mean_affinity")(bins)
    strip = found if shown is None else codes(shown)
    first = rows[np.searchsorted(bins[rows], np.arange(len(matrix)))]
    with style():
        ax = heat_map(axes_or_new(ax), matrix, strip[first], np.arange(len(matrix)))
        ax.set_title(f"$Q$ for $K = {first_solved(model)[0]:.4g}$")
    return ax


@panel
def embedding(
    points: Any,
    labels: Column = None,
    parameter: Column = None,
    *,
    cyclic: bool = False,
    manifold: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Scatter of (n, 2) points at equal scales, coloured by label or parameter as in `point_colours`.

    Parameters
    ----------
    points : NOMAD, MultiLayerNOMAD or array of shape (n, 2)
        A fitted model, of which one manifold is drawn, or where points lie.
    labels : array of shape (n,), optional
        Give the hue.
    parameter : array of shape (n,), optional
        Gives the shade.
    cyclic : bool, default=False
        Whether the parameter closes on itself.
    manifold : int, default=0
        Which manifold of a model, each having its own coordinates; `map` draws all.

    Examples
    --------
    >>> embedding([[0.0, 0.0], [1.0, 1.0]], [0, 1]).get_aspect()
    1.0
    """
    if is_model(points):
        return _embedding_of_model(points, labels, parameter, cyclic, manifold, ax)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), got {points.shape}. Pass two columns.")
    check_consistent_length(points, labels, parameter)
    if labels is None and parameter is None:
        labels = np.zeros(len(points))
    with style():
        return scatter(axes_or_new(ax), points, point_colours(labels, parameter, cyclic=cyclic))


def _embedding_of_model(
    model: Any, labels: Column, parameter: Column, cyclic: bool, manifold: int, ax: Axes | None
) -> Axes:
    found = found_labels(model)
    if manifold not in found or manifold < 0:
        raise ValueError(f"manifold must be one of 0 to {found.max()}, the labels found, got {manifold!r}.")
    mine = found == manifold
    given = check_column(labels, "labels", len(found))
    along = check_column(parameter, "parameter", len(found))
    if given is None and along is None:
        given, along = found, position_along(model)
    hue = None if given is None else codes(given)
    points = np.asarray(model.embedding_, dtype=np.float64)[mine]
    ax = embedding(
        np.pad(points, ((0, 0), (0, max(0, 2 - points.shape[1]))))[:, :2],
        None if hue is None else hue[mine],
        None if along is None else along[mine],
        cyclic=cyclic,
        ax=ax,
    )
    with style():
        ax.set_title(f"{word_for(model).title()} {manifold} of {found.max() + 1}, {mine.sum()} points")
    return ax


@panel
def scatter_data(
    X: ArrayLike, labels: Column = None, parameter: Column = None, *, cyclic: bool = False, ax: Axes | None = None
) -> Axes:
    """Scatter of data of any dimension, beyond two by principal components.

    Parameters
    ----------
    X : array of shape (n, d)
        The data.
    labels : array of shape (n,), optional
        Give the hue.
    parameter : array of shape (n,), optional
        Gives the lightness, or without labels the hue.
    cyclic : bool, default=False
        Whether the parameter is an angle.

    Examples
    --------
    >>> ax = scatter_data(np.eye(5))
    >>> ax.collections[0].get_offsets().shape
    (5, 2)
    """
    return embedding(plane(np.asarray(X, dtype=np.float64)), labels, parameter, cyclic=cyclic, ax=ax)


@panel
def convergence(trace: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Lower and upper bounds against time, the gap between them shaded.

    Parameters
    ----------
    trace : mapping of str to array of shape (m,)
        Columns ``lower``, ``upper`` and ``seconds`` or, failing that, ``iteration``. Entries that are not finite,
        bounds not known yet, are left out.

    Examples
    --------
    >>> ax = convergence({"iteration": [1, 2], "lower": [90.0, 99.0], "upper": [110.0, 100.0]})
    >>> ax.get_title(loc="right")
    'gap 1.0e-02'
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


def heat_map(ax: Axes, matrix: Array, labels: Column, order: Column, *, signed: bool = False) -> Axes:
    """A matrix with its rows sorted, labels as strips at the edges, and a scale below."""
    check_consistent_length(matrix, labels, order)
    sorted_rows = np.argsort(np.zeros(len(matrix)) if labels is None else np.asarray(labels), kind="stable")
    rows = sorted_rows if order is None else np.asarray(order, dtype=np.intp)
    pixels = binned(matrix, rows, MOST_PIXELS)
    high = float(np.abs(pixels).max())
    colours, low = (colour_map(DIVERGING), -high) if signed else (colour_map(SEQUENTIAL), 0.0)
    image = ax.imshow(pixels, cmap=colours, vmin=low, vmax=high)
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


def binned(matrix: Array, rows: NDArray[np.intp], most: int) -> Array:
    """A matrix with its rows and columns in order, as means of blocks where there are more than `most`."""
    if len(rows) <= most:
        return matrix[np.ix_(rows, rows)]
    edges = np.arange(most) * len(rows) // most
    sizes = np.diff(np.append(edges, len(rows)))
    sums = np.add.reduceat(np.add.reduceat(matrix[np.ix_(rows, rows)], edges, axis=0), edges, axis=1)
    return np.asarray(sums / np.outer(sizes, sizes))


def marker_size(n: int) -> float:
    """The area of the dot of a point: smaller the more there are."""
    return float(np.clip(4000 / n, 1.5, 26))


def scatter(ax: Axes, points: Array, colours: Array) -> Axes:
    """Points in the plane at equal scales, smaller the more there are."""
    ax.scatter(points[:, 0], points[:, 1], s=marker_size(len(points)), c=colours, linewidths=0)
    ax.set(box_aspect=1, adjustable="datalim", aspect="equal", anchor="NW", xticks=[], yticks=[], frame_on=False)
    return ax


def _frame_bounds(ax: Axes, lower: Array, upper: Array) -> None:
    """Name the gap reached, and leave the wild first bounds out of the frame: they would flatten the rest."""
    low, high, best = np.quantile(lower, 0.25), np.quantile(upper, 0.75), upper.min()
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.set_title(f"gap {(best - lower.max()) / (abs(best) or 1.0):.1e}", loc="right", weight="normal")


def plane(X: Array) -> Array:
    """Data in two dimensions: as they are, or their first two principal components."""
    if X.shape[1] <= 2:
        return np.pad(X, ((0, 0), (0, 2 - X.shape[1])))
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    plane = left[:, :2] * singular[:2]
    return plane * np.sign(plane[np.argmax(np.abs(plane), axis=0), [0, 1]])  # same data, same picture


def square(Q: ArrayLike) -> Array:
    """`Q` as a square matrix, or an error."""
    Q = np.asarray(Q, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1]:
        raise ValueError(f"Q must be a square matrix, got shape {Q.shape}. Pass one row and column per point.")
    return Q
