"""Draws what `confidence_` said against how often it was right, on draws that it was not fitted on.

    python benchmarks/reliability.py benchmarks/results/parts_reporting.json docs/images/confidence.png

Nothing is computed again. One panel for the number of parts found by default, one for the number told, where right is
an adjusted Rand index of .9 or more. Every dot is an eighth of the answers, in the order of what was said;
bars are 95 % intervals of Wilson.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from part_tables import reported

from sknomad.plot import FAINT, INK, MUTED, PALETTE, style

DOTS = 8
QUANTILE = 1.96
PANELS = {"number of parts found": "confidence", "number told": "told_confidence"}
KINDS = {"from 200 points": (200, np.inf, "o"), "below 200 points": (0, 200, "s")}


def answers(rows, key):
    """What was said and whether it was right, in the order of what was said."""
    found = [row for row in rows if key in row]
    said = np.array([row[key] for row in found])
    is_told = key == "told_confidence"
    right = np.array([row["told"][1] >= 0.9 if is_told else row["auto"][0] == row["parts"] for row in found])
    order = np.argsort(said, kind="stable")
    return said[order], right[order]


def wilson(right):
    """Ends of the interval of a share."""
    n, share = len(right), right.mean()
    middle = (share + QUANTILE**2 / (2 * n)) / (1 + QUANTILE**2 / n)
    half = QUANTILE / (1 + QUANTILE**2 / n) * np.sqrt(share * (1 - share) / n + QUANTILE**2 / (4 * n**2))
    return middle - half, middle + half


def draw(rows):
    figure = Figure(figsize=(7.0, 3.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (title, key) in zip(axes, PANELS.items(), strict=True):
        axis.plot([0, 1], [0, 1], color=FAINT, linewidth=1.2, zorder=1)
        for colour, (label, (low, high, marker)) in zip(PALETTE, KINDS.items(), strict=False):
            said, right = answers([row for row in rows if low <= row["points"] < high], key)
            for place, (some, hits) in enumerate(
                zip(np.array_split(said, DOTS), np.array_split(right, DOTS), strict=True)
            ):
                axis.plot([some.mean()] * 2, wilson(hits), color=colour, linewidth=1.0, alpha=0.55, zorder=2)
                name = f"{label} ({len(said)})" if place == 0 else None
                axis.plot(some.mean(), hits.mean(), marker, color=colour, markersize=5, label=name, zorder=3)
        axis.set_title(title, color=INK)
        axis.set_xlabel("what confidence_ says")
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1.02)
        axis.set_aspect("equal")
        axis.legend(loc="upper left", frameon=False, fontsize=7.5, labelcolor=MUTED, handletextpad=0.2)
    axes[0].set_ylabel("share of right answers")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    with style():
        draw(reported(json.loads(options.file.read_text())["rows"])).savefig(options.picture)


if __name__ == "__main__":
    main()
