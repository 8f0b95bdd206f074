"""Checkpoints: the whole state of a run in one file that is either complete and intact, or refused."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._certificate.iterate import Iterate
from .._files.archive import FormatError, Kind, read_archive, write_archive
from .._files.records import Decoder, Encoder, saved
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP
from ..solvers import Solver
from .judging import ProgramJudge
from .run_state import Run

# Least time between two checkpoints, and how many times the seconds that writing took pass at least before the next:
# never more than a tenth of the time goes into writing.
CHECKPOINT_SECONDS, WRITING_RATIO = 20.0, 10


class CheckpointError(FormatError):
    """The file is not an intact checkpoint of this problem; the message is one sentence for the user."""


# A run goes on with the version that began it: only the newest format is read.
CHECKPOINT = Kind("checkpoint", 3, "Delete it to start again.", CheckpointError, oldest=3)


@saved
@dataclass(frozen=True)
class RunRecord:
    """All of a run that is not a setting: what it goes on from exactly as if it had never stopped."""

    lower: float
    upper: float
    grade: str
    point: MixedPoint | None
    iterate: Iterate | None
    iteration: int
    seconds_before: float
    rows: list[dict[str, float]]
    judge: ProgramJudge


class CheckpointFile:
    """The file that keeps a run."""

    def __init__(self, path: Path, solver: Solver, judge: ProgramJudge):
        self.path, self.solver, self.judge = path, solver, judge
        self.wait = CHECKPOINT_SECONDS
        self.saved = time.perf_counter()

    def restore(self, run: Run) -> None:
        """Bring `run` and the judge to where the file is, if it is there."""
        if not self.path.exists():
            return
        record = read_run(self.path, run.problem, self.solver)
        run.lower, run.upper, run.grade, run.point = record.lower, record.upper, record.grade, record.point
        run.iterate, run.iteration, run.rows = record.iterate, record.iteration, record.rows
        run.seconds_before = record.seconds_before
        self.judge.take_over(record.judge)

    def save_if_due(self, run: Run) -> None:
        """Write the file anew if the last time was long enough ago."""
        if time.perf_counter() - self.saved >= self.wait:
            self.save(run)

    def save(self, run: Run) -> None:
        """Write the file; a run that has not begun has nothing to keep."""
        if run.iterate is None:
            return
        began = time.perf_counter()
        record = RunRecord(
            run.lower, run.upper, run.grade, run.point, run.iterate, run.iteration, run.seconds, run.rows, self.judge
        )
        write_run(self.path, run.problem, self.solver, record)
        self.saved = time.perf_counter()
        self.wait = max(CHECKPOINT_SECONDS, WRITING_RATIO * (self.saved - began))


def write_run(path: Path, problem: KMeansSDP, solver: Solver, record: RunRecord) -> None:
    """Write the state of a run and what it belongs to."""
    encoder = Encoder()
    state = encoder.encode(record, "the state of the run")
    header = {"problem": fingerprint(problem), "solver": repr(solver), "state": state}
    write_archive(path, CHECKPOINT, header, encoder.arrays)


def read_run(path: Path, problem: KMeansSDP, solver: Solver) -> RunRecord:
    """The state of a run, if the file is one of this problem and this solver."""
    _, header, stored = read_archive(path, CHECKPOINT)
    for name, here in (("problem", fingerprint(problem)), ("solver", repr(solver))):
        if header[name] != here:
            raise CheckpointError(
                f"checkpoint must belong to this {name}, got {str(path)!r} of another one. "
                "Name another file, or delete this one to start again."
            )
    record = Decoder(stored).decode(header["state"])
    if not isinstance(record, RunRecord):
        raise CheckpointError(f"checkpoint must hold the state of a run, got {str(path)!r}. Delete it to start again.")
    return record


def fingerprint(problem: KMeansSDP) -> str:
    """A digest of the question: K and the data."""
    digest = hashlib.sha256(f"{problem.K!r} {problem.n}".encode())
    for part in problem.gram.contents():
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
