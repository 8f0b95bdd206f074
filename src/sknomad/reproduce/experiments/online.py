"""Online NOMAD, the wish behind the paper: cells learned from a stream, against the solution for all points at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from ... import Gram, KMeansSDP, OnlineNOMAD, datasets
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import FAINT, INK, PALETTE, figure, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Online",
    caption="""Rings, moons, and zeros and ones of MNIST (in two principal components) as a stream of mini-batches,
    K = 16, after five passes: cells (black), and the points that some of them share in. A cell competes
    for points as a neuron with its neighbours would.""",
    data=("mnist",),
    seconds=(90, 25),
    seed=100,
)

K, BATCH = 16, 200
SIZES, WINDOWS = (3000, 1000), (1000, 400)  # points, and those of the window that is certified, in full and quick
PASSES = (1, 5)
FIELDS = 14  # cells whose points are drawn
WITHIN = 0.01  # of the value for all points at once

Points = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Learn from each stream in one and in five passes; compare value, labels and a certified window with the batch."""
    n, window = SIZES[quick], WINDOWS[quick]
    streams = data_sets(n, record.seed)
    record["data"], record["passes"] = list(streams), PASSES
    for name, (X, truth) in streams.items():
        batch = record.solve(f"{name}, all at once", X, K, solver="soft")
        best, rows = batch.certificate.lower, []
        model, rng = OnlineNOMAD(K=K), np.random.default_rng(record.seed)
        for number in range(1, max(PASSES) + 1):
            order = np.arange(n) if number == 1 else rng.permutation(n)
            for start in range(0, n, BATCH):
                model.partial_fit(X[order[start : start + BATCH]])
            if number in PASSES:
                proof = model.certify(X[:window], tol=5e-3, max_iter=300)
                problem = KMeansSDP(Gram.from_data(X[:window]), K)
                record.certificate(f"{name}, passes {number}, a window", problem, proof, 0.0, 300, by="online")
                value = model.certify(X, tol=1.0, max_iter=1).lower
                rows.append([1 - value / best, adjusted_rand_score(truth, model.predict(X)), proof.gap])
        record[f"{name}/rows"], record[f"{name}/batch"] = rows, adjusted_rand_score(truth, batch.manifolds())
        record[f"{name}/X"], record[f"{name}/cells"] = X[:, :2], model.cells_[:, :2]
        record[f"{name}/fields"] = _some_fields(model.cells_, model.assign(X))


def data_sets(n: int, seed: int) -> dict[str, tuple[Points, NDArray[np.int64]]]:
    """Shuffled points with their manifolds; images in their principal components, which keep all distances."""
    rng = np.random.default_rng(seed)
    digits = datasets.fetch_mnist(None, None)
    chosen = rng.permutation(np.flatnonzero(digits.target <= 1))[:n]
    centred = digits.data[chosen] - digits.data[chosen].mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    found = {
        "rings": datasets.two_rings(n, noise=0.02, random_state=seed),
        "moons": datasets.moons(n, noise=0.05, random_state=seed),
        "zeros and ones": (centred @ axes.T, digits.target[chosen]),
    }
    orders = {name: rng.permutation(n) for name in found}
    return {name: (X[orders[name]], truth[orders[name]]) for name, (X, truth) in found.items()}


def _some_fields(cells: Points, V: Points) -> Points:
    """Shares of all points in a few cells that lie far apart."""
    chosen, distances = [0], np.linalg.norm(cells[:, None] - cells[None], axis=2)
    while len(chosen) < min(FIELDS, len(cells)):
        chosen.append(int(distances[chosen].min(axis=0).argmax()))
    return V[:, chosen]


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw cells and receptive fields, one panel for each stream."""
    drawn, axes = figure(len(arrays["data"]), row_height=2.35)
    for ax, name in zip(axes[0], arrays["data"], strict=True):
        X, fields, cells = (arrays[f"{name}/{key}"] for key in ("X", "fields", "cells"))
        for place, column in enumerate(fields.T):
            inside = column > 0.02 * column.max()
            shade = np.clip(column[inside] / column.max(), 0, 1)
            ax.scatter(*X[inside].T, s=4, color=PALETTE[place % len(PALETTE)], alpha=shade, linewidths=0, zorder=2)
        ax.scatter(*cells.T, s=5, color=INK, linewidths=0, zorder=3)
        scatter(ax, X, FAINT, size=1.5, zorder=1)
        ax.set_title(f"{name}: {len(cells)} cells")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge value and labels against the batch solution."""
    names = [str(name) for name in arrays["data"]]
    last = {name: arrays[f"{name}/rows"][-1] for name in names}
    words = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{short:+.2%}, ARI {ari:.2f}, gap {gap:.0e} after {count}"
            for count, (short, ari, gap) in zip(arrays["passes"], arrays[f"{name}/rows"], strict=True)
        )
        for name in names
    )
    worst = max(row[0] for row in last.values())
    behind = max(float(arrays[f"{name}/batch"]) - last[name][1] for name in names)
    return [
        judge(
            "An online, network-like algorithm finds what the batch algorithm finds.",
            "value below that for all points at once, labels, and proven gap on a window, after passes: {words}",
            worst <= WITHIN and behind <= 0.02,
            "After five passes the value is up to {worst:.2%} below and the index up to {behind:.2f}.",
            source=paper("Section 1, online", "This network was derived by performing online optimization"),
            mend="1 % of the value and 0.02 of the index",
            words=words,
            worst=worst,
            behind=behind,
        )
    ]
