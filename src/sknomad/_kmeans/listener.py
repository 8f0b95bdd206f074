"""Who hears of the search for a proof: a callback, in terms of the inertia."""

from __future__ import annotations

from dataclasses import replace

from .._solving.loop import Callback
from .._solving.run_state import Progress
from .inertia import LeastInertia


class InertiaListener:
    """Tells a callback of bounds on the best inertia where the solver speaks of the program's value."""

    def __init__(self, least: LeastInertia, inertia: float, tol: float, callback: Callback | None):
        self.least, self.inertia, self.tol, self.callback = least, inertia, tol, callback
        self.asked_to_stop = False

    def __call__(self, progress: Progress) -> bool:
        if self.callback is not None:
            bound = min(self.least.given(progress.upper), self.inertia)
            told = replace(progress, lower=bound, upper=self.inertia, tol=self.tol)
            self.asked_to_stop = bool(self.callback(told))
        return self.asked_to_stop
