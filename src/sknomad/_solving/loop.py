"""The one loop: takes a solver's steps, has them looked at, and stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from .._certificate.iterate import Iterate
from .judging import Judge
from .run_state import Progress, Run
from .solution import Status

# Sees the progress after every step; True asks for an end.
Callback = Callable[[Progress], object]


class Keeper(Protocol):
    """Keeps a run somewhere, now and then."""

    def save_if_due(self, run: Run) -> None:
        """Keep the run if the last time was long enough ago."""
        ...


@dataclass(frozen=True)
class Limits:
    """Where a run ends at the latest."""

    max_iter: int
    max_seconds: float  # checked between steps; may be infinite


def take_steps(
    run: Run,
    steps: Iterator[Iterate],
    judge: Judge,
    limits: Limits,
    *,
    callback: Callback | None = None,
    keeper: Keeper | None = None,
) -> Status:
    """Take steps until the gap is proven, a limit is reached, the callback says so, or there are none left."""
    if run.iterate is not None:
        judge.begin(run)
        if run.is_done:
            return Status.CERTIFIED
    for iterate in steps:
        run.iterate = iterate
        run.iteration += 1
        if judge.after_step(run):
            if run.is_done:
                return Status.CERTIFIED
            if keeper is not None:
                keeper.save_if_due(run)
        if callback is not None and callback(run.progress):
            return Status.STOPPED
        if run.iteration >= limits.max_iter:
            return Status.MAX_ITER
        if run.seconds >= limits.max_seconds:
            return Status.MAX_SECONDS
    return Status.EXHAUSTED
