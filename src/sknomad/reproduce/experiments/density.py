"""Neighbourhoods adapt to density: how neighbours per point grow with it, on curves, surfaces and solids."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from ... import Gram, KMeansSDP
from ...solvers import SoftAssignment
from ..claims import Claim, finding, judge, paper
from ..experiment import Experiment
from ..figure_parts import INK, MUTED, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Density",
    caption="""Neighbours per point, 1/Q_ii, against the density of the sample around it, on flat tori of one,
    two and three dimensions whose density varies ninefold along the first angle: means over twelve bins, all draws.
    Optimal quantisation predicts the power 2/(d + 2) (dashed); the line is the fit, with its interval over the
    draws. Below, the fitted power against K, with as many points in each cell: it rises to the law.""",
    seconds=(500, 40),
    seed=100,
)

# Dimension -> points and K, in full and quick. Both the number of cells and the points in each must be large.
SIZES = {1: (1000, 40), 2: (1500, 64), 3: (2500, 125)}
QUICK_SIZES = {1: (500, 25), 2: (700, 36), 3: (900, 64)}
DRAWS, QUICK_DRAWS = 6, 3
# Dimension -> numbers of cells with the same number of points in each, by soft assignments, which prove no bound.
SERIES = {1: (10, 20, 40, 80), 2: (16, 36, 64, 144), 3: (27, 64, 125, 216)}
QUICK_SERIES = {1: (10, 20), 2: (16, 36), 3: (27, 64)}
POINTS_PER_CELL, CELLS_PER_K, SOFT_STEPS = 23, 4, 12
CONTRAST = 0.8  # density 1 + 0.8 cos(angle)
BINS = 12
TOL = 5e-3
LEVEL = 0.95  # of the intervals

Points = NDArray[np.float64]


def uneven_torus(n: int, d: int, rng: np.random.Generator) -> tuple[Points, Points]:
    """Points of a flat torus in 2d coordinates, uneven along the first angle, and the density around each.

    The first angle is stratified, so that its sample is as uneven as it should be and no more.

    Examples
    --------
    >>> X, density = uneven_torus(50, 2, np.random.default_rng(0))
    >>> X.shape, bool(np.allclose(np.sum(X**2, axis=1), 2))
    ((50, 4), True)
    """
    grid = np.linspace(0, 2 * np.pi, 20_001)
    share = (np.arange(n) + rng.uniform(size=n)) / n
    first = np.interp(share, (grid + CONTRAST * np.sin(grid)) / (2 * np.pi), grid)
    angles = np.column_stack([first, 2 * np.pi * rng.uniform(size=(n, d - 1))])
    return np.hstack([np.cos(angles), np.sin(angles)]), 1 + CONTRAST * np.cos(first)


def compute(record: Record, quick: bool) -> None:
    """Solve for every dimension and draw; keep density and diagonal."""
    for d, (n, K) in (QUICK_SIZES if quick else SIZES).items():
        kept = []
        for draw in range(QUICK_DRAWS if quick else DRAWS):
            X, density = uneven_torus(n, d, np.random.default_rng([record.seed, d, draw]))
            solution = record.solve(f"d = {d}, draw {draw}", X, K, tol=TOL)
            kept.append([density, solution.point.diagonal()])
        record[f"{d}/rows"], record[f"{d}/n"], record[f"{d}/K"] = kept, n, K
    record["dimensions"] = list(SIZES)
    for d, counts in (QUICK_SERIES if quick else SERIES).items():
        draws = [np.random.default_rng([record.seed, d, draw, 1]) for draw in range(QUICK_DRAWS if quick else DRAWS)]
        record[f"{d}/series"] = [[soft_power(POINTS_PER_CELL * K, K, d, rng) for rng in draws] for K in counts]
        record[f"{d}/cells"] = counts


def soft_power(n: int, K: int, d: int, rng: np.random.Generator) -> float:
    """The power of one draw, from the diagonal of soft assignments."""
    X, density = uneven_torus(n, d, rng)
    solver = SoftAssignment(rank=CELLS_PER_K * K, improvement=1e-5)
    *_, last = itertools.islice(solver.iterates(KMeansSDP(Gram.from_data(X), K)), SOFT_STEPS)
    return power_of(density, np.asarray(last.point.diagonal()))


def power_of(density: Points, diagonal: Points) -> float:
    """Power of the density with which neighbours per point grow.

    Examples
    --------
    >>> round(power_of(np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.5, 0.25])), 6)
    1.0
    """
    return float(np.polyfit(np.log(density), -np.log(diagonal), 1)[0])


def slopes(arrays: Arrays, d: int) -> Points:
    """The power of each draw."""
    return np.array([power_of(density, diagonal) for density, diagonal in arrays[f"{d}/rows"]])


def interval(values: Points) -> tuple[float, float]:
    """Mean of independent values, and half the width of its interval by Student's distribution.

    Examples
    --------
    >>> [round(float(number), 3) for number in interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, 2.484]
    """
    reach = student.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(reach)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw neighbours against density, and the power against K, a panel for each dimension."""
    dimensions = arrays["dimensions"]
    drawn, axes = figure(len(dimensions), 2, row_height=(2.5, 1.7))
    for ax, d in zip(axes[1], dimensions, strict=True):
        _draw_series(ax, arrays, int(d))
    for ax, d in zip(axes[0], dimensions, strict=True):
        density, diagonal = arrays[f"{d}/rows"].transpose(1, 0, 2)
        edges = np.quantile(density, np.linspace(0, 1, BINS + 1))
        for row, one in zip(density, 1 / diagonal, strict=True):
            place = np.clip(np.digitize(row, edges) - 1, 0, BINS - 1)
            means = [[values[place == k].mean() for k in range(BINS)] for values in (row, one)]
            ax.loglog(*means, ".", color=PALETTE[0], markersize=4, alpha=0.7)
        power, reach = interval(slopes(arrays, int(d)))
        x = np.geomspace(edges[0], edges[-1], 2)
        middle = np.exp(np.mean(np.log(1 / diagonal)) - power * np.mean(np.log(density)))
        law = np.exp(np.mean(np.log(1 / diagonal)) - 2 / (d + 2) * np.mean(np.log(density)))
        ax.loglog(x, middle * x**power, color=INK, linewidth=1.0, label=f"{power:.2f} \N{PLUS-MINUS SIGN} {reach:.2f}")
        ax.loglog(
            x, law * x ** (2 / (d + 2)), color=PALETTE[1], linestyle=(0, (4, 2)), label=f"2/{d + 2} = {2 / (d + 2):.2f}"
        )
        ax.set(xlabel="density (mean is 1)", title=f"d = {d}: n = {int(arrays[f'{d}/n'])}, K = {int(arrays[f'{d}/K'])}")
        ax.legend(loc="upper left")
        ax.set_xticks([0.2, 0.5, 1, 1.8], labels=["0.2", "0.5", "1", "1.8"])
        ax.set_xticks([], minor=True)
    axes[0, 0].set_ylabel("neighbours per point, 1/Q_ii", color=MUTED)
    axes[1, 0].set_ylabel("power", color=MUTED)
    return drawn


def _draw_series(ax: Axes, arrays: Arrays, d: int) -> None:
    cells = arrays[f"{d}/cells"]
    means, reaches = np.transpose([interval(powers) for powers in arrays[f"{d}/series"]])
    ax.errorbar(cells, means, reaches, color=PALETTE[0], marker="o", markersize=4, linewidth=1.0, capsize=2)
    ax.axhline(2 / (d + 2), color=PALETTE[1], linestyle=(0, (4, 2)))
    ax.set_xscale("log")
    ax.set_xticks(cells, labels=[str(K) for K in cells])
    ax.set_xticks([], minor=True)
    ax.set(xlabel="K", title=f"d = {d}: n = {POINTS_PER_CELL} K")


def claims(arrays: Arrays) -> list[Claim]:
    """Judge that neighbourhoods adapt, and compare with the law."""
    found = {int(d): interval(slopes(arrays, int(d))) for d in arrays["dimensions"]}
    words = "; ".join(f"d = {d}: {power:.3f} \N{PLUS-MINUS SIGN} {reach:.3f}" for d, (power, reach) in found.items())
    least = min(power - reach for power, reach in found.values())
    short = {d: 2 / (d + 2) - power for d, (power, _) in found.items()}
    return [
        judge(
            "Where the density of the sample differs, the size of neighbourhoods adjusts.",
            "neighbours per point grow as a power of the density: {words} (95 % intervals over {draws} draws)",
            least > 0,
            "A power is not above 0: {words}.",
            source=paper("Section 2.2, K", "If sampling density differs in different areas, the size will adjust"),
            mend="powers above 0",
            words=words,
            draws=arrays["1/rows"].shape[0],
        ),
        finding(
            "The law of optimal quantisation: neighbours per point grow as density^(2/(d + 2)).",
            "predicted 0.667, 0.500, 0.400 for d = 1, 2, 3; measured {words}; below the law by {short}",
            words=words,
            short=", ".join(f"{value:.3f}" for value in short.values()),
        ),
        _rises_to_the_law(arrays),
        _same_everywhere(arrays),
    ]


def _rises_to_the_law(arrays: Arrays) -> Claim:
    """The law is of the limit: with few cells, each averages over much of the density's variation."""
    series = {int(d): [interval(powers) for powers in arrays[f"{d}/series"]] for d in arrays["dimensions"]}
    first, last = ([abs(2 / (d + 2) - rows[end][0]) for d, rows in series.items()] for end in (0, -1))
    return judge(
        "What is missing to the law is a matter of few cells: the power rises to it with K.",
        "with {per_cell} points per cell, {words}; missing to the law: {first} with the fewest cells, {last} with "
        "the most",
        all(end < begin for begin, end in zip(first, last, strict=True)),
        "The distance does not fall everywhere: {first}, then {last}.",
        mend="smaller distances than {first}",
        per_cell=POINTS_PER_CELL,
        words="; ".join(
            f"d = {d}, K = {', '.join(map(str, arrays[f'{d}/cells']))}: "
            + ", ".join(f"{power:.3f} \N{PLUS-MINUS SIGN} {reach:.3f}" for power, reach in rows)
            for d, rows in series.items()
        ),
        first=", ".join(f"{value:.3f}" for value in first),
        last=", ".join(f"{value:.3f}" for value in last),
    )


def _same_everywhere(arrays: Arrays) -> Claim:
    """The number of neighbours on average is n/K, whatever the density: the trace fixes it."""
    ratio = {
        int(d): float(np.mean(arrays[f"{d}/rows"][:, 1].sum(axis=1)) / float(arrays[f"{d}/K"]))
        for d in arrays["dimensions"]
    }
    error = max(abs(value - 1) for value in ratio.values())
    return judge(
        "K alone sets the size of neighbourhoods on the whole.",
        "trace of Q over K, minus 1: {error:.0e} at most over d = 1, 2, 3",
        error < 1e-6,
        "The trace is off by {error:.0e}.",
        source=paper("Section 2.2, K", "a parameter that effectively sets the size of the local neighborhood"),
        mend="1e-6",
        error=error,
    )
