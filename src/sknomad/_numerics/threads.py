"""The threads of the linear algebra libraries, limited for a while."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_info, threadpool_limits

from .validation import check_integer


def limited_threads(n_threads: object) -> AbstractContextManager[object]:
    """A context with at most `n_threads` BLAS and OpenMP threads; leaving it, also by an error, restores the number."""
    if n_threads is None:
        return nullcontext()
    context: AbstractContextManager[object] = threadpool_limits(limits=check_integer(n_threads, "n_threads", 1))
    return context


def threads_now() -> int:
    """How many threads BLAS may use at the moment, by the machine, the environment and `limited_threads`; at least 1.

    Examples
    --------
    >>> with limited_threads(1):
    ...     threads_now()
    1
    """
    return max((library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"), default=1)
