"""All zeros of MNIST at once: a certified solution, and its plane, ordered by how long and how slanted they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from ... import datasets
from ...solvers import cuda_is_available
from ..claims import Claim, Verdict, finding, judge, paper
from ..experiment import Experiment
from ..figure_parts import colour_map, figure, label, scatter, styled, thumbnails
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="MNIST zeros",
    caption="""All 6903 images of the digit zero, K = 128: the plane of the two leading eigenvectors of Q, with
    images at their places (left), and coloured by how wide and how slanted each zero is, from the moments of its
    ink (right). The quick run takes the first 500 and K = 16.""",
    data=("mnist",),
    seconds=(900, 10),
    runs_alone=True,
    only_when_named=True,
)

N_QUICK, K_QUICK, K_FULL = 500, 16, 128
FURTHER, FURTHER_QUICK = (32, 64, 96), (4, 8, 12)  # K of the authors' code beside that of the paper
TOL_GPU, TOL_CPU = 1e-3, 5e-3
GENERIC_N = 500  # points that a generic solver manages in two minutes (experiment `timing`)
NEIGHBOURS = 15

Points = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Solve, and embed from the factor of the solution: no n x n array is made here."""
    digits = datasets.fetch_mnist(0, N_QUICK if quick else None)
    tol = TOL_GPU if quick or _is_on_gpu(record.device) else TOL_CPU
    solution = record.solve("zeros", digits.data, K_QUICK if quick else K_FULL, tol=tol, grade="verified")
    record["embedding"] = solution.embedding()
    record["images"], record["shape"], record["tol"] = digits.images, shape_of_ink(digits.images), tol
    record["rank"] = solution.point.root().shape[1]
    if quick or _is_on_gpu(record.device):  # three more solves take an hour without a GPU
        sizes = FURTHER_QUICK if quick else FURTHER
        found = [record.solve(f"zeros, K = {K}", digits.data, K, tol=tol).embedding() for K in sizes]
        record["further/K"] = sizes
        record["further/explained"] = [explained_by_neighbours(points, record["shape"]) for points in found]


def _is_on_gpu(device: str) -> bool:
    return device.startswith("cuda") or (device == "auto" and cuda_is_available())


def shape_of_ink(images: NDArray[np.uint8] | Points) -> Points:
    """Width and slant of each image, (n, 2): second moments of its ink, along and across the axes, over their sum.

    The first is positive for what is wider than high, the second for what leans to the right.

    Examples
    --------
    >>> shape_of_ink(np.eye(5)[None, ::-1]).round(6).tolist()
    [[0.0, 1.0]]
    """
    ink = np.asarray(images, dtype=np.float64)
    ink = ink / ink.sum(axis=(1, 2), keepdims=True)
    y, x = np.mgrid[: ink.shape[1], : ink.shape[2]]
    y = -y  # upwards
    dx = x - np.sum(ink * x, axis=(1, 2), keepdims=True)
    dy = y - np.sum(ink * y, axis=(1, 2), keepdims=True)
    xx, yy, xy = (np.sum(ink * part, axis=(1, 2)) for part in (dx * dx, dy * dy, dx * dy))
    return np.stack([(xx - yy) / (xx + yy), 2 * xy / (xx + yy)], axis=1)


def explained_by_neighbours(points: Points, values: Points, n_neighbors: int = NEIGHBOURS) -> Points:
    """Share of the variance of each column that the mean over the nearest points in the plane explains.

    Examples
    --------
    >>> grid = np.random.default_rng(0).uniform(size=(400, 2))
    >>> bool(explained_by_neighbours(grid, grid[:, :1])[0] > 0.95)
    True
    """
    nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors(return_distance=False)
    left = values - values[nearest].mean(axis=1)
    return np.asarray(1 - left.var(axis=0) / values.var(axis=0))


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the plane with images, and twice coloured."""
    drawn, axes = figure(3, 2, row_height=2.33, letters=False)
    grid = axes[0, 0].get_gridspec()
    for ax in axes[:, :2].flat:
        ax.remove()
    large = drawn.add_subplot(grid[:, :2])
    scatter(large, arrays["embedding"], "none")
    thumbnails(large, arrays["embedding"], 255 - arrays["images"], height=0.042, apart=1.0, most=400)
    for ax, column, name in ((axes[0, 2], 0, "width"), (axes[1, 2], 1, "slant")):
        _coloured(ax, arrays["embedding"], arrays["shape"][:, column], name)
    for ax, letter in zip((large, *axes[:, 2]), "abc", strict=True):
        label(ax, letter)
    large.set_title(f"{len(arrays['embedding'])} zeros, K = {float(arrays['certificate/zeros/K']):g}")
    for ax, name in zip(axes[:, 2], ("width", "slant"), strict=True):
        ax.set_title(f"coloured by {name}")
    return drawn


def _further(arrays: Arrays) -> list[Claim]:
    """What the authors' other K give, where they were solved."""
    if "further/K" not in arrays:
        return []
    rows = zip(arrays["further/K"], arrays["further/explained"], strict=True)
    words = "; ".join(f"K = {K}: width {width:.2f}, slant {slant:.2f}" for K, (width, slant) in rows)
    return [
        finding(
            "The plane of the zeros for the smaller K of the authors' code.",
            "variance explained by {count} neighbours, {words}",
            count=NEIGHBOURS,
            words=words,
        )
    ]


def _coloured(ax: Axes, points: Points, values: Points, name: str) -> None:
    low, high = np.quantile(values, (0.02, 0.98))
    scatter(ax, points, values, size=2.5, cmap=_without_yellow(), vmin=low, vmax=high, rasterized=True)
    bar = ax.figure.colorbar(ax.collections[0], ax=ax, orientation="horizontal", shrink=0.55, aspect=22, pad=0.02)
    bar.outline.set_visible(False)
    ends = {"width": ("narrow", "wide"), "slant": ("left", "right")}[name]
    bar.set_ticks([low, high], labels=ends)
    bar.ax.tick_params(length=0)


def _without_yellow() -> LinearSegmentedColormap:
    """Viridis up to where it is still seen on white."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return colour_map([to_hex(colour) for colour in colormaps["viridis"](np.linspace(0, 0.93, 16))])


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the size that is solved, and the order in the plane."""
    n, gap = int(arrays["certificate/zeros/n"]), float(arrays["certificate/zeros/gap"])
    seconds, tol = float(arrays["certificate/zeros/seconds"]), float(arrays["tol"])
    unknowns = n * (n + 1) / (GENERIC_N * (GENERIC_N + 1))
    width, slant = explained_by_neighbours(arrays["embedding"], arrays["shape"])
    return [
        *_further(arrays),
        judge(
            "All 6903 zeros are solved at once, a hundred times the unknowns that generic solvers manage.",
            "n = {n}: proven gap {gap:.1e} in {seconds:.0f} s; {unknowns:.0f} times the unknowns of n = {generic}",
            gap <= tol and unknowns > 100,
            "The gap is {gap:.1e}.",
            source=paper("Figure 16", "traditional SDP-solvers can only handle dense matrices"),
            mend="a gap of {tol:.0e}",
            untested="This run has {n} of the 6903 zeros." if n < 6903 else "",
            n=n,
            gap=gap,
            seconds=seconds,
            unknowns=unknowns,
            generic=GENERIC_N,
            tol=tol,
        ),
        judge(
            "The plane orders zeros by how elongated and how rotated they are.",
            "variance explained by {count} neighbours in the plane: width {width:.2f}, slant {slant:.2f}",
            bool(min(width, slant) > 0.4),
            "Two of many coordinates explain {width:.2f} of the width and {slant:.2f} of the slant.",
            Verdict.PAPER,
            source=paper("Figure 16", "organized according to different visual characteristics"),
            count=NEIGHBOURS,
            width=width,
            slant=slant,
        ),
    ]
