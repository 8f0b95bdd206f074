"""`Experiment`: what each experiment says about itself, and what else its module has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .claims import Claim
from .record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Experiment:
    """The head of an experiment's module.

    Examples
    --------
    >>> Experiment("Rings", "Two of them.", seconds=(6, 2)).data
    ()
    """

    title: str  # a few words
    caption: str  # one to three plain sentences; line breaks and indents do not count
    data: tuple[str, ...] = ()  # data sets it needs: "mnist", "teapots", "yale", "coil100"
    seconds: tuple[float, float] = (60.0, 8.0)  # roughly what it takes on two cores, in full and quick
    seed: int = 0  # of all its random numbers
    needs_gpu: bool = False  # runs only where there is a CUDA device
    only_when_named: bool = False  # takes long, and is left out of --all
    runs_alone: bool = False  # reads the clock or takes all cores itself, so nothing may run beside it

    def __post_init__(self) -> None:
        object.__setattr__(self, "caption", " ".join(self.caption.split()))


class ExperimentModule(Protocol):
    """A module of `sknomad.reproduce.experiments`."""

    EXPERIMENT: Experiment

    def compute(self, record: Record, quick: bool) -> None:
        """Do everything that takes time, and keep its arrays on record."""

    def draw(self, arrays: Arrays) -> Figure:
        """Draw the figure, from the arrays alone."""
        ...

    def claims(self, arrays: Arrays) -> list[Claim]:
        """Compare what the paper says with the arrays."""
        ...
