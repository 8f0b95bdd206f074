"""ADMM: the convex solver, with a dual bound at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from .._certificate.iterate import Iterate
from .._files.records import saved
from .._numerics.arrays import Device, choose_device, is_on_gpu, itemsize
from .._numerics.sizes import FULL_FOR_A_STEP
from .._numerics.validation import check_integer, check_real
from .._program.problem import KMeansSDP
from ._admm_course import Course
from ._admm_state import FORM_BELOW
from ._excursions import SMALLEST_GAP, excursion, excursion_due

# n x n arrays alive at the worst moment, a thorough look at the bounds: the judge's, in float64, and the solver's own.
ARRAYS_OF_THE_JUDGE, ARRAYS = 7.6, 6.4
# Arrays of more than so many bytes go back to the system at once on a CPU; below, holes between them remain.
RETURNED_AT_ONCE = 2**25
LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS = 7.9, 2.6
# How rough the points of plain steps may be for a gap in view, and at most.
ROUGHNESS_PER_GAP, LARGEST_ROUGHNESS = 3.0, 3e-3


@saved
@dataclass(frozen=True)
class ADMM:
    """Alternating direction method of multipliers (relaxed Douglas-Rachford) with one dense n x n state.

    Each step projects on the spectraplex ``{Q 1 = 1, tr Q = K, psd}`` and on the nonnegative matrices. It converges
    from any start, and every step carries a multiplier that `certify` turns into an upper bound. Deterministic.

    Parameters
    ----------
    relaxation : float, default=1.6
        Over-relaxation of the step, in [1, 2).
    penalty : float or "auto", default="auto"
        Starting penalty in units of ``|D|_F / sqrt(K)``; "auto" is 1. It is then balanced between residuals. Where the
        point of soft assignments is trusted, this is the penalty after that.
    balance_every : int, default=10
        Steps between two looks at the balance of residuals.
    balance_after : int, default=0
        Steps with a penalty for both point and bound before residuals are balanced.
    balance_bias : float, default=1
        How much smaller than the dual residual the primal one should be.
    balance_until : int, default=500
        Steps after which the penalty stays fixed, so that convergence is guaranteed.
    trusted_shortfall : float, default=0
        Let the penalty glide from large to small as long as values of ``Q`` do not tell that the optimum passes that
        of the soft assignments it started from by more than this share: while their point is good enough, only the
        bound is sought.
    trusted_until : int, default=75
        Step after which their point is not relied on any more.
    keep_rows : bool, default=False
        Keep the sums of rows of nonnegative copies too, from the first measured step on, where patches have fewer than
        ten points, or fewer than forty and the data are not noise: half the steps, and far fewer to small gaps. Up to
        4,000 points.
    anchor_from : int, default=300
        Step from which on steps are averaged with an anchor, and the penalty changes only when the anchor does. Far
        better for small gaps; it needs a second n x n array. Up to 30,000 points.
    excursions_from : int, default=600
        Step after which an excursion sharpens both bounds for the first time.
    excursion_gap : float, default=1e-6
        The relative gap that excursions are for. The smaller, the better the bounds that they lead to, and the more
        steps they take.
    exact_below : int, default=400
        Up to this many points the eigendecomposition is full; above, a warm-started subspace is filtered.
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where to compute; an array stands for its library, device and precision.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, ADMM(relaxation=1.8), tol=1e-6).is_certified
    True
    """

    relaxation: float = 1.6
    penalty: float | str = "auto"
    balance_every: int = 10
    balance_after: int = 0
    balance_bias: float = 1.0
    balance_until: int = 500
    trusted_shortfall: float = 0.0
    trusted_until: int = 75
    keep_rows: bool = False
    anchor_from: int = 300
    excursions_from: int = 600
    excursion_gap: float = 1e-6
    exact_below: int = FULL_FOR_A_STEP
    device: Device = "auto"
    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_real(self.relaxation, "relaxation", 1, math.nextafter(2, 1), "a real number in [1, 2)")
        if self.penalty != "auto":
            check_real(self.penalty, "penalty", 1e-12, 1e12, 'a positive real number or "auto"')
        check_integer(self.balance_every, "balance_every", 1)
        check_integer(self.balance_after, "balance_after", 0)
        check_real(self.balance_bias, "balance_bias", 1e-3, 1e3, "a real number in [0.001, 1000]")
        check_integer(self.balance_until, "balance_until", 0)
        check_real(self.trusted_shortfall, "trusted_shortfall", 0, 1, "a real number in [0, 1]")
        check_integer(self.trusted_until, "trusted_until", 0)
        if not isinstance(self.keep_rows, bool):
            raise TypeError(f"keep_rows must be True or False, got {self.keep_rows!r}.")
        check_integer(self.anchor_from, "anchor_from", 0)
        check_integer(self.excursions_from, "excursions_from", 1)
        check_real(self.excursion_gap, "excursion_gap", 0, 1, "a real number in [0, 1]")
        check_integer(self.exact_below, "exact_below", 2)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data, judging included: so many n x n arrays.

        Excursions need more, and are left out where there is not as much.
        """
        template = choose_device(self.device, problem.n)
        # Beyond the full decompositions: the state, and for the proof one float64 array.
        bytes_per_entry = itemsize(template) + 8 + 2.0
        if problem.n <= FORM_BELOW:
            is_large = not is_on_gpu(template) and 8 * problem.n**2 > RETURNED_AT_ONCE
            judge, own = (LARGE_ARRAYS_OF_THE_JUDGE, LARGE_ARRAYS) if is_large else (ARRAYS_OF_THE_JUDGE, ARRAYS)
            bytes_per_entry = judge * 8 + own * itemsize(template)
        return int(bytes_per_entry * problem.n**2)

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step, for ever. Its multiplier is a view of the state: valid until the next step."""
        course = Course(self, problem, start)
        while True:
            course.choose_penalty()
            iterate = course.step()
            yield iterate
            number = excursion_due(course.count, self.excursions_from)
            if number is not None and course.may_leave():
                yield from excursion(problem, self.excursion_gap, number, iterate, course.state(), course.gram)

    @property
    def roughness(self) -> float:
        """How far from the projection the point of a plain step may be, as a share of it."""
        return min(ROUGHNESS_PER_GAP * max(self.excursion_gap, SMALLEST_GAP), LARGEST_ROUGHNESS)

    def balances_at(self, step: int) -> bool:
        """Whether residuals are balanced after so many steps."""
        return step > 0 and step % self.balance_every == 0 and step < self.balance_until
