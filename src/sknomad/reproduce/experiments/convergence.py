"""The paper's conditional gradient method step by step, with both sets of its constants, and our ADMM beside it."""

from __future__ import annotations

import itertools
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import Gram, Iterate, datasets
from ...solvers import ADMM, ConditionalGradient, Reference
from ..claims import Claim, Verdict, judge, paper
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record
from ..threads import threads_of_a_solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Convergence",
    caption="""Root mean square of the negative entries of Q (above), and the objective relative to the certified
    optimum (below), against steps, for the conditional gradient method with the constants of the paper's text and
    of its authors' code (10 and 15 eigenvectors a step), and for our ADMM (one decomposition a step). Orange lines
    are where the generic solver (SCS) ends; without CVXPY they are missing.""",
    seconds=(320, 14),
)

SCS_SETTINGS = {"eps": 1e-5, "max_iters": 5000}
PRESETS = ("paper", "code")
METHODS = {"paper": "text's constants", "code": "code's constants", "admm": "ours"}
COLOURS = {"paper": PALETTE[1], "code": PALETTE[2], "admm": PALETTE[0]}
ORANGE = "#E69F00"  # of the reference solver, as in the paper
STEPS, QUICK_STEPS, OUR_STEPS = 3000, 150, 1000
FIRST_FITTED = 10  # the paper speaks of what follows the first ten steps
SETTLED_DISTANCE = 0.01  # an objective that stays this close to the optimum, relatively, has settled
DISTANCES = (0.3, 0.1, 0.03, 0.01)  # at which the rate of the objective is read off
SETTLING_STEPS = 500  # what "a few hundred steps" is taken to mean


def compute(record: Record, quick: bool) -> None:
    """Run every method for a fixed number of steps on both data sets."""
    n, steps = (100, QUICK_STEPS) if quick else (200, STEPS)
    data = {
        "two rings": (datasets.two_rings(n)[0], n * 16 / 200),
        "moons": (datasets.moons(n, random_state=record.seed)[0], n * 16 / 200),
    }
    record["data"] = list(data)
    for name, (X, K) in data.items():
        gram = Gram.from_data(X)
        solution = record.solve(name, gram, K, tol=1e-3 if quick else 1e-4)
        problem, proof = solution.problem, solution.certificate
        record[f"{name}/K"], record[f"{name}/n"], record[f"{name}/optimum"] = K, n, [proof.lower, proof.upper]
        runs = {preset: (ConditionalGradient(preset).iterates(problem), steps) for preset in PRESETS}
        runs["admm"] = (ADMM(device="cpu").iterates(problem), min(steps, OUR_STEPS))
        for key, (iterates, count) in runs.items():
            with threads_of_a_solve(n):
                history = [measure(iterate, gram) for iterate in itertools.islice(iterates, count)]
            record[f"{name}/{key}/rmse"], record[f"{name}/{key}/value"] = np.array(history).T
        if find_spec("cvxpy"):
            *_, last = Reference("SCS", **SCS_SETTINGS).iterates(problem)
            record[f"{name}/reference"] = measure(last, gram)


def measure(iterate: Iterate, gram: Gram) -> tuple[float, float]:
    """Root mean square of the negative entries of ``Q``, and its value."""
    point = iterate.point
    return negative_rmse(np.asarray(point.rows(0, point.n), dtype=np.float64)), point.value(gram)


def negative_rmse(Q: NDArray[np.float64]) -> float:
    """Root mean square of the negative entries, over those alone; 0 where there are none.

    Examples
    --------
    >>> round(negative_rmse(np.array([[1.0, -0.3], [-0.4, 1.0]])), 4)
    0.3536
    """
    negative = Q[Q < 0]
    return float(np.sqrt(np.mean(negative**2))) if negative.size else 0.0


def power_law(values: NDArray[np.float64], first: int = FIRST_FITTED) -> tuple[float, float, float]:
    """Slope on log-log axes from step `first` on, and R^2 there and on semi-log axes.

    Examples
    --------
    >>> slope, fit, other = power_law(1.0 / np.arange(1.0, 1001.0))
    >>> round(slope, 6), round(fit, 6), other < 0.9
    (-1.0, 1.0, True)
    """
    steps = np.arange(first, len(values) + 1)
    y = np.log(values[first - 1 :])

    def r_squared(x: NDArray[np.float64] | NDArray[np.int64]) -> float:
        return float(np.corrcoef(x, y)[0, 1] ** 2)

    return float(np.polyfit(np.log(steps), y, 1)[0]), r_squared(np.log(steps)), r_squared(steps)


def settled_from(value: NDArray[np.float64], optimum: float, share: float = SETTLED_DISTANCE) -> int | None:
    """First step from which on the value stays within `share` of the optimum; None if it does not.

    Examples
    --------
    >>> settled_from(np.array([2.0, 1.0, 1.1, 1.001, 0.999]), 1.0)
    4
    """
    away = np.flatnonzero(np.abs(value / optimum - 1) > share)
    step = int(away[-1]) + 2 if away.size else 1
    return step if step <= len(value) else None


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw violation and objective against steps."""
    drawn, axes = figure(len(arrays["data"]), 2, row_height=(2.2, 1.9))
    for column, name in enumerate(arrays["data"]):
        _violation(axes[0, column], arrays, str(name))
        _objective(axes[1, column], arrays, str(name))
        axes[0, column].set_title(f"{name}, n = {int(arrays[f'{name}/n'])}, K = {float(arrays[f'{name}/K']):g}")
    axes[0, 0].set_ylabel("RMSE of negative entries")
    axes[1, 0].set_ylabel("objective / optimum")
    return drawn


def _violation(ax: Axes, arrays: Arrays, name: str) -> None:
    for line, (key, text) in enumerate(METHODS.items()):
        rmse = arrays[f"{name}/{key}/rmse"]
        steps, found = np.arange(1, len(rmse) + 1), rmse > 0
        ax.loglog(steps[found], rmse[found], color=COLOURS[key], linewidth=1.1)
        if key in PRESETS:
            slope, _, _ = power_law(rmse)
            x, y = np.log(steps[FIRST_FITTED - 1 :]), np.log(rmse[FIRST_FITTED - 1 :])
            ax.loglog(np.exp(x), np.exp(slope * (x - x.mean()) + y.mean()), color=COLOURS[key], linestyle=(0, (2, 2)))
            text += f", slope {slope:.2f}".replace("-", "\N{MINUS SIGN}")
        # The lower left corner is free: violations begin large.
        ax.text(0.03, 0.21 - 0.085 * line, text, color=COLOURS[key], transform=ax.transAxes)
    if f"{name}/reference" in arrays and (reached := float(arrays[f"{name}/reference"][0])) > 0:
        ax.axhline(reached, 0.6, color=ORANGE, linewidth=0.9)
        ax.text(0.99, 1.1 * reached, "SCS", color=ORANGE, ha="right", va="bottom", transform=ax.get_yaxis_transform())


def _objective(ax: Axes, arrays: Arrays, name: str) -> None:
    upper = float(arrays[f"{name}/optimum"][1])
    ax.axhline(1, color=MUTED, linewidth=0.6)
    if f"{name}/reference" in arrays:
        ax.axhline(arrays[f"{name}/reference"][1] / upper, color=ORANGE, linewidth=0.9)
    for key in METHODS:
        value = arrays[f"{name}/{key}/value"] / upper
        ax.semilogx(np.arange(1, len(value) + 1), value, color=COLOURS[key], linewidth=1.1)
    ax.set(ylim=(0.85, 1.25), xlabel="steps")


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the rate, the objective, the two sets of constants, and ours beside them."""
    names = [str(name) for name in arrays["data"]]
    rows = [_rate(arrays, names), _settles(arrays, names), _two_solvers(arrays, names), _superlinear(arrays, names)]
    if f"{names[0]}/reference" in arrays:
        rows.append(_reference_is_nearer(arrays, names))
    return [*rows, _ours(arrays, names)]


def _by_name(values: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _rate(arrays: Arrays, names: list[str]) -> Claim:
    fits = {(n, p): power_law(arrays[f"{n}/{p}/rmse"]) for n in names for p in PRESETS}
    straight = np.array([fit[1] for fit in fits.values()])
    semi = np.array([fit[2] for fit in fits.values()])
    slopes = "; ".join(
        f"{METHODS[p]} " + ", ".join(f"{fits[n, p][0]:.2f} ({n})" for n in names) for p in PRESETS
    )  # fmt: skip
    return judge(
        "The violation falls linearly (as a geometric series) after about ten steps.",
        "R\N{SUPERSCRIPT TWO} {semi_low:.2f} to {semi_high:.2f} for a geometric series, {low:.2f} to {high:.2f} for a "
        "power "
        "of the step; exponents {slopes}",
        bool((semi > straight).all()),
        "It is a power law: R\N{SUPERSCRIPT TWO} is {low:.2f} to {high:.2f} on doubly logarithmic axes, which is how "
        "the "
        "authors plot it, against {semi_low:.2f} to {semi_high:.2f}. A given accuracy takes a power of it in steps, "
        "not "
        "its logarithm.",
        Verdict.PAPER,
        source=paper("Figure 13", "After about 10 iterations, the RMSE drops linearly"),
        semi_low=semi.min(),
        semi_high=semi.max(),
        low=straight.min(),
        high=straight.max(),
        slopes=slopes,
    )


def _settles(arrays: Arrays, names: list[str]) -> Claim:
    found = {
        (n, p): settled_from(arrays[f"{n}/{p}/value"], float(arrays[f"{n}/optimum"][1])) for n in names for p in PRESETS
    }
    limit = len(arrays[f"{names[0]}/code/value"])
    words = "; ".join(
        f"{METHODS[p]} " + _by_name({n: found[n, p] or f"not within {limit}" for n in names}) for p in PRESETS
    )
    steps = [found[n, "code"] for n in names]
    holds = all(step is not None and step <= SETTLING_STEPS for step in steps)
    return judge(
        "The objective settles within a few hundred steps, with the constants of the authors' code.",
        "steps until it stays within 1 %: {words}",
        holds,
        "The slower one takes {most} steps.",
        Verdict.PAPER,
        source=paper("Figure 13", "which usually converges in a few hundred iterations"),
        untested="" if holds or limit >= SETTLING_STEPS else "This run ends after {limit} steps.",
        words=words,
        limit=limit,
        most="more than all" if None in steps else max(step for step in steps if step is not None),
    )


def _two_solvers(arrays: Arrays, names: list[str]) -> Claim:
    ratio = {n: arrays[f"{n}/paper/rmse"][-1] / arrays[f"{n}/code/rmse"][-1] for n in names}
    return judge(
        "The constants printed in the paper are those of its figures.",
        "violation after {steps} steps with the text's constants, in units of that with the code's: {ratio}",
        max(ratio.values()) < 2,
        "Step length, penalty and number of inner steps differ between text and code, and the code's are up to "
        "{most:.0f} times more accurate.",
        Verdict.PAPER,
        source=paper("Algorithm 2", "In our implementation we set"),
        steps=len(arrays[f"{names[0]}/code/rmse"]),
        ratio=_by_name({n: f"{value:.0f}" for n, value in ratio.items()}),
        most=max(ratio.values()),
    )


def _superlinear(arrays: Arrays, names: list[str]) -> Claim:
    """Whether each further factor of about three in the objective's distance takes fewer steps than the one before."""
    found = {
        n: [settled_from(arrays[f"{n}/code/value"], float(arrays[f"{n}/optimum"][1]), share) for share in DISTANCES]
        for n in names
    }
    is_known = all(None not in steps for steps in found.values())
    # A step that was never reached counts as infinitely late, and a claim is then not judged.
    late = {n: np.array([np.inf if step is None else step for step in steps]) for n, steps in found.items()}
    return judge(
        "The objective converges superlinearly.",
        "steps until it stays within 30, 10, 3 and 1 % of the optimum, code's constants: {words}",
        is_known and all(np.all(np.diff(steps, 2) < 0) for steps in late.values()),
        "A further factor of three takes about as many steps as the one before, or more: {words}.",
        Verdict.PAPER,
        source=paper("Section 5.4", "the objective value is clearly superlinear"),
        untested="" if is_known else "This run is too short: {words}.",
        words=_by_name({n: ", ".join(map(str, steps)) for n, steps in found.items()}),
    )


def _reference_is_nearer(arrays: Arrays, names: list[str]) -> Claim:
    generic = {n: float(arrays[f"{n}/reference"][0]) for n in names}
    gradient = {n: float(arrays[f"{n}/code/rmse"][-1]) for n in names}
    return judge(
        "The generic solver enforces nonnegativity more accurately.",
        "root mean square of negative entries, SCS / conditional gradient after {steps} steps: {words}",
        all(generic[n] < gradient[n] for n in names),
        "It does not everywhere: {words}.",
        Verdict.PAPER,
        source=paper("Section 5.4", "standard solvers enforce the nonnegativity constraint more accurately"),
        steps=len(arrays[f"{names[0]}/code/rmse"]),
        words=_by_name({n: f"{generic[n]:.0e} / {gradient[n]:.0e}" for n in names}),
    )


def _ours(arrays: Arrays, names: list[str]) -> Claim:
    steps: dict[str, int | None] = {}
    for name in names:
        reached = np.flatnonzero(arrays[f"{name}/admm/rmse"] <= float(arrays[f"{name}/code/rmse"][-1]))
        steps[name] = int(reached[0]) + 1 if reached.size else None
    limit = len(arrays[f"{names[0]}/code/rmse"])
    return judge(
        "ADMM reaches the violation of the conditional gradient's last step in far fewer steps.",
        "of {limit} steps it takes {words}",
        all(step is not None and step < limit / 2 for step in steps.values()),
        "It takes {words}.",
        mend="half of the steps, 0.5",
        limit=limit,
        words=_by_name({name: step if step is not None else "all and more" for name, step in steps.items()}),
    )
