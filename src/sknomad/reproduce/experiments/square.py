"""A square grid hidden among noise: a two-dimensional manifold, and its columns as local patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import procrustes

from ... import datasets
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import SEQUENTIAL, colour_map, scatter, stacked, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Square",
    caption="""A 16 x 16 grid of unit spacing in two of ten coordinates, noise in the other eight (K = 32). The
    leading eigenvectors recover the grid, bent at its edges, for noise of standard deviation 0.1 and of 0.5 (the
    paper does not say its own); columns of the matrix (noise 0.5), drawn on the grid, are overlapping local
    patches.""",
    seconds=(18, 5),
)

# Of a 16 x 16 grid, as in the paper.
COLUMNS = (59, 84, 138, 163)
NOISES = (0.1, 0.5)
SHOWN = 0.5  # the noise whose columns are drawn


def compute(record: Record, quick: bool) -> None:
    """Solve for the grid at both levels of noise."""
    for noise in NOISES:
        X, position = datasets.square_grid(256, noise=noise, random_state=record.seed)
        solution = record.solve(f"square, noise {noise:g}", X, 32, 2e-3 if quick else 1e-4)
        record["position"] = position
        record[f"Q/{noise:g}"], record[f"embedding/{noise:g}"] = solution.Q, solution.embedding()


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the grid, its embeddings, and four columns of the matrix."""
    drawn, axes = stacked([3, 4], [2.6, 1.95])
    position, Q = arrays["position"], arrays[f"Q/{SHOWN:g}"]
    side = int(np.sqrt(len(position)))
    _lattice(axes["a"], position, position, "Grid")
    for letter, noise in zip("bc", NOISES, strict=True):
        fitted = procrustes(position, arrays[f"embedding/{noise:g}"])[1]
        _lattice(axes[letter], fitted, position, f"Eigenvectors of $Q$, noise {noise:g}")
    for letter, column in zip("defg", COLUMNS, strict=True):
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
    bar = axes["g"].figure.colorbar(image, ax=[axes[letter] for letter in "defg"], fraction=0.02, pad=0.01, aspect=18)
    bar.outline.set_visible(False)
    return drawn


def _lattice(ax: Axes, points: NDArray[np.float64], position: NDArray[np.float64], title: str) -> None:
    side = int(np.sqrt(len(position)))
    lattice = points.reshape(side, side, 2)
    for lines in (lattice, lattice.transpose(1, 0, 2)):
        for line in lines:
            ax.plot(line[:, 0], line[:, 1], color="#C8C8C8", linewidth=0.6, zorder=0)
    scatter(ax, points, point_colours(None, position[:, 0]), size=7)
    ax.set_title(title)


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the grid, its edges and the patches."""
    rows = [claim for noise in NOISES for claim in _grid(arrays, noise)]
    return [*rows, _patches(arrays)]


def _grid(arrays: Arrays, noise: float) -> list[Claim]:
    position = arrays["position"]
    target, fitted, disparity = procrustes(position, arrays[f"embedding/{noise:g}"])
    moved = np.linalg.norm(fitted - target, axis=1) / np.linalg.norm(target[1] - target[0])
    side = int(np.sqrt(len(position)))
    is_edge = ((position == 0) | (position == side - 1)).any(axis=1)
    edge, inside = moved[is_edge].mean(), moved[~is_edge].mean()
    return [
        judge(
            "The grid is recovered in two dimensions (noise {noise:g}).",
            "Procrustes disparity {disparity:.3f}",
            disparity < 0.1,
            "The embedding is folded: disparity {disparity:.3f}.",
            source=paper("Figure 8a", "NOMAD recovers the right 2D structure"),
            mend="a disparity below 0.1",
            noise=noise,
            disparity=disparity,
        ),
        judge(
            "It is distorted at the edges (noise {noise:g}).",
            "mean displacement {edge:.2f} grid steps at the edge, {inside:.2f} inside",
            edge > inside,
            "The inside is distorted more, by {inside:.2f} steps against {edge:.2f}.",
            source=paper("Figure 8a", "some distortion is expected along the edges"),
            mend="1 time the displacement inside",
            noise=noise,
            edge=edge,
            inside=inside,
        ),
    ]


def _patches(arrays: Arrays) -> Claim:
    position, Q = arrays["position"], arrays[f"Q/{SHOWN:g}"]
    apart = np.linalg.norm(position[:, None] - position, axis=2)
    reach = float(apart[1e-2 * Q.max() < Q].max())
    shared = np.mean([np.count_nonzero(Q[:, column] > 1e-2 * Q.max()) for column in COLUMNS])
    return judge(
        "Columns of the matrix are local patches on the data that overlap.",
        "weight lies {mean:.2f} grid steps from its point on average, none farther than {reach:.1f}; the four columns "
        "shown have {shared:.0f} points each on average, n/K being {share:.0f}",
        reach < np.sqrt(len(Q)) / 2 and shared > len(Q) / 32,
        "Weight reaches {reach:.1f} steps, over {shared:.0f} points.",
        source=paper("Figure 8b", "tiles the dataset with a collections of overlapping local neighborhoods"),
        mend="a reach below 8 steps, and more than 8 points",
        mean=float(np.sum(Q * apart) / len(Q)),
        reach=reach,
        shared=shared,
        share=len(Q) / 32,
    )
