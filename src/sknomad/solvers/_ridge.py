"""The nearest feasible point to a multiple of ``D``: NOMAD with a ridge, a smooth stand-in for its solution.

With ``- ridge |Q|^2 / 2`` added, the program ``maximise <D, Q>`` becomes strongly concave. Its one solution is the
feasible point nearest to ``D / ridge``: unlike that of the program itself it moves no further than the data do, and has
small entries where a sample happens to have a gap.

Without the semidefinite cone it is found without any eigenvalue (`nearest_within_ball`), and is often nearly the same:
from there a few steps of ADMM are enough, where from ``T = J`` it took fifty and more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._certificate.iterate import Iterate, NegativePart
from .._numerics.arrays import Array, Device, choose_device, like, namespace
from .._numerics.projections import project_spectraplex
from .._numerics.sizes import FULL_FOR_A_RESTART, FULL_FOR_A_STEP
from .._numerics.validation import check_real
from .._points.forms import SpectralPoint
from .._points.point import Point
from .._program.problem import KMeansSDP
from ._admm_state import advance_and_measure
from ._protocol import Solver
from ._thin_end import ThinEndProjector
from ._without_cone import nearest_within_ball


@dataclass(frozen=True)
class Ridge(Solver):
    """ADMM for ``maximise <D, Q> - ridge |Q|^2 / 2`` over the feasible set, from the solution without the cone.

    It proposes smooth points; neither their values nor their multipliers come near to the optimum of the program
    without the ridge. There is nothing to go on from: a start is not used.

    Parameters
    ----------
    ridge : float, default=6
        In units of ``|D|_F / (sqrt(n) K^1.5)``: the larger, the smoother. Few points need more, because more of what
        they show is chance.
    penalty : float, default=2
        In units of ``|D|_F / K``.
    end_at : float, default=0
        The primal residual, the distance of ``Q`` to its nonnegative copy in units of its norm, below which the run
        ends; at 0 it never does.
    relaxation : float, default=1.9
        Over-relaxation of the step, in [1, 2).
    device : {"auto", "cpu", "cuda"} or array, default="auto"
        Where to compute, as `ADMM` has it.

    Examples
    --------
    >>> import itertools
    >>> from sknomad import Gram, KMeansSDP
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> *_, last = itertools.islice(Ridge(ridge=0.02).iterates(problem), 9)
    >>> abs(last.point.rows(0, 1).round(2)).tolist()
    [[0.5, 0.5, 0.0, 0.0]]
    """

    ridge: float = 6.0
    penalty: float = 2.0
    end_at: float = 0.0
    relaxation: float = 1.9
    device: Device = "auto"

    def __post_init__(self) -> None:
        check_real(self.ridge, "ridge", 1e-12, 1e12, "a positive real number")
        check_real(self.penalty, "penalty", 1e-12, 1e12, "a positive real number")
        check_real(self.end_at, "end_at", 0, 1, "a real number in [0, 1]")
        check_real(self.relaxation, "relaxation", 1, math.nextafter(2, 1), "a real number in [1, 2)")

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step. Its multiplier is a view of the state: valid until the next step."""
        template = choose_device(self.device, problem.n)
        # Of moderate size, whatever the units.
        D, size = problem.gram.dense() / problem.gram.norm, problem.gram.norm
        ridge, rho = self.ridge / (math.sqrt(problem.n) * problem.K**1.5), self.penalty / problem.K
        M, larger = nearest_within_ball(D, ridge, problem.K)
        T = like(np.maximum(M, 0) / larger + np.minimum(M, 0) / rho, template)
        D, nearest = like(D, template), _Projection(problem, template)
        while True:
            point = nearest((namespace(T).abs(T) * rho + D) / (rho + ridge))
            residuals = advance_and_measure(T, point, self.relaxation)
            yield Iterate(point, N=NegativePart(T, rho * size))
            if residuals.primal < self.end_at:
                return


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
