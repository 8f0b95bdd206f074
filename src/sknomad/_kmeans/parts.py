"""Bounds by parts: every part is a task, what is proven so far is always a bound, and finished parts stay."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from .._numerics.arrays import Array
from .._numerics.row_blocks import Blocks
from .._numerics.threads import count_of_jobs
from .._solving.budget import Budget
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.run_state import Progress
from .._solving.solution import Status
from .._solving.streaming import stream_soft
from ..solvers._soft_stream import Cells
from .certificate import KMeansCertificate
from .division import divide, given_numbers, parts_wanted
from .part_folder import PartFolder
from .part_proof import PartProofs, joint_bound, members
from .part_solve import SMALL_PART, PartBound, PartTask, solve_part
from .row_inertia import Clusters, clusters_of, digest_of

# Bytes of multipliers that are kept in memory: without a loss up to the first, in half precision up to the second.
KEPT_WHOLE, KEPT_SMALL = 2**26, 2**28
# Passes over all data that prepare the parts, and the share of the time for them.
SWEEPS, PREPARING_SHARE = 5, 0.25
# After the time is over, parts that were not begun get a rough bound, as many as this share of it, and a second, allow.
ROUGH_SHARE, ROUGH_SECONDS = 0.1, 1.0
# Sends tasks somewhere and yields their numbers and results, in whatever order they end.
Runner = Callable[[Iterator[tuple[int, PartTask]]], Iterator[tuple[int, PartBound]]]


@dataclass(frozen=True)
class PartsProgress(Progress):
    """What a callback sees after every part of a bound by parts.

    Parameters
    ----------
    iteration : int
        Parts that are finished.
    seconds : float
        Since the start.
    lower : float
        No clustering has an inertia below this.
    upper : float
        The inertia of the labels.
    tol : float
        The gap to reach.
    K : float
        Number of clusters.

    Examples
    --------
    >>> told = PartsProgress(iteration=1, seconds=2.0, lower=40.0, upper=100.0, tol=1e-3, parts_done=1, parts_total=2)
    >>> told.parts_done, told.gap
    (1, 0.6)
    """

    parts_done: int = 0  # parts that are finished
    parts_total: int = 0  # parts that there are
    estimated_gap: float = math.nan  # an estimate: the gap at the end, if parts to come are like those that are done


def certify_parts(
    blocks: Blocks,
    codes: Array,
    K: int,
    parts: str | int | ArrayLike,
    options: SolveOptions,
    budget: Budget,
    *,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
    runner: Runner | None = None,
    at_once: int | None = None,
) -> KMeansCertificate:
    """The certificate of a clustering by parts; `codes` are clusters from 0, none of them empty."""
    clusters, digest = clusters_of(blocks, codes), digest_of(blocks, K)
    folder = None if checkpoint is None else PartFolder(checkpoint, digest, codes, options.grade)
    wanted = parts_wanted(parts, blocks.n, K, clusters.sizes)
    numbers = None
    if wanted is None:
        numbers = given_numbers(cast("ArrayLike", parts), blocks.n, K)
    elif folder is not None:
        numbers = folder.numbers(wanted)
    cells = None
    if (wanted or 0) > 1 or (wanted is None and blocks.n > SMALL_PART):
        cells = stream_soft(blocks, K, most_sweeps=SWEEPS, budget=budget.share(PREPARING_SHARE)).cells
    if numbers is None:
        numbers = np.zeros(blocks.n, dtype=np.int32)
        if wanted != 1:
            assert wanted is not None
            assert cells is not None
            numbers = divide(blocks, codes, cells, wanted)
    if folder is not None:
        folder.begin(numbers)
    work = _Work(blocks, codes, K, numbers, cells, options, budget, clusters, folder, callback)
    status = work.run(runner or _process_runner(n_jobs), at_once or count_of_jobs(n_jobs))
    proofs = work.proofs()
    bound = min(proofs.lower_bound, clusters.inertia)
    if clusters.inertia - bound <= options.tol * clusters.inertia and status is not Status.INTERRUPTED:
        status = Status.CERTIFIED
    return KMeansCertificate(
        clusters.inertia, bound, options.grade, K, status, budget.elapsed, codes, None, digest, proofs
    )


def _process_runner(n_jobs: int | None) -> Runner:
    """Parts one after the other, or in as many processes at a time as `n_jobs` says."""

    def run(tasks: Iterator[tuple[int, PartTask]]) -> Iterator[tuple[int, PartBound]]:
        if n_jobs is None or n_jobs == 1:
            yield from map(_numbered, tasks)
        else:
            parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
            yield from parallel(delayed(_numbered)(task) for task in tasks)

    return run


def _numbered(task: tuple[int, PartTask]) -> tuple[int, PartBound]:
    return task[0], solve_part(task[1])


class _Work:
    """The parts of one data set, and what is proven of them so far."""

    def __init__(
        self, blocks: Blocks, codes: Array, K: int, numbers: Array, cells: Cells | None, options: SolveOptions,
        budget: Budget, clusters: Clusters, folder: PartFolder | None, callback: Callback | None,
    ):  # fmt: skip
        self.blocks, self.codes, self.K, self.numbers, self.cells = blocks, codes, K, numbers, cells
        self.options, self.budget, self.inertia = options, budget, clusters.inertia
        self.centres = clusters.means + clusters.origin
        self.folder, self.callback = folder, callback
        self.members = list(members(numbers))
        self.rows = blocks.promise([points for points, _ in self.members])
        self.found: dict[int, PartBound] = {}
        entries = sum(len(points) * (len(points) + 1) // 2 for points, _ in self.members)
        self.is_whole, self.are_kept = 8 * entries <= KEPT_WHOLE, 2 * entries <= KEPT_SMALL
        self.asked_to_stop = False

    def run(self, runner: Runner, at_once: int) -> Status:
        """Solve the parts that are not finished; why it ended."""
        try:
            if self.folder is not None:
                self._take_over(self.folder)
            for part, found in runner(self._tasks(at_once)):
                self._enter(part, found)
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        if self.asked_to_stop:
            return Status.STOPPED
        is_complete = len(self.found) == len(self.members) and not self.budget.is_spent
        return Status.EXHAUSTED if is_complete else Status.MAX_SECONDS

    def _take_over(self, folder: PartFolder) -> None:
        """Prove again what the folder holds."""
        for part in folder.finished():
            points, weights = self.members[part]
            found = folder.read(part, self.blocks.take(points), self.codes[points], weights, self.K, self.centres)
            if found is not None:
                self._enter(part, found, is_new=False)

    def _tasks(self, at_once: int) -> Iterator[tuple[int, PartTask]]:
        """Parts that are left, each with a fair share of the time that is left when it is sent, perhaps none."""
        left = [part for part in range(len(self.members)) if part not in self.found]
        for sent, part in enumerate(left):
            if self.asked_to_stop or self.budget.elapsed > (1 + ROUGH_SHARE) * self.budget.seconds + ROUGH_SECONDS:
                return
            rounds = -(-(len(left) - sent) // at_once)
            yield part, self._task(part, self.budget.left / rounds)

    def _task(self, part: int, seconds: float) -> PartTask:
        points, weights = self.members[part]
        cells = None if self.cells is None or len(self.members) == 1 else self.cells.scaled(len(points) / self.blocks.n)
        return PartTask(
            self.rows[part], self.codes[points], weights, self.K, self.options, seconds, cells,
            self.centres, self.is_whole, is_kept=self.are_kept or self.folder is not None,
        )  # fmt: skip

    def _enter(self, part: int, found: PartBound, *, is_new: bool = True) -> None:
        if is_new and self.folder is not None:
            self.folder.write(part, found)
        self.found[part] = found if self.are_kept else found._replace(triangle=None)
        if self.callback is not None:
            self.asked_to_stop |= bool(self.callback(self._progress()))

    def _progress(self) -> PartsProgress:
        bound = min(joint_bound([found.bound for found in self.found.values()], self.numbers), self.inertia)
        solved = [found for found in self.found.values() if not found.is_rough]
        cost, proven = sum(found.cost for found in solved), joint_bound([found.bound for found in solved], self.numbers)
        estimate = min(max(0.0, 1 - proven / cost), 1.0) if cost > 0 else 0.0
        return PartsProgress(
            len(solved), self.budget.elapsed, bound, self.inertia, self.options.tol, self.K,
            len(solved), len(self.members), estimate,
        )  # fmt: skip

    def proofs(self) -> PartProofs:
        """What is proven of all parts."""
        nothing = PartBound(0.0, None, 0.0, 0.0)
        found = [self.found.get(part, nothing) for part in range(len(self.members))]
        triangles = [one.triangle for one in found]
        return PartProofs(
            self.numbers,
            np.array([one.bound for one in found]),
            tuple(None if kept is None else kept.lower for kept in triangles),
            np.array([1.0 if kept is None else kept.scale for kept in triangles]),
            sum(one.is_rough and one.bound > 0 for one in found),
        )
