"""Anchored steps with restarts: how ADMM reaches high accuracy.

Where plain steps creep, because entries and eigenvalues become active one by one, Halpern's iteration does better:
the reflected step from ``T`` is averaged with an anchor, ``T <- (k+1)/(k+2) F(T) + 1/(k+2) T0``. Restarting from the
current point whenever the residual has fallen enough turns its sublinear rate into a linear one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._numerics.arrays import Array, like, namespace

# The reflected step; plain ADMM relaxes by less.
REFLECTION = 2.0
# Restart when the residual is this share of the first, or when it rises again below the second share.
LARGE_FALL, SMALL_FALL = 0.2, 0.8
# Restart at the latest after this share of all steps so far.
LONGEST_SHARE = 0.36


class Anchor:
    """The point that steps are averaged with, and the residuals since it was set."""

    def __init__(self, T: Array):
        self.T0 = namespace(T).asarray(T, copy=True)
        self.count, self.first, self.last = 0, 0.0, 0.0

    @classmethod
    def restored(cls, state: Mapping[str, Any], model: Array) -> Anchor | None:
        """The anchor of an earlier run, if it had one."""
        if "anchor" not in state:
            return None
        anchor = cls(like(state["anchor"], model))
        anchor.count, anchor.first, anchor.last = (int(state["count"]), float(state["first"]), float(state["last"]))
        return anchor

    def state(self) -> dict[str, Any]:
        """What `restored` needs."""
        return {"anchor": self.T0, "count": self.count, "first": self.first, "last": self.last}

    def average(self, T: Array, blocks: list[slice]) -> None:
        """Pull `T` towards the anchor, in place, less and less."""
        self.count += 1
        weight = 1 / (self.count + 1)
        for block in blocks:
            T[block, :] += weight * (self.T0[block, :] - T[block, :])

    def is_spent(self, residual: float, step: int) -> bool:
        """Whether to restart, given the residual of this step."""
        if self.count <= 1:
            self.first, self.last = residual, residual
            return False
        rises, self.last = residual > self.last, residual
        fell = residual <= LARGE_FALL * self.first or (rises and residual <= SMALL_FALL * self.first)
        return fell or self.count >= max(LONGEST_SHARE * step, 10)
