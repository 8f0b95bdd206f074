"""Misprints and slips of the paper: how wrong each is as printed, and how wrong corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets import DataUnavailableError
from ..claims import Claim, Verdict, judge, paper
from ..errata import ERRATA, Erratum
from ..experiment import Experiment
from ..figure_parts import FAINT, MUTED, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Errata",
    caption="""Slips of the paper, each with a check: what is measured is 0 where a statement is right. Orange as
    printed, blue corrected; values below 1e-16 are drawn there. None of them touches the method.""",
    seconds=(5, 5),
)

LEAST_DRAWN = 1e-16
ROUNDING = 1e-4  # of checks that iterate; all others are exact to 1e-9


def compute(record: Record, quick: bool) -> None:
    """Run every check; without its data a check is left out."""
    record["measured"] = np.array([_measured(erratum) for erratum in ERRATA])


def _measured(erratum: Erratum) -> tuple[float, float]:
    try:
        return erratum.check()
    except DataUnavailableError:
        return np.nan, np.nan


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw both measures of every erratum."""
    measured = np.maximum(arrays["measured"], LEAST_DRAWN)
    places = np.arange(len(measured))[::-1]
    drawn, axes = figure(1, row_height=0.27 * len(measured) + 0.6, letters=False)
    ax = axes[0, 0]
    ax.hlines(places, measured.min(axis=1), measured.max(axis=1), color=FAINT, linewidth=1.2, zorder=0)
    for column, colour, text in ((0, PALETTE[1], "as printed"), (1, PALETTE[0], "corrected")):
        ax.scatter(measured[:, column], places, s=22, color=colour, linewidths=0, label=text)
    ax.set_yticks(places, labels=[f"{e.place}: {e.printed}" for e in ERRATA], size=6.5)
    ax.set(xscale="log", xlim=(LEAST_DRAWN / 3, 1e8), xlabel="measure of the check (0 is right)")
    ax.tick_params(axis="y", length=0)
    ax.spines[["left"]].set_visible(False)
    ax.xaxis.label.set_color(MUTED)
    ax.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.06))
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge what is printed."""
    return [_claim(erratum, *row) for erratum, row in zip(ERRATA, arrays["measured"].tolist(), strict=True)]


def _claim(erratum: Erratum, printed: float, corrected: float) -> Claim:
    return judge(
        "{printed}",
        "{measure}: {wrong:.2g} as printed, {right:.0e} corrected",
        printed <= ROUNDING,
        "{corrected} The check then gives {right:.0e} instead of {wrong:.2g}.",
        Verdict.PAPER,
        source=paper(erratum.place, erratum.quotation),
        untested="It takes the data of MNIST to count ({wrong})." if np.isnan(printed) else "",
        printed=erratum.printed,
        corrected=erratum.corrected,
        measure=erratum.measure,
        wrong=printed,
        right=corrected,
    )
