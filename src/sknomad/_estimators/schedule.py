"""Schedules of `MultiLayerNOMAD`: the ``K`` of each layer, not increasing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .._numerics.validation import check_K


def halving_schedule(K: float, count: int) -> list[float]:
    """From ``K`` by halves down to `count`, which ends it unless it is one: a layer of trace one knows nothing."""
    schedule = [max(K, float(count))]
    while count > 1 and schedule[-1] > count:
        schedule.append(max(schedule[-1] / 2, float(count)))
    return schedule


def check_schedule(schedule: Any, n: int) -> list[float]:
    """`schedule` as a list of valid ``K``, not increasing."""
    try:
        values = list(schedule)
    except TypeError:
        raise TypeError(
            f'schedule must be "auto" or a sequence of numbers, got {schedule!r} of type {type(schedule).__name__}.'
        ) from None
    if not values:
        raise ValueError("schedule must have at least one K, got none. Pass for instance [16, 8, 4, 2].")
    values = [check_K(K, n) for K in values]
    if any(later > earlier for earlier, later in pairwise(values)):
        raise ValueError(f"schedule must not increase, got {values}. Sort it in descending order.")
    return values
