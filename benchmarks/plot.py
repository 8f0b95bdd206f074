"""Draws certified gap and value against time, one column per data set, from a result file of benchopt.

    python benchmarks/plot.py benchmarks/results/benchopt_quick.parquet docs/images/gap_against_time.png

Nothing is computed again. Every bound in the file is proven, so at any time the best of each kind so far count. Also
prints the last line of every run as a table.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from sknomad.plot import FAINT, INK, MUTED, PALETTE, style

# Better is drawn here: the rest of the scale is rounding, or luck with the last look.
FLOOR = 1e-8


class Look(NamedTuple):
    """How a solver is drawn. Shapes differ as well as colours, and lines that coincide stay visible."""

    label: str
    colour: str
    width: float = 1.4
    line: str | tuple = "-"
    marker: str = ""


LOOKS = {
    "sknomad-auto": Look("auto", PALETTE[5], width=4.5),
    "sknomad-admm": Look("ADMM", PALETTE[0]),
    "sknomad-soft": Look("soft assignments", PALETTE[2], line="--"),
    "conditional-gradient": Look("conditional gradient", PALETTE[1], line="-."),
    "burer-monteiro": Look("Burer-Monteiro", PALETTE[4], width=2.0, line=(0, (1, 0.8))),
    "scs": Look("SCS", PALETTE[3], width=0.8, marker="s"),
    "clarabel": Look("Clarabel", PALETTE[6], width=0.8, marker="D"),
    "k-means": Look("k-means", MUTED, width=0.8, marker="X"),
}


def read_results(path):
    """The rows of a result file, parquet or csv, with the solver's name apart from its parameters."""
    table = pd.read_csv(path) if Path(path).suffix == ".csv" else pd.read_parquet(path)
    return table.assign(solver=table["solver_name"].str.split("[").str[0])


def relative(upper, lower):
    """Relative distance between bounds; infinite where the upper one is unknown."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(upper), (upper - lower) / np.abs(upper), np.inf)


def curves(table):
    """Rows of one data set as curves: for each run, times, gap, and how far its value is from the best bound known.

    Runs that have but one point each, such as SCS with several tolerances, are the points of one curve.
    """
    best = table["objective_upper"].min()
    for solver, runs in table.groupby("solver", sort=False):
        is_points = not runs.duplicated(["solver_name", "idx_rep"]).any()
        for _, run in [(solver, runs)] if is_points else runs.groupby(["solver_name", "idx_rep"], sort=False):
            run = run.sort_values("time")
            lower, upper = run["objective_lower"].cummax(), run["objective_upper"].cummin()
            yield solver, run["time"].to_numpy(), relative(upper, lower), relative(best + 0 * lower, lower)


def title(dataset):
    """Name and parameters of a data set, as a title."""
    name, settings = dataset.split("[")[0], dict(re.findall(r"(\w+)=([^,\]]+)", dataset))
    name = settings.get("kind", f"MNIST digit {settings['digit']}" if name == "mnist" else name)
    return f"{name}, " + ", ".join(f"{key} = {settings[key]}" for key in ("n", "K") if key in settings)


def look_of(solver):
    """How to draw `solver`; one unknown here is drawn in ink under its own name."""
    return LOOKS.get(solver, Look(solver, INK))


def draw(table):
    """The figure: certified gaps above, values below."""
    datasets = list(table["dataset_name"].unique())
    seen = [key for key in LOOKS if key in set(table["solver"])]
    seen += [key for key in table["solver"].unique() if key not in LOOKS]
    figure = Figure(figsize=(2.6 * max(len(datasets), 2) + 0.8, 5.6), layout="constrained")
    axes = figure.subplots(2, len(datasets), sharex=True, sharey=True, squeeze=False)
    for column, dataset in zip(axes.T, datasets, strict=True):
        drawn = {key: [] for key in seen}
        for solver, *curve in curves(table[table["dataset_name"] == dataset]):
            drawn[solver].append(curve)
        for solver, runs in drawn.items():  # in the order of the legend: the wide line lies below
            for time, *distances in runs:
                for ax, distance in zip(column, distances, strict=True):
                    draw_curve(ax, time, distance, look_of(solver))
        column[0].set_title(title(dataset), pad=7)
        column[1].set_xlabel("seconds")
    axes[0, 0].set_ylabel("certified gap\nby the solver's own multiplier")
    axes[1, 0].set_ylabel("value below the best bound\nthat any solver proved")
    for ax in axes.flat:
        dress(ax)
    handles = [handle(look_of(key)) for key in seen]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, columnspacing=1.4)
    return figure


def draw_curve(ax, time, distance, look):
    known = np.isfinite(distance)
    kind = {"drawstyle": "steps-post"} if not look.marker else {"marker": look.marker, "ms": 4.5}
    time, distance = time[known], np.maximum(distance[known], FLOOR)
    ax.plot(time, distance, color=look.colour, lw=look.width, ls=look.line, **kind)
    if not look.marker:  # where the run ended, or was cut off
        ax.plot(time[-1:], distance[-1:], color=look.colour, marker="o", ms=2.5 + look.width)


def dress(ax):
    ax.set(xscale="log", yscale="log", ylim=(FLOOR / 2, 1.5))
    ax.grid(color=FAINT, lw=0.5)
    ax.xaxis.set_major_locator(LogLocator(numticks=6))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.yaxis.set_major_locator(FixedLocator([10.0**k for k in range(-8, 1, 2)]))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: ("≤ " if y <= FLOOR else "") + f"{y:.0e}"))


def handle(look):
    return Line2D([], [], color=look.colour, lw=look.width, ls=look.line, marker=look.marker, ms=4.5, label=look.label)


def last_lines(table):
    """The best bounds of every run and its seconds, one line each."""
    for (dataset, solver, _), run in table.groupby(["dataset_name", "solver_name", "idx_rep"], sort=False):
        lower, upper = run["objective_lower"].max(), run["objective_upper"].min()
        gap = float(relative(upper, lower))
        bounds = f"{lower:.8g} <= optimum <= {upper:.8g}  gap {gap:.1e}"
        yield f"{dataset:<33}{solver:<36}{run['time'].max():8.2f} s  {bounds}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="parquet or csv file of benchopt")
    parser.add_argument("image", type=Path)
    options = parser.parse_args()
    table = read_results(options.results)
    print("\n".join(last_lines(table)))
    with style():
        draw(table).savefig(options.image, dpi=130)


if __name__ == "__main__":
    main()
