"""Checkpoints: the whole state of a run in one file that is either complete and intact, or refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from .._certificate.iterate import Iterate
from .._files.archive import FormatError, Kind, read_archive, write_archive
from .._files.records import Decoder, Encoder
from .._numerics.arrays import Array
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP


class CheckpointError(FormatError):
    """The file is not an intact checkpoint of this problem; the message is one sentence for the user."""


# A run goes on with the version that began it: only the newest format is read.
CHECKPOINT = Kind("checkpoint", 2, "Delete it to start again.", CheckpointError, oldest=2)


def save_checkpoint(path: Path, problem: KMeansSDP, solver: Any, iterate: Iterate, numbers: dict[str, Any],
                    arrays: dict[str, Array], point: MixedPoint | None) -> None:  # fmt: skip
    """Write the state of a run: the solver's last iterate, the best point, numbers and arrays of the loop."""
    encoder = Encoder()
    state = {"numbers": numbers, "arrays": arrays, "iterate": iterate, "point": point}
    header = {
        "problem": fingerprint(problem),
        "solver": repr(solver),
        "state": encoder.encode(state, "the state of the run"),
    }
    write_archive(path, CHECKPOINT, header, encoder.arrays)


class Checkpoint:
    """An intact file, read: numbers, arrays, the iterate to continue from and the best point so far."""

    def __init__(self, path: Path, problem: KMeansSDP, solver: Any):
        _, header, stored = read_archive(path, CHECKPOINT)
        for name, here in (("problem", fingerprint(problem)), ("solver", repr(solver))):
            if header[name] != here:
                raise CheckpointError(
                    f"checkpoint must belong to this {name}, got {str(path)!r} of another one. "
                    "Name another file, or delete this one to start again."
                )
        state = Decoder(stored).decode(header["state"])
        self.numbers: dict[str, Any] = state["numbers"]
        self.arrays: dict[str, Array] = state["arrays"]
        self.iterate: Iterate = state["iterate"]
        self.point: MixedPoint | None = state["point"]


def fingerprint(problem: KMeansSDP) -> str:
    """A digest of the question: K and the data."""
    digest = hashlib.sha256(f"{problem.K!r} {problem.n}".encode())
    for part in problem.gram.contents():
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
