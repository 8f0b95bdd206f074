"""NOMAD applied to its own matrix with falling K: manifolds become clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ... import Gram, Solution, datasets
from ...metrics import active_modes, hardness
from ...plot import point_colours
from ..claims import Claim, Verdict, judge, paper
from ..experiment import Experiment
from ..figure_parts import FAINT, MUTED, PALETTE, label, matrix, scatter, stacked, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Layers",
    caption="""Each layer solves for the matrix of the one before, with a smaller K. Above, the paper's schedules
    for circles, moons and two spirals (200 points each): the last matrix is the clustering into manifolds. Below,
    the adjusted Rand index of every schedule the authors tried.""",
    seconds=(180, 35),
)

COMMON = ("8-4-2", "12-6-2", "16-4-2", "16-8-4-2", "16-12-8-6-4-2", "32-16-8-4-2")
SCHEDULES = {
    "circles": COMMON,
    "moons": (*COMMON, "64-32-16-8-4-2"),
    "spirals": (*COMMON, "64-32-16-8-4-2", "64-16-4-2", "64-8-4-2"),
}
MAIN = {"circles": "16-8-4-2", "moons": "16-8-4-2", "spirals": "64-32-16-8-4-2"}
QUICK = ("8-4-2",)  # beside the main ones
THRESHOLD = 1e-2  # of the largest entry, to connect points


def compute(record: Record, quick: bool) -> None:
    """Run all schedules; layers that two schedules share are solved once."""
    tol = 1e-3 if quick else 1e-4  # at 1e-3 some schedules that break the moons up still pass
    for name, (X, truth) in _sets(record.seed).items():
        record[f"{name}/X"], record[f"{name}/truth"] = X, truth
        schedules = [MAIN[name], *QUICK] if quick else SCHEDULES[name]
        solved: dict[tuple[float, ...], Solution] = {}
        for schedule in schedules:
            layers = _run(record, name, X, schedule, tol, solved)
            record[f"{name}/{schedule}/components"] = [_components(layer).max() + 1 for layer in layers]
            record[f"{name}/{schedule}/rand"] = [adjusted_rand_score(truth, _components(layer)) for layer in layers]
            record[f"{name}/{schedule}/hardness"] = hardness(layers[-1].Q)
            if schedule == MAIN[name]:
                record[f"{name}/Q"] = [layer.Q for layer in layers]
                record[f"{name}/modes"] = [active_modes(layer.Q, 1e-2) for layer in layers]
                record[f"{name}/margin"] = separation(leading_eigenvectors(layers[0].Q), truth)
                record[f"{name}/plain"] = separation(X, truth)
        single = record.solve(f"{name} 2", X, 2, tol)
        record[f"{name}/single"] = adjusted_rand_score(truth, _halves(single))
        clusters = KMeans(2, n_init=20, random_state=record.seed).fit_predict(X)
        record[f"{name}/kmeans"] = adjusted_rand_score(truth, clusters)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the layers of the main schedules, and the outcome of all."""
    most = max(len(_schedules(arrays, name)) for name in MAIN)
    drawn, axes = stacked([7, 7, 7, 3], [1.13, 1.13, 1.13, 0.7 + 0.16 * most], letters=False)
    panels = iter(axes.values())
    for letter, name in zip("abc", MAIN, strict=True):
        truth = arrays[f"{name}/truth"]
        row = [next(panels) for _ in range(7)]
        scatter(row[0], arrays[f"{name}/X"], point_colours(truth), size=2.5)
        row[0].set_title(name.capitalize())
        label(row[0], letter)
        sizes = MAIN[name].split("-")
        for ax, Q, K in zip(row[1:], arrays[f"{name}/Q"], sizes, strict=False):
            matrix(ax, Q, title=f"$K = {K}$", blocks=[len(Q) // 2])
        for ax in row[1 + len(sizes) :]:
            ax.axis("off")
    for letter, name in zip("def", MAIN, strict=True):
        ax = next(panels)
        rand = {schedule: arrays[f"{name}/{schedule}/rand"][-1] for schedule in _schedules(arrays, name)}
        _outcomes(ax, rand, most)
        ax.set_title(name.capitalize())
        label(ax, letter)
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the last layers, the first ones, and what one layer or K-means can do."""
    rows = []
    for name, schedule in MAIN.items():
        rand, hard = arrays[f"{name}/{schedule}/rand"], float(arrays[f"{name}/{schedule}/hardness"])
        rows.append(
            judge(
                "The last layer of {schedule} on the {name} is the clustering into the two manifolds.",
                "adjusted Rand index {rand:.2f}, |Q|^2 / tr Q = {hard:.4f} (1 for a hard clustering)",
                rand[-1] == 1.0 and hard > 0.99,
                "Its components have the index {rand:.2f}, its hardness is {hard:.4f}.",
                source=paper("Figure 9", "in the final layer, assigns each manifold to one cluster"),
                mend="an index of 1 and a hardness of 0.99",
                schedule=schedule,
                name=name,
                rand=rand[-1],
                hard=hard,
            )
        )
    margins = {name: float(arrays[f"{name}/margin"]) for name in MAIN}
    first = [arrays[f"{name}/{schedule}/rand"][0] for name, schedule in MAIN.items()]
    modes = {name: arrays[f"{name}/modes"] for name in MAIN}
    single, lloyd = ([float(arrays[f"{name}/{kind}"]) for name in MAIN] for kind in ("single", "kmeans"))
    return [
        *rows,
        judge(
            "The leading eigenvectors of the first layer already separate the manifolds, by a line.",
            "two leading eigenvectors, width of the widest strip between the manifolds over that of the whole: "
            "{margins}; 0 for the data themselves on {inseparable} of {count}; components of the first layer have the "
            "indices {first}",
            min(margins.values()) > 0,
            "A line fails somewhere: {margins}.",
            Verdict.PAPER,
            source=paper("Section 3.1", "the manifolds are already segregated after one application of NOMAD"),
            margins=", ".join(f"{name} {value:.2f}" for name, value in margins.items()),
            inseparable=sum(float(arrays[f"{name}/plain"]) == 0 for name in MAIN),
            count=len(MAIN),
            first=", ".join(f"{value:.2f}" for value in first),
        ),
        judge(
            "Later layers remove the small eigenvalues.",
            "eigenvalues of at least 0.01 by layer: {modes}",
            all(np.all(np.diff(counts) <= 0) and counts[-1] == 2 for counts in modes.values()),
            "Their numbers do not fall to 2: {modes}.",
            source=paper("Multi-layer algorithm", "little-by-little sieve out the (unwanted) smaller eigenvalues"),
            mend="2 eigenvalues",
            modes="; ".join(f"{name} " + ", ".join(map(str, counts)) for name, counts in modes.items()),
        ),
        judge(
            "Neither one layer with K = 2 nor K-means separates them.",
            "adjusted Rand index on circles, moons, spirals: one layer {single}; K-means {lloyd}",
            max(single + lloyd) < 0.9,
            "One of them does: {single}; {lloyd}.",
            Verdict.PAPER,
            source=paper("Section 3.1", "something unattainable with single-layer NOMAD or with"),
            single=", ".join(f"{value:.2f}" for value in single),
            lloyd=", ".join(f"{value:.2f}" for value in lloyd),
        ),
        *_all_schedules(arrays),
    ]


def _all_schedules(arrays: Arrays) -> list[Claim]:
    outcomes = [
        (name, schedule, arrays[f"{name}/{schedule}/rand"][-1])
        for name in MAIN
        for schedule in _schedules(arrays, name)
    ]
    wrong = [f"{name} {schedule}" for name, schedule, rand in outcomes if rand < 1]
    return [
        judge(
            "Every schedule of the authors' further figures ends in the two manifolds.",
            "{right} of {count} schedules do; the others: {wrong}",
            not wrong,
            "The paper shows these schedules without a word on their outcome. Solved accurately, {right} of {count} "
            "end "
            "right: a first K that is too small joins the manifolds for good, one that is too large breaks up the "
            "noisy "
            "moons.",
            Verdict.PAPER,
            source=paper("Figures 17 to 19", "Additional results of multi-layer NOMAD"),
            untested="This run has {count} schedules of the 22." if len(outcomes) < 22 else "",
            right=len(outcomes) - len(wrong),
            count=len(outcomes),
            wrong=", ".join(wrong) or "none",
        )
    ]


def _sets(seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    return {
        "circles": datasets.two_rings(200),
        "moons": datasets.moons(200, noise=0.05, random_state=seed),
        "spirals": datasets.double_swiss_roll(200),
    }


def _run(
    record: Record,
    name: str,
    X: NDArray[np.float64],
    schedule: str,
    tol: float,
    solved: dict[tuple[float, ...], Solution],
) -> list[Solution]:
    """Solutions of all layers: the matrix of one is the Gram matrix of the next."""
    gram, sizes = Gram.from_data(X), tuple(float(K) for K in schedule.split("-"))
    layers = []
    for depth in range(1, len(sizes) + 1):
        done = sizes[:depth]
        if done not in solved:
            path = "-".join(f"{K:g}" for K in done)
            # As in `MultiLayerNOMAD`: only the last layer, which is to be a hard clustering, wants the best point.
            is_last = depth == len(sizes)
            solved[done] = record.solve(f"{name} {path}", gram, done[-1], tol, max_iter=3000, smooth=not is_last)
        layers.append(solved[done])
        gram = Gram.from_kernel(solved[done].Q)
    return layers


def _components(layer: Solution) -> NDArray[np.int64]:
    return layer.manifolds(THRESHOLD)


def _halves(solution: Solution) -> NDArray[np.int64]:
    """Two clusters by the sign of the leading eigenvector of ``Q - J``."""
    centred = solution.Q - 1 / len(solution.Q)
    return (np.linalg.eigh(centred)[1][:, -1] > 0).astype(int)


def leading_eigenvectors(Q: NDArray[np.float64], count: int = 2) -> NDArray[np.float64]:
    """The eigenvectors of the `count` largest eigenvalues, in columns."""
    return np.linalg.eigh(Q)[1][:, ::-1][:, :count]


def separation(points: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """Width of the strip between two classes, over the width of all points across it; 0 if no line separates them.

    A linear program finds the direction, of largest component 1, across which the strip is widest.

    Examples
    --------
    >>> round(separation(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])), 6)
    0.5
    """
    side = np.where(truth == truth[0], -1.0, 1.0)[:, None]
    d = points.shape[1]
    # Unknowns are the direction w, an offset b and the margin t: side (w x + b) >= t.
    constraints = np.hstack([-side * points, -side, np.ones_like(side)])
    bounds = [(-1.0, 1.0)] * d + [(None, None), (0.0, None)]
    best = linprog([0.0] * (d + 1) + [-1.0], constraints, np.zeros(len(points)), bounds=bounds)
    found = np.asarray(best.x)
    across = points @ found[:d]
    gap = across[side[:, 0] > 0].min() - across[side[:, 0] < 0].max()
    return max(float(gap / np.ptp(across)), 0.0) if found[-1] > 1e-9 * np.abs(points).max() else 0.0


def _schedules(arrays: Arrays, name: str) -> list[str]:
    return [schedule for schedule in SCHEDULES[name] if f"{name}/{schedule}/rand" in arrays]


def _outcomes(ax: Axes, rand: dict[str, float], most: int) -> None:
    places = most - 1 - np.arange(len(rand))
    values = np.maximum(list(rand.values()), 0.0)
    colours = [PALETTE[2] if value == 1.0 else PALETTE[1] for value in values]
    ax.hlines(places, 0, 1, color=FAINT, linewidth=0.8, zorder=0)
    ax.hlines(places, 0, values, color=colours, linewidth=1.6)
    ax.scatter(values, places, s=16, c=colours, linewidths=0, zorder=2)
    for place, value in zip(places, values, strict=True):
        ax.text(1.06, float(place), f"{value:.2f}", va="center", color=MUTED, size=7)
    ax.set_yticks(places, labels=list(rand), size=6.5)
    ax.set(xlim=(-0.03, 1.28), ylim=(-0.6, most - 0.4), xticks=[0, 0.5, 1], xlabel="adjusted Rand index")
    ax.spines[["left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
