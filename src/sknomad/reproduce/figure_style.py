"""The look of all figures of the paper's experiments, and their files."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from .. import plot
from .experiment import ExperimentModule
from .record import Arrays
from .store import result_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Given = ParamSpec("Given")

# Inches: one column of a journal, and both with the gutter. Type is set for these, so figures are never scaled down.
WIDTHS = {"column": 3.4, "page": 7.0}
DPI = 220

_LOOK = {
    "font.size": 7.5,
    "axes.titlesize": 8.0,
    "axes.titleweight": "normal",
    "axes.titlepad": 5.0,
    "axes.labelsize": 7.5,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "mathtext.fontset": "dejavusans",
    "image.interpolation": "nearest",
    "svg.fonttype": "path",  # the same letters on every machine
    "svg.hashsalt": "sknomad",  # the same file from the same arrays
    "savefig.dpi": DPI,
    "savefig.facecolor": "white",
}


@contextmanager
def look() -> Iterator[None]:
    """Context in which matplotlib draws in the style of these figures."""
    with plot.style(), importlib.import_module("matplotlib").rc_context(_LOOK):
        yield


def styled(draw: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Decorator of ``draw`` functions: they draw in the style of these figures, whoever calls them."""

    @functools.wraps(draw)
    def drawn(*arguments: Given.args, **options: Given.kwargs) -> Figure:
        with look():
            return draw(*arguments, **options)

    return drawn


def draw_figure(module: ExperimentModule, arrays: Arrays) -> Figure:
    """The figure of an experiment, drawn in the common style."""
    with look():
        return module.draw(arrays)


def write_figure(drawn: Figure, folder: Path, name: str) -> None:
    """Write ``NAME.png`` and ``NAME.svg``; the same arrays give the same files."""
    with look():
        with result_file(folder / f"{name}.png") as file:
            drawn.savefig(file, format="png", dpi=DPI)
        with result_file(folder / f"{name}.svg") as file:
            drawn.savefig(file, format="svg", dpi=DPI, metadata={"Date": None})
