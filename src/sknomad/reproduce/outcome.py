"""`Outcome`: how an experiment ended; `Step`: where a run of several stands."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class State(enum.Enum):
    """How an experiment ended."""

    COMPUTED = "computed"
    KEPT = "kept from an earlier run"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """The end of one experiment.

    Examples
    --------
    >>> from sknomad.reproduce.outcome import State
    >>> Outcome("ring", State.SKIPPED, "It needs a GPU.").state.value
    'skipped'
    """

    name: str  # of the experiment
    state: State  # how it ended
    reason: str = ""  # one sentence, for those skipped or failed
    seconds: float = 0.0  # of its computation


@dataclass(frozen=True)
class Step:
    """Where a run stands; handed to the progress callback whenever an experiment begins or ends."""

    name: str  # the experiment
    outcome: Outcome | None  # how it ended; None when it begins
    forecast: float  # rough seconds it takes
    forecast_after: float  # rough seconds of all that have not begun
    position: int  # it is the position-th of total to begin
    total: int
