"""Algorithm 1 on a function whose curvature and optimum are known: its error, the bound on it, and the dual gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import conditional_gradient
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Algorithm 1 and its bound",
    caption="""Conditional gradient for -|Z - A|^2/2 over psd matrices of trace s that map ones to zero, with
    random A of 40 rows: the error after t steps, the dual gap of the lemma, which never lies below it, and the
    bound 8 C/(t + 2) of the proposition, where the curvature C is s^2. Thin lines are single runs.""",
    seconds=(25, 6),
)

SIZE, TRACES = 40, (1.0, 5.0)
RUNS, QUICK_RUNS = 5, 2
STEPS, QUICK_STEPS = 1000, 300

Matrix = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Run the algorithm for several random matrices and both traces."""
    runs, steps = (QUICK_RUNS, QUICK_STEPS) if quick else (RUNS, STEPS)
    errors, gaps, rows = [], [], []
    for s in TRACES:
        for _ in range(runs):
            A = record.rng.standard_normal((SIZE, SIZE))
            A = (A + A.T) / np.sqrt(4 * SIZE)  # its eigenvalues lie close, so no optimum is a single vector
            result = conditional_gradient(_value(A), _slope(A), s, np.ones(SIZE), max_iter=steps)
            errors.append(best_value(A, s) - result.values)
            gaps.append(result.gaps)
            rows.append([s, np.abs(result.Z @ np.ones(SIZE)).max(), abs(np.trace(result.Z) - s)])
    record["error"], record["gap"], record["rows"] = errors, gaps, rows


def _value(A: Matrix) -> Callable[[Matrix], float]:
    return lambda Z: -float(np.sum((Z - A) ** 2)) / 2


def _slope(A: Matrix) -> Callable[[Matrix], Matrix]:
    return lambda Z: A - Z


def best_value(A: Matrix, s: float) -> float:
    """The largest value of ``-|Z - A|^2/2``: eigenvalues of ``P A P`` projected on the simplex of sum `s`.

    Examples
    --------
    >>> round(best_value(np.diag([1.0, -1.0]), 1.0), 6)
    -1.5
    """
    n = len(A)
    basis = np.linalg.qr(np.hstack([np.ones((n, 1)), np.eye(n)[:, :-1]]))[0][:, 1:]
    values, vectors = np.linalg.eigh(basis.T @ A @ basis)
    falling = values[::-1]
    levels = (np.cumsum(falling) - s) / np.arange(1, n)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    Z = basis @ (vectors * np.maximum(values - level, 0)) @ vectors.T @ basis.T
    return -float(np.sum((Z - A) ** 2)) / 2


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw error, gap and bound against steps, one panel for each trace."""
    drawn, axes = figure(len(TRACES), row_height=2.6)
    steps = np.arange(1, arrays["error"].shape[1] + 1)
    for ax, s in zip(axes[0], TRACES, strict=True):
        for row in np.flatnonzero(arrays["rows"][:, 0] == s):
            ax.loglog(steps, np.maximum(arrays["error"][row], 1e-12), color=PALETTE[0], linewidth=0.7)
            ax.loglog(steps, arrays["gap"][row], color=PALETTE[1], linewidth=0.7)
        ax.loglog(steps, 8 * s**2 / (steps + 2), color=MUTED, linestyle=(0, (4, 2)))
        for line, (text, colour) in enumerate(
            (("bound 8C/(t + 2)", MUTED), ("gap", PALETTE[1]), ("error", PALETTE[0]))
        ):
            ax.text(0.04, 0.22 - 0.075 * line, text, color=colour, transform=ax.transAxes)
        ax.set(xlabel="steps t", title=f"trace s = {s:g}, curvature C = {s * s:g}")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the bound, the lemma, and that every point is feasible."""
    steps = np.arange(1, arrays["error"].shape[1] + 1)
    s = arrays["rows"][:, :1]
    ratio = arrays["error"] / (8 * s**2 / (steps + 2))
    below = arrays["error"] - arrays["gap"]
    off = arrays["rows"][:, 1:].max()
    return [
        judge(
            "After t steps the error of Algorithm 1 is at most 8 C/(t + 2).",
            "largest ratio of error to bound {ratio:.2f} over {runs} runs of {steps} steps",
            ratio.max() <= 1,
            "The ratio reaches {ratio:.2f}.",
            source=paper("Proposition (accuracy)", "satisfy for all"),
            mend="a ratio of 1",
            ratio=ratio.max(),
            runs=len(s),
            steps=len(steps),
        ),
        judge(
            "The dual value of the lemma is never below the optimum, so its distance from the value bounds the error.",
            "error minus gap at most {excess:.0e}; after {steps} steps the gap is {times:.1f} times the error (middle "
            "run)",
            below.max() <= 1e-6,
            "The gap lies {excess:.0e} below the error.",
            source=paper("Lemma (dual)", "The dual objective of"),
            mend="an excess of 1e-6",
            excess=below.max(),
            steps=len(steps),
            times=np.median(arrays["gap"][:, -1] / np.maximum(arrays["error"][:, -1], 1e-300)),
        ),
        judge(
            "Its points keep the trace and the orthogonality without any projection.",
            "largest violation at the end {off:.0e}",
            off < 1e-9,
            "They are off by {off:.0e}.",
            source=paper("Algorithm 1", "As such it provides a solution without performing any projections"),
            mend="1e-9",
            off=off,
        ),
    ]
