"""The paper's conditional gradient method step by step, with both sets of its constants, and our ADMM beside it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import Gram, Iterate, datasets
from ...solvers import ADMM, ConditionalGradient
from ..claims import Claim, Verdict, judge
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Convergence",
    caption="""Root mean square of the negative entries of Q (above), and the objective relative to the certified
    optimum (below), against steps, for the conditional gradient method with the constants of the paper's text and
    of its authors' code (10 and 15 eigenvectors a step), and for our ADMM (one decomposition a step).""",
    seconds=(230, 12),
)

PRESETS = ("paper", "code")
METHODS = {"paper": "text's constants", "code": "code's constants", "admm": "ours"}
COLOURS = {"paper": PALETTE[1], "code": PALETTE[4], "admm": PALETTE[0]}
STEPS, QUICK_STEPS, OUR_STEPS = 3000, 150, 1000
FIRST_FITTED = 10  # the paper speaks of what follows the first ten steps
SETTLED_DISTANCE = 0.01  # an objective that stays this close to the optimum, relatively, has settled
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
            history = [measure(iterate, gram) for iterate in itertools.islice(iterates, count)]
            record[f"{name}/{key}/rmse"], record[f"{name}/{key}/value"] = np.array(history).T


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


def _objective(ax: Axes, arrays: Arrays, name: str) -> None:
    upper = float(arrays[f"{name}/optimum"][1])
    ax.axhline(1, color=MUTED, linewidth=0.6)
    for key in METHODS:
        value = arrays[f"{name}/{key}/value"] / upper
        ax.semilogx(np.arange(1, len(value) + 1), value, color=COLOURS[key], linewidth=1.1)
    ax.set(ylim=(0.85, 1.25), xlabel="steps")


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the rate, the objective, the two sets of constants, and ours beside them."""
    names = [str(name) for name in arrays["data"]]
    return [
        _rate(arrays, names),
        *(_settles(arrays, names, preset) for preset in PRESETS),
        _two_solvers(arrays, names),
        _ours(arrays, names),
    ]


def _rate(arrays: Arrays, names: list[str]) -> Claim:
    fits = {(n, p): power_law(arrays[f"{n}/{p}/rmse"]) for n in names for p in PRESETS}
    straight = np.array([fit[1] for fit in fits.values()])
    semi = np.array([fit[2] for fit in fits.values()])
    slopes = "; ".join(
        f"{METHODS[p]} " + ", ".join(f"{fits[n, p][0]:.2f} ({n})" for n in names) for p in PRESETS
    )  # fmt: skip
    return judge(
        "The violation falls linearly (as a geometric series) after about ten steps.",
        f"R\N{SUPERSCRIPT TWO} {semi.min():.2f} to {semi.max():.2f} for a geometric series, {straight.min():.2f} to "
        f"{straight.max():.2f} for a power of the step; exponents {slopes}",
        bool((semi > straight).all()),
        "It is a power law: straight on doubly logarithmic axes, which is how the authors plot it. The number of steps "
        "for a given accuracy grows as its power, not as its logarithm.",
        Verdict.DIFFERS,
    )


def _settles(arrays: Arrays, names: list[str], preset: str) -> Claim:
    found = {n: settled_from(arrays[f"{n}/{preset}/value"], float(arrays[f"{n}/optimum"][1])) for n in names}
    words = (
        f"{n}: {'not within ' + str(len(arrays[f'{n}/{preset}/value'])) if s is None else s}" for n, s in found.items()
    )
    return judge(
        f"The objective settles within a few hundred steps ({METHODS[preset]}).",
        "steps until it stays within 1 %: " + ", ".join(words),
        all(step is not None and step <= SETTLING_STEPS for step in found.values()),
        "With steps of fixed length 2/(t + i + 4) and ten of them before each update of the multiplier, the objective "
        "goes on swinging around the optimum."
        if preset == "paper"
        else "It approaches the optimum slowly.",
        Verdict.DIFFERS,
    )


def _two_solvers(arrays: Arrays, names: list[str]) -> Claim:
    ratio = [arrays[f"{n}/paper/rmse"][-1] / arrays[f"{n}/code/rmse"][-1] for n in names]
    return judge(
        "The constants printed in the paper and those of its code are the same method.",
        "violation at the end with the text's constants, in units of that with the code's: "
        + ", ".join(f"{value:.0f} ({name})" for name, value in zip(names, ratio, strict=True)),
        max(ratio) < 2,
        "Step length, penalty and number of inner steps all differ; the code's are the faster by far.",
        Verdict.DIFFERS,
    )


def _ours(arrays: Arrays, names: list[str]) -> Claim:
    words, better = [], []
    for name in names:
        goal = float(arrays[f"{name}/code/rmse"][-1])
        reached = np.flatnonzero(arrays[f"{name}/admm/rmse"] <= goal)
        step = int(reached[0]) + 1 if reached.size else None
        steps = len(arrays[f"{name}/code/rmse"])
        words.append(f"{name}: {'not reached' if step is None else step} against {steps}")
        better.append(step is not None and step < steps)
    return judge(
        "Beyond the paper: ADMM reaches the violation of the conditional gradient's last step in far fewer steps.",
        "steps, " + "; ".join(words),
        all(better),
        "On these data it does not.",
    )
