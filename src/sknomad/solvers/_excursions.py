"""Excursions from ADMM's state that sharpen both bounds: how the last digits are closed.

The best multipliers are far away from those of ADMM, along directions in which the bound hardly falls, and its points
are never quite feasible. An excursion is a path of proximal steps with ever larger penalties: the larger they are, the
further the multiplier moves and the less negative entries of the point become. The multiplier on the way is rough and
proves little, but one more proximal step with a small penalty makes it smooth. That is done where the point will do for
the gap in view. ADMM goes on from where it was: its convergence does not depend on what an excursion finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._certificate.iterate import Iterate, NegativePart
from .._certificate.shifting import negative_share
from .._numerics.arrays import Array
from .._numerics.sizes import FULL_FOR_A_PLACE
from .._program.problem import KMeansSDP
from ._admm_state import ADMMState, GramOperator
from ._proximal_newton import Place, ProximalStep

# Excursions start again whenever the number of steps has grown by this factor.
GROWTH = 1.5
# The first and the last penalty of the path, in units of ADMM's, and that of the step that makes multipliers smooth.
FIRST, LAST, SMOOTH = 5.0, 500_000.0, 6.0
# Strides, what the factor between two penalties exceeds 1 by: for a gap of 1e-4, and at most. The longer they are, the
# wider the gap that a path leads to; with four times as long ones it was 10 to 200 times as wide.
STRIDE, LONGEST_STRIDE = 1.0, 2.0
# Smaller gaps are left to later excursions: a path that is too long ends with the run, its multiplier still rough.
SMALLEST_GAP = 1e-7
# How much steps are held back, in units of the square of strides.
HOLD = 1e-3
# A point is good enough for a gap where its negative entries, as a share of the trace, are this much larger than it:
# making them zero costs about a tenth of that share, a quarter at most.
SHARE_PER_GAP = 6.0
# With many points the path to such a point costs several times what a smooth multiplier does, and a better multiplier
# may be all that a wide gap lacks: the first one is made this early.
EARLY_SHARE_PER_GAP = 200.0
# Where such a point was not enough, a multiplier is made smooth again with shares so much smaller.
FALL = 3.0
# Where ranks are larger than this share of n, conjugate gradients need many long products: on the way to gaps from here
# on an excursion takes longer than the steps that it saves, unless there have been so many.
LARGE_SHARE, WIDE_GAP, MANY_STEPS = 0.25, 3e-5, 600
# n x n arrays of float64 that an excursion adds to those of the judge and of the solver.
ARRAYS = 26.0


def excursion_due(step: int, first: int) -> int | None:
    """The number of the excursion that starts after `step` steps, the one after `first` steps being 0; None if none."""
    number, due = 0, first
    while due < step:
        number, due = number + 1, int(GROWTH * due)
    return number if due == step else None


def excursion_pays(n: int, rank: int, step: int, gap: float) -> bool:
    """Whether an excursion from a point of some rank may save more time than it takes."""
    return rank <= LARGE_SHARE * n or gap < WIDE_GAP or step >= MANY_STEPS


def excursion_memory(n: int) -> int:
    """Bytes that an excursion from a state of `n` points needs beside those of the solver."""
    return int(8 * ARRAYS * n**2)


def stride(gap: float, number: int) -> float:
    """What the factor between two penalties exceeds 1 by, on the way to a gap; each further excursion halves it.

    Examples
    --------
    >>> [round(stride(gap, 0), 2) for gap in (1e-3, 1e-5, 1e-6)], round(stride(1e-6, 1), 2)
    ([1.78, 0.56, 0.32], 0.16)
    """
    return min(STRIDE * (gap / 1e-4) ** 0.25, LONGEST_STRIDE) / 2**number


def first_share(n: int, gap: float, template: Array) -> float:
    """Negative entries, as a share of the trace, with which a multiplier is made smooth for the first time."""
    is_early = n > FULL_FOR_A_PLACE.on(template) and gap >= WIDE_GAP
    return (EARLY_SHARE_PER_GAP if is_early else SHARE_PER_GAP) * gap


def excursion(
    problem: KMeansSDP, gap: float, number: int, iterate: Iterate, state: ADMMState, gram: GramOperator
) -> Iterator[Iterate]:
    """Yield `iterate` with ever better points and, now and then, multipliers: a milestone after each of these.

    `gap` is the relative gap in view, `number` counts the excursions before.
    """
    gap = max(gap, SMALLEST_GAP)
    length = stride(gap, number)
    N, rho = NegativePart(state.T, state.rho), FIRST * state.rho
    place: Place | None = None
    due = first_share(problem.n, gap, state.T)
    while rho <= LAST * state.rho:
        step = ProximalStep(gram, problem.K - 1, iterate.point, N, rho, HOLD * length**2)
        for nearer in step.places(place):
            place, N = nearer, step.multiplier(nearer)
            iterate = replace(iterate, Q=nearer.point)
            yield iterate
        rho *= 1 + length
        share = negative_share(problem, iterate.point)
        if share <= due or rho > LAST * state.rho:
            smoothing = ProximalStep(gram, problem.K - 1, iterate.point, N, SMOOTH * state.rho)
            for smooth in smoothing.places():
                iterate = replace(iterate, N=smoothing.multiplier(smooth))
                yield iterate
            yield replace(iterate, is_milestone=True)
            due = min(SHARE_PER_GAP * gap, share / FALL)
