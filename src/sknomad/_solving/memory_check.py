"""What a run will need, said before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._numerics.arrays import choose_device, is_numpy_array
from .._program.problem import KMeansSDP

GIB = 2**30


def check_memory(problem: KMeansSDP, solver: Any) -> None:
    """Refuse a run whose forecast exceeds what is free, naming the need, the free memory and a solver that fits."""
    need = forecast(problem, solver)
    free = free_memory_of(solver, problem.n)
    if need is None or free is None or need <= free:
        return
    from ..solvers import SoftAssignment

    soft = forecast(problem, SoftAssignment())
    remedy = "Use fewer points."
    if soft is not None and soft <= free and not getattr(solver, "matrix_free", True):
        remedy = f'Use solver="soft", which needs {_size(soft)}.'
    raise MemoryError(
        f"{type(solver).__name__} needs {_size(need)} for dense {problem.n} x {problem.n} arrays and {_size(free)} are "
        f"free. {remedy}"
    )


def forecast(problem: KMeansSDP, solver: Any) -> int | None:
    """Peak bytes that `solver` will allocate for `problem` beside the data; None if it does not say."""
    estimate = getattr(solver, "memory", None)
    return None if estimate is None or problem.is_trivial else int(estimate(problem))


def free_memory_of(solver: Any, n: int) -> int | None:
    """Bytes free where the solver computes: the GPU's, or the machine's (or its control group's)."""
    model = choose_device(getattr(solver, "device", "cpu"), n)
    if is_numpy_array(model) or "cuda" not in str(getattr(model, "device", "")):
        return free_memory()
    import torch

    free, _ = torch.cuda.mem_get_info(model.device)
    return int(free + torch.cuda.memory_reserved(model.device) - torch.cuda.memory_allocated(model.device))


def total_memory() -> int | None:
    """Bytes of memory this process may use: the machine's, or its control group's if that is less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    return min((size for size in (machine, _group("max", "limit_in_bytes")) if size), default=None)


def free_memory() -> int | None:
    """Bytes that can still be allocated without pushing anything out."""
    limit, used = _group("max", "limit_in_bytes"), _group("current", "usage_in_bytes")
    in_group = limit - used if limit is not None and used is not None else None
    return min((size for size in (_machine_available(), in_group) if size is not None), default=None)


def _group(name: str, old_name: str) -> int | None:
    """A number of this process's control group, in either version of them."""
    new, old = Path(f"/sys/fs/cgroup/memory.{name}"), Path(f"/sys/fs/cgroup/memory/memory.{old_name}")
    for path in (new, old):
        try:
            return int(path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return None


def _machine_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _size(number: int) -> str:
    return f"{number / GIB:.1f} GiB" if number >= GIB / 10 else f"{number / 2**20:.0f} MiB"
