"""The paper's low-rank solver against the optimum: pictures of Y Y' for its ranks, and the columns of Y as cells."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import FactorPoint, Gram, KMeansSDP, certify, datasets
from ...ring import best_completely_positive_value, ring_optimum
from ...solvers import BurerMonteiro
from ..claims import Claim, Verdict, finding, judge, paper
from ..coordinates import in_few_dimensions
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, matrix, stacked, styled
from ..record import Arrays, Record
from ..threads import threads_of_a_solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Low-rank solver",
    caption="""The optimum Q (left) and Y Y' of the paper's low-rank solver with r columns, as many as in the
    paper, with its relative error in the Frobenius norm. With r = K it returns hard clusters; more columns come
    closer. Below, columns of Y, each a cell that covers a part of the curve: they tile it.""",
    data=("teapots",),
    seconds=(40, 14),
    runs_alone=True,
)

RANKS = {
    "one ring": (8, 16, 32, 64, 128, 256),
    "two rings": (8, 16, 32, 64, 128, 256),
    "teapots": (20, 40, 60, 80, 100, 120),
}
QUICK_RANKS = {"one ring": (8, 16, 32, 128), "two rings": (8, 16, 32, 128), "teapots": (20, 40, 80, 120)}
CELLS_OF = 2  # which rank, from 0, has its columns drawn
MOST_STEPS = 1000  # updates of the multipliers; the solver ends much earlier by itself
HARD_SHARE = 0.95  # a point with a larger share than this in one column counts as hard
RING_N, RING_K = 100, 8


def compute(record: Record, quick: bool) -> None:
    """Solve to a tight gap, then by the low-rank solver with every number of columns."""
    data: dict[str, tuple[NDArray[np.float64], float]] = {
        "one ring": (datasets.ring(RING_N)[0], RING_K),
        "two rings": (datasets.two_rings(100 if quick else 200)[0], 8),
        "teapots": (in_few_dimensions(datasets.fetch_teapots().data), 20),
    }
    record["data"], optimum = list(data), ring_optimum(RING_N, RING_K)
    for name, (X, K) in data.items():
        gram = Gram.from_data(X)
        solution = record.solve(name, gram, K, tol=1e-3 if quick else 1e-5)
        Q = optimum.Q if name == "one ring" else solution.Q
        rows = [low_rank(solution.problem, rank, Q) for rank in (QUICK_RANKS if quick else RANKS)[name]]
        record[f"{name}/K"], record[f"{name}/cells"] = K, [row.pop("Y") for row in rows][CELLS_OF]
        record[f"{name}/pictures"] = np.stack([as_picture(Q, Q)] + [as_picture(row.pop("Q"), Q) for row in rows])
        for key in rows[0]:
            record[f"{name}/{key}"] = [row[key] for row in rows]
        upper = optimum.value if name == "one ring" else solution.certificate.upper
        record[f"{name}/shortfall"] = 1 - record[f"{name}/lower"] / upper
    record["floor"] = 1 - best_completely_positive_value(RING_N, RING_K) / optimum.value


def low_rank(problem: KMeansSDP, rank: int | str, optimum: NDArray[np.float64]) -> dict[str, Any]:
    """One run, ended by the authors' test: matrix, factor, relative error, feasible value, hard points, seconds."""
    started = time.perf_counter()
    solver = BurerMonteiro(rank, stop="change", random_state=EXPERIMENT.seed)
    steps = 0
    with threads_of_a_solve(problem.n):
        for steps, last in enumerate(itertools.islice(solver.iterates(problem), MOST_STEPS), 1):  # noqa: B007
            pass
    seconds = time.perf_counter() - started
    assert isinstance(last.point, FactorPoint)
    Y = last.point.Y
    Q = Y @ Y.T
    return {
        "Q": Q,
        "Y": Y,
        "rank": Y.shape[1],
        "error": float(np.linalg.norm(Q - optimum) / np.linalg.norm(optimum)),
        "lower": certify(problem, last).lower,
        "hard": float(np.mean(last.point.as_soft().V.max(axis=1) > HARD_SHARE)),
        "seconds": seconds,
        "steps": steps,
    }


def as_picture(Q: ArrayLike, reference: ArrayLike) -> NDArray[np.uint8]:
    """Levels 0 to 255, on the scale of the reference.

    Examples
    --------
    >>> as_picture(np.array([[0.5, 0.0]]), np.array([[1.0, 0.0]])).tolist()
    [[128, 0]]
    """
    return np.clip(np.round(255 * np.asarray(Q) / np.max(reference)), 0, 255).astype(np.uint8)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the optimum and the matrices of every rank, one row for each data set, and below the cells of each."""
    names = [str(name) for name in arrays["data"]]
    columns = max(len(arrays[f"{name}/pictures"]) for name in names)
    drawn, axes = stacked(
        [*[columns] * len(names), len(names)], [*[7.0 / columns + 0.16] * len(names), 1.6], letters=False
    )
    panels = iter(axes.values())
    for name in names:
        ranks, errors = arrays[f"{name}/rank"], arrays[f"{name}/error"]
        titles = ["optimum Q", *(f"r = {r}: {e:.2f}" for r, e in zip(ranks, errors, strict=True))]
        line = [next(panels) for _ in range(columns)]
        for ax, picture, title in zip(line, arrays[f"{name}/pictures"], titles, strict=True):
            matrix(ax, picture, title=title, largest=255)
        n = arrays[f"{name}/pictures"].shape[1]
        line[0].set_ylabel(f"{name}\nn = {n}, K = {float(arrays[f'{name}/K']):g}", color=MUTED)
    for name in names:
        _cells(next(panels), arrays[f"{name}/cells"], name)
    return drawn


def _cells(ax: Axes, Y: NDArray[np.float64], name: str) -> None:
    """Columns of ``Y`` by the place of their centre of mass; every second one stands out."""
    shown = Y[:, np.argsort(np.argmax(Y, axis=0), kind="stable")]
    shown = shown[:, shown.max(axis=0) > 0]
    for index, column in enumerate(shown.T):
        ax.plot(column, color=PALETTE[index % 3], linewidth=0.8, alpha=0.85)
    ax.set(xlabel="point", yticks=[], title=f"{name}: the {shown.shape[1]} columns of Y, r = {Y.shape[1]}")


def claims(arrays: Arrays) -> list[Claim]:
    """Judge hardness at r = K, the fall of the error, its price, and its floor."""
    names = [str(name) for name in arrays["data"]]
    hard = {name: float(arrays[f"{name}/hard"][0]) for name in names}
    first = {name: float(arrays[f"{name}/error"][0]) for name in names}
    return [
        judge(
            "With r = K the low-rank solver gives hard clusters and a poor Q.",
            "{words}",
            min(hard.values()) > 0.95 and min(first.values()) > 0.5,
            "Some points are shared, or Q is close already: {words}.",
            Verdict.PAPER,
            source=paper("Figure 12", "produces hard clustering solutions"),
            words=", ".join(f"{name}: {hard[name]:.0%} hard, error {first[name]:.2f}" for name in names),
        ),
        _error_falls(arrays, names),
        _time_grows(arrays, names),
        _floor(arrays),
        _tiling(arrays),
        _ends(arrays, names),
    ]


def _error_falls(arrays: Arrays, names: list[str]) -> Claim:
    errors = {name: arrays[f"{name}/error"] for name in names}
    falls = {name: float(errors[name][-1] / errors[name][0]) for name in names}
    return judge(
        "With r much larger than K the reconstruction is much improved.",
        "error from r = K to the largest: {words}",
        max(falls.values()) < 0.5,
        "The error is still {worst:.2f} of that at r = K.",
        source=paper("Section 4", "leads to much improved reconstructions, at the expense of speed"),
        mend="an error of 0.5 of that at r = K",
        words="; ".join(f"{name} " + ", ".join(f"{error:.2f}" for error in errors[name]) for name in names),
        worst=max(falls.values()),
    )


def _time_grows(arrays: Arrays, names: list[str]) -> Claim:
    factor = {name: float(arrays[f"{name}/seconds"][-1] / arrays[f"{name}/seconds"][0]) for name in names}
    return judge(
        "More columns cost time.",
        "from r = K to the largest r: {words}",
        min(factor.values()) > 1.5,
        "The least growth is {least:.1f} times.",
        Verdict.PAPER,
        source=paper("Section 4", "at the expense of speed"),
        words=", ".join(f"{name} {factor[name]:.0f} times" for name in names),
        least=min(factor.values()),
    )


def _floor(arrays: Arrays) -> Claim:
    floor, reached = float(arrays["floor"]), float(arrays["one ring/shortfall"][-1])
    return finding(
        "How near the low-rank solver comes to the optimum, and how near any nonnegative factor can.",
        "one ring, K = {K}: value {reached:.1e} below at r = {rank}; no nonnegative factor of any rank comes nearer "
        "than "
        "{floor:.1e}",
        K=RING_K,
        reached=reached,
        rank=int(arrays["one ring/rank"][-1]),
        floor=floor,
    )


def _tiling(arrays: Arrays) -> Claim:
    """How many points a cell covers, on the ring, in units of n/K."""
    Y = arrays["one ring/cells"]
    Y = Y[:, Y.max(axis=0) > 0]
    widths = np.count_nonzero(0.5 * Y.max(axis=0) < Y, axis=0) * RING_K / RING_N
    return judge(
        "The columns of Y tile the data with overlapping cells.",
        "one ring, r = {rank}: a column is above half its height over {width:.2f} n/K points (middle one; {low:.2f} to "
        "{high:.2f}); {count} columns cover {points} points",
        bool(np.median(widths) < 2 and Y.shape[1] > RING_K),
        "The middle column is {width:.2f} n/K wide.",
        source=paper("Section 3", "Such tiling takes place in all of the examples included in the paper"),
        mend="a width below 2 n/K",
        rank=arrays["one ring/cells"].shape[1],
        width=np.median(widths),
        low=widths.min(),
        high=widths.max(),
        count=Y.shape[1],
        points=RING_N,
    )


def _ends(arrays: Arrays, names: list[str]) -> Claim:
    steps = np.concatenate([arrays[f"{name}/steps"] for name in names])
    return judge(
        "Nothing guarantees that the procedure converges, but it is used: it ends by its own test.",
        "{ended} of {count} runs end by the authors' test, after {low} to {high} updates of the multipliers",
        bool(np.all(steps < MOST_STEPS)),
        "{ended} of {count} do within {limit} updates.",
        Verdict.PAPER,
        source=paper("Appendix E", "Although there are no guarantees about the convergence of the procedure"),
        ended=np.count_nonzero(steps < MOST_STEPS),
        count=len(steps),
        low=steps.min(),
        high=steps.max(),
        limit=MOST_STEPS,
    )
