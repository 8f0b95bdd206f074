"""The nearest feasible point to a multiple of ``D``: NOMAD with a ridge, a smooth stand-in for its solution.

With ``- ridge |Q|^2 / 2`` added, the program ``maximise <D, Q>`` becomes strongly concave. Its one solution is the
feasible point nearest to ``D / ridge``: unlike that of the program itself it moves no further than the data do, and has
small entries where a sample happens to have a gap. And it is found in a few dozen steps, because a small penalty, which
would let plain ADMM wander, does no harm where the ridge holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .._certificate.iterate import Iterate, NegativePart
from .._numerics.arrays import Array, Device, choose_device, like, namespace
from .._numerics.projections import project_spectraplex
from .._numerics.sizes import FULL_FOR_A_RESTART, FULL_FOR_A_STEP
from .._numerics.validation import check_real
from .._points.forms import SpectralPoint
from .._points.point import Point
from .._program.problem import KMeansSDP
from ._admm_state import advance, cold_state, rescale_multiplier
from ._protocol import Solver
from ._thin_end import ThinEndProjector

# A small penalty lays rings out whole, and takes for ever where there are many dimensions or far outliers: rows of the
# point then have negative entries that add up to more than this. It is looked at after so many steps, and every ten.
# Chosen on digits, normal points and heavy tails, so that hardly anything changes in two dimensions.
UNSETTLED, LOOKED_AT_FROM, LOOKED_AT_EVERY, LARGER = 0.2, 20, 10, 3.0
# The fewest steps after which it is near enough to its limit to end.
FEWEST_STEPS = 50


@dataclass(frozen=True)
class Ridge(Solver):
    """ADMM for ``maximise <D, Q> - ridge |Q|^2 / 2`` over the feasible set, from ``T = J``.

    It proposes smooth points; neither their values nor their multipliers come near to the optimum of the program
    without the ridge. There is nothing to go on from: a start is not used.

    Parameters
    ----------
    ridge : float, default=6
        In units of ``|D|_F / (sqrt(n) K^1.5)``: the larger, the smoother. Few points need more, because more of what
        they show is chance.
    penalty : float, default=0.7
        In units of ``|D|_F / K``, at first: it grows where points do not settle.
    end_at : float, default=0
        How much the negative entries of a row may add up to, in the mean, for the run to end; at 0 it never does.
    relaxation : float, default=1.9
        Over-relaxation of the step, in [1, 2).
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where to compute, as `ADMM` has it.

    Examples
    --------
    >>> import itertools
    >>> from sknomad import Gram, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> *_, last = itertools.islice(Ridge(ridge=0.02).iterates(problem), 50)
    >>> abs(last.point.rows(0, 1).round(2)).tolist()
    [[0.5, 0.5, 0.0, 0.0]]
    """

    ridge: float = 6.0
    penalty: float = 0.7
    end_at: float = 0.0
    relaxation: float = 1.9
    device: Device = "auto"

    def __post_init__(self) -> None:
        check_real(self.ridge, "ridge", 0, 1e12, "a real number >= 0")
        check_real(self.penalty, "penalty", 1e-12, 1e12, "a positive real number")
        check_real(self.end_at, "end_at", 0, 1, "a real number in [0, 1]")
        check_real(self.relaxation, "relaxation", 1, math.nextafter(2, 1), "a real number in [1, 2)")

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step. Its multiplier is a view of the state: valid until the next step."""
        template, count = choose_device(self.device, problem.n), 0
        rho = self.penalty * problem.gram.norm / problem.K
        ridge = self.ridge * problem.gram.norm / (math.sqrt(problem.n) * problem.K**1.5)
        D = like(problem.gram.dense() / problem.gram.norm, template)  # of moderate size, whatever the units
        T, nearest = cold_state(problem.fixed, template), _Projection(problem, template)
        while True:
            A = namespace(T).abs(T) * (rho / (rho + ridge)) + D * (problem.gram.norm / (rho + ridge))
            point, count = nearest(A), count + 1
            advance(T, point, self.relaxation)
            yield Iterate(point, N=NegativePart(T, rho))
            if count >= LOOKED_AT_FROM and count % LOOKED_AT_EVERY == 0:
                lacking = _negative_mass(point)
                if count >= FEWEST_STEPS and lacking < self.end_at:
                    return
                if lacking > UNSETTLED:
                    rescale_multiplier(T, LARGER)
                    rho *= LARGER


def _negative_mass(point: Point) -> float:
    """What the negative entries of a row add up to, in the mean."""
    Q = point.dense()
    xp = namespace(Q)
    return float(xp.sum(xp.clip(-Q, min=0.0))) / Q.shape[0]


class _Projection:
    """What maps the matrix of a step to its point; up to some points nothing of it depends on their order."""

    def __init__(self, problem: KMeansSDP, template: Array):
        self.total, self.fixed = problem.K - 1, problem.gram.fixed.like(template)
        self.is_exact = problem.n <= FULL_FOR_A_STEP
        self.leading = ThinEndProjector(self.total, FULL_FOR_A_RESTART.on(template), self.fixed)

    def __call__(self, A: Array) -> Point:
        if self.is_exact:
            return SpectralPoint(*project_spectraplex(A, self.total, self.fixed), self.fixed)
        return self.leading.nearest(A)[0]
