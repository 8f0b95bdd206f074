"""`Iterate`: one step of any solver, and the form in which solvers give their multiplier."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from .._numerics import fused
from .._numerics.arrays import Array, double, namespace
from .._numerics.validation import check_numbers, check_real
from .._points.forms import DensePoint
from .._points.point import Point

# Beyond this a matrix holds neither a point nor a multiplier, only an overflow to come.
LARGEST_ENTRY = 1e150


@dataclass(frozen=True)
class NegativePart:
    """The multiplier ``N = weight * max(-T, 0)``, read off a solver's state without a second n x n array."""

    T: Array  # (n, n)
    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", check_numbers(self.T, "the state of a multiplier", (None, None)))
        if not math.isnan(self.weight):  # a solver that has diverged proves nothing, which is no error
            weight = check_real(self.weight, "the weight of a multiplier", -math.inf, math.inf, "a number")
            object.__setattr__(self, "weight", weight)

    def formed(self) -> Array:
        """``N`` as an n x n array of the state's library and precision."""
        return namespace(self.T).clip(-self.T, min=0.0) * self.weight

    def rows(self, block: slice, stop: int) -> Array:
        """Some rows of ``N``, up to column `stop`."""
        return namespace(self.T).clip(-self.T[block, :stop], min=0.0) * self.weight

    def rows_times(self, block: slice, V: Array) -> Array:
        """Some rows of ``N V``: the fewest passes over the state, for products that are only suggestions."""
        return (namespace(self.T).clip(self.T[block, :], max=0.0) @ V) * -self.weight

    def times(self, V: Array, blocks: list[slice]) -> Array:
        """``N V``, a suggestion too, by the given row blocks where it takes more than one pass."""
        if fused.can_fuse(self.T):
            return fused.part_times(self.T, V, is_negative=True) * self.weight
        return namespace(self.T).concat([self.rows_times(block, V) for block in blocks], axis=0)


# The forms of ``N``: a symmetric matrix, or what stands for it.
Multiplier: TypeAlias = Array | NegativePart


@dataclass(frozen=True)
class Iterate:
    """One step of any solver: what `certify` judges, what `start` takes, what a checkpoint keeps.

    It may share memory with the solver's state and is then valid until the solver takes its next step.

    Parameters
    ----------
    Q : array of shape (n, n) or Point
        The primal point, dense or factored.
    N : array of shape (n, n), NegativePart or None
        Multiplier of ``Q >= 0`` in the units of ``D``; None if the solver has none.
    residuals : mapping of str to float
        What the solver knows of its own progress; recorded, never believed.
    state : record, optional
        What the solver that made it needs to continue from here exactly; solvers tell by its type whether it is theirs.
    is_milestone : bool
        Whether the solver has worked towards this iterate: it then deserves a thorough look.

    Examples
    --------
    >>> iterate = Iterate(np.eye(3), N=np.zeros((3, 3)))
    >>> iterate.point.trace(), iterate.multiplier.shape
    (3.0, (3, 3))
    """

    Q: Array | Point
    N: Multiplier | None = None
    residuals: Mapping[str, float] = field(default_factory=dict)
    state: object = None
    is_milestone: bool = False

    def __post_init__(self) -> None:
        given: Mapping[str, object] = self.residuals
        for name, value in given.items():
            if not isinstance(value, numbers.Real):
                raise TypeError(f"residuals must be real numbers, got {type(value).__name__} for {name!r}.")
            try:
                float(value)
            except OverflowError as error:
                raise ValueError(f"residuals must be within float64, got a larger number for {name!r}.") from error

    @property
    def point(self) -> Point:
        """``Q`` with the methods of a point, whatever form it came in."""
        if isinstance(self.Q, Point):
            return self.Q
        return DensePoint(double(check_numbers(np.asarray(self.Q), "Q", (None, None))))

    @property
    def multiplier(self) -> Array | None:
        """``N`` as an array, or None."""
        return self.N.formed() if isinstance(self.N, NegativePart) else self.N
