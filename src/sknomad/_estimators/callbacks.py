"""Who hears of a fit's progress: the caller's function, stderr, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from .._numerics.arrays import Data
from .._solving.loop import Callback
from .._solving.run_state import Progress

Method = TypeVar("Method", bound=Callable[..., object])

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's class of this name, and adds nothing."""

    def with_callbacks(method: Method) -> Method:
        """Stands in for scikit-learn's decorator of this name: the method as it is."""
        return method


def listen(*listeners: Callback | None) -> Callback | None:
    """One callback that tells all listeners and asks to stop when one of them does; None if there are none."""
    present = [listener for listener in listeners if listener is not None]
    if len(present) <= 1:
        return present[0] if present else None
    return lambda progress: any([listener(progress) for listener in present])  # noqa: C419 (all of them must hear)


class LineWriter:
    """One line on stderr whenever a bound has moved."""

    def __init__(self, name: str):
        self.name = name
        self.seen: tuple[float, float] | None = None  # bounds of the last line

    def __call__(self, progress: Progress) -> None:
        """Write a line if there is something new to say."""
        bounds = (progress.lower, progress.upper)
        if bounds == self.seen:
            return
        self.seen = bounds
        sys.stderr.write(
            f"[{self.name}] step {progress.iteration}, {progress.seconds:.1f} s: "
            f"{progress.lower:.8g} <= optimum <= {progress.upper:.8g}, gap {progress.gap:.1e}\n"
        )


class FitTask:
    """A fit as scikit-learn's callbacks see it: one task, with a subtask for every step of the solver."""

    def __init__(self, estimator: object, X: Data, max_iter: int):
        self.estimator, self.X = estimator, X
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X)

    @property
    def listener(self) -> Callback | None:
        """What `solve` should call; None where nobody listens."""
        return self._step if self.context is not None and hasattr(self.estimator, "_skl_callbacks") else None

    def _step(self, progress: Progress) -> bool:
        assert self.context is not None
        step = self.context.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        metadata = {"lower": progress.lower, "upper": progress.upper, "gap": progress.gap}
        return bool(step.call_on_fit_task_end(estimator=self.estimator, X=self.X, metadata=metadata))

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X)
