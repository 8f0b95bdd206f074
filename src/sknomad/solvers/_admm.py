"""ADMM: the convex solver, with a dual bound at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, frobenius, namespace, to_numpy
from .._points import SpectralPoint, dense
from .._problem import KMeansSDP
from .._projections import project_spectraplex
from .._solution import Iterate, NegativePart
from .._validation import check_integer, check_real
from ._subspace import LeadingProjector


class _State(NamedTuple):
    """All that a step needs: ``R = max(T, 0)`` and ``N = -rho min(T, 0)`` live in one matrix."""

    T: Array
    rho: float


@dataclass(frozen=True)
class ADMM:
    """Alternating direction method of multipliers (relaxed Douglas-Rachford) with one dense n x n state.

    Each step projects on the spectraplex ``{Q 1 = 1, tr Q = K, psd}`` and on the nonnegative matrices. It converges
    from any start, and every step carries a multiplier that `certify` turns into an upper bound. Deterministic.

    Parameters
    ----------
    relaxation : float, default=1.6
        Over-relaxation of the step, in [1, 2).
    penalty : float or "auto", default="auto"
        Starting penalty in units of ``|D|_F / sqrt(K)``; "auto" is 1. It is then balanced between residuals.
    balance_every : int, default=10
        Steps between two looks at the balance of residuals.
    balance_until : int, default=500
        Steps after which the penalty stays fixed, so that convergence is guaranteed.
    exact_below : int, default=400
        Up to this many points the eigendecomposition is full; above, a warm-started subspace is filtered.
    """

    relaxation: float = 1.6
    penalty: Any = "auto"
    balance_every: int = 10
    balance_until: int = 500
    exact_below: int = 400

    def __post_init__(self) -> None:
        check_real(self.relaxation, "relaxation", 1, 1.999, "a real number in [1, 2)")
        if self.penalty != "auto":
            check_real(self.penalty, "penalty", 1e-12, 1e12, 'a positive real number or "auto"')
        check_integer(self.balance_every, "balance_every", 1)
        check_integer(self.balance_until, "balance_until", 0)
        check_integer(self.exact_below, "exact_below", 2)

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step, for ever."""
        n, D = problem.n, problem.gram.dense()
        T, rho = self._initial_state(problem, start)
        project = _projector(problem, self.exact_below)
        step = 0
        while True:
            step += 1
            R = np.maximum(T, 0)
            Q = SpectralPoint(*project(np.abs(T) + D / rho))
            change = Q.rows(0, n) - R
            T = T + self.relaxation * change
            primal = frobenius(change) / max(frobenius(R), 1.0)
            dual = frobenius(np.maximum(T, 0) - R) / max(frobenius(np.minimum(T, 0)), np.finfo(float).tiny)
            yield Iterate(
                Q,
                N=NegativePart(T, rho),
                residuals={"primal_residual": primal, "dual_residual": dual, "penalty": rho},
                extra={"T": T, "rho": rho},
            )
            if step % self.balance_every == 0 and step < self.balance_until:
                T, rho = _balance(_State(T, rho), primal, dual)

    def _initial_state(self, problem: KMeansSDP, start: Iterate | None) -> _State:
        """Continue exactly where an ADMM iterate stopped, or begin at ``T = Q - N/rho`` of any other."""
        n = problem.n
        scale = 1.0 if self.penalty == "auto" else float(self.penalty)
        rho = scale * problem.gram.norm / math.sqrt(problem.K)
        if start is None:
            return _State(np.full((n, n), 1 / n), rho)
        if "T" in start.extra:
            return _State(np.array(start.extra["T"], dtype=np.float64), float(start.extra["rho"]))
        T = dense(start.point).copy()
        if start.N is not None:
            T -= np.asarray(to_numpy(start.multiplier), dtype=np.float64) / rho
        return _State(T, rho)


def _projector(problem: KMeansSDP, exact_below: int) -> Any:
    if problem.n > exact_below:
        return LeadingProjector(problem.K - 1).project
    return lambda A: project_spectraplex(A, problem.K - 1)


def _balance(state: _State, primal: float, dual: float) -> _State:
    """Move the penalty towards equal residuals; only the negative part of ``T`` depends on it."""
    ratio = primal / max(dual, np.finfo(float).tiny)
    if 1 / 3 <= ratio <= 3:
        return state
    factor = min(max(math.sqrt(ratio), 1 / 3), 3.0)
    xp = namespace(state.T)
    T = xp.where(state.T < 0, state.T / factor, state.T)
    return _State(T, state.rho * factor)
