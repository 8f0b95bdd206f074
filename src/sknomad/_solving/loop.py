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
    max_seconds: float  # checked between steps, and before one that would take longer; may be infinite


class Pace:
    """How long the next step of a run will take, at least: as long as the shorter of the last two.

    A first step, and the first of another phase, takes longer than those that follow it.
    """

    def __init__(self) -> None:
        self.marks: list[float] = []  # seconds of the run at the ends of the last steps, at most three

    def enter(self, now: float) -> None:
        """Take note of the end of a step."""
        self.marks = [*self.marks[-2:], now]

    @property
    def next_step(self) -> float:
        """Seconds; 0 while there is nothing to tell them by."""
        if len(self.marks) < 3:
            return 0.0
        return min(self.marks[2] - self.marks[1], self.marks[1] - self.marks[0])


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
        if run.seconds >= limits.max_seconds:
            return Status.MAX_SECONDS
    pace = Pace()
    for iterate in steps:
        if not isinstance(iterate, Iterate):
            raise TypeError(f"a solver must yield Iterates, got {type(iterate).__name__}. Yield Iterate(Q, N=N).")
        run.iterate = iterate
        run.iteration += 1
        if judge.after_step(run):
            if run.may_end:
                return Status.CERTIFIED
            if keeper is not None:
                keeper.save_if_due(run)
        if callback is not None and callback(run.progress):
            return Status.STOPPED
        pace.enter(run.seconds)
        if run.iteration >= limits.max_iter:
            return Status.MAX_ITER
        if run.seconds + pace.next_step >= limits.max_seconds:
            return Status.MAX_SECONDS
    return Status.EXHAUSTED
