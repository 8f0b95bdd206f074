"""What a step of each algorithm costs as the number of points grows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import Gram, Iterate, KMeansSDP
from ...solvers import ADMM, ConditionalGradient, Reference, SoftAssignment
from ..claims import Claim, Verdict, finding, judge, paper
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..measure import exponent
from ..record import Arrays, Record
from ..threads import threads_of_a_solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Cost of a step",
    caption="""Seconds for one step of each algorithm against the number of points (Gaussian data in 20
    dimensions, K = 10), the middle of several steps, with the power of n fitted to the three largest sizes. A step
    is one eigenvector of the conditional gradient, one decomposition of ADMM, one gradient of the low-rank solver
    (80 columns) or of soft assignments, one iteration of SCS.""",
    seconds=(140, 16),
    runs_alone=True,
)

GRADIENT, ADMM_, LOW_RANK, SOFT, SCS = "conditional gradient", "ADMM", "low rank", "soft assignments", "SCS"
COLOURS = {GRADIENT: PALETTE[4], ADMM_: PALETTE[0], LOW_RANK: PALETTE[2], SOFT: PALETTE[5], SCS: PALETTE[1]}
K, DIMENSIONS, RANK, INNER = 10, 20, 80, 15
SIZES, QUICK_SIZES = (200, 400, 800, 1600), (100, 200, 400)
SCS_LARGEST = 400  # above it a few iterations take minutes
STEPS, SCS_STEPS = 12, (10, 60)
TOL = 1e-3

Times = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Time steps of every algorithm at every size, and one solve of ours to a proven gap."""
    sizes = QUICK_SIZES if quick else SIZES
    methods = [name for name in COLOURS if name != SCS or find_spec("cvxpy")]
    seconds = np.full((len(methods), len(sizes)), np.nan)
    whole = []
    for column, n in enumerate(sizes):
        X = np.random.default_rng([record.seed, n]).standard_normal((n, DIMENSIONS))
        problem = KMeansSDP(Gram.from_data(X), K)
        whole.append(record.solve(f"n = {n}", problem.gram, K, tol=TOL).seconds)
        for row, name in enumerate(methods):
            if name != SCS or n <= SCS_LARGEST:
                with threads_of_a_solve(n):
                    seconds[row, column] = seconds_per_step(name, problem)
    record["methods"], record["n"], record["seconds"], record["whole"] = methods, sizes, seconds, whole


def seconds_per_step(name: str, problem: KMeansSDP) -> float:
    """Middle time of a step; those of SCS from the difference of a short and a longer run."""
    if name == SCS:
        return _seconds_of_scs(problem)
    if name == GRADIENT:  # an iterate has several inner steps, an eigenvector each
        return _between_iterates(ConditionalGradient("code").iterates(problem)) / INNER
    if name == ADMM_:
        return _between_iterates(ADMM(device="cpu").iterates(problem))
    if name == SOFT:
        return _between_iterates(SoftAssignment(rank=RANK).iterates(problem))
    return _seconds_of_a_low_rank_gradient(problem)


def _between_iterates(iterates: Iterator[Iterate]) -> float:
    next(iterates)  # the start is no step
    clock = [time.perf_counter(), *(time.perf_counter() for _ in itertools.islice(iterates, STEPS))]
    return float(np.median(np.diff(clock)))


def _seconds_of_a_low_rank_gradient(problem: KMeansSDP) -> float:
    """A gradient is products of X, its transpose and Y; timed as such, since L-BFGS-B hides its steps."""
    X = problem.gram.factor
    assert X is not None
    Y = np.random.default_rng(0).random((problem.n, RANK))
    times = []
    for _ in range(STEPS):
        started = time.perf_counter()
        e = Y @ Y.sum(axis=0) - 1
        _ = -2 * (X @ (X.T @ Y)) + e[:, None] * Y.sum(axis=0) + e @ Y
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def _seconds_of_scs(problem: KMeansSDP) -> float:
    spent = []
    for count in SCS_STEPS:
        solver = Reference("SCS", eps=1e-12, max_iters=count)
        solver.prepare(problem)
        started = time.perf_counter()
        for _ in solver.iterates(problem):
            pass
        spent.append(time.perf_counter() - started)
    return max(spent[1] - spent[0], 1e-9) / (SCS_STEPS[1] - SCS_STEPS[0])


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw seconds per step against n."""
    drawn, axes = figure(1, row_height=3.1, letters=False)
    ax = axes[0, 0]
    for row, name in enumerate(arrays["methods"]):
        seen = np.isfinite(arrays["seconds"][row])
        n, seconds = arrays["n"][seen], arrays["seconds"][row][seen]
        power = exponent(n[-3:], seconds[-3:])
        ax.loglog(n, seconds, "o-", color=COLOURS[str(name)], label=f"{name}: n^{power:.1f}")
    ax.set(xlabel="points n", ylabel="seconds per step")
    ax.set_xticks(arrays["n"], labels=[str(n) for n in arrays["n"]])
    ax.set_xticks([], minor=True)
    ax.yaxis.label.set_color(MUTED)
    ax.legend(loc="upper left")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the powers of n, and the time of a whole solve."""
    powers = {}
    for row, name in enumerate(arrays["methods"]):
        seen = np.isfinite(arrays["seconds"][row])
        powers[str(name)] = exponent(arrays["n"][seen][-3:], arrays["seconds"][row][seen][-3:])
    rows = [_gradient(arrays, powers)]
    if SCS in powers:
        rows.append(_generic(arrays, powers))
    return [*rows, _others(arrays, powers), _polynomial(arrays)]


def _gradient(arrays: Arrays, powers: dict[str, float]) -> Claim:
    return judge(
        "A step of the conditional gradient costs no more than n^2 log n.",
        "seconds per step grow as n^{power:.2f} up to n = {largest}",
        powers[GRADIENT] < 2.5,
        "They grow as n^{power:.2f}.",
        Verdict.PAPER,
        source=paper("Complexity", "the complexity per iteration is"),
        power=powers[GRADIENT],
        largest=arrays["n"][-1],
    )


def _generic(arrays: Arrays, powers: dict[str, float]) -> Claim:
    holds = powers[SCS] > max(powers[GRADIENT], 2.0)
    return judge(
        "A step of a generic solver costs n^3, more than one of the conditional gradient.",
        "seconds per iteration of SCS grow as n^{power:.2f} up to n = {largest}, those of the conditional gradient as "
        "n^{gradient:.2f}",
        holds,
        "The powers are {power:.2f} and {gradient:.2f}.",
        Verdict.PAPER,
        source=paper("Complexity", "standard SDP solvers have a complexity of"),
        untested="" if holds else "At these sizes overhead hides the cube: powers {power:.2f} and {gradient:.2f}.",
        power=powers[SCS],
        gradient=powers[GRADIENT],
        largest=min(SCS_LARGEST, int(arrays["n"][-1])),
    )


def _others(arrays: Arrays, powers: dict[str, float]) -> Claim:
    ours = {name: power for name, power in powers.items() if name not in (GRADIENT, SCS)}
    return finding(
        "Cost of a step of the other algorithms.",
        "powers of n up to n = {largest}: {words}",
        largest=arrays["n"][-1],
        words=", ".join(f"{name} {power:.2f}" for name, power in ours.items()),
    )


def _polynomial(arrays: Arrays) -> Claim:
    power = exponent(arrays["n"], arrays["whole"])
    return judge(
        "The problem is solved in polynomial time.",
        "to a proven gap of {tol:g}, ours takes {last:.3g} s at n = {largest}, growing as n^{power:.1f} from n = "
        "{smallest}",
        power < 4,
        "The time grows as n^{power:.1f}.",
        source=paper("Section 6", "it is convex and can be solved in polynomial-time"),
        mend="a power below 4",
        tol=TOL,
        last=arrays["whole"][-1],
        largest=arrays["n"][-1],
        smallest=arrays["n"][0],
        power=power,
    )
