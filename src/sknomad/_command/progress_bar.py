"""One line on a terminal that shows how far something has come; silent where there is no terminal."""

from __future__ import annotations

import math
import sys
from types import TracebackType
from typing import Self

from .. import Progress

ERASE_LINE = "\r\x1b[K"


class ProgressBar:
    """A bar of fixed width and a text beside it, drawn over and over on the last line of standard error.

    Parameters
    ----------
    width : int
        Characters of the bar.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.is_shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.erase()

    def draw(self, share: float, text: str) -> None:
        """Show that a share of the whole is done."""
        if self.is_shown:
            filled = int(self.width * share)
            sys.stderr.write(f"{ERASE_LINE}{'━' * filled}{'╌' * (self.width - filled)} {text}")
            sys.stderr.flush()

    def erase(self) -> None:
        """Leave an empty line."""
        if self.is_shown:
            sys.stderr.write(ERASE_LINE)


class GapBar(ProgressBar):
    """How far the proven gap of one solve has closed."""

    def __init__(self) -> None:
        super().__init__(width=30)
        self.first_gap: float | None = None

    def update(self, progress: Progress) -> None:
        """Show where the solve stands; the callback of `solve`."""
        gap, tol = progress.gap, progress.tol
        proven = f"gap {gap:.1e}" if math.isfinite(gap) else "no bound yet"
        text = f"{proven}, goal {tol:.0e}  step {progress.iteration}, {progress.seconds:.0f} s"
        self.draw(self._share(gap, tol), text)

    def _share(self, gap: float, tol: float) -> float:
        """Progress on the logarithmic scale, on which gaps shrink evenly."""
        if not math.isfinite(gap):
            return 0.0
        self.first_gap = self.first_gap or gap
        if gap <= tol or self.first_gap <= tol or tol <= 0:
            return float(gap <= tol)
        return max(0.0, math.log(self.first_gap / gap) / math.log(self.first_gap / tol))
