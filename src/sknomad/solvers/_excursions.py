"""Excursions from ADMM's state that sharpen one bound each: how the last digits are closed.

A penalty that balances the two residuals is best for the way there, yet at its end neither bound is as good as the
state allows. From the same state, some steps with a far larger penalty make the point almost feasible at hardly any
loss of value, and some with a far smaller one make the multiplier better. Neither is a place to go on from: the larger
penalty ruins the multiplier, the smaller one the point. So both happen on copies, and the steps go on from where they
were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .._certificate.iterate import Iterate, NegativePart
from .._numerics.arrays import Array, namespace
from .._points.forms import SpectralPoint
from ._admm_state import ADMMState, GramOperator, StepMatrix, advance, rescale_multiplier

Projector = Callable[[StepMatrix], tuple[Array, Array]]

# Changes of the penalty for a better multiplier and for a better point.
SMALLER, LARGER = 0.02, 20.0
RELAXATION = 1.8
# Excursions start again whenever the number of steps has grown by this factor.
GROWTH = 1.5
# Their lengths, as shares of the steps so far.
SHARE_FOR_THE_MULTIPLIER, SHARE_FOR_THE_POINT = 0.05, 0.1
# They need two more n x n arrays, and matter only for gaps that nobody asks for beyond this many points.
MOST_POINTS = 4000


def excursions_are_due(n: int, step: int, first: int) -> bool:
    """Whether excursions start from the state of `n` points after `step` steps, the first ones after `first`."""
    if n > MOST_POINTS:
        return False
    due = first
    while due < step:
        due = int(GROWTH * due)
    return due == step


def excursions(
    iterate: Iterate, state: ADMMState, gram: GramOperator, new_projector: Callable[[], Projector]
) -> Iterator[Iterate]:
    """Yield `iterate` with a better and better multiplier, then with a better and better point as well.

    `new_projector` makes a projector that starts from what is known of the leading eigenvectors at `iterate`.
    """
    T, rho, step = state.T, state.rho, state.step
    for _, N in _steps(T, rho, SMALLER, round(SHARE_FOR_THE_MULTIPLIER * step), gram, new_projector()):
        iterate = replace(iterate, N=N)
        yield iterate
    for point, _ in _steps(T, rho, LARGER, round(SHARE_FOR_THE_POINT * step), gram, new_projector()):
        iterate = replace(iterate, Q=point)
        yield iterate
    yield replace(iterate, is_milestone=True)


def _steps(
    T: Array, rho: float, factor: float, count: int, gram: GramOperator, project: Projector
) -> Iterator[tuple[SpectralPoint, NegativePart]]:
    """Steps of ADMM with another penalty, on a copy of the state."""
    T = namespace(T).asarray(T, copy=True)
    rescale_multiplier(T, factor)
    for _ in range(count):
        U, weights = project(StepMatrix(T, gram, factor * rho))
        advance(T, U, weights, RELAXATION, gram.fixed)
        yield SpectralPoint(U, weights, gram.fixed), NegativePart(T, factor * rho)
