"""The picture of a solution path, in the style of `sknomad.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import FAINT, INK, MUTED, PALETTE, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .. import NOMADPath


def draw_path(path: NOMADPath) -> Figure:
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
        bounds.set_title(f"largest gap {_largest_gap(path):.1e}", loc="right", weight="normal")
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
        if len(K) > 1 and K[0] > 0 and K[-1] / K[0] >= 4:
            clarity.set_xscale("log")
            clarity.minorticks_off()
            clarity.set_xticks(K, [f"{value:g}" for value in K])
    return figure


def _largest_gap(path: NOMADPath) -> float:
    return max(proof.gap for proof in path.certificates)
