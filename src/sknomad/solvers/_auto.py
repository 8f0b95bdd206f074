"""The default: soft assignments for the primal, their multipliers as a start, ADMM for the proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Device, choose_device, cuda_is_available, is_on_gpu
from .._numerics.memory import free_memory_of
from .._numerics.sizes import FULL_FOR_A_PLACE
from .._numerics.validation import check_integer
from .._program.problem import KMeansSDP
from ._admm import ADMM
from ._admm_state import with_guessed_multiplier
from ._excursions import WIDE_GAP
from ._penalty import MANY_POINTS, balance_bias, penalty_for_both
from ._soft import PATIENCE, SoftAssignment
from ._soft_updates import SoftState

# After soft assignments ADMM usually has the bound to find rather than the point: a penalty that glides from large to
# small, and long steps, reach it in the fewest steps. On pure noise soft assignments fall short by a percent, and both
# must be found.
FOR_THE_BOUND = ADMM(relaxation=1.8, trusted_shortfall=1e-3, keep_rows=True, excursions_from=120)
# From a cell at every point so many sweeps bring the value near the optimum; ADMM then seeks point and bound. A sweep
# costs n x n numbers, so that it pays for few points only, and for more where small gaps are asked for: it keeps the
# symmetry of the data, without which rings and tori take up to ten times as many steps.
FEW_POINTS = SoftAssignment(rank="points", sweeps=30)
AFTER_FEW_POINTS = ADMM(relaxation=1.8, keep_rows=True, excursions_from=120)
LEAST_AFTER_FEW_POINTS = 0.7
POINTS_BELOW, POINTS_BELOW_FOR_SMALL_GAPS = 100, 400
# How far soft assignments may fall short, as a multiple of the gap in view, and for how many steps that is believed on
# the way to gaps from `ONE_RANK_FROM` on: the bound is all that is missing there, and another penalty sets it back.
TRUSTED_SHARE, LONG_TRUST = 1.0, 200
# Where soft assignments end: a fiftieth of the gap in view, between these.
FINEST, COARSEST, SHARE_OF_TOLERANCE = 1e-6, 2e-5, 0.02
# More cells gain some 1e-5: too little for gaps from here on, unless sweeps cost far less than steps, as they do from
# so many points on.
ONE_RANK_FROM, THOROUGH_FROM = 3e-4, 2000
# Iterates that may halve the gain of soft assignments; slower progress is left to ADMM, except on a GPU.
HALVING = 4
# On the way to gaps from `WIDE_GAP` on plain steps, whose filter may be rough, soon have the bound: excursions and
# anchors wait for so many of them (1000 points, gap 1e-4, two rolls with K = 32: 12 s, with an excursion after 120
# steps 45 and more). On a GPU, where steps cost a fraction of a Newton step, excursions wait for more of them.
STEPS_FOR_WIDE_GAPS, LATE_ANCHOR, STEPS_ON_A_GPU = 300, 1500, 600
# Steps for which the penalty for point and bound is left alone: the multiplier moves much at first whatever it is.
BALANCE_AFTER = 30
# Inner products, as a Frobenius norm, that float32 has room for, and for their squares.
SMALLEST_SINGLE, LARGEST_SINGLE = 1e-15, 1e15
# Gaps from here on are reached with float32 steps in the same number of iterations, at half the time and memory.
SINGLE_PRECISION_FROM = 1e-4


@saved
@dataclass(frozen=True)
class Auto:
    """Soft assignments until they stall, then ADMM started from them and from the multiplier they suggest.

    Where the dense arrays of ADMM do not fit into memory the first phase is all there is, and no upper bound is known.
    Up to `points_below` points it begins with a cell at every point: free of any random start, its answer does not
    depend on the order of the points.

    Parameters
    ----------
    soft : SoftAssignment
        Settings of the first phase, which finds a feasible point of nearly optimal value.
    admm : ADMM
        Settings of the second, which closes the gap from above, and at last from below. On a GPU, from 2,000 points
        on, excursions begin after 600 steps at the earliest.
    points_below : int, default=100
        Number of points up to which the first phase is 30 sweeps from a cell at every point; 400 where the settings are
        made for gaps below 1e-4.
    thorough_from : int, default=2000
        Number of points from which on cells may double twice, and gains count down to half of what they do below:
        sweeps cost little there beside a step of ADMM.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, Auto(points_below=2), tol=1e-3).is_certified
    True
    """

    soft: SoftAssignment = field(default_factory=lambda: SoftAssignment(improvement=FINEST))
    admm: ADMM = FOR_THE_BOUND
    points_below: int = POINTS_BELOW
    thorough_from: int = THOROUGH_FROM
    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("points_below", "thorough_from"):
            check_integer(vars(self)[name], name, 0)

    @classmethod
    def on(cls, device: Device, tol: float = FINEST) -> Auto:
        """The default settings on a given device for a gap of `tol`."""
        improvement = min(max(SHARE_OF_TOLERANCE * tol, FINEST), COARSEST)
        soft = SoftAssignment(
            improvement=improvement, max_growth=0 if tol >= ONE_RANK_FROM else 2, halving=HALVING, device=device
        )
        few = POINTS_BELOW if tol >= SINGLE_PRECISION_FROM else POINTS_BELOW_FOR_SMALL_GAPS
        # Beyond few points a filtered block takes as many steps as full decompositions, for half the time.
        admm = replace(FOR_THE_BOUND, device=device, exact_below=few, excursion_gap=min(tol, 1.0))
        if tol >= ONE_RANK_FROM:
            admm = replace(admm, trusted_until=LONG_TRUST)
        if tol >= WIDE_GAP:
            admm = replace(admm, excursions_from=STEPS_FOR_WIDE_GAPS, anchor_from=LATE_ANCHOR)
        return cls(soft, admm, points_below=few)

    @classmethod
    def for_tolerance(cls, tol: float, device: Device = "auto") -> Auto:
        """The default settings for a gap of `tol`: on a CPU, float32 steps where their rounding cannot matter.

        Judging is in float64 whatever the steps are in.
        """
        if isinstance(device, str) and (device == "cpu" or (device == "auto" and not cuda_is_available())):
            device = "cpu32" if tol >= SINGLE_PRECISION_FROM else "cpu"
        auto = cls.on(device, tol)
        return replace(auto, admm=replace(auto.admm, trusted_shortfall=min(TRUSTED_SHARE * tol, 1.0)))

    @property
    def device(self) -> Device:
        """Where the proof is computed, which needs most memory."""
        return self.admm.device

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the iterates of both phases; a start with a multiplier skips the first."""
        last = start
        if start is None or (start.N is None and isinstance(start.state, SoftState)):
            for iterate in self._soft_iterates(problem, start):
                last = iterate
                yield iterate
        if self._proof_fits(problem):
            yield from self._second_phase(problem, last).iterates(problem, last)

    def _soft_iterates(self, problem: KMeansSDP, start: Iterate | None) -> Iterator[Iterate]:
        """The first phase; for few points a single iterate, unless a start has been there already."""
        if problem.n > self.points_below:
            yield from self._first_phase(problem).iterates(problem, start)
        elif start is None:
            few = replace(FEW_POINTS, device=_double(self.admm.device))
            template = choose_device(few.device, problem.n)
            yield replace(with_guessed_multiplier(problem, next(few.iterates(problem)), template), is_milestone=True)

    def _soft_settings(self, problem: KMeansSDP) -> SoftAssignment:
        if problem.n < self.thorough_from:
            return self.soft
        soft = replace(self.soft, max_growth=2, improvement=self.soft.improvement / 2)
        # There sweeps cost next to nothing beside a step, and each that is left out costs many steps.
        return replace(soft, halving=None) if is_on_gpu(choose_device(soft.device, problem.n)) else soft

    def _first_phase(self, problem: KMeansSDP) -> SoftAssignment:
        """Soft assignments; where they are all there is, they go on however slow they are."""
        soft = replace(self._soft_settings(problem), device=_precise_enough(self.soft.device, problem))
        return soft if self._proof_fits(problem) else replace(soft, halving=None, max_growth=2)

    def _second_phase(self, problem: KMeansSDP, last: Iterate | None) -> ADMM:
        """ADMM, which trusts the point of soft assignments only where these have come to an end."""
        if problem.n <= self.points_below:
            admm = replace(AFTER_FEW_POINTS, device=_double(self.admm.device), excursion_gap=self.admm.excursion_gap)
            return _for_both(admm, problem, LEAST_AFTER_FEW_POINTS)
        state = None if last is None else last.state
        has_ended = not isinstance(state, SoftState) or state.stalled >= PATIENCE
        admm = replace(self.admm, device=_precise_enough(self.admm.device, problem))
        if admm.penalty == "auto":
            admm = _for_both(admm, problem)
        template = choose_device(admm.device, problem.n)
        if is_on_gpu(template) and problem.n > FULL_FOR_A_PLACE.on(template):
            admm = replace(admm, excursions_from=max(admm.excursions_from, STEPS_ON_A_GPU))
        return admm if has_ended else replace(admm, trusted_shortfall=0.0)

    def seeded(self, random_state: int) -> Auto:
        """The same with another seed of the first phase, and without any up to 400 points.

        Whoever asks for a seed wants answers that can be had again. A cell at every point takes a fraction of a second
        longer there, and what is read off then depends neither on the seed nor on the order of the points.
        """
        points_below = max(self.points_below, POINTS_BELOW_FOR_SMALL_GAPS)
        return replace(self, soft=replace(self.soft, random_state=random_state), points_below=points_below)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes, of both phases where the second fits, of the first alone where it does not."""
        few = problem.n <= self.points_below
        soft = (FEW_POINTS if few else self._soft_settings(problem)).memory(problem)
        return max(soft, self.admm.memory(problem)) if self._proof_fits(problem) else soft

    def _proof_fits(self, problem: KMeansSDP) -> bool:
        free = free_memory_of(choose_device(self.admm.device, problem.n))
        return free is None or self.admm.memory(problem) <= free


def _for_both(admm: ADMM, problem: KMeansSDP, least: float = 0.0) -> ADMM:
    """`admm` with the penalty that finds point and bound together, and how it is balanced later."""
    n, K = problem.n, problem.K
    wait = BALANCE_AFTER if n < MANY_POINTS else 0
    return replace(
        admm, penalty=max(penalty_for_both(n, K), least), balance_bias=balance_bias(n, K), balance_after=wait
    )


def _precise_enough(device: Device, problem: KMeansSDP) -> Device:
    """`device`, or float64 on the CPU where float32 cannot hold the squares of inner products."""
    return device if SMALLEST_SINGLE <= problem.gram.norm <= LARGEST_SINGLE else _double(device)


def _double(device: Device) -> Device:
    """`device`, or float64 in place of float32 on the CPU: small problems have no use for single precision."""
    return "cpu" if isinstance(device, str) and device == "cpu32" else device
