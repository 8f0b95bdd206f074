"""Schedules of `MultiLayerNOMAD`: the ``K`` of each layer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from .._numerics.validation import check_integer, check_K


def halving_schedule(K: float, count: int) -> list[float]:
    """From ``K`` by halves down to `count`, which ends it unless it is one: a layer of trace one knows nothing."""
    schedule = [max(K, float(count))]
    while count > 1 and schedule[-1] > count:
        schedule.append(max(schedule[-1] / 2, float(count)))
    return schedule


def check_schedule(schedule: Iterable[object], n: int) -> list[float]:
    """`schedule` as a list of valid ``K``, not increasing."""
    try:
        given = list(schedule)
    except TypeError:
        raise TypeError(
            f'schedule must be "auto" or a sequence of numbers, got {schedule!r} of type {type(schedule).__name__}.'
        ) from None
    if not given:
        raise ValueError("schedule must have at least one K, got none. Pass for instance [16, 8, 4, 2].")
    values = [check_K(K, n) for K in given]
    if any(later > earlier for earlier, later in pairwise(values)):
        raise ValueError(f"schedule must not increase, got {values}. Sort it in descending order.")
    return values


def check_count(value: object, n: int) -> int:
    """`value` as a number of clusters of `n` points."""
    count = check_integer(value, "n_clusters", 1)
    if count > n:
        raise ValueError(f"n_clusters must be at most n_samples={n}, got {count}.")
    return count
