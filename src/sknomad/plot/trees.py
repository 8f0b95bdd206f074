"""Trees and layers: how points come together over thresholds, over ``K``, and from layer to layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .model import fitted, found_labels, sorted_points
from .panel import panel
from .panels import binned
from .style import FAINT, INK, MUTED, SEQUENTIAL, axes_or_new, colour_map, point_colours, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Decades of similarity shown; what joins only beyond them is apart.
DEEPEST = 4.0
# Branches of at least so many decades, and this share of the points, have their size above them.
CLEAR, SMALLEST_NAMED = 0.2, 0.06
# Layers drawn side by side, and pixels of each.
MOST_LAYERS, LAYER_PIXELS = 8, 160


# The table of the search beside the tree: its left edge and columns in widths of the tree, its top in decades.
TABLE_FROM, COLUMN_WIDTH, TABLE_TOP = 1.22, 0.12, 0.25


@panel
def tree(model: Any, *, ax: Axes | None = None) -> Axes:
    """Which sets of points come together at which threshold: branches as wide as they have points.

    Downwards similarity falls, so that what hangs together by faint links joins last. A branch that is long is clear.
    Where the number of parts was chosen automatically, a table beside it counts the parts at each ``K`` looked at and
    each prominence, how far a peak of density must stand out; the darker, the better they agree with those taken. The
    line below says what speaks for several parts (the strength, positive for several) and for this number (the margin).

    Parameters
    ----------
    model : NOMAD or MultiLayerNOMAD
        Fitted.

    Examples
    --------
    >>> from sknomad import NOMAD
    >>> from sknomad.datasets import two_rings
    >>> tree(NOMAD(K=12).fit(two_rings(60)[0])).get_ylabel()
    'similarity'
    """
    found = fitted(model, "division_tree")()
    n = len(found_labels(model))
    born, ends = (np.minimum(heights, DEEPEST) for heights in (found.born, found.ends))
    middles, is_clear = found.middles / n, ends - born >= CLEAR
    with style():
        ax = axes_or_new(ax)
        for k in range(len(middles)):
            width = found.sizes[k] / n
            bottom = DEEPEST if found.parent[k] < 0 else ends[k]
            ax.fill_betweenx(
                [born[k], bottom], middles[k] - width / 2, middles[k] + width / 2, linewidth=0,
                color=FAINT if found.labels[k] < 0 else point_colours([int(found.labels[k])])[0],
            )  # fmt: skip
            if found.parent[k] >= 0:
                ax.plot([middles[k], middles[found.parent[k]]], [ends[k], ends[k]], color=INK, linewidth=0.8)
            if is_clear[k] and not is_clear[found.parent == k].any() and found.sizes[k] >= SMALLEST_NAMED * n:
                ax.annotate(f"{found.sizes[k]}", (middles[k], born.min()), (0, 2), textcoords="offset points",
                            ha="center", va="bottom", size=7, color=MUTED)  # fmt: skip
        ax.set(xticks=[], ylabel="similarity", ylim=(DEEPEST, -0.25))
        ax.set_yticks(range(int(DEEPEST) + 1), ["1", *(f"$10^{{-{k}}}$" for k in range(1, int(DEEPEST))), "apart"])
        ax.spines["bottom"].set_visible(False)
        ax.set_title("What comes together")
        if (search := getattr(model, "search_", None)) is not None:
            _draw_search(ax, search)
    return ax


def _draw_search(ax: Axes, search: Any) -> None:
    """The number of parts at every ``K`` and prominence, to the right of the tree."""
    shade = colour_map(SEQUENTIAL[:-2])
    right = TABLE_FROM + COLUMN_WIDTH * len(search.K_values)
    edges = np.linspace(TABLE_TOP, DEEPEST, len(search.prominences) + 1)
    rows = (edges[1:] + edges[:-1]) / 2
    for column, K in enumerate(search.K_values):
        left = TABLE_FROM + COLUMN_WIDTH * column
        for row, (count, same) in enumerate(zip(search.n_parts[column], search.agreement[column], strict=True)):
            share = float(np.clip(same, 0, 1))
            ax.fill_betweenx(edges[row : row + 2], left, left + 0.96 * COLUMN_WIDTH, color=shade(share), linewidth=0)
            ax.text(left + COLUMN_WIDTH / 2, rows[row], f"{count}", ha="center", va="center", size=6.5,
                    color="white" if share > 0.75 else INK)  # fmt: skip
        ax.text(left + COLUMN_WIDTH / 2, 0.0, f"{K:.3g}", ha="center", va="bottom", size=6.5, color=MUTED)
    for row, prominence in zip(rows, search.prominences, strict=True):
        ax.text(TABLE_FROM - 0.02, row, f"{prominence:g}", ha="right", va="center", size=6.5, color=MUTED)
    ax.text(TABLE_FROM, -0.3, "parts at K =", ha="left", va="bottom", size=6.5, color=MUTED)
    ax.text(1.04, (TABLE_TOP + DEEPEST) / 2, "prominence", ha="center", va="center", size=6.5, color=MUTED, rotation=90)
    ax.set_xlim(-0.02, right + 0.02)
    ax.set_xlabel(described_evidence(search))


def described_evidence(search: Any) -> str:
    """What speaks for several parts, and for their number, in a few words."""
    if not np.isfinite(search.strength):
        return ""
    margin = f", margin {search.margin:.1f}" if np.isfinite(search.margin) else ""
    return f"strength {search.strength:+.1f}{margin}".replace("-", "\N{MINUS SIGN}")


@panel
def layers(model: Any, *, ax: Axes | None = None) -> Axes:
    """The ``Q`` of every layer side by side, by cluster and along it: blocks grow until one is left for each.

    Parameters
    ----------
    model : MultiLayerNOMAD
        Fitted.

    Examples
    --------
    >>> from sknomad import MultiLayerNOMAD
    >>> from sknomad.datasets import two_rings
    >>> layers(MultiLayerNOMAD([8, 2]).fit(two_rings(60)[0])).get_title(loc="left")
    'Layers: K = 8, 2'
    """
    solved = fitted(model, "layers_", "MultiLayerNOMAD")
    order = sorted_points(model)
    shown = solved if len(solved) <= MOST_LAYERS else [*solved[: MOST_LAYERS - 1], solved[-1]]
    with style():
        ax = axes_or_new(ax)
        for place, layer in enumerate(shown):
            image = binned(np.asarray(layer.Q), order, LAYER_PIXELS)
            ax.imshow(image / (image.max() or 1.0), cmap=colour_map(SEQUENTIAL), vmin=0, vmax=1,
                      extent=(1.12 * place, 1.12 * place + 1, 0, 1))  # fmt: skip
            parts = layer.n_components_found
            text = f"K = {layer.K:g}\n{parts} part{'s' if parts > 1 else ''}\ngap {layer.certificate.gap:.0e}"
            ax.text(1.12 * place + 0.5, -0.05, text, ha="center", va="top", size=7, color=MUTED)
        ax.set(xlim=(-0.02, 1.12 * len(shown) - 0.1), ylim=(-0.45, 1.02), xticks=[], yticks=[], frame_on=False)
        ax.set_title(f"Layers: K = {', '.join(f'{layer.K:g}' for layer in solved)}")
    return ax
