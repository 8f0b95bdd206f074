"""How much memory there is, and how much of it is free: the machine's, a control group's, a GPU's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import psutil
from array_api_compat import is_torch_array

from .arrays import Array, is_on_gpu

# Where Linux keeps the numbers of a control group, in the newer and in the older version of them.
GROUP_LIMIT = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
GROUP_USAGE = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")

# The most bytes that this process is to take, where somebody said so.
_most: ContextVar[int | None] = ContextVar("most bytes of memory", default=None)


@contextmanager
def limited_memory(most: int | None) -> Iterator[None]:
    """Context in which no more is called free than keeps this process within `most` bytes; None changes nothing.

    Examples
    --------
    >>> with limited_memory(1):
    ...     free_memory()
    0
    """
    token = _most.set(most)
    try:
        yield
    finally:
        _most.reset(token)


def total_memory() -> int:
    """Bytes of memory this process may use: the machine's, or its control group's if that is less.

    Examples
    --------
    >>> 0 < free_memory() <= total_memory()
    True
    """
    limit = _number_in(GROUP_LIMIT)
    machine = int(psutil.virtual_memory().total)
    return min(machine, limit) if limit else machine


def free_memory() -> int:
    """Bytes that can still be allocated without pushing anything out."""
    limit, used = _number_in(GROUP_LIMIT), _number_in(GROUP_USAGE)
    free = int(psutil.virtual_memory().available)
    if limit is not None and used is not None:
        free = min(free, limit - used)
    if (most := _most.get()) is not None:
        free = min(free, max(most - int(psutil.Process().memory_info().rss), 0))
    return free


def free_memory_of(template: Array) -> int:
    """Bytes free where the arrays of `template` live: on its GPU, or in the machine."""
    if not (is_torch_array(template) and is_on_gpu(template)):
        return free_memory()
    import torch

    free, _ = torch.cuda.mem_get_info(template.device)
    # What torch has reserved and does not use can be allocated too.
    return int(free + torch.cuda.memory_reserved(template.device) - torch.cuda.memory_allocated(template.device))


def _number_in(paths: tuple[str, ...]) -> int | None:
    """The number in the first of these files that is there and holds one; None on systems without them."""
    for path in paths:
        try:
            return int(Path(path).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return None
