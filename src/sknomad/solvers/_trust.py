"""Whether the point of soft assignments is good enough, so that ADMM has only the bound to find.

On the way ADMM's own points are not feasible, and their values lie above the optimum, by about ``c / k`` after k steps.
Two values therefore tell the third: where they lead. The point of the start is relied on as long as that is no more
than its own value and what the gap in view leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .._files.records import saved
from .._numerics.validation import check_count, check_real

# Steps before values follow that law, and before they tell a start that is far too poor.
SETTLED, EARLY = 50, 20
# So much poorer than the gap in view allows is far too poor.
FAR = 10.0


@saved
@dataclass(frozen=True)
class Trust:
    """What is known of the point that a run of ADMM started from."""

    goal: float  # value up to which it is good enough; -inf where it is not relied on
    far: float = math.inf  # value from which on it is far too poor
    value: float = math.inf  # of ADMM's point when last measured
    step: int = 0  # when that was

    @property
    def is_given(self) -> bool:
        """Whether the point of the start is relied on."""
        return self.goal > -math.inf

    def check(self) -> None:
        """Refuse what no run can have left: a file may hold anything."""
        check_real(self.goal, "the goal of a trust", -math.inf, math.inf, "a real number")
        check_real(self.far, "the far value of a trust", -math.inf, math.inf, "a real number")
        check_real(self.value, "the value of a trust", -math.inf, math.inf, "a real number")
        check_count(self.step, "the step of a trust")

    def after(self, step: int, value: float) -> Trust:
        """The same, with the value of ADMM's point after so many steps; lost where that shows the start to be poor.

        Early values tell only where they fall, and lead far too high.

        Examples
        --------
        >>> Trust(goal=10.0).after(50, 10.3).after(60, 10.25).is_given  # 10.3 = 10 + 15 / 50, 10.25 = 10 + 15 / 60
        True
        >>> Trust(goal=9.9).after(50, 10.3).after(60, 10.25).is_given
        False
        """
        if step < EARLY or step <= self.step:  # a file may hold any number of steps
            return self
        return LOST if self._is_lost(step, value) else replace(self, value=value, step=step)

    def _is_lost(self, step: int, value: float) -> bool:
        if self.step >= SETTLED:
            return self._limit(step, value) > self.goal
        return self.step >= EARLY and value <= self.value and self._limit(step, value) > self.far

    def _limit(self, step: int, value: float) -> float:
        """Where values go that fall as the inverse of the steps."""
        return (step * value - self.step * self.value) / (step - self.step)


def trust_in(value: float, shortfall: float) -> Trust:
    """Trust in a point of some value that may fall short of the optimum by this share.

    Examples
    --------
    >>> trust_in(10.0, 1e-3).after(20, 10.8).after(30, 10.7).is_given  # 10.7 = 10.5 + 6 / 30: far more than 10.01
    False
    """
    slack = shortfall * abs(value)
    return Trust(value + slack, value + FAR * slack)


LOST = Trust(-math.inf)
