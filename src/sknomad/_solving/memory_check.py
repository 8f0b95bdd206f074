"""What a run will need, said before anything is allocated."""

from __future__ import annotations

from typing import Any

from .._numerics import memory
from .._numerics.arrays import choose_device
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
    return memory.free_memory_of(choose_device(getattr(solver, "device", "cpu"), n))


def _size(number: int) -> str:
    return f"{number / GIB:.1f} GiB" if number >= GIB / 10 else f"{number / 2**20:.0f} MiB"
