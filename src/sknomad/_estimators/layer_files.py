"""Where a long run of several layers is kept: a checkpoint for each, and the affinity that each but the first is of."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .._files.atomic import written_whole
from .._numerics.arrays import Array

# An affinity made feasible anew after a stop differs in the last digits; one of another run differs in the first.
SAME_TO = 1e-6


class LayerFiles:
    """The files of a run: ``PATH-layer1``, ``PATH-layer2``, ``PATH-layer2-affinity.npy`` and so on; or none.

    A layer goes on only if it is of the very numbers that it was begun with, to the last digit, so these are kept.

    Examples
    --------
    >>> LayerFiles("run").checkpoint(0).name, LayerFiles(None).checkpoint(0)
    ('run-layer1', None)
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else os.fspath(path)

    def checkpoint(self, position: int) -> Path | None:
        """The file for the solver's run on the layer at `position`, counted from 0."""
        return None if self.path is None else Path(f"{self.path}-layer{position + 1}")

    def affinity(self, position: int, Q: Array) -> Array:
        """The matrix for the layer at `position`: the one that is kept if it is `Q` but for rounding, else `Q`."""
        run = self.checkpoint(position)
        if run is None:
            return Q
        place = run.with_name(f"{run.name}-affinity.npy")
        kept = _read(place)
        if kept is not None and kept.shape == Q.shape and np.abs(kept - Q).max() <= SAME_TO * np.abs(Q).max():
            return kept
        run.unlink(missing_ok=True)  # it was begun with another matrix
        with written_whole(place) as file:
            np.save(file, Q)
        return Q


def _read(path: Path) -> Array | None:
    """The array in a file; None if there is none, or none that is intact."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if isinstance(found, np.ndarray) and found.dtype == np.float64 else None
