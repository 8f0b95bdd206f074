"""Draws docs/images/paper_*.png and prints the tables of docs/paper_solvers.md from the files that `paper.py` wrote.

python benchmarks/paper_figures.py [convergence] [low-rank] [cp-rank] [tables]
"""

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from sknomad.plot import INK, MUTED, PALETTE, SEQUENTIAL, style

HERE = Path(__file__).parent
RESULTS, IMAGES = HERE / "results", HERE.parent / "docs" / "images"
COLOURS = {"paper": PALETTE[1], "code": PALETTE[0]}


def rows(study):
    return json.loads((RESULTS / f"paper_{study}.json").read_text())["rows"]


def convergence():
    table = rows("convergence")
    names = list(dict.fromkeys(row["data"] for row in table))
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.subplots(2, len(names), sharex=True, sharey="row")
    for column, name in enumerate(names):
        top, bottom = axes[:, column]
        for row in (row for row in table if row["data"] == name):
            colour, steps = COLOURS[row["preset"]], np.arange(1, len(row["rmse"]) + 1)
            fit = row["fit"]
            top.loglog(steps, row["rmse"], color=colour, lw=0.9, label=f"{row['preset']}, slope {fit['slope']:.2f}")
            # The fitted line passes through the middle of the points in the logarithm, from step 10 on.
            x, y = np.log(steps[9:]), np.log(row["rmse"][9:])
            line = np.exp(fit["slope"] * (x - x.mean()) + y.mean())
            top.loglog(steps[9:], line, color=colour, lw=0.9, ls="--")
            bottom.plot(steps, np.array(row["value"]) / row["optimum"][1], color=colour, lw=0.9)
        top.set_title(f"{name}, K = {row['K']}")
        top.legend(frameon=False, fontsize=7)
        bottom.axhline(1, color=MUTED, lw=0.6)
        bottom.set(ylim=(0.8, 1.4), xlabel="outer steps")
    axes[0, 0].set_ylabel("RMSE of negative entries")
    axes[1, 0].set_ylabel("objective / optimum")
    return figure


def low_rank():
    table, pictures = rows("low_rank"), np.load(RESULTS / "paper_low_rank.npz")
    names = list(dict.fromkeys(row["data"] for row in table))
    scale = LinearSegmentedColormap.from_list("affinity", SEQUENTIAL)
    figure = Figure(figsize=(8.4, 5.4), layout="constrained")
    axes = figure.subplots(len(names), 5)
    for line, name in zip(axes, names, strict=True):
        runs = [row for row in table if row["data"] == name]
        titles = ["optimum Q*", *(f"r = {row['rank']}: error {row['relative_error']:.2f}" for row in runs)]
        for ax, picture, title in zip(line, pictures[name], titles, strict=True):
            ax.imshow(picture, cmap=scale, vmin=0, vmax=255, interpolation="nearest")
            ax.set_title(title, fontsize=7.5, pad=4)
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set(visible=True, color=MUTED, linewidth=0.5)
        line[0].set_ylabel(f"{name}, K = {runs[0]['K']}", color=INK)
    return figure


def cp_rank():
    table = rows("cp_rank")
    names = list(dict.fromkeys(row["data"] for row in table))
    figure = Figure(figsize=(7.6, 3.0), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(names), sharey=True), names, strict=True):
        runs = [row for row in table if row["data"] == name]
        rank, mean, spread = (np.array([row[key] for row in runs]) for key in ("rank", "mean", "spread"))
        ax.fill_between(rank, mean - 2 * spread, mean + 2 * spread, color=PALETTE[0], alpha=0.2, lw=0)
        ax.plot(rank, mean, color=PALETTE[0], marker="o", ms=3, lw=1)
        ax.axvline(runs[0]["K"], color=PALETTE[1], lw=0.9, ls="--")
        ax.text(
            runs[0]["K"], 0.97, f" K = {runs[0]['K']}", color=PALETTE[1], transform=ax.get_xaxis_transform(), va="top"
        )
        ax.set(yscale="log", xlabel="rank r", title=f"{name}, n = {runs[0]['n']}")
    figure.axes[0].set_ylabel("relative error of Y Y'")
    return figure


def markdown(header, lines):
    print(
        "\n".join(f"| {' | '.join(map(str, line))} |" for line in (header, ["---"] * len(header), *lines)), end="\n\n"
    )


def settled(row, share):
    """First step from which on the objective stays within `share` of the certified upper bound."""
    off = np.abs(np.array(row["value"]) / row["optimum"][1] - 1)
    step = int(np.max(np.nonzero(off > share)[0], initial=-1)) + 2
    return step if step <= len(off) else "-"


def tables():
    """Print the tables of docs/paper_solvers.md."""
    markdown(
        ["data", "preset", "slope", "R² log-log", "R² semi-log", "RMSE at the end",
         "objective within 5 %, 1 % from step", "certified gap at the end", "seconds"],
        [[row["data"], row["preset"], f"{row['fit']['slope']:.2f}", f"{row['fit']['r2_log_log']:.2f}",
          f"{row['fit']['r2_semi_log']:.2f}", f"{row['rmse'][-1]:.1e}", f"{settled(row, 0.05)}, {settled(row, 0.01)}",
          f"{row['certified_gap_at_the_end']:.1e}", f"{row['seconds']:.0f}"] for row in rows("convergence")],
    )  # fmt: skip
    markdown(
        ["data", "n", "K", "r", "error", "shortfall", "hard points", "seconds"],
        [[row["data"], row["n"], row["K"], row["rank"], f"{row['relative_error']:.2f}", f"{row['shortfall']:.1e}",
          f"{row['share_of_hard_points']:.0%}", f"{row['seconds']:.1f}"] for row in rows("low_rank")],
    )  # fmt: skip
    for name in dict.fromkeys(row["data"] for row in rows("cp_rank")):
        runs = [row for row in rows("cp_rank") if row["data"] == name]
        markdown(
            [f"{name}, r =", *(row["rank"] for row in runs)], [["mean error", *(f"{r['mean']:.2g}" for r in runs)]]
        )
    runs = rows("options")
    cases = list(dict.fromkeys((row["preset"], json.dumps(row["options"])) for row in runs))
    names = list(dict.fromkeys(row["data"] for row in runs))
    cells = {(row["data"], row["preset"], json.dumps(row["options"])): row for row in runs}
    markdown(
        ["preset", "options", *names],
        [[preset, " and ".join(json.loads(variant)) or "none",
          *(reached(cells[name, preset, variant]) for name in names)]
         for preset, variant in cases],
    )  # fmt: skip


def reached(row):
    if row["gap"] <= 1e-2:
        return f"{row['steps']} ({row['seconds']:.1f} s)"
    return f"gap {row['gap']:.1e} after {row['steps']} ({row['seconds']:.1f} s)"


FIGURES = {"convergence": convergence, "low-rank": low_rank, "cp-rank": cp_rank}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="+", choices=[*FIGURES, "tables"])
    which = parser.parse_args().which
    if "tables" in which:
        tables()
    for name in (name for name in which if name in FIGURES):
        with style():
            FIGURES[name]().savefig(IMAGES / f"paper_{name.replace('-', '_')}.png", dpi=130)


if __name__ == "__main__":
    main()
