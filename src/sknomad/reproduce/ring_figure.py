"""The figure of the ring experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import circulant

from .cone import TILT
from .figure_parts import FAINT, INK, MUTED, PALETTE, colour_map, matrix, stacked, styled
from .record import Arrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From light to dark as the lag or K grows; no yellow, which is lost on white.
SHADES = ("#A6CEE3", "#56B4E9", "#0072B2", "#23345F")


@styled
def draw_ring(arrays: Arrays, shown: tuple[int, ...]) -> Figure:
    """Matrices, eigenvalues, diagonals, widths, cone, kernel, and the shortfall of completely positive matrices."""
    drawn, axes = stacked([4, 3, 3], [1.9, 2.15, 2.15])
    for letter, K in zip("abcd", shown, strict=True):
        matrix(axes[letter], circulant(arrays["row"][K - 1]), title=f"$Q$ for $K = {K}$")
    _eigenvalues(axes["e"], arrays)
    _diagonals(axes["f"], arrays)
    _widths(axes["g"], arrays)
    _cones(axes["h"])
    _kernel(axes["i"], len(arrays["K"]))
    _shortfall(axes["j"], arrays)
    return drawn


def _eigenvalues(ax: Axes, arrays: Arrays) -> None:
    K, q = arrays["K"], arrays["eigenvalues"]
    ax.plot(
        np.repeat(K, q.shape[1]),
        q.ravel(),
        ".",
        color=SHADES[1],
        markersize=1.4,
        alpha=0.8,
        markeredgewidth=0,
        rasterized=True,
    )
    ax.plot(K, q.mean(axis=1), color=INK, label="mean, $K/n$")
    ax.plot(K, np.median(q, axis=1), color=PALETTE[1], label="median")
    ax.set(xlabel="$K$", ylabel="eigenvalue of $Q$", title="Eigenvalues", ylim=(-0.03, 1.05))
    ax.legend(loc="lower right")


def _diagonals(ax: Axes, arrays: Arrays) -> None:
    K, diagonals = arrays["fine/K"], arrays["fine/diagonals"]
    colours = colour_map(SHADES)(np.linspace(1, 0, diagonals.shape[1]))
    for h in range(diagonals.shape[1]):
        ax.plot(K, diagonals[:, h], color=colours[h], linewidth=1.0)
    top = float(diagonals[:, 1].max())
    ax.set(xlabel="$K$", ylabel="entry of $Q$", title="Diagonals $h = 0, ..., 9$", ylim=(0, 1.6 * top), xlim=(0, 100))
    ax.text(150 * top - 2, 1.5 * top, "0", color=colours[0], ha="right", va="center")
    for h in (1, 2, 3):
        peak = int(np.argmax(diagonals[:, h]))
        ax.text(K[peak], diagonals[peak, h] + 0.012, str(h), color=colours[h], ha="center")


def _widths(ax: Axes, arrays: Arrays) -> None:
    K = arrays["K"]
    ax.plot(K, arrays["support"], color=SHADES[1], label="nonzero")
    ax.plot(K, arrays["half_width"], color=PALETTE[0], label="above half the diagonal")
    ax.plot(K, np.ceil(len(K) / K), color=PALETTE[1], linestyle=(0, (3, 1.5)), label=r"$\lceil n/K \rceil$")
    ax.set(xscale="log", yscale="log", xlabel="$K$", ylabel="entries of a row", title="Width of a row")
    ticks = [1, 10, 100]
    ax.set_xticks(ticks, labels=["1", "10", "100"])
    ax.set_yticks(ticks, labels=["1", "10", "100"])
    ax.legend(loc="lower left")


def _cones(ax: Axes) -> None:
    """Vectors of all K end at one height, 1/sqrt(n), at distance sqrt((K-1)/n) from the axis."""
    angle = np.linspace(0, 2 * np.pi, 181)
    sizes = (16, 8, 4, 2, 1)
    for K, colour in zip(sizes, (*SHADES, PALETTE[1]), strict=True):
        radius = np.sqrt(K - 1)
        around = angle[:: 180 // 20][:-1]
        x, y = radius * np.cos(around), 1 + TILT * radius * np.sin(around)
        ax.plot(radius * np.cos(angle), 1 + TILT * radius * np.sin(angle), color=colour, linewidth=0.9)
        ax.plot(
            np.stack([np.zeros_like(x), x]), np.stack([np.zeros_like(y), y]), color=colour, linewidth=0.4, alpha=0.6
        )
        if K > 1:
            ax.text(radius + 0.12, 1, f"{K}", color=colour, va="center", size=6.5, weight="bold")
        else:
            ax.text(0.15, 2.6, "axis", color=MUTED, size=6.5)
    ax.plot([0, 0], [0, 2.9], color=MUTED, linewidth=0.7, linestyle=(0, (3, 2)))
    ax.set(xlim=(-4.4, 4.9), ylim=(-0.6, 3.2), title="Cones for $K = 1, 2, 4, 8, 16$")
    ax.text(0, -0.15, r"half-angle $\arccos(1/\sqrt{K})$", ha="center", va="top", color=MUTED, size=7)
    ax.axis("off")


def _kernel(ax: Axes, n: int) -> None:
    angle = np.linspace(-180, 180, n + 1)
    cosine = np.cos(np.radians(angle))
    far = 2 - 2 * cosine > 2
    ax.axvspan(-180, -90, color=FAINT, alpha=0.45, linewidth=0)
    ax.axvspan(90, 180, color=FAINT, alpha=0.45, linewidth=0)
    ax.plot(angle, 2 - 2 * cosine, color=MUTED, label="squared distance")
    ax.plot(angle, cosine, color=PALETTE[0], label="inner product")
    ax.plot(
        angle, np.where(far, 0, np.maximum(cosine, 0)), color=PALETTE[1], linestyle=(0, (3, 1.5)), label="clipped at 0"
    )
    ax.axhline(2, color=INK, linewidth=0.5)
    ax.set(
        xticks=[-180, -90, 0, 90, 180],
        yticks=[-1, 0, 2, 4],
        xlabel="degrees from a point",
        title="Distances and kernel",
    )
    ax.set_ylim(-1.3, 6.6)
    ax.legend(loc="upper center", labelspacing=0.2, borderaxespad=0.1)


def _shortfall(ax: Axes, arrays: Arrays) -> None:
    K, value, positive = arrays["fine/K"], arrays["fine/value"], arrays["fine/positive"]
    inside = value > 1e-9
    short = np.maximum((value - positive)[inside] / value[inside], 1e-12)
    ax.axvspan(1, 1.5, color=FAINT, alpha=0.6, linewidth=0)
    ax.axvspan(len(arrays["K"]) / 2, len(arrays["K"]), color=FAINT, alpha=0.6, linewidth=0)
    ax.plot(K[inside], short, color=PALETTE[0], label="best completely\npositive matrix")
    exact = arrays["value"][arrays["solved/K"] - 1]
    ax.plot(
        arrays["solved/K"],
        np.maximum((exact - arrays["solved/lower"]) / exact, 1e-12),
        "o",
        color=PALETTE[1],
        markersize=3,
        label="semidefinite solver",
    )
    ax.set(
        xscale="log", yscale="log", ylim=(1e-9, 0.3), xlim=(1, 100), xlabel="$K$", title="Shortfall from the optimum"
    )
    ax.set_xticks([1, 10, 100], labels=["1", "10", "100"])
    ax.legend(loc="upper right", labelspacing=0.3)
