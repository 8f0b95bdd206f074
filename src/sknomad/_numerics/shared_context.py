"""A setting of the whole process that several threads want at a time: the first sets it, the last restores it."""

from __future__ import annotations

import threading
from collections.abc import Callable


class SharedContext:
    """A context that may be entered again before it is left.

    Parameters
    ----------
    begin : callable
        Changes the setting and returns what restores it.

    Examples
    --------
    >>> log = []
    >>> context = SharedContext(lambda: log.append("set") or (lambda: log.append("restored")))
    >>> with context, context:
    ...     print(log)
    ['set']
    >>> log
    ['set', 'restored']
    """

    def __init__(self, begin: Callable[[], Callable[[], object]]):
        self._begin = begin
        self._lock = threading.Lock()
        self._inside = 0
        self._restore: Callable[[], object] = nothing

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._restore = self._begin()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()


def nothing() -> None:
    """What restores a setting that was not changed."""
