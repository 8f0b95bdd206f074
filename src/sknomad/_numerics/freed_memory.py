"""Memory that is freed stays with the process for a while, where Dask has asked for the opposite.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``. The C library then gives back every array of some
megabytes when it is freed and fetches fresh pages for the next one: parts of 1000 points took 3.5 times as long.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from .shared_context import SharedContext, nothing

# Numbers of the C library for its two settings, and what the second is where the first is given.
TRIM_THRESHOLD, MAP_THRESHOLD = -1, -3
MAPPED_FROM = 2**17
# Arrays up to the largest size that the C library allows are kept, and of them so much in all.
KEPT_ARRAY, KEPT_IN_ALL = 2**25, 2**28


def _keep() -> Callable[[], object]:
    """Keep what is freed, if the environment says to give it back; what restores that."""
    given, mallopt = os.environ.get("MALLOC_TRIM_THRESHOLD_", ""), _mallopt()
    if not given.isdigit() or mallopt is None:
        return nothing
    mallopt(MAP_THRESHOLD, KEPT_ARRAY)
    mallopt(TRIM_THRESHOLD, KEPT_IN_ALL)

    def restore() -> None:
        mallopt(MAP_THRESHOLD, MAPPED_FROM)
        mallopt(TRIM_THRESHOLD, min(int(given), 2**31 - 1))

    return restore


def _mallopt() -> Callable[[int, int], int] | None:
    """The function of the C library that changes these settings; None where there is none."""
    try:
        return ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return None


# A context for work with many arrays of some megabytes.
kept_memory = SharedContext(_keep)
