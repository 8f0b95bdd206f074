"""Whether the point of soft assignments is good enough, so that ADMM has only the bound to find.

On the way ADMM's own points are not feasible, and their values lie above the optimum, by about ``c / k`` after k steps.
Two values therefore tell the third: where they lead. The point of the start is relied on as long as that is no more
than its own value and what the gap in view leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._files.records import saved
from .._numerics.validation import check_count, check_real

# Steps before values follow that law.
SETTLED = 50


@saved
@dataclass(frozen=True)
class Trust:
    """What is known of the point that a run of ADMM started from."""

    goal: float  # value up to which it is good enough; -inf where it is not relied on
    value: float = math.inf  # of ADMM's point when last measured
    step: int = 0  # when that was

    @property
    def is_given(self) -> bool:
        """Whether the point of the start is relied on."""
        return self.goal > -math.inf

    def check(self) -> None:
        """Refuse what no run can have left: a file may hold anything."""
        check_real(self.goal, "the goal of a trust", -math.inf, math.inf, "a real number")
        check_real(self.value, "the value of a trust", -math.inf, math.inf, "a real number")
        check_count(self.step, "the step of a trust")

    def after(self, step: int, value: float) -> Trust:
        """The same, with the value of ADMM's point after so many steps; lost where that shows the start to be poor.

        Examples
        --------
        >>> Trust(goal=10.0).after(50, 10.3).after(60, 10.25).is_given  # 10.3 = 10 + 15 / 50, 10.25 = 10 + 15 / 60
        True
        >>> Trust(goal=9.9).after(50, 10.3).after(60, 10.25).is_given
        False
        """
        is_lost = self.step >= SETTLED and self._limit(step, value) > self.goal
        return LOST if is_lost else Trust(self.goal, value, step)

    def _limit(self, step: int, value: float) -> float:
        """Where values go that fall as the inverse of the steps."""
        return (step * value - self.step * self.value) / (step - self.step)


LOST = Trust(-math.inf)
