"""What a run will need, said before anything is allocated."""

from __future__ import annotations

from .._numerics.arrays import choose_device
from .._numerics.memory import free_memory_of
from .._program.problem import KMeansSDP
from ..solvers import SoftAssignment, Solver

GIB = 2**30


def check_memory(problem: KMeansSDP, solver: Solver) -> None:
    """Refuse a run whose forecast exceeds what is free, naming the need, the free memory and a solver that fits."""
    need = forecast(problem, solver)
    free = free_memory_of(choose_device(solver.device, problem.n))
    if free is None or need <= free:
        return
    soft = forecast(problem, SoftAssignment())
    remedy = "Use fewer points."
    if soft <= free and not solver.matrix_free:
        remedy = f'Use solver="soft", which needs {readable_size(soft)}.'
    raise MemoryError(
        f"{type(solver).__name__} needs {readable_size(need)} for dense {problem.n} x {problem.n} arrays and "
        f"{readable_size(free)} are free. {remedy}"
    )


def forecast(problem: KMeansSDP, solver: Solver) -> int:
    """Peak bytes that `solver` will allocate for `problem` beside the data; 0 if it does not say."""
    return 0 if problem.is_trivial else solver.memory(problem)


def readable_size(number: int) -> str:
    """Bytes in a unit that suits them.

    Examples
    --------
    >>> readable_size(3 * 2**29), readable_size(5 * 2**20), readable_size(2**10)
    ('1.5 GiB', '5 MiB', '1 KiB')
    """
    if number >= GIB / 10:
        return f"{number / GIB:.1f} GiB"
    return f"{number / 2**20:.0f} MiB" if number >= 2**20 else f"{number / 2**10:.0f} KiB"
