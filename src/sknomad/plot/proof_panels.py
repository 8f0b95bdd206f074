"""Panels of what is proven: the bounds as they close, the certificate, the spectrum of ``Q``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import eigsh

from .model import as_bound, counted, first_solved, fitted, found_labels, is_model, word_for
from .panel import panel
from .panels import convergence, square
from .style import FAINT, INK, MUTED, PALETTE, Array, axes_or_new, matplotlib_module, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
# Eigenvalues drawn, and the number of points from which on only these are computed.
MOST_EIGENVALUES, ALL_UP_TO = 60, 1000


@panel
def bounds(model: object, *, ax: Axes | None = None) -> Axes:
    r"""Both bounds on the optimum against time, as they closed in on it.

    Parameters
    ----------
    model : NOMAD or mapping
        Fitted, or a trace as for `convergence`.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> bounds(NOMAD(K=12).fit(two_rings(60)[0])).get_ylabel()
    '$\\langle D, Q \\rangle$'
    """
    if isinstance(model, Mapping):
        return convergence(model, ax=ax)
    solution = fitted(model, "solution_")
    trace, proof = solution.trace, solution.certificate
    ax = convergence(trace, ax=ax)
    seconds, lower, upper = (np.asarray(trace[name], dtype=np.float64) for name in ("seconds", "lower", "upper"))
    known = np.isfinite(lower) & np.isfinite(upper)
    with style():
        ax.plot(seconds[known], lower[known], "o", color=INK, markersize=3)
        ax.plot(seconds[known], upper[known], "o", color=INK, markersize=3)
        if known.any():
            _name_the_lines(ax, lower[known], upper[known], proof.lower, proof.upper)
            ax.set_title(f"gap {proof.gap:.1e}", loc="right", weight="normal")
        else:
            ax.text(0.5, 0.5, "no upper bound is known", ha="center", color=MUTED, transform=ax.transAxes)
    return ax


def _name_the_lines(ax: Axes, lower: Array, upper: Array, low: float, high: float) -> None:
    """Frame the last looks, so that a gap proven at once is no flat line, and name `low` and `high`, what is proven.

    What was found may be a smoother point than the best that the run has seen.
    """
    first = max(0, len(lower) - 12)
    bottom, top = min(lower[first:].min(), low), max(upper[first:].max(), high)
    span = min(top - bottom, 20 * (high - low)) or abs(high) or 1.0
    ax.set_ylim(max(bottom, low - span) - 0.15 * span, min(top, high + span) + 0.15 * span)
    texts = (f"none is better than {as_bound(high, upper=True)}", f"found: {as_bound(low, upper=False)}")
    for text, height in zip(texts, (0.97, 0.03), strict=True):
        ax.text(0.98, height, text, ha="right", va="top" if height > 0.5 else "bottom", size=7.5,
                color=MUTED, transform=ax.transAxes)  # fmt: skip


@panel
def certificate(model: Any, *, ax: Axes | None = None) -> Axes:
    """What is proven, on one line: the value found, the bound on all others, and the gap between them.

    Parameters
    ----------
    model : NOMAD or Certificate
        Fitted, or a certificate by itself.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> certificate(NOMAD(K=12).fit(two_rings(60)[0])).get_title(loc="left")[:11]
    'Proven: gap'
    """
    proof = model if hasattr(model, "lower") and hasattr(model, "upper") else fitted(model, "certificate_")
    with style():
        ax = axes_or_new(ax)
        ax.set(yticks=[], xlabel=r"$\langle D, Q \rangle$", ylim=(-1, 1.4))
        ax.spines["left"].set_visible(False)
        if not np.isfinite([proof.lower, proof.upper]).all():
            ax.set(xticks=[], xlabel="", frame_on=False)
            ax.set_title("Nothing is proven: a bound is not known")
            return ax
        width = proof.upper - proof.lower
        ax.plot([proof.lower, proof.upper], [0, 0], color=PALETTE[0], linewidth=6, solid_capstyle="butt")
        pad = 0.8 * width or 1e-3 * abs(proof.upper) or 1.0
        ax.set_xlim(proof.lower - pad, proof.upper + pad)
        for value, name, side in ((proof.lower, "found", "right"), (proof.upper, "none is better", "left")):
            shift = -5 if side == "right" else 5
            text = f"{name}\n{as_bound(value, upper=side == 'left')}"
            ax.annotate(text, (value, 0), (shift, 0), textcoords="offset points", ha=side, va="center", size=8)
        ax.xaxis.set_major_locator(matplotlib_module(".ticker").MaxNLocator(3))
        ax.ticklabel_format(axis="x", useOffset=False)
        ax.set_title(f"Proven: gap {proof.gap:.1e}, grade {proof.grade}")
    return ax


@panel
def spectrum(model: Any, *, ax: Axes | None = None) -> Axes:
    """Leading eigenvalues of ``Q``: one of 1 for each manifold apart from the others, then how each falls off.

    Parameters
    ----------
    model : NOMAD, MultiLayerNOMAD or array of shape (n, n)
        Fitted, of layers the first, or ``Q`` itself.

    Examples
    --------
    >>> ax = spectrum(np.kron(np.eye(2), np.full((2, 2), 0.5)))
    >>> ax.lines[-1].get_ydata().round(6).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    values, count = (
        (leading_eigenvalues(model), 1 + int(found_labels(model).max())) if is_model(model) else (_of(model), None)
    )
    with style():
        ax = axes_or_new(ax)
        ax.axhline(1, color=FAINT, linewidth=1, zorder=0)
        ax.plot(np.arange(1, len(values) + 1), values, "o-", color=PALETTE[0], markersize=3, linewidth=0.8)
        if count:
            ax.axvline(count + 0.5, color=MUTED, linewidth=0.8, linestyle=":", zorder=0)
            text = ax.annotate(counted(count, word_for(model)), (count + 0.5, 0.03), (4, 0),
                               xycoords=("data", "axes fraction"), textcoords="offset points", va="bottom",
                               color=MUTED, size=7.5)  # fmt: skip
            # Small eigenvalues may lie where it is written.
            text.set_path_effects([matplotlib_module(".patheffects").withStroke(linewidth=3, foreground="white")])
        ax.set(xlabel="eigenvalue", ylabel="size", ylim=(0, 1.05))
        ax.set_title("Spectrum of $Q$")
    return ax


def _of(Q: ArrayLike) -> Array:
    matrix = square(Q)
    n, matrix = len(matrix), (matrix + matrix.T) / 2
    if n <= ALL_UP_TO:
        values = np.linalg.eigvalsh(matrix)[::-1]
    else:
        # The same start every time, so that the same matrix gives the same picture.
        values = np.sort(eigsh(matrix, MOST_EIGENVALUES, v0=np.arange(1.0, n + 1), return_eigenvectors=False))[::-1]
    return np.maximum(values[:MOST_EIGENVALUES], 0.0)


def leading_eigenvalues(model: Any) -> Array:
    """Those of ``Q`` of a fitted model, without an n x n array where there are many points."""
    if hasattr(model, "layers_"):
        return _of(first_solved(model)[1])
    point = fitted(model, "solution_").point
    if point.n <= ALL_UP_TO:
        return _of(point.dense())
    root = point.unmixed.root()
    small = root.T @ root if root.shape[1] <= root.shape[0] else root @ root.T
    values = np.linalg.eigvalsh(small)[::-1]
    if np.sum(root.sum(axis=0) ** 2) < point.n / 2:  # a root may leave out the vector of ones, whose eigenvalue is 1
        values = np.append(1.0, values)
    return np.clip(values[:MOST_EIGENVALUES], 0.0, 1.0)
