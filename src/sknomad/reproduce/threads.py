"""The threads that a solver run by hand gets: as many as `solve` would give it, so that times can be compared."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_limits

# Up to this many points `solve` keeps to one thread of the linear algebra: more wait for each other.
ONE_THREAD_UP_TO = 600


def threads_of_a_solve(n: int) -> AbstractContextManager[object]:
    """A context with the threads that `solve` has for `n` points.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with threads_of_a_solve(100):
    ...     max(library["num_threads"] for library in threadpool_info())
    1
    """
    if n > ONE_THREAD_UP_TO:
        return nullcontext()
    one: AbstractContextManager[object] = threadpool_limits(limits=1)  # limits at once, so not before it is sure
    return one
