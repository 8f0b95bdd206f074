"""Checkpoints: the state of a run in one file that is either complete and intact, or refused.

A run that goes on takes the same steps as if it had never stopped. What is proven is not read from the file but proven
again, from its point and its multipliers: whoever wrote the file, the bounds are true. With many points they may be a
little looser than before the stop, because the multiplier behind the best bound is then kept only where it is the last.
"""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._certificate.iterate import Iterate
from .._files.archive import FormatError, Kind, read_archive, write_archive
from .._files.records import Decoder, Encoder, saved
from .._numerics.arrays import Array
from .._numerics.validation import check_count, check_numbers, check_real
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP
from ..solvers import Solver
from .judging import ProgramJudge
from .run_state import Run, columns_of, rows_of_columns
from .starting import usable_start

# Least time between two checkpoints, and how many times the seconds that writing took pass at least before the next:
# never more than a tenth of the time goes into writing.
CHECKPOINT_SECONDS, WRITING_RATIO = 20.0, 10

# A run that says it has taken longer than this, a thousand years, is none.
LONGEST_RUN = 3e10


class CheckpointError(FormatError):
    """The file is not an intact checkpoint of this problem; the message is one sentence for the user."""


# A run goes on with the version that began it: only the newest format is read.
CHECKPOINT = Kind("checkpoint", 7, "Delete it to start again.", CheckpointError, oldest=7)

# What comes of contents that are not what they should be, wherever they are used first.
UNUSABLE = (ArithmeticError, AttributeError, AssertionError, IndexError, KeyError, TypeError, ValueError)


@saved
@dataclass(frozen=True)
class RunRecord:
    """All of a run that is neither a setting nor a claim: what it takes the same steps from as if it had never stopped.

    Bounds are not in it, they are proven again; the history is, as it was told.
    """

    point: MixedPoint | None  # the best so far, to be made feasible anew
    iterate: Iterate
    iteration: int
    seconds_before: float
    trace: dict[str, Array]  # the columns of the history
    upper_was_known: bool  # whether there was a proof before, so that one is worth its price now
    judge: ProgramJudge
    multiplier: Array | None  # that of the best bound, where it is kept and is not that of the iterate

    @classmethod
    def of(cls, run: Run, iterate: Iterate, judge: ProgramJudge) -> RunRecord:
        """What is to be kept of a run."""
        known = math.isfinite(run.upper)
        best = None if run.upper_from == run.iteration else run.multiplier
        return cls(run.point, iterate, run.iteration, run.seconds, columns_of(run.rows), known, judge, best)

    def check(self, problem: KMeansSDP) -> None:
        """Refuse what can be no run of `problem`."""
        n, judge = problem.n, self.judge
        if not isinstance(self.iterate, Iterate) or not isinstance(judge, ProgramJudge):
            raise ValueError("it must hold an iterate and a judge")
        if not isinstance(self.point, MixedPoint | None) or not isinstance(self.upper_was_known, bool):
            raise ValueError("its point must be one, or none")
        if self.point is not None and self.point.n != n:
            raise ValueError(f"its best point must have {n} rows, got {self.point.n}")
        check_count(self.iteration, "its iterations")
        check_real(self.seconds_before, "the seconds before", 0, LONGEST_RUN, "a number of seconds")
        _check_history(self.trace)
        judge.check(n)


def _check_history(trace: object) -> None:
    """Refuse what are no columns of equal length."""
    if not isinstance(trace, dict) or not all(isinstance(name, str) for name in trace):
        raise TypeError("its history must be columns by their names, got something else")
    lengths = {len(check_numbers(column, "a column of its history", (None,))) for column in trace.values()}
    if len(lengths) > 1:
        raise ValueError("its history must have columns of equal length, got others")


class CheckpointFile:
    """The file that keeps a run."""

    def __init__(self, path: Path, solver: Solver, judge: ProgramJudge):
        self.path, self.solver, self.judge = path, solver, judge
        self.wait = CHECKPOINT_SECONDS
        self.saved = time.perf_counter()
        self.is_restored = self.has_warned = False

    def restore(self, run: Run) -> None:
        """Bring `run` and the judge to where the file is, if it is there."""
        if not self.path.exists():
            self._check_place()
            return
        record = read_run(self.path, run.problem, self.solver)
        try:
            record.check(run.problem)
            run.iterate = usable_start(record.iterate, run.problem, "its iterate")
            run.iteration, run.rows = record.iteration, rows_of_columns(record.trace)
            run.seconds_before = record.seconds_before
            self.judge.take_over(record.judge)
            self.judge.prove_again(run, record.point, record.multiplier, upper_was_known=record.upper_was_known)
        except UNUSABLE as error:
            raise self._unusable(error) from error
        self.is_restored = True

    def guarded(self, steps: Iterator[Iterate]) -> Iterator[Iterate]:
        """The steps of a solver that may have been given a state from the file: its errors are those of the file."""
        try:
            yield from steps
        except UNUSABLE as error:
            if not self.is_restored:
                raise
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> CheckpointError:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        return CheckpointError(
            f"checkpoint must hold a run that can go on, got {str(self.path)!r}: {reason}. Delete it to start again."
        )

    def save_if_due(self, run: Run) -> None:
        """Write the file anew if the last time was long enough ago."""
        if time.perf_counter() - self.saved >= self.wait:
            self.save(run)

    def save(self, run: Run) -> None:
        """Write the file; a run that has not begun has nothing to keep.

        A full disk is no reason to lose what is in memory: the run goes on, and the next time is tried again.
        """
        if run.iterate is None:
            return
        began = time.perf_counter()
        try:
            write_run(self.path, run.problem, self.solver, RunRecord.of(run, run.iterate, self.judge))
        except OSError as error:
            self._warn_once(error)
        self.saved = time.perf_counter()
        self.wait = max(CHECKPOINT_SECONDS, WRITING_RATIO * (self.saved - began))

    def _warn_once(self, error: OSError) -> None:
        if not self.has_warned:
            self.has_warned = True
            warnings.warn(
                f"checkpoint {str(self.path)!r} could not be written: {error.strerror or error}. The run goes on and "
                "tries again; what was in the file before is still there.",
                RuntimeWarning,
                stacklevel=5,
            )

    def _check_place(self) -> None:
        """Before the work, so that nothing is lost to a place that cannot take it."""
        if not self.path.absolute().parent.is_dir():
            raise CheckpointError(
                f"checkpoint must be a file in an existing folder, got {str(self.path)!r}. Make the folder first."
            )


def write_run(path: Path, problem: KMeansSDP, solver: Solver, record: RunRecord) -> None:
    """Write the state of a run and what it belongs to."""
    encoder = Encoder()
    state = encoder.encode(record, "the state of the run")
    header = {"problem": fingerprint(problem), "solver": _name(solver), "state": state}
    write_archive(path, CHECKPOINT, header, encoder.arrays)


def read_run(path: Path, problem: KMeansSDP, solver: Solver) -> RunRecord:
    """The state of a run, if the file is one of this problem and this solver."""
    _, header, stored = read_archive(path, CHECKPOINT)
    try:
        found = {name: header[name] for name in ("problem", "solver", "state")}
    except (KeyError, TypeError) as error:
        raise _not_a_run(path) from error
    for name, here in (("problem", fingerprint(problem)), ("solver", _name(solver))):
        if found[name] != here:
            raise CheckpointError(
                f"checkpoint must belong to this {name}, got {str(path)!r} of another one. "
                "Name another file, or delete this one to start again."
            )
    try:
        record = Decoder(stored).decode(found["state"])
    except (FormatError, RecursionError) as error:
        raise _not_a_run(path) from error
    if not isinstance(record, RunRecord):
        raise _not_a_run(path)
    return record


def _name(solver: Solver) -> str:
    """What must be the same for a run to go on: other settings, such as those for another tolerance, may take over."""
    return type(solver).__qualname__


def _not_a_run(path: Path) -> CheckpointError:
    return CheckpointError(f"checkpoint must hold the state of a run, got {str(path)!r}. Delete it to start again.")


def fingerprint(problem: KMeansSDP) -> str:
    """A digest of the question: K and the data."""
    digest = hashlib.sha256(f"{problem.K!r} {problem.n}".encode())
    for part in problem.gram.contents():
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
