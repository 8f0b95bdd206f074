"""How many columns a nonnegative factor of NOMAD's matrix needs: error of symmetric NMF against its rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import cp_rank_profile, datasets
from ...ring import best_completely_positive_value, ring_optimum
from ..claims import Claim, Verdict, judge, paper
from ..experiment import Experiment
from ..figure_parts import INK, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Rank of nonnegative factors",
    caption="""Relative error of Y Y' with nonnegative Y of r columns, found by symmetric NMF, against r: mean
    over random starts, and two standard deviations either way. The error is far from zero at r = K and keeps
    falling slowly.""",
    seconds=(290, 12),
    runs_alone=True,
)

RANKS = {
    "two rings": (4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 200),
    "double Swiss roll": (8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 200),
    "one ring": (4, 8, 12, 16, 24, 32, 48, 64, 96, 128),
}
QUICK_RANKS = {
    "two rings": (2, 4, 8, 12, 16, 32, 64),
    "double Swiss roll": (8, 16, 24, 32, 48, 64, 96),
    "one ring": (4, 8, 16, 32, 64),
}
STARTS, QUICK_STARTS = 50, 4
# The ring on which the best completely positive value is known exactly.
RING_N, RING_K = 100, 8


def compute(record: Record, quick: bool) -> None:
    """Solve for both data sets and factor the matrices at every rank; on a ring, the exact limit of all ranks."""
    n, ranks = (100, QUICK_RANKS) if quick else (200, RANKS)
    data = {
        "two rings": (datasets.two_rings(n)[0], n // 25 * 2),
        "double Swiss roll": (datasets.double_swiss_roll(n)[0], n // 25 * 8),
        "one ring": (datasets.ring(RING_N)[0], RING_K),
    }
    record["data"] = list(data)
    for name, (X, K) in data.items():
        Q = record.solve(name, X, K, tol=1e-3 if quick else 1e-4).Q
        n_starts, n_jobs = (QUICK_STARTS, None) if quick else (STARTS, -1)
        errors = cp_rank_profile(Q, ranks[name], n_starts, random_state=record.seed, n_jobs=n_jobs)
        record[f"{name}/K"], record[f"{name}/n"], record[f"{name}/rank"] = K, len(X), ranks[name]
        record[f"{name}/mean"], record[f"{name}/spread"] = errors.mean, errors.spread
        record[f"{name}/best"], record[f"{name}/starts"] = errors.best, errors.errors.shape[1]
    record["ring/optimum"] = ring_optimum(RING_N, RING_K).value
    record["ring/completely_positive"] = best_completely_positive_value(RING_N, RING_K)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw error against rank, one panel for each data set."""
    drawn, axes = figure(len(arrays["data"]), row_height=2.5)
    for ax, name in zip(axes[0], arrays["data"], strict=True):
        _profile(ax, arrays, str(name))
        ax.sharey(axes[0, 0])
    axes[0, 0].set_ylabel("relative error of $YY^T$")
    return drawn


def _profile(ax: Axes, arrays: Arrays, name: str) -> None:
    rank, mean, spread = (arrays[f"{name}/{key}"] for key in ("rank", "mean", "spread"))
    K, n = int(arrays[f"{name}/K"]), int(arrays[f"{name}/n"])
    low = np.maximum(mean - 2 * spread, mean / 10)
    ax.fill_between(rank, low, mean + 2 * spread, color=PALETTE[0], alpha=0.22, linewidth=0)
    ax.plot(rank, mean, color=PALETTE[0], marker="o")
    ax.axvline(K, color=PALETTE[1], linewidth=1.0, linestyle=(0, (4, 2)))
    ax.annotate(
        f"r = K = {K}", (K, 0.03), xycoords=("data", "axes fraction"), xytext=(4, 0), textcoords="offset points",
        color=PALETTE[1],
    )  # fmt: skip
    at_K = int(np.flatnonzero(rank == K)[0])
    for place, align, shift in ((at_K, "left", (5, 5)), (len(rank) - 1, "right", (2, -13))):
        ax.annotate(
            f"{mean[place]:.2g}", (rank[place], mean[place]), xytext=shift, textcoords="offset points", ha=align,
            color=INK,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="columns r of Y", title=f"{name}, n = {n}", ylim=(2e-3, 1.6))
    ticks = [r for r in rank if r in (4, 8, 16, 32, 64, 128, 200)]
    ax.set_xticks(ticks, labels=[str(r) for r in ticks])
    ax.set_xticks([], minor=True)


def claims(arrays: Arrays) -> list[Claim]:
    """Judge r = K, large r, and the conclusion that the paper draws."""
    names = [str(name) for name in arrays["data"]]
    at_K = {name: _error_at(arrays, name, int(arrays[f"{name}/K"])) for name in names}
    at_end = {name: float(arrays[f"{name}/mean"][-1]) for name in names}
    last = {name: arrays[f"{name}/rank"][-1] / float(arrays[f"{name}/K"]) for name in names}
    shortfall = 1 - float(arrays["ring/completely_positive"]) / float(arrays["ring/optimum"])
    return [
        judge(
            "A nonnegative factor with r = K columns is far from enough.",
            "error at r = K: {errors}",
            min(at_K.values()) > 0.1,
            "It is enough somewhere: {errors}.",
            Verdict.PAPER,
            source=paper("Figure 11", "is not enough to properly reconstruct"),
            errors=", ".join(f"{name} {at_K[name]:.2f}" for name in names),
        ),
        judge(
            "With many columns the factor reproduces Q accurately.",
            "error {errors}; no factor of the optimum of one ring of n = {n} points with K = {K} has a value nearer "
            "than {shortfall:.1e}, whatever its rank",
            max(at_end.values()) < 0.025,
            "The largest rank tried leaves {errors}.",
            source=paper("Section 4", "with a properly chosen rank"),
            mend="an error below 0.025",
            errors=", ".join(f"{at_end[name]:.4f} at r = {last[name]:.1f} K ({name})" for name in names),
            n=RING_N,
            K=RING_K,
            shortfall=shortfall,
        ),
    ]


def _error_at(arrays: Arrays, name: str, rank: int) -> float:
    return float(arrays[f"{name}/mean"][arrays[f"{name}/rank"] == rank][0])
