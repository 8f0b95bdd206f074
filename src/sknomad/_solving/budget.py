"""`Budget`: the one clock of a fit, from its first line to its last."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from .._numerics.validation import check_real

# The share of a fit's time that a search may take which only prepares the solver's work.
SEARCH_SHARE = 0.5


@dataclass(frozen=True)
class Budget:
    """The seconds that a fit may take in all, counted from when this was made.

    Parameters
    ----------
    seconds : float
        May be infinite.

    Examples
    --------
    >>> Budget.of(None).left, Budget.of(0).is_spent
    (inf, True)
    """

    seconds: float = math.inf
    began: float = field(default_factory=lambda: time.perf_counter())

    @classmethod
    def of(cls, max_seconds: float | None) -> Budget:
        """The budget that a user's `max_seconds` makes; None is without end."""
        if max_seconds is None:
            return cls()
        return cls(check_real(max_seconds, "max_seconds", 0, math.inf, "a number of seconds >= 0 or None"))

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(self.seconds - self.elapsed, 0.0)

    @property
    def is_spent(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0

    @property
    def max_seconds(self) -> float | None:
        """What is left, as `solve` takes it."""
        return self.left if math.isfinite(self.seconds) else None

    def without(self, seconds: float) -> Budget:
        """The same with less at its end, for work that comes after."""
        return Budget(max(self.seconds - seconds, 0.0), self.began)

    def share(self, of_the_rest: float) -> Budget:
        """A budget of its own for a part of the work: a share of what is left."""
        return Budget(of_the_rest * self.left)
