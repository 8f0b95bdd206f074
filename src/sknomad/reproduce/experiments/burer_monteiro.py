"""The paper's low-rank solver against the optimum: pictures of Y Y' for ranks from K to 8K."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import FactorPoint, Gram, KMeansSDP, certify, datasets
from ...ring import best_completely_positive_value, ring_optimum
from ...solvers import BurerMonteiro
from ..claims import Claim, Verdict, judge
from ..coordinates import in_few_dimensions
from ..experiment import Experiment
from ..figure_parts import MUTED, figure, matrix, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Low-rank solver",
    caption="""The optimum Q (left) and Y Y' of the paper's low-rank solver with r columns, from K to 8K of them (at
    most n), with its relative error in the Frobenius norm. With r = K it returns hard clusters; more columns come
    closer.""",
    data=("teapots",),
    seconds=(45, 12),
)

MULTIPLES = (1, 2, 4, 8)
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
        rows = [low_rank(solution.problem, f"{multiple}K", Q) for multiple in MULTIPLES[: 3 if quick else 4]]
        record[f"{name}/K"] = K
        record[f"{name}/pictures"] = np.stack([as_picture(Q, Q)] + [as_picture(row.pop("Q"), Q) for row in rows])
        for key in rows[0]:
            record[f"{name}/{key}"] = [row[key] for row in rows]
        upper = optimum.value if name == "one ring" else solution.certificate.upper
        record[f"{name}/shortfall"] = 1 - record[f"{name}/lower"] / upper
    record["floor"] = 1 - best_completely_positive_value(RING_N, RING_K) / optimum.value


def low_rank(problem: KMeansSDP, rank: str, optimum: NDArray[np.float64]) -> dict[str, Any]:
    """One run of the low-rank solver: its matrix, relative error, feasible value, hard points, seconds."""
    started = time.perf_counter()
    *_, last = itertools.islice(BurerMonteiro(rank, random_state=EXPERIMENT.seed).iterates(problem), MOST_STEPS)
    seconds = time.perf_counter() - started
    assert isinstance(last.point, FactorPoint)
    Y = last.point.Y
    Q = Y @ Y.T
    return {
        "Q": Q,
        "rank": Y.shape[1],
        "error": float(np.linalg.norm(Q - optimum) / np.linalg.norm(optimum)),
        "lower": certify(problem, last).lower,
        "hard": float(np.mean(last.point.as_soft().V.max(axis=1) > HARD_SHARE)),
        "seconds": seconds,
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
    """Draw the optimum and the matrices of every rank, one row for each data set."""
    columns = max(len(arrays[f"{name}/pictures"]) for name in arrays["data"])
    drawn, axes = figure(columns, len(arrays["data"]), row_height=7.0 / columns + 0.12, letters=False)
    for line, name in zip(axes, arrays["data"], strict=True):
        ranks, errors = arrays[f"{name}/rank"], arrays[f"{name}/error"]
        titles = ["optimum Q", *(f"r = {r}: error {e:.2f}" for r, e in zip(ranks, errors, strict=True))]
        for ax, picture, title in zip(line, arrays[f"{name}/pictures"], titles, strict=True):
            matrix(ax, picture, title=title, largest=255)
        n = arrays[f"{name}/pictures"].shape[1]
        line[0].set_ylabel(f"{name}, n = {n}, K = {float(arrays[f'{name}/K']):g}", color=MUTED)
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge hardness at r = K, the fall of the error, its price, and its floor."""
    names = [str(name) for name in arrays["data"]]
    hard = {name: float(arrays[f"{name}/hard"][0]) for name in names}
    first = {name: float(arrays[f"{name}/error"][0]) for name in names}
    return [
        judge(
            "With r = K the low-rank solver gives hard clusters and a poor Q.",
            ", ".join(f"{name}: {hard[name]:.0%} hard, error {first[name]:.2f}" for name in names),
            min(hard.values()) > 0.95 and min(first.values()) > 0.5,
            "Some points are shared, or Q is close already.",
        ),
        _error_falls(arrays, names),
        _time_grows(arrays, names),
        _floor(arrays),
    ]


def _error_falls(arrays: Arrays, names: list[str]) -> Claim:
    errors = {name: arrays[f"{name}/error"] for name in names}
    rises = [name for name in names if np.any(np.diff(errors[name]) > 0)]
    gains = all(np.all(np.diff(arrays[f"{name}/shortfall"]) < 0) for name in rises)
    return judge(
        "The error falls as r grows.",
        "; ".join(f"{name} " + ", ".join(f"{error:.2f}" for error in errors[name]) for name in names),
        not rises,
        f"It does not fall at every step ({', '.join(rises)}): the problem is not convex and the solver ends in local "
        "solutions" + (". The value rises all the same." if gains else ", of no better value either."),
        Verdict.DIFFERS,
    )


def _time_grows(arrays: Arrays, names: list[str]) -> Claim:
    factor = {name: float(arrays[f"{name}/seconds"][-1] / arrays[f"{name}/seconds"][0]) for name in names}
    return judge(
        "More columns cost time.",
        "from r = K to the largest r: " + ", ".join(f"{name} {factor[name]:.0f} times" for name in names),
        min(factor.values()) > 1.5,
        "The run with r = K was no faster here.",
        Verdict.DIFFERS,
    )


def _floor(arrays: Arrays) -> Claim:
    floor, reached = float(arrays["floor"]), float(arrays["one ring/shortfall"][-1])
    return judge(
        "With enough columns the low-rank solver reaches the optimum of the semidefinite program.",
        f"one ring: value {reached:.1e} below at r = {int(arrays['one ring/rank'][-1])}; "
        f"no nonnegative factor of any rank comes nearer than {floor:.1e}",
        reached < floor / 2,
        "Y Y' with nonnegative Y is completely positive, and on the ring with K = 8 the optimum is not: the shortfall "
        "is that of the best completely positive matrix.",
        Verdict.DIFFERS,
    )
