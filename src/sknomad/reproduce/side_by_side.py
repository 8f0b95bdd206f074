"""Which experiments run beside each other, what is told of them meanwhile, and the processes that they run in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from sklearn.utils.parallel import Parallel, delayed

from .outcome import Outcome, Step


@dataclass(frozen=True)
class Plan:
    """The order of experiments.

    Examples
    --------
    >>> plan = Plan.of({"short": 1.0, "long": 9.0, "timed": 5.0}, alone={"timed"}, at_once=2)
    >>> plan.together, plan.after
    (('long', 'short'), ('timed',))
    """

    together: tuple[str, ...]  # in as many processes as there may be
    after: tuple[str, ...]  # one by one in this process, when the others have ended
    at_once: int  # processes

    @classmethod
    def of(cls, forecasts: dict[str, float], alone: set[str], at_once: int) -> Plan:
        """Long ones first where several run, so that none is left over at the end; else as they are given."""
        together = sorted((name for name in forecasts if name not in alone), key=lambda name: -forecasts[name])
        if min(at_once, len(together)) < 2:
            return cls((), tuple(forecasts), 1)
        after = tuple(name for name in forecasts if name in alone)
        return cls(tuple(together), after, min(at_once, len(together)))

    def outcomes(self, run: Callable[[str], Outcome], begin: Callable[[str], object]) -> Iterator[Outcome]:
        """How each experiment ends, when it does; `begin` is called with its name before it is run."""
        if self.together:
            yield from _in_processes(run, _announced(self.together, begin), self.at_once)
        yield from map(run, _announced(self.after, begin))

    def seconds_after(self, begun: set[str], forecasts: dict[str, float]) -> float:
        """Rough seconds of all that have not begun."""
        together = sum(forecasts[name] for name in self.together if name not in begun)
        return together / self.at_once + sum(forecasts[name] for name in self.after if name not in begun)


class Teller:
    """Tells a progress callback what begins and what ends."""

    def __init__(self, plan: Plan, forecasts: dict[str, float], progress: Callable[[Step], object] | None) -> None:
        self.plan, self.forecasts, self.progress = plan, forecasts, progress
        self.begun: list[str] = []

    def begin(self, name: str) -> None:
        """An experiment begins."""
        self.begun.append(name)
        self._tell(name, None)

    def end(self, outcome: Outcome) -> None:
        """An experiment has ended."""
        self._tell(outcome.name, outcome)

    def _tell(self, name: str, outcome: Outcome | None) -> None:
        if self.progress is not None:
            after = self.plan.seconds_after(set(self.begun), self.forecasts)
            position = self.begun.index(name) + 1
            self.progress(Step(name, outcome, self.forecasts[name], after, position, len(self.forecasts)))


def _announced(names: Iterable[str], begin: Callable[[str], object]) -> Iterator[str]:
    for name in names:
        begin(name)
        yield name


def _in_processes(run: Callable[[str], Outcome], names: Iterable[str], at_once: int) -> Iterator[Outcome]:
    parallel = Parallel(n_jobs=at_once, return_as="generator_unordered", pre_dispatch="n_jobs")
    try:
        yield from parallel(delayed(run)(name) for name in names)
    except BrokenProcessPool as error:
        raise MemoryError(
            "experiments must each have a process to the end, and one was ended from outside, most likely for want of "
            "memory. What is finished is kept: run the same command again with fewer processes (--jobs 1)."
        ) from error
