"""Halpern anchoring with restarts: how ADMM reaches high accuracy.

Where plain steps creep, because entries and eigenvalues become active one by one, Halpern's iteration does better:
the reflected step from ``T`` is averaged with an anchor, ``T <- (k+1)/(k+2) F(T) + 1/(k+2) T0``. Restarting from the
current point whenever the residual has fallen enough turns its sublinear rate into a linear one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .._files.records import saved
from .._numerics.arrays import Array, like, namespace
from .._numerics.validation import check_count, check_moderate, check_real

# The reflected step; plain ADMM relaxes by less.
REFLECTION = 2.0
# Restart when the residual is this share of the first, or when it rises again below the second share.
LARGE_FALL, SMALL_FALL = 0.2, 0.8
# Restart at the latest after this share of all steps so far, or after this many steps if that is more.
LONGEST_SHARE, SHORTEST_STRETCH = 0.36, 10


@saved
@dataclass(frozen=True)
class Anchor:
    """The point that steps are averaged with, and the residuals since it was set."""

    T0: Array  # (n, n)
    count: int = 0  # steps averaged with it
    first: float = 0.0  # residual of the first of these
    last: float = 0.0  # and of the last

    @classmethod
    def at(cls, T: Array) -> Anchor:
        """A new anchor at a copy of `T`."""
        return cls(namespace(T).asarray(T, copy=True))

    def check(self, n: int, largest: float) -> None:
        """Refuse what no step of `n` points can have left; the entries of a state are at most `largest`."""
        check_moderate(self.T0, "the anchor of a state", (n, n), largest)
        check_count(self.count, "the steps since an anchor")
        for residual in (self.first, self.last):
            check_real(residual, "the residual of an anchor", 0, math.inf, "a real number >= 0")

    def moved_to(self, template: Array) -> Anchor:
        """The same in the library, on the device and in the precision of `template`."""
        return replace(self, T0=like(self.T0, template))

    def average(self, T: Array, blocks: list[slice]) -> Anchor:
        """Pull `T` towards the anchor, in place, less from step to step; returns the anchor with the step counted."""
        count = self.count + 1
        weight = 1 / (count + 1)
        for block in blocks:
            T[block, :] += weight * (self.T0[block, :] - T[block, :])
        return replace(self, count=count)

    def is_spent(self, residual: float, step: int) -> bool:
        """Whether to restart after the given number of steps, the last of which had this residual."""
        if self.count <= 1:
            return False
        rises = residual > self.last
        fell = residual <= LARGE_FALL * self.first or (rises and residual <= SMALL_FALL * self.first)
        return fell or self.count >= max(LONGEST_SHARE * step, SHORTEST_STRETCH)

    def after(self, residual: float) -> Anchor:
        """The anchor with the residual of a step taken into account."""
        return replace(self, first=residual if self.count <= 1 else self.first, last=residual)
