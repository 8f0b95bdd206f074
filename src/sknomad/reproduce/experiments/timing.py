"""Seconds against the number of points, for ours and for the solvers that the paper compares."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import Gram, Iterate, KMeansSDP, certify, datasets, solve
from ...solvers import BurerMonteiro, ConditionalGradient, Reference
from ..claims import Claim
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record
from ..threads import threads_of_a_solve
from ..timing_claims import CLARABEL, GRADIENT, LOW_RANKS, OTHERS, OURS, SCS, TOL, timing_claims

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Time",
    caption="""Seconds (left) and certified gap at the end (right) on the first n images of the digit one. Ours
    stops at a proven gap of 1e-3, the others at their own tests (conditional gradient: that of the paper's timing
    figure; SCS: 1e-5; low rank: the authors' relative change of 1e-5). Open marks were stopped at the time limit;
    the low-rank solver gives no bound.""",
    data=("mnist",),
    seconds=(720, 30),
    runs_alone=True,
)

# K, sizes for all, further sizes for ours, and the limit in seconds.
FULL = (16, (50, 100, 250, 500, 1000), (2000, 4000), 120.0)
QUICK = (8, (40, 80, 160), (500, 1000), 6.0)
LARGEST_IN_MEMORY = 4e9  # bytes that a reference solver may take; Clarabel cannot be stopped within a step

# A colour and a mark for each method, in the order of `OTHERS` after ours.
COLOURS = dict(zip((OURS, *OTHERS), [PALETTE[k] for k in (0, 4, 1, 3, 2, 5)], strict=True))
MARKERS = dict(zip((OURS, *OTHERS), "os^vDP", strict=True))


@dataclass(frozen=True)
class Run:
    """One run of a solver: its time, whether the limit ended it, and what its last iterate proves."""

    seconds: float = np.nan
    is_capped: bool = False
    gap: float = np.inf
    lower: float = -np.inf


def compute(record: Record, quick: bool) -> None:
    """Time every solver at every size, ours further on; one that hit the limit twice in a row is left alone."""
    K, sizes, beyond, cap = QUICK if quick else FULL
    images = datasets.fetch_mnist(1, max(beyond)).data
    problems = {n: KMeansSDP(Gram.from_data(images[:n]), K) for n in (*sizes, *beyond)}
    solve(KMeansSDP(Gram.from_data(images[:30]), 4))  # imports and threads are up
    runs = {(OURS, n): _ours(record, problem) for n, problem in problems.items()}
    others = [name for name in OTHERS if find_spec("cvxpy") or name not in (SCS, CLARABEL)]
    for name in others:
        runs |= {(name, n): run for n, run in _runs_of(name, [problems[n] for n in sizes], cap).items()}
    methods = [OURS, *others]
    record["methods"], record["n"], record["cap"], record["K"] = methods, list(problems), cap, K
    for field in ("seconds", "is_capped", "gap", "lower"):
        record[field] = [[getattr(runs.get((name, n), Run()), field) for n in problems] for name in methods]
    record["left_out"] = np.array([name for name in OTHERS if name not in others], dtype=str)


def _runs_of(name: str, problems: list[KMeansSDP], cap: float) -> dict[int, Run]:
    """Runs of another solver by number of points, until it hits the limit twice in a row or does not fit."""
    runs: dict[int, Run] = {}
    caps = 0
    for problem in problems:
        run = time_to_the_end(name, problem, cap)
        if run is None:
            break
        runs[problem.n] = run
        caps = caps + 1 if run.is_capped else 0
        if caps == 2:
            break
    return runs


def _ours(record: Record, problem: KMeansSDP) -> Run:
    solution = record.solve(f"n = {problem.n}", problem.gram, problem.K, tol=TOL)
    proof = solution.certificate
    return Run(solution.seconds, not solution.is_certified, proof.gap, proof.lower)


def time_to_the_end(name: str, problem: KMeansSDP, cap: float) -> Run | None:
    """Run another solver to its own end or to the limit; None where it would not fit into memory."""
    if name in (SCS, CLARABEL):
        reference = _reference(name, cap)
        if reference.memory(problem) > LARGEST_IN_MEMORY:
            return None
        reference.prepare(problem)  # CVXPY's translation stays off the clock
        iterates = reference.iterates(problem)
    elif name == GRADIENT:
        iterates = ConditionalGradient("code", stop="timing").iterates(problem)
    else:
        iterates = BurerMonteiro(LOW_RANKS[name], stop="change").iterates(problem)
    with threads_of_a_solve(problem.n):  # as `solve` gives ours
        started = time.perf_counter()
        last, is_capped = _last_before(iterates, started + cap)
        seconds = time.perf_counter() - started
    # A reference solver stops by itself at the limit, and then says nothing.
    is_capped = is_capped or seconds >= 0.98 * cap
    if last is None:
        return Run(seconds, is_capped=True)
    proof = certify(problem, last)
    return Run(min(seconds, cap) if is_capped else seconds, is_capped, proof.gap, proof.lower)


def _reference(name: str, cap: float) -> Reference:
    if name == SCS:
        return Reference("SCS", eps=1e-5, max_iters=5000, time_limit_secs=cap)
    return Reference("CLARABEL", time_limit=cap)


def _last_before(iterates: Iterator[Iterate], deadline: float) -> tuple[Iterate | None, bool]:
    """The last iterate, and whether the clock ended the run; None where a solver had nothing to show in time."""
    last = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for last in iterates:
                if time.perf_counter() > deadline:
                    return last, True
        except ArithmeticError:
            return None, True
    return last, False


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw time and gap against the number of points."""
    limit, K = f"limit {float(arrays['cap']):g} s", int(arrays["K"])
    drawn, axes = figure(2, row_height=2.9, column_widths=(1.15, 1))
    clock, gap = axes[0]
    for row, name in enumerate(arrays["methods"]):
        _series(clock, arrays, row, str(name), arrays["seconds"][row])
        _series(gap, arrays, row, str(name), arrays["gap"][row])
    cap = float(arrays["cap"])
    clock.axhline(cap, color=MUTED, linewidth=0.6, linestyle=(0, (2, 2)))
    clock.annotate(
        limit, (arrays["n"][-1], cap), xytext=(0, 3), textcoords="offset points", ha="right", color=MUTED
    )  # fmt: skip
    gap.axhline(TOL, color=MUTED, linewidth=0.6, linestyle=(0, (2, 2)))
    clock.set_title(f"MNIST digit 1, K = {K}")
    clock.legend(loc="lower right", handlelength=2.0)
    clock.set(xlabel="points n", ylabel="seconds", ylim=(np.nanmin(arrays["seconds"]) / 4, 3 * cap))
    gap.set(xlabel="points n", ylabel="certified gap at the end")
    for ax in (clock, gap):
        ax.set_xticks(arrays["n"], labels=[str(n) for n in arrays["n"]])
        ax.set_xticks([], minor=True)
    return drawn


def _series(ax: Axes, arrays: Arrays, row: int, name: str, values: NDArray[np.float64]) -> None:
    shown = np.isfinite(values)
    n, values, capped = arrays["n"][shown], values[shown], arrays["is_capped"][row][shown]
    wide = 1.9 if name == OURS else 1.2
    line = {"color": COLOURS[name], "marker": MARKERS[name], "markersize": 4.5}
    ax.loglog(n, values, linewidth=wide, zorder=3 if name == OURS else 2, label=name, **line)
    ax.loglog(n[capped], values[capped], markerfacecolor="white", linestyle="none", zorder=4, **line)


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the paper's order of solvers, and how far ours goes."""
    return timing_claims(arrays)
