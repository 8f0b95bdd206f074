"""Colours and style of every figure, and matplotlib itself, imported only when something is drawn."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap

Array = NDArray[np.float64]
Column = ArrayLike | None
Trace = Mapping[str, ArrayLike] | None

# Okabe and Ito's colours, told apart under every common colour blindness; not their yellow, lost on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
INK, MUTED, FAINT = "#222222", "#6E6E6E", "#DCDCDC"
# Lightness falls in equal steps from the white of the page, so that zero is blank paper. The hues are none of
# the palette's: a matrix entry must not look like a manifold. Q is nonnegative, a Gram matrix has both signs.
SEQUENTIAL = ("#ffffff", "#e4cfee", "#c6a1de", "#a276ca", "#7852aa", "#4d347e", "#271b4b")
DIVERGING = ("#003734", "#025853", "#037c74", "#2fa195", "#70c3b8", "#bae1db", *SEQUENTIAL)
# For angles: dark blue to ochre through green and back through red, so lightness tells the extremes apart.
CYCLIC = ("#23345F", "#0072B2", "#009E73", "#C9A400", "#E69F00", "#D55E00", "#86306F", "#23345F")

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same figure everywhere
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 14.0,  # room for the strip of labels, and all titles at one height
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "figure.dpi": 200,
}


def style() -> AbstractContextManager[None]:
    """Context in which matplotlib draws in the style of this library.

    Examples
    --------
    >>> import matplotlib
    >>> with style():
    ...     matplotlib.rcParams["axes.spines.top"]
    False
    """
    context: AbstractContextManager[None] = matplotlib_module().rc_context(_STYLE)
    return context


def point_colours(labels: Column, parameter: Column = None, *, cyclic: bool = False) -> Array:
    """Colours of points, one RGBA row each: the hue from the label, the shade from the parameter.

    Label ``k`` takes colour ``k`` modulo seven of the palette, a negative one (in no manifold) grey. A parameter
    adds, within each label, shades from light to dark; without labels it runs along a scale.

    Parameters
    ----------
    labels : array of shape (n,) or None
        Integers.
    parameter : array of shape (n,), optional
        Any numbers; their range is scaled.
    cyclic : bool, default=False
        Whether the scale without labels is closed, as for angles.

    Returns
    -------
    array of shape (n, 4)
        Red, green, blue and opacity, each from 0 to 1.

    Examples
    --------
    >>> point_colours([0, 7, -1]).round(1).tolist()  # seven colours, and grey
    [[0.0, 0.4, 0.7, 1.0], [0.0, 0.4, 0.7, 1.0], [0.4, 0.4, 0.4, 1.0]]
    """
    if labels is None:
        t = unit_range(np.asarray(parameter, dtype=np.float64))
        # Viridis without its last part, yellow, which is lost on white paper.
        return np.asarray(colour_map(CYCLIC)(t) if cyclic else matplotlib_module().colormaps["viridis"](0.93 * t))
    labels = np.asarray(labels, dtype=np.int64)
    table = matplotlib_module(".colors").to_rgba_array((*PALETTE, MUTED))
    rgba = np.asarray(table[np.where(labels < 0, len(PALETTE), labels % len(PALETTE))])
    if parameter is not None:
        shade = np.array(parameter, dtype=np.float64)
        for name in np.unique(labels):
            shade[labels == name] = unit_range(shade[labels == name])
        target = (shade < 0.5).astype(np.float64)[:, None]  # white for the first half, black for the second
        rgba[:, :3] += 1.2 * np.abs(shade - 0.5)[:, None] * (target - rgba[:, :3])
    return rgba


def unit_range(values: Array) -> Array:
    """Values shifted and scaled to [0, 1]; a half where they are all equal."""
    low, span = values.min(), np.ptp(values)
    return (values - low) / span if span else np.full(values.shape, 0.5)


def axes_or_new(ax: Axes | None) -> Axes:
    """`ax`, or the axes of a new figure."""
    return ax or matplotlib_module(".figure").Figure(figsize=(3.4, 3.4), layout="constrained").add_subplot()


def colour_map(stops: Sequence[str]) -> LinearSegmentedColormap:
    """A colour map through the given colours.

    Parameters
    ----------
    stops : sequence of str
        Colours from one end to the other, as hexadecimal codes.

    Returns
    -------
    Colormap
        Of matplotlib.

    Examples
    --------
    >>> colour_map(["#ffffff", "#000000"])([0.0, 1.0]).tolist()
    [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    """
    return matplotlib_module(".colors").LinearSegmentedColormap.from_list("sknomad", list(stops))


def matplotlib_module(submodule: str = "") -> ModuleType:
    """A module of matplotlib, or a sentence on how to get it."""
    try:
        importlib.import_module("matplotlib")
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'sknomad[plot]'.") from error
    return importlib.import_module("matplotlib" + submodule)
