"""The map: all manifolds on one plane, each laid flat, with a scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .model import Labels, check_column, codes, fitted, found_labels, position_along
from .panel import panel
from .panels import marker_size
from .style import FAINT, INK, MUTED, Array, Column, axes_or_new, matplotlib_module, point_colours, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Manifolds named on the map itself; more names would hide the points.
MOST_NAMES = 20
# Of so many the number of points is written too.
MOST_SIZES = 8
# What a map may be coloured by, beside values given.
COLOURS = ("manifold", "order")


@panel
def map(model: object, colour: str | ArrayLike = "manifold", *, given: Column = None, ax: Axes | None = None) -> Axes:
    """All manifolds on one plane: `map_` of a fitted model.

    Each manifold lies flat, all at one scale; what is near in the data is near on the map, but the space between
    manifolds is not to scale.

    Parameters
    ----------
    model : NOMAD or MultiLayerNOMAD
        Fitted.
    colour : {"manifold", "order"} or array of shape (n,), default="manifold"
        A hue for each manifold, the same with a shade for the place along it, or any values: numbers along a scale,
        anything else by category.
    given : array of shape (n,), optional
        Known labels; points whose manifold mostly holds another one are ringed.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> map(NOMAD(K=12).fit(two_rings(60)[0])).collections[0].get_offsets().shape
    (60, 2)
    """
    points = np.asarray(fitted(model, "map_"), dtype=np.float64)
    labels = found_labels(model)
    known = check_column(given, "given", len(points))
    with style():
        ax = axes_or_new(ax)
        size = marker_size(len(points))
        drawn = ax.scatter(points[:, 0], points[:, 1], s=size, linewidths=0, **_colours(colour, labels, model))
        if drawn.get_array() is not None:
            ax.figure.colorbar(drawn, ax=ax, shrink=0.6, pad=0.02).outline.set_visible(False)
        if known is not None:
            wrong = points[(labels >= 0) & ~agrees(labels, known)]
        if known is not None and len(wrong):
            ax.scatter(
                wrong[:, 0],
                wrong[:, 1],
                s=4 * size,
                facecolors="none",
                edgecolors=INK,
                linewidths=0.8,
                label="given otherwise",
            )
            ax.legend(frameon=False, labelcolor=MUTED, loc="upper left", bbox_to_anchor=(0, 0))
        ax.set(aspect="equal", adjustable="datalim", xticks=[], yticks=[], frame_on=False)
        _write_names(ax, points, labels)
        _draw_scale(ax, points)
        ax.margins(0.06)
    return ax


def agrees(labels: Labels, given: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each point's given label is the most frequent one of its manifold."""
    same = np.zeros(len(labels), dtype=bool)
    for name in np.unique(labels):
        mine = labels == name
        names, counts = np.unique(given[mine], return_counts=True)
        same[mine] = given[mine] == names[np.argmax(counts)]
    return same


def _colours(colour: str | ArrayLike, labels: Labels, model: object) -> dict[str, Any]:
    """Arguments of a scatter plot."""
    if isinstance(colour, str):
        if colour not in COLOURS:
            raise ValueError(f"colour must be one of {', '.join(COLOURS)} or an array of values, got {colour!r}.")
        return {"c": point_colours(labels, position_along(model) if colour == "order" else None)}
    values = check_column(colour, "colour", len(labels))
    assert values is not None
    if values.dtype.kind == "f":
        return {"c": values, "cmap": "viridis", "plotnonfinite": False}
    return {"c": point_colours(codes(values))}


def _write_names(ax: Axes, points: Array, labels: Labels) -> None:
    """The name of each manifold above it, in its colour, and how many points it has."""
    names = [name for name in np.unique(labels) if name >= 0][:MOST_NAMES]
    if len(names) < 2:
        return
    effects = matplotlib_module(".patheffects")
    for name in names:
        mine = points[labels == name]
        at = ((mine[:, 0].min() + mine[:, 0].max()) / 2, mine[:, 1].max())
        shown = f"{name} ({len(mine)})" if len(names) <= MOST_SIZES else f"{name}"
        text = ax.annotate(shown, at, (0, 3), textcoords="offset points", ha="center", va="bottom", size=7.5)
        text.set_color(point_colours([int(name)])[0])
        text.set_path_effects([effects.withStroke(linewidth=2, foreground="white")])


def _draw_scale(ax: Axes, points: Array) -> None:
    """A bar of a round length, in units of the data, below the map."""
    width = float(np.ptp(points[:, 0])) or 1.0
    length = round_length(width / 4)
    left, bottom = points[:, 0].min(), points[:, 1].min() - 0.06 * max(width, float(np.ptp(points[:, 1])))
    ax.plot([left, left + length], [bottom, bottom], color=MUTED, linewidth=1.5, solid_capstyle="butt")
    ax.annotate(f"{length:g}", (left + length, bottom), (4, 0), textcoords="offset points", va="center",
                color=MUTED, size=7.5)  # fmt: skip
    ax.plot([left], [bottom], color=FAINT)


def round_length(at_most: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above `at_most`.

    Examples
    --------
    >>> [round_length(value) for value in (0.3, 7.0, 1999.0)]
    [0.2, 5.0, 1000.0]
    """
    power = 10.0 ** math.floor(math.log10(at_most))
    return float(next(step * power for step in (5, 2, 1) if step * power <= at_most * (1 + 1e-9)))
