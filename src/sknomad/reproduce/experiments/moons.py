"""Two noisy half circles: NOMAD's matrix falls into two submatrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ... import datasets
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import figure, matrix, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Moons",
    caption="""Two half circles with noise 0.05. The inner products do not tell them apart; the learned matrix (K
    = 16 for 200 points) has one block for each, and each block unrolls its half circle.""",
    seconds=(8, 2),
)


def compute(record: Record, quick: bool) -> None:
    """Solve for the moons."""
    X, truth = datasets.moons(200, noise=0.05, random_state=record.seed)
    solution = record.solve("moons", X, 16, 1e-3 if quick else 1e-4)
    labels = solution.manifolds()
    record["X"], record["truth"], record["Q"], record["labels"] = X, truth, solution.Q, labels
    record["embedding"] = solution.embedding(labels=labels)
    record["kmeans"] = KMeans(2, n_init=20, random_state=record.seed).fit_predict(X)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw data, inner products, matrix and embedding."""
    drawn, axes = figure(4, row_height=1.95)
    X, labels, points = arrays["X"], arrays["labels"], arrays["embedding"]
    colours = point_colours(labels, np.arange(len(X)) % (len(X) // 2))
    scatter(axes[0, 0], X, colours)
    centred = X - X.mean(axis=0)
    matrix(axes[0, 1], centred @ centred.T, signed=True, title="Inner products $D$")
    matrix(axes[0, 2], arrays["Q"], title="Learned matrix $Q$", blocks=[len(X) // 2])
    scatter(axes[0, 3], points + np.outer(labels, [0.0, -2.2 * np.abs(points).max()]), colours)
    axes[0, 0].set_title("Data")
    axes[0, 3].set_title("Each block, unrolled")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the blocks, and K-means beside them."""
    truth, Q = arrays["truth"], arrays["Q"]
    ari, lloyd = (adjusted_rand_score(truth, arrays[name]) for name in ("labels", "kmeans"))
    cross = Q[np.ix_(truth == 0, truth == 1)].max() / Q.max()
    return [
        judge(
            "The matrix of two noisy half circles falls into two submatrices.",
            "adjusted Rand index {ari:.2f}, largest entry between them {cross:.0e} of the largest of all",
            ari == 1.0,
            "The half circles are joined or broken: adjusted Rand index {ari:.2f}.",
            source=paper("Figure 5", "correctly finds two submatrices, one for each manifold"),
            mend="an adjusted Rand index of 1",
            ari=ari,
            cross=cross,
        ),
        judge(
            "K-means with two clusters does not separate them.",
            "adjusted Rand index {lloyd:.2f} (best of 20 starts)",
            lloyd < 0.9,
            "It separates them here: adjusted Rand index {lloyd:.2f}.",
            source=paper("Section 3", "cannot effectively recover multiple distinct manifolds"),
            mend="an index below 0.9",
            lloyd=lloyd,
        ),
    ]
