"""One line on a terminal that shows how far something has come; silent where there is no terminal."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .. import PartsProgress, Progress

# Older consoles of Windows know no escape sequences, and are written over with blanks.
ERASE_LINE = "\r\x1b[K" if os.name != "nt" else "\r" + 79 * " " + "\r"
# Seconds between two drawings.
REFRESH = 0.1
# The share of the bar that the search for K takes, its looks at most, and the steps of most of them.
SEARCH_SHARE, MOST_LOOKS, LOOK_STEPS = 0.4, 7, 10


class ProgressBar:
    """A bar of fixed width and a text beside it, drawn over and over on the last line of standard error.

    Parameters
    ----------
    width : int
        Characters of the bar.
    quiet : bool, default=False
        Whether to draw nothing, terminal or not.
    """

    def __init__(self, width: int, *, quiet: bool = False) -> None:
        self.width = width
        self.is_shown = sys.stderr.isatty() and not quiet and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.erase()

    def draw(self, share: float, text: str) -> None:
        """Show that a share of the whole is done, on one line however narrow the terminal."""
        if self.is_shown:
            filled = int(self.width * min(max(share, 0.0), 1.0))
            text = text[: max(shutil.get_terminal_size().columns - self.width - 2, 0)]
            sys.stderr.write(f"{ERASE_LINE}{'━' * filled}{'╌' * (self.width - filled)} {text}")
            sys.stderr.flush()

    def erase(self) -> None:
        """Leave an empty line."""
        if self.is_shown:
            sys.stderr.write(ERASE_LINE)


class SolveBar(ProgressBar):
    """One bar from the search for ``K`` to the proof, which never goes back; and the count of all steps.

    Parameters
    ----------
    quiet : bool
        Whether to draw nothing.
    n_solves : int, optional
        How many programs will be solved, if known.
    bounded : str, default="optimum"
        What the bounds are bounds of.
    """

    def __init__(self, *, quiet: bool, n_solves: int | None = None, bounded: str = "optimum") -> None:
        super().__init__(width=24, quiet=quiet)
        self.n_solves, self.bounded = n_solves, bounded
        self.began = self.drawn = time.monotonic()
        self.search_steps = self.solve_steps = 0
        self.search_seconds = 0.0
        self._n_searched = self._n_solved = 0  # programs begun
        self._last: Progress | None = None
        self._first_gap = math.inf  # of the current program
        self._share = 0.0

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    def update(self, progress: Progress) -> None:
        """Take note of a step, and show it now and then; the callback of `solve`."""
        is_new = self._is_new(progress)
        self._last = progress
        if math.isinf(progress.tol):
            self.search_steps += 1
            self._n_searched += is_new
            self.search_seconds = self.seconds
        else:
            self.solve_steps += 1
            self._n_solved += is_new
        if is_new or math.isinf(self._first_gap):
            self._first_gap = progress.gap
        self._share = max(self._share, self._share_of(progress))
        if is_new or time.monotonic() - self.drawn >= REFRESH:
            self.drawn = time.monotonic()
            self.draw(self._share, self._text(progress))

    def erase(self) -> None:
        """Show that all is done, and leave an empty line."""
        self.draw(1.0, f"{self.seconds:.0f} s")
        super().erase()

    def _is_new(self, progress: Progress) -> bool:
        last = self._last
        return last is None or progress.iteration <= last.iteration or progress.K != last.K

    def _share_of(self, progress: Progress) -> float:
        if (parts := _parts_of(progress)) is not None:
            return parts.parts_done / parts.parts_total
        if math.isinf(progress.tol):
            done = self._n_searched - 1 + min(progress.iteration / LOOK_STEPS, 1.0)
            return SEARCH_SHARE * min(done / MOST_LOOKS, 1.0)
        begun = SEARCH_SHARE if self._n_searched else 0.0
        if self.n_solves is not None:
            return begun + (1 - begun) * (self._n_solved - 1 + self._gap_share(progress)) / self.n_solves
        # Of an unknown number of programs each takes half of what the last one left.
        left = (1 - begun) * 0.5 ** (self._n_solved - 1)
        return 1 - left + left / 2 * self._gap_share(progress)

    def _gap_share(self, progress: Progress) -> float:
        """How far a gap has closed, on the logarithmic scale, on which gaps shrink evenly."""
        gap, tol, first = progress.gap, progress.tol, self._first_gap
        if not math.isfinite(gap):
            return 0.0
        if gap <= tol or first <= tol or tol <= 0:
            return float(gap <= tol)
        return max(0.0, math.log(first / gap) / math.log(first / tol))

    def _text(self, progress: Progress) -> str:
        if (parts := _parts_of(progress)) is not None:
            done = f"{parts.parts_done} of {parts.parts_total} parts, best inertia >= {parts.lower:.6g}"
            return f"{done}, estimated gap at the end {parts.estimated_gap:.1e}, {self.seconds:.0f} s"
        if math.isinf(progress.tol):
            return f"search for K: look {self._n_searched}, K = {progress.K:.3g}, {self.seconds:.0f} s"
        if not math.isfinite(progress.gap):
            return f"K = {progress.K:.3g}: no bound yet, step {progress.iteration}, {self.seconds:.0f} s"
        bounds = f"{progress.lower:.6g} <= {self.bounded} <= {progress.upper:.6g}"
        return f"K = {progress.K:.3g}: {bounds}, gap {progress.gap:.1e} (goal {progress.tol:.0e}), {self.seconds:.0f} s"


def _parts_of(progress: Progress) -> PartsProgress | None:
    """The progress of a bound by parts; None for any other."""
    from .. import PartsProgress  # help and completion load nothing of the library

    return progress if isinstance(progress, PartsProgress) else None
