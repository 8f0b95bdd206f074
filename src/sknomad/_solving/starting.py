"""What a run may begin with, or go on from: an iterate of this problem, with numbers that can be computed with."""

from __future__ import annotations

from dataclasses import replace

from .._certificate.iterate import LARGEST_ENTRY, Iterate, NegativePart
from .._certificate.upper import state_of
from .._numerics.arrays import Array, double, is_array, namespace
from .._points.forms import SMALLEST_COLUMN, SoftPoint
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP


def usable_start(start: Iterate, problem: KMeansSDP, name: str) -> Iterate:
    """An iterate to begin with, soft assignments mended; refused, by its `name`, where it can be none of `problem`."""
    if start.point.n != problem.n:
        raise ValueError(f"{name} must have {problem.n} rows as the problem has, got {start.point.n}.")
    if not _is_moderate(problem, start):
        raise ValueError(f"{name} must have finite entries, got NaN, inf or numbers next to it. Start without it.")
    point = start.point
    if isinstance(point, MixedPoint) and isinstance(point.base, SoftPoint):
        return replace(start, Q=replace(point, base=_mended(point.base, problem)))
    return replace(start, Q=_mended(point, problem)) if isinstance(point, SoftPoint) else start


def _mended(soft: SoftPoint, problem: KMeansSDP) -> SoftPoint:
    """Soft assignments without empty cells and negative shares; untouched, to the bit, where they have none."""
    xp = namespace(soft.V)
    is_sound = float(xp.min(soft.V)) >= 0 and float(xp.min(soft.sizes)) > SMALLEST_COLUMN
    is_sound = is_sound and float(xp.min(xp.sum(soft.V, axis=1))) > 0
    return soft if is_sound else soft.as_soft(problem.fixed)


def _is_moderate(problem: KMeansSDP, start: Iterate) -> bool:
    """Whether neither point nor multiplier has an entry that is about to overflow."""
    point = start.point.base if isinstance(start.point, MixedPoint) else start.point
    # Points may be products of two such arrays.
    arrays = [array for array in vars(point).values() if is_array(array)]
    sizes = [_largest(array) * _largest(array) for array in arrays]
    if start.N is not None:
        weight = abs(start.N.weight) if isinstance(start.N, NegativePart) else 1.0
        sizes.append(_largest(state_of(problem, start.N)) * weight)
    return all(size <= LARGEST_ENTRY for size in sizes)


def _largest(array: Array) -> float:
    """The largest absolute value, NaN where there is one."""
    xp = namespace(array)
    return float(xp.max(xp.abs(double(array)))) if 0 not in array.shape else 0.0
