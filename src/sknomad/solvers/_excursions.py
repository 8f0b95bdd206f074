"""Excursions from ADMM's state that sharpen both bounds: how the last digits are closed.

The best multipliers are far away from those of ADMM, along directions in which the bound hardly falls, and its points
are never quite feasible. An excursion is a path of proximal steps with ever larger penalties: the larger they are, the
further the multiplier moves and the less negative entries of the point become. At its end the point is almost feasible
at hardly any loss of value. The multiplier is then rough and proves little, but where it is taken on the way, one more
proximal step with a small penalty makes it smooth. ADMM goes on from where it was: its convergence does not
depend on what an excursion finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._certificate.iterate import Iterate, NegativePart
from ._admm_state import ADMMState, GramOperator
from ._proximal_newton import ProximalStep

# Excursions start again whenever the number of steps has grown by this factor.
GROWTH = 1.5
# The first and the last penalty of the path, in units of ADMM's.
FIRST, LAST = 5.0, 50_000.0
# Up to which one the multiplier is followed, before it is made smooth with the second one: the former in units of the
# inverse square of what the factor between two penalties exceeds 1 by, since long strides make it rougher.
ROUGH, SMOOTH = 600.0, 6.0
# How much steps are held back, in units of that square. The smaller both are, the better the bounds that a path leads
# to, at more steps along it and more products in each.
HOLD = 1e-3
# Every decomposition is a full one.
MOST_POINTS = 4000
# n x n arrays of float64 that an excursion adds to those of the judge and of the solver.
ARRAYS = 16.0


def excursion_due(n: int, step: int, first: int) -> int | None:
    """The number of the excursion that starts after `step` steps, the one after `first` steps being 0; None if none."""
    if n > MOST_POINTS:
        return None
    number, due = 0, first
    while due < step:
        number, due = number + 1, int(GROWTH * due)
    return number if due == step else None


def excursion_memory(n: int) -> int:
    """Bytes that an excursion from a state of `n` points needs beside those of the solver."""
    return int(8 * ARRAYS * n**2)


def excursion(factor: float, iterate: Iterate, state: ADMMState, gram: GramOperator, total: float) -> Iterator[Iterate]:
    """Yield `iterate` with ever better points, and on the way multipliers; at last the best of both.

    `factor` is that between two penalties, `total` the trace of ``W``.
    """
    excess = (factor - 1) ** 2
    N, rho, rough = NegativePart(state.T, state.rho), FIRST * state.rho, ROUGH / excess * state.rho
    while rho <= LAST * state.rho:
        step = ProximalStep(gram, total, iterate.point, N, rho, HOLD * excess)
        for place in step.places():
            N = step.multiplier(place)
            iterate = replace(iterate, Q=place.point)
            yield iterate
        if rho < rough <= factor * rho:
            step = ProximalStep(gram, total, iterate.point, N, SMOOTH * state.rho)
            for place in step.places():
                iterate = replace(iterate, N=step.multiplier(place))
                yield iterate
        rho *= factor
    yield replace(iterate, is_milestone=True)
