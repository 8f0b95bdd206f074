"""Parts of the figures of the paper's experiments: lettered panels, matrices, point clouds, thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..plot import CYCLIC, DIVERGING, FAINT, INK, MUTED, PALETTE, SEQUENTIAL, colour_map
from .figure_style import WIDTHS, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = [
    "CYCLIC", "DIVERGING", "FAINT", "INK", "MUTED", "PALETTE", "SEQUENTIAL", "colour_map", "curve", "figure", "label",
    "matrix", "mosaic", "scatter", "stacked", "styled", "thumbnails",
]  # fmt: skip

# One colour for all points, or one for each: names, RGBA rows, or numbers for a colour map.
Colours: TypeAlias = str | Sequence[str] | NDArray[np.float64]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def figure(
    columns: int,
    rows: int = 1,
    *,
    width: str = "page",
    row_height: float | Sequence[float] | None = None,
    column_widths: Sequence[float] | None = None,
    letters: bool = True,
) -> tuple[Figure, NDArray[Any]]:
    """A figure and its axes, an array of shape (rows, columns).

    Parameters
    ----------
    columns, rows : int
    width : {"page", "column"}
        7.0 or 3.4 inches, at which type has its true size.
    row_height : float or one per row, optional
        Inches; by default panels are about square.
    column_widths : sequence of float, optional
        Relative widths of the columns.
    letters : bool
        Letter the panels a, b, c, ... row by row.
    """
    heights = np.broadcast_to(WIDTHS[width] / columns if row_height is None else row_height, rows).tolist()
    drawn = _empty(width, heights)
    axes = drawn.subplots(rows, columns, squeeze=False, height_ratios=heights, width_ratios=column_widths)
    if letters:
        for index, ax in enumerate(axes.flat):
            label(ax, LETTERS[index])
    return drawn, axes


def mosaic(
    layout: Sequence[str], row_heights: Sequence[float], *, width: str = "page"
) -> tuple[Figure, dict[str, Axes]]:
    """A figure of lettered panels of different widths, and its axes by letter.

    Each string of `layout` is a row; a letter's run of characters is its panel, a dot is empty. Heights are in inches.
    """
    drawn = _empty(width, row_heights)
    axes = drawn.subplot_mosaic([list(row) for row in layout], height_ratios=row_heights, empty_sentinel=".")
    for letter, ax in axes.items():
        label(ax, letter)
    return drawn, axes


def stacked(
    counts: Sequence[int], row_heights: Sequence[float], *, width: str = "page", letters: bool = True
) -> tuple[Figure, dict[str, Axes]]:
    """A figure of rows with different numbers of panels, and its axes by letter, row by row. Heights are in inches."""
    drawn = _empty(width, row_heights)
    parts = drawn.subfigures(len(counts), 1, squeeze=False, height_ratios=list(row_heights))
    panels = [
        ax
        for part, count in zip(parts[:, 0], counts, strict=True)
        for ax in part.subplots(1, count, squeeze=False).flat
    ]
    axes = dict(zip(LETTERS, panels, strict=False))
    if letters:
        for letter, ax in axes.items():
            label(ax, letter)
    return drawn, axes


def _empty(width: str, heights: Sequence[float]) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.05, wspace=0.03, hspace=0.03)
    return Figure(figsize=(WIDTHS[width], sum(heights)), layout=engine)


def label(ax: Axes, letter: str) -> None:
    """Set a panel's letter at its upper left, before the title."""
    ax.annotate(
        letter, (0, 1), xycoords="axes fraction", xytext=(-2, 5), textcoords="offset points", ha="right", va="bottom",
        weight="bold", size=9, annotation_clip=False,
    )  # fmt: skip


def scatter(
    ax: Axes,
    points: ArrayLike,
    colours: Colours = PALETTE[0],
    *,
    size: float | NDArray[np.float64] | None = None,
    **options: Any,
) -> None:
    """Points at equal scales without axes; the panel is a square."""
    points = np.asarray(points, dtype=np.float64)
    size = float(np.clip(1400 / len(points), 2.0, 12.0)) if size is None else size
    ax.scatter(points[:, 0], points[:, 1], s=size, c=colours, linewidths=0, **options)
    _open_square(ax, points, 0.04)


def curve(ax: Axes, points: ArrayLike, colour: str = FAINT, *, closed: bool = True) -> None:
    """A thin line through points in their order, under everything else."""
    points = np.asarray(points, dtype=np.float64)
    path = np.vstack([points, points[:1]]) if closed else points
    ax.plot(path[:, 0], path[:, 1], color=colour, linewidth=0.8, zorder=0)


def matrix(
    ax: Axes,
    entries: ArrayLike,
    *,
    signed: bool = False,
    title: str = "",
    largest: float | None = None,
    blocks: Sequence[int] = (),
) -> AxesImage:
    """Heat map of a matrix, white at zero; with `signed`, green below zero and purple above.

    Dashed lines before the rows and columns in `blocks` divide it.
    """
    entries = np.asarray(entries, dtype=np.float64)
    high = float(np.abs(entries).max()) if largest is None else largest
    image = ax.imshow(
        entries, cmap=colour_map(DIVERGING if signed else SEQUENTIAL), vmin=-high if signed else 0.0, vmax=high
    )
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color=FAINT)
    for first in blocks:
        ax.axhline(first - 0.5, color=MUTED, linewidth=0.5, linestyle=(0, (2, 2)))
        ax.axvline(first - 0.5, color=MUTED, linewidth=0.5, linestyle=(0, (2, 2)))
    if title:
        ax.set_title(title)
    return image


def thumbnails(
    ax: Axes,
    points: ArrayLike,
    images: ArrayLike,
    *,
    height: float = 0.1,
    colours: Colours | None = None,
    apart: float = 1.05,
    most: int = 200,
    centre: ArrayLike = (0.0, 0.0),
    outwards: float = 0.0,
) -> NDArray[np.intp]:
    """Images at their points, as many as fit without overlap; returns the indices of those shown.

    Parameters
    ----------
    ax : Axes
        Drawn on by `scatter` before, which sets the scale.
    points : array of shape (n, 2)
    images : array of shape (n, h, w) or (n, h, w, 3)
        Grey levels or colours, uint8 or in [0, 1]; grey ones are drawn dark on white where they are so.
    height : float
        Height of an image, as a share of the panel's side.
    colours : sequence of colours, optional
        Colours of the frames, one per point; no frames if left out.
    apart : float
        Least distance between images, in image sizes.
    most : int
        Largest number of images.
    centre, outwards : array of shape (2,), float
        Move images away from `centre` by this share of the panel's side, with a line to their point.
    """
    from matplotlib.patches import Rectangle

    points, pictures = np.asarray(points, dtype=np.float64), np.asarray(images)
    side = float(np.ptp(ax.get_xlim()))
    tall = height * side
    wide = tall * pictures.shape[2] / pictures.shape[1]
    direction = points - np.asarray(centre)
    direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-12)
    places = points + outwards * side * direction
    shown = _spread_out(places, np.array([wide, tall]) * apart, most)
    for index in shown:
        x, y = places[index]
        if outwards:
            ax.plot(*np.stack([points[index], places[index]], axis=1), color=MUTED, linewidth=0.5, zorder=1)
        frame = (x - wide / 2, x + wide / 2, y - tall / 2, y + tall / 2)
        ax.imshow(pictures[index], extent=frame, cmap="gray", zorder=3, aspect="equal", interpolation="antialiased")
        if colours is not None:
            corner, edge = (frame[0], frame[2]), colours[index]
            ax.add_patch(Rectangle(corner, wide, tall, fill=False, edgecolor=edge, linewidth=0.9, zorder=4))
    reach = 0.5 * np.array([wide, tall])
    _open_square(ax, np.vstack([points, places[shown] - reach, places[shown] + reach]), 0.01)
    return shown


def _spread_out(places: NDArray[np.float64], size: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Indices of points whose boxes of `size` do not overlap, chosen farthest first so that they cover the picture."""
    scaled = places / size
    clearance = np.full(len(places), np.inf)
    chosen: list[int] = []
    index = int(np.argmax(np.linalg.norm(scaled - scaled.mean(axis=0), axis=1)))
    while len(chosen) < most:
        chosen.append(index)
        # Boxes are apart when they are in one direction at least.
        clearance = np.minimum(clearance, np.abs(scaled - scaled[index]).max(axis=1))
        index = int(np.argmax(clearance))
        if clearance[index] < 1:
            break
    return np.array(chosen, dtype=np.intp)


def _open_square(ax: Axes, points: NDArray[np.float64], margin: float) -> None:
    """Frame all points by a square without axes; `margin` is a share of its side."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, (0.5 + margin) * (float((high - low).max()) or 1.0)
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    ax.set(aspect="equal", xticks=[], yticks=[], frame_on=False)
