"""The picture of a solution path, in the style of `sknomad.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .panel import panel
from .style import FAINT, INK, MUTED, PALETTE, axes_or_new, matplotlib_module, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class SolutionPath(Protocol):
    """What is drawn of a path: arrays with one entry for each ``K``, as in `sknomad.NOMADPath`."""

    @property
    def K_values(self) -> NDArray[np.float64]:
        """The traces."""
        ...

    @property
    def n_components(self) -> NDArray[np.int64]:
        """Number of parts."""
        ...

    @property
    def active_modes(self) -> NDArray[np.int64]:
        """Number of eigenvalues that count."""
        ...

    @property
    def persistence(self) -> NDArray[np.float64]:
        """How clear the parts are, in decades."""
        ...

    @property
    def stability(self) -> NDArray[np.float64]:
        """Agreement with the next larger ``K``."""
        ...

    @property
    def lower(self) -> NDArray[np.float64]:
        """Feasible value at each ``K``."""
        ...

    @property
    def upper(self) -> NDArray[np.float64]:
        """Bound on the optimum at each ``K``."""
        ...

    @property
    def largest_gap(self) -> float:
        """Largest certified gap."""
        ...


@panel
def path(path: SolutionPath, *, ax: Axes | None = None) -> Axes:
    """Number of parts against ``K``, larger dots where they are clearer; `NOMADPath.plot` draws bounds and modes too.

    Parameters
    ----------
    path : NOMADPath
        What `nomad_path` returns.

    Examples
    --------
    >>> from sknomad import nomad_path
    >>> from sknomad.datasets import two_rings
    >>> path(nomad_path(two_rings(60)[0], [4, 16])).get_xlabel()
    'K'
    """
    if not hasattr(path, "K_values") or not hasattr(path, "persistence"):
        raise TypeError(
            f"path must be a NOMADPath, got {type(path).__name__}. Pass nomad_path(X, [4, 8, 16]), "
            "which solves for each K."
        )
    K, parts = path.K_values, path.n_components
    with style():
        ax = axes_or_new(ax)
        ax.step(K, parts, where="mid", color=FAINT)
        ax.scatter(K, parts, s=12 + 60 * np.clip(path.persistence, 0, 1.6), color=PALETTE[0], zorder=2)
        ax.set(xlabel="K", ylabel="parts", ylim=(0, parts.max() + 1))
        ax.yaxis.set_major_locator(matplotlib_module(".ticker").MaxNLocator(integer=True))
        _scale_of_K(ax, K)
        ax.set_title("Parts for each $K$")
        ax.set_title(f"largest gap {path.largest_gap:.0e}", loc="right", weight="normal")
    return ax


def _scale_of_K(ax: Axes, K: NDArray[np.float64]) -> None:
    """Logarithmic, with the ``K`` themselves as ticks, where they span enough."""
    if len(K) > 1 and K[0] > 0 and K[-1] / K[0] >= 4:
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xticks(K, [f"{value:g}" for value in K])


def draw_path(path: SolutionPath) -> Figure:
    """Four panels above one another against ``K``: bounds, parts, modes, stability and clarity."""
    with style():
        # Inside the style: without matplotlib it is what says how to get it.
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(6.4, 7.2), layout="constrained")
        bounds, parts, modes, clarity = figure.subplots(4, 1, sharex=True)
        K = path.K_values
        bounds.fill_between(K, path.lower, path.upper, color=FAINT, linewidth=0)
        bounds.plot(K, path.upper, color=INK)
        bounds.plot(K, path.lower, color=INK)
        bounds.set(ylabel=r"$\langle D, Q \rangle$")
        bounds.set_title("Bounds on the optimum")
        bounds.set_title(f"largest gap {path.largest_gap:.1e}", loc="right", weight="normal")
        parts.step(K, path.n_components, where="mid", color=PALETTE[0])
        parts.plot(K, path.n_components, "o", color=PALETTE[0], markersize=4)
        parts.set(ylabel="number", ylim=(0, path.n_components.max() + 1))
        parts.set_title("Parts")
        parts.yaxis.set_major_locator(MaxNLocator(integer=True))
        modes.plot(K, path.active_modes, "o-", color=PALETTE[1], markersize=4)
        modes.set(ylabel="number", ylim=(0, None))
        modes.set_title("Active modes")
        clarity.plot(K, path.persistence, "o-", color=PALETTE[2], markersize=4, label="persistence, in decades")
        clarity.plot(K[:-1], path.stability[:-1], "s--", color=PALETTE[3], markersize=4, label="agreement with next K")
        clarity.set(xlabel="K", ylim=(min(0, float(np.nanmin(path.stability, initial=0.0))) - 0.05, 1.7))
        clarity.set_title("How clear the parts are")
        clarity.legend(frameon=False, labelcolor=MUTED, loc="best")
        _scale_of_K(clarity, K)
    return figure
