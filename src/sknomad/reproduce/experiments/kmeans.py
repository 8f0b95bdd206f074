"""NOMAD as K-means with a proof: the best clustering where clusters are apart, also where Lloyd's algorithm fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ... import certify_kmeans, datasets, kmeans_objective
from ...metrics import hardness
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import INK, MUTED, PALETTE, figure, matrix, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="K-means, proven",
    caption="""Above, six blobs: NOMAD's clusters, its matrix, and the inertia that Lloyd's algorithm ends with
    from random and from k-means++ starts, relative to the proven lower bound. Below, 25 clusters on a grid, where
    nearly every random start leaves two clusters to one centre (crosses; the median of all starts is shown) and
    NOMAD does not.""",
    seconds=(42, 6),
)

STARTS, QUICK_STARTS = 500, 100
INITS = ("random", "k-means++")
BEST = 1 + 1e-6  # inertia up to this multiple of the least found is the best
# Entries above this share of the largest join two points. Within a hard cluster all entries are equal; but where two
# clusters could almost share a point, even a solution proven to 1e-6 leaves a few per cent of it in the other one.
SAME_CLUSTER_SHARE = 0.1
TOL = 1e-6  # of the certificates, relative to the inertia

Points = NDArray[np.float64]
Labels = NDArray[np.int64]


def grid_of_blobs(n_samples: int = 200, random_state: int = 0) -> tuple[Points, Labels]:
    """Twenty-five round clouds of standard deviation 0.13 around the points of a square grid.

    Lloyd's algorithm does not move a centre past another cloud, so it needs a start in nearly every one.

    Examples
    --------
    >>> X, labels = grid_of_blobs(50)
    >>> X.shape, int(labels.max()), set(np.bincount(labels).tolist())
    ((50, 2), 24, {2})
    """
    labels = np.arange(n_samples, dtype=np.int64) * 25 // n_samples
    centres = np.stack(np.divmod(labels, 5), axis=1)
    return centres + np.random.default_rng(random_state).normal(scale=0.13, size=centres.shape), labels


def lloyd(X: Points, K: int, starts: int) -> tuple[Points, Labels]:
    """Inertia of single runs of Lloyd's algorithm, (len(INITS), starts), and labels of the middle random start."""
    runs = [[KMeans(K, init=init, n_init=1, random_state=seed).fit(X) for seed in range(starts)] for init in INITS]
    inertia = np.array([[kmeans_objective(X, run.labels_) for run in row] for row in runs])
    middle = int(np.argsort(inertia[0], kind="stable")[starts // 2])
    return inertia, np.asarray(runs[0][middle].labels_, dtype=np.int64)


def compute(record: Record, quick: bool) -> None:
    """Solve, prove, and run Lloyd's algorithm from many starts; and two rings, which are no clusters at all."""
    data = {
        "six blobs": (*datasets.blobs(100 if quick else 200, random_state=record.seed), 6),
        "25 on a grid": (*grid_of_blobs(125 if quick else 200, record.seed), 25),
    }
    record["data"] = list(data)
    for name, (X, truth, K) in data.items():
        solution = record.solve(name, X, K, tol=1e-6, max_iter=20_000)
        labels = solution.manifolds(SAME_CLUSTER_SHARE)
        inertia, typical = lloyd(X, K, QUICK_STARTS if quick else STARTS)
        proof, other = (
            certify_kmeans(X, given, n_clusters=K, tol=TOL, grade="verified") for given in (labels, typical)
        )
        found: dict[str, ArrayLike] = {
            "X": X, "truth": truth, "K": K, "labels": labels, "Q": solution.Q, "hardness": hardness(solution.Q),
            "lloyd": inertia, "typical": typical, "inertia": proof.inertia, "bound": proof.lower_bound,
            "gap": proof.gap, "typical_inertia": other.inertia, "typical_gap": other.gap, "grade": proof.grade,
        }  # fmt: skip
        for key, value in found.items():
            record[f"{name}/{key}"] = value
    _two_rings(record, 100 if quick else 200)


def _two_rings(record: Record, n: int) -> None:
    X, truth = datasets.two_rings(n)
    solution = record.solve("two rings", X, 16)
    record["rings/nomad"] = adjusted_rand_score(truth, solution.manifolds())
    labels = [KMeans(K, n_init=10, random_state=record.seed).fit(X).labels_ for K in (2, 16)]
    record["rings/kmeans"] = [adjusted_rand_score(truth, found) for found in labels]


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw clusters, matrix or a failure, and inertias, one row for each data set."""
    drawn, axes = figure(3, 2, row_height=2.25)
    (blobs, Q, first), (failure, groups, second) = axes
    easy, hard = (str(name) for name in arrays["data"])
    _clusters(blobs, arrays, easy, "labels")
    blobs.set_title(f"{easy}: NOMAD, K = {int(arrays[f'{easy}/K'])}")
    matrix(Q, arrays[f"{easy}/Q"], title="its matrix Q")
    _clusters(failure, arrays, hard, "typical")
    failure.set_title(f"{hard}: Lloyd, typical run")
    _clusters(groups, arrays, hard, "labels")
    groups.set_title(f"NOMAD, K = {int(arrays[f'{hard}/K'])}")
    for ax, name in ((first, easy), (second, hard)):
        _inertias(ax, arrays, name)
    return drawn


def _clusters(ax: Axes, arrays: Arrays, name: str, key: str) -> None:
    X, labels = arrays[f"{name}/X"], arrays[f"{name}/{key}"]
    scatter(ax, X, point_colours(labels), size=9)
    centres = np.array([X[labels == label].mean(axis=0) for label in np.unique(labels)])
    ax.scatter(centres[:, 0], centres[:, 1], marker="x", s=26, c=INK, linewidths=1.1, zorder=4)


def _inertias(ax: Axes, arrays: Arrays, name: str) -> None:
    ratio = arrays[f"{name}/lloyd"] / float(arrays[f"{name}/bound"])
    edges = np.geomspace(1, max(ratio.max() * 1.1, 2), 25)
    # The first bin holds the optimum and nothing else worth the name.
    for row, (init, colour) in enumerate(zip(INITS, (PALETTE[1], PALETTE[4]), strict=True)):
        share = np.histogram(ratio[row], edges)[0] / ratio.shape[1]
        ax.stairs(share, edges, color=colour, fill=True, alpha=0.35)
        ax.stairs(share, edges, color=colour, linewidth=1.2)
        best = np.mean(ratio[row] <= ratio.min() * BEST)
        ax.text(
            0.97, 0.93 - 0.1 * row, f"{init}: {best:.0%} best", color=colour, ha="right", transform=ax.transAxes
        )  # fmt: skip
    ax.axvline(1, color=PALETTE[0], linewidth=1.6)
    ax.text(0.97, 0.73, "NOMAD, proven", color=PALETTE[0], ha="right", transform=ax.transAxes)
    ax.set(xscale="log", xlabel="inertia / proven bound", ylabel="share of Lloyd's runs", ylim=(0, 1.0), box_aspect=0.9)
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick <= edges[-1]]
    ax.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.yaxis.label.set_color(MUTED)


def failures(arrays: Arrays, name: str) -> NDArray[np.float64]:
    """Share of runs of Lloyd's algorithm that miss the best inertia, for each way to start."""
    inertia, best = arrays[f"{name}/lloyd"], float(arrays[f"{name}/inertia"])
    return np.asarray(np.mean(inertia > best * BEST, axis=1))


def claims(arrays: Arrays) -> list[Claim]:
    """Judge exactness on blobs, the failure of Lloyd's algorithm, the certificate, and what K-means cannot do."""
    easy, hard = (str(name) for name in arrays["data"])
    return [
        _identity(arrays, easy),
        _exact(arrays, easy),
        _lloyd_fails(arrays, hard),
        _tells(arrays, hard),
        _rings(arrays),
    ]


def _exact(arrays: Arrays, name: str) -> Claim:
    ari = adjusted_rand_score(arrays[f"{name}/truth"], arrays[f"{name}/labels"])
    hard, gap = float(arrays[f"{name}/hardness"]), float(arrays[f"{name}/gap"])
    return judge(
        "For well separated blobs NOMAD is K-means: a hard clustering, and the best.",
        "ARI {ari:.2f}, hardness |Q|\N{SUPERSCRIPT TWO}/K {hard:.5f}; proven within {gap:.0e} of the least inertia "
        "({grade})",
        bool(ari == 1 and hard > 0.999 and gap <= 1e-4),
        "The hardness is {hard:.5f} and the gap {gap:.0e}.",
        source=paper("Section 1", "reproduce hard-clustering assignments of"),
        mend="a hardness of 0.999 and a gap of 1e-4",
        ari=ari,
        hard=hard,
        gap=gap,
        grade=arrays[f"{name}/grade"],
    )


def _identity(arrays: Arrays, name: str) -> Claim:
    """The inertia of labels is the trace of the Gram matrix minus the objective at their matrix."""
    X, labels = arrays[f"{name}/X"], arrays[f"{name}/labels"]
    centred = X - X.mean(axis=0)
    D = centred @ centred.T
    share = np.equal.outer(labels, labels) / np.bincount(labels)[labels]
    error = abs(float(np.trace(D) - np.sum(D * share)) / float(arrays[f"{name}/inertia"]) - 1)
    return judge(
        "The inertia of a clustering is the trace of the Gram matrix minus its inner product with the clustering's Q.",
        "relative difference {error:.0e} on the {name}",
        error < 1e-9,
        "They differ by {error:.0e}.",
        source=paper("Appendix A", "re-cast K-means as the optimization problem"),
        mend="a difference below 1e-9",
        error=error,
        name=name,
    )


def _lloyd_fails(arrays: Arrays, name: str) -> Claim:
    random, spread = failures(arrays, name)
    gap = float(arrays[f"{name}/gap"])
    return judge(
        "It is so also where Lloyd's algorithm fails.",
        "Lloyd misses the best from {random:.1%} of random and {spread:.1%} of k-means++ starts; NOMAD's clusters "
        "(entries above {share:g} of the largest) are proven within {gap:.0e} of the least inertia",
        bool(random > 0.5 and gap <= 1e-4),
        "Lloyd misses it from {random:.1%} of starts, and the gap is {gap:.0e}.",
        source=paper("Section 1", "achieves hard clustering even for some datasets on which Lloyd's algorithm"),
        mend="50 % of starts and a gap of 1e-4",
        random=random,
        spread=spread,
        share=SAME_CLUSTER_SHARE,
        gap=gap,
    )


def _tells(arrays: Arrays, name: str) -> Claim:
    gap = float(arrays[f"{name}/typical_gap"])
    inertia, bound = float(arrays[f"{name}/typical_inertia"]), float(arrays[f"{name}/bound"])
    return judge(
        "The certificate tells a bad clustering from a good one.",
        "a typical run of Lloyd: inertia {inertia:.3g}, proven bound {bound:.3g}, up to {gap:.0%} to be saved",
        gap > 0.1,
        "The typical run is within {gap:.0%} of the best.",
        mend="10 %",
        inertia=inertia,
        bound=bound,
        gap=gap,
    )


def _rings(arrays: Arrays) -> Claim:
    two, many = arrays["rings/kmeans"]
    ours = float(arrays["rings/nomad"])
    return judge(
        "Neither K = 2 nor a large K makes K-means separate manifolds; NOMAD with a large K does.",
        "two rings, ARI: K-means {two:.2f} (K = 2), {many:.2f} (K = 16), NOMAD {ours:.2f} (K = 16)",
        bool(ours == 1 and max(two, many) < 0.5),
        "K-means has {two:.2f} and {many:.2f}, NOMAD {ours:.2f}.",
        source=paper("Section 3", "as it is designed to partition the data, thus breaking each manifold"),
        mend="an index of 1 for NOMAD and below 0.5 for K-means",
        two=two,
        many=many,
        ours=ours,
    )
