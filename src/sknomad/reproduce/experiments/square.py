"""A square grid hidden among noise: a two-dimensional manifold, and its columns as local patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import procrustes

from ... import datasets
from ...plot import point_colours
from ..claims import Claim, judge
from ..experiment import Experiment
from ..figure_parts import SEQUENTIAL, colour_map, mosaic, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Square",
    caption="""A 16 x 16 grid of unit spacing in two of ten coordinates, noise of standard deviation 0.5 in the
    other eight (K = 32). The leading eigenvectors recover the grid, bent at its edges; columns of the matrix, drawn
    on it, are overlapping local patches.""",
    seconds=(25, 5),
)

# Of a 16 x 16 grid, as in the paper.
COLUMNS = (59, 84, 138, 163)


def compute(record: Record, quick: bool) -> None:
    """Solve for the grid."""
    X, position = datasets.square_grid(256, noise=0.5, random_state=record.seed)
    solution = record.solve("square", X, 32, 2e-3 if quick else 1e-4)
    record["position"], record["Q"], record["embedding"] = position, solution.Q, solution.embedding()


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the grid, its embedding, and four columns of the matrix."""
    drawn, axes = mosaic(["aabb", "cdef"], [3.3, 1.95])
    position, Q = arrays["position"], arrays["Q"]
    fitted = procrustes(position, arrays["embedding"])[1]
    colours = point_colours(None, position[:, 0])
    side = int(np.sqrt(len(position)))
    for letter, points, title in (("a", position, "Grid"), ("b", fitted, "Leading eigenvectors of $Q$")):
        lattice = points.reshape(side, side, 2)
        for lines in (lattice, lattice.transpose(1, 0, 2)):
            for line in lines:
                axes[letter].plot(line[:, 0], line[:, 1], color="#C8C8C8", linewidth=0.6, zorder=0)
        scatter(axes[letter], points, colours, size=9)
        axes[letter].set_title(title)
    for letter, column in zip("cdef", COLUMNS, strict=True):
        image = axes[letter].imshow(
            Q[:, column].reshape(side, side).T,
            cmap=colour_map(SEQUENTIAL),
            vmin=0,
            vmax=Q[:, COLUMNS].max(),
            origin="lower",
        )
        x, y = divmod(column, side)
        axes[letter].plot(x, y, marker="+", color="white", markersize=5, markeredgewidth=1.1)
        axes[letter].set(xticks=[], yticks=[])
        axes[letter].spines[:].set(visible=True, color="#DCDCDC")
        axes[letter].set_title(f"Column {column}")
    bar = drawn.colorbar(image, ax=[axes[letter] for letter in "cdef"], fraction=0.02, pad=0.01, aspect=18)
    bar.outline.set_visible(False)
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the grid, its edges and the patches."""
    position, Q = arrays["position"], arrays["Q"]
    target, fitted, disparity = procrustes(position, arrays["embedding"])
    moved = np.linalg.norm(fitted - target, axis=1) / np.linalg.norm(target[1] - target[0])
    side = int(np.sqrt(len(position)))
    is_edge = ((position == 0) | (position == side - 1)).any(axis=1)
    edge, inside = moved[is_edge].mean(), moved[~is_edge].mean()
    apart = np.linalg.norm(position[:, None] - position, axis=2)
    mean_distance = float(np.sum(Q * apart) / len(Q))
    reach = float(apart[1e-2 * Q.max() < Q].max())
    shared = np.mean([np.count_nonzero(Q[:, column] > 1e-2 * Q.max()) for column in COLUMNS])
    return [
        judge(
            "The grid is recovered in two dimensions.",
            f"Procrustes disparity {disparity:.3f}",
            disparity < 0.1,
            "The embedding is folded.",
        ),
        judge(
            "It is distorted at the edges.",
            f"mean displacement {edge:.2f} grid steps at the edge, {inside:.2f} inside",
            edge > inside,
            "The inside is distorted more.",
        ),
        judge(
            "Columns of the matrix are local patches on the data that overlap.",
            f"weight lies {mean_distance:.2f} grid steps from its point on average, none farther than {reach:.1f}; "
            f"the four columns shown have {shared:.0f} points each on average",
            reach < side / 2 and shared > len(Q) / 32,
            "Weight reaches across the grid.",
        ),
    ]
