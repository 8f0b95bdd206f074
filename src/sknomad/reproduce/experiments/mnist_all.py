"""All 70,000 digits of MNIST on a graphics processor: a certified solution, and what it proves of K-means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from ... import Gram, datasets, inertia_bound
from ..claims import Claim, finding, judge
from ..experiment import Experiment
from ..figure_parts import FAINT, PALETTE, figure, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="All of MNIST",
    caption="""All 70,000 images, K = 10: the plane of the two leading eigenvectors of Q, from the factor of the
    solution, each digit in its own panel, in front of all others in grey. The quick run takes 5000 of them.""",
    data=("mnist",),
    seconds=(180, 40),
    runs_alone=True,
    needs_gpu=True,
)

K, TOL = 10, 1e-3
N_QUICK = 5000
NEIGHBOURS = 10
LLOYD_STARTS = 3

Points = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Solve, embed from the factor, and cluster by Lloyd's algorithm; nothing here is n x n."""
    digits = datasets.fetch_mnist(None, N_QUICK if quick else None, random_state=record.seed if quick else None)
    X = digits.data
    gram = Gram.from_data(X)
    solution = record.solve("digits", gram, K, tol=TOL, grade="verified")
    plane = solution.embedding()
    record["embedding"], record["digit"] = plane.astype(np.float32), digits.target.astype(np.uint8)
    record["purity"] = [purity(points, digits.target) for points in (plane, _principal(X))]
    record["inertia"] = float(KMeans(K, n_init=LLOYD_STARTS, random_state=record.seed).fit(X).inertia_)
    record["bound"] = inertia_bound(gram, solution.certificate.upper)


def _principal(X: Points) -> Points:
    return np.asarray(PCA(2, random_state=EXPERIMENT.seed).fit_transform(X))


def purity(points: Points, labels: NDArray[np.int64], n_neighbors: int = NEIGHBOURS) -> float:
    """Share of the nearest points in the plane that carry the same label.

    Examples
    --------
    >>> purity(np.array([[0.0], [0.1], [9.0], [9.1]]), np.array([0, 0, 1, 1]), 1)
    1.0
    """
    nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors(return_distance=False)
    return float(np.mean(labels[nearest] == labels[:, None]))


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the plane ten times, a digit in each."""
    points, digit = arrays["embedding"], arrays["digit"]
    drawn, axes = figure(5, 2, row_height=1.55, letters=False)
    behind = np.random.default_rng(EXPERIMENT.seed).permutation(len(points))[:8000]
    size = float(np.clip(8000 / len(points), 0.7, 4))
    for name, ax in enumerate(axes.flat):
        scatter(ax, points[digit == name], PALETTE[0], size=size, alpha=0.4, rasterized=True, zorder=3)
        # Last, because what comes last sets the limits: all panels then show the same part of the plane.
        scatter(ax, points[behind], FAINT, size=1.5, rasterized=True, zorder=2)
        ax.set_title(f"digit {name}")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the proof, what it says about K-means, and the plane."""
    n, gap = int(arrays["certificate/digits/n"]), float(arrays["certificate/digits/gap"])
    seconds, grade = float(arrays["certificate/digits/seconds"]), str(arrays["certificate/digits/grade"])
    inertia, bound = float(arrays["inertia"]), float(arrays["bound"])
    ours, principal = arrays["purity"]
    return [
        judge(
            "All 70,000 digits are solved at once, with a proof.",
            "n = {n}: proven gap {gap:.1e} ({grade}) in {seconds:.0f} s",
            gap <= TOL,
            "The gap is {gap:.1e}.",
            mend="a gap of 1e-3",
            untested="This run has {n} of the 70,000 digits." if n < 70_000 else "",
            n=n,
            gap=gap,
            grade=grade,
            seconds=seconds,
        ),
        judge(
            "The solution proves how good a clustering by Lloyd's algorithm is.",
            "best inertia of {starts} runs {inertia:.6g}, proven bound {bound:.6g}: at most {saved:.2%} to be saved",
            0 < bound <= inertia,
            "The bound {bound:.6g} is void.",
            mend="a bound above 0 and at most the inertia",
            starts=LLOYD_STARTS,
            inertia=inertia,
            bound=bound,
            saved=(inertia - bound) / inertia,
        ),
        finding(
            "How often neighbours in the plane of NOMAD, and in that of principal components, show the same digit.",
            "{ours:.2f} against {principal:.2f} of the {count} nearest",
            ours=ours,
            principal=principal,
            count=NEIGHBOURS,
        ),
    ]
