"""Solutions at neighbouring ``K``, averaged: less clumpy than the exact optimum at one.

Nonnegative psd matrices with unit row sums stay what they are when they are averaged, and traces are averaged too. So
the mean of feasible points for ``K_1, ..., K_m`` is feasible for the mean of these, which is ``K`` itself, because they
are spread evenly around it. It is not optimal there: every solution has a certificate of its own, and the upper bound
of the middle one also bounds how much the mean falls short.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._certificate.certificate import Certificate
from .._certificate.iterate import Iterate
from .._points.forms import DensePoint, SoftPoint, side_by_side
from .._points.mixed import MixedPoint
from .._program.problem import KMeansSDP
from .._solving.budget import Budget
from .._solving.loop import Callback
from .._solving.options import SolveOptions
from .._solving.solution import Solution, Status

# The outermost K lie this share of K away from it.
SPREAD = 1 / 3


@dataclass(frozen=True)
class Consensus:
    """A solution, and the mean of it and its neighbours."""

    solution: Solution  # for K itself
    point: MixedPoint  # the mean, feasible for K
    certificates: list[Certificate]  # of every solution, by ascending K
    status: Status  # of the last solve


def neighbouring_K(K: float, n: int, count: int) -> list[float]:
    """`count` values evenly spread around ``K``, a third of it to either side, or as far as 1 and `n` allow.

    Examples
    --------
    >>> neighbouring_K(12, 100, 3), neighbouring_K(12, 14, 3), neighbouring_K(12, 100, 1)
    ([8.0, 12.0, 16.0], [10.0, 12.0, 14.0], [12.0])
    """
    reach = max(0.0, min(SPREAD * K, K - 1, n - K))
    half = count // 2
    return [float(K + reach * step / half) if half else float(K) for step in range(-half, half + 1)]


def solve_around(
    options: SolveOptions,
    problem: KMeansSDP,
    count: int,
    *,
    budget: Budget,
    start: Iterate | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Consensus:
    """Solve `problem`, and the same for neighbouring ``K``, each with its share of the time, until asked to stop.

    `start` and `checkpoint` are those of the problem itself.
    """
    values = [problem.K, *(K for K in neighbouring_K(problem.K, problem.n, count) if K != problem.K)]
    found: dict[float, Solution] = {}
    for K in values:
        its_time = budget.share(1 / (len(values) - len(found))).max_seconds
        one = KMeansSDP(problem.gram, K)
        own: dict[str, Any] = {} if found else {"start": start, "checkpoint": checkpoint}
        last = replace(options, max_seconds=its_time).solve(one, callback=callback, **own)
        found[K] = last
        if last.status in (Status.STOPPED, Status.INTERRUPTED):
            # Without its counterpart on the other side a neighbour would move the mean of the traces.
            found = {problem.K: found[problem.K]}
            break
    by_K = [found[K] for K in sorted(found)]
    certificates = [solution.certificate for solution in by_K]
    return Consensus(found[problem.K], mean_point(by_K), certificates, last.status)


def mean_point(solutions: list[Solution]) -> MixedPoint:
    """The mean of feasible points, as soft assignments if all are."""
    points = [solution.point for solution in solutions]
    if len(points) == 1:
        return points[0]
    shares = np.array([point.base_weight for point in points])
    shares = shares / shares.sum()
    bases = [point.base for point in points]
    identity, mean = (float(np.mean([getattr(point, name) for point in points])) for name in ("identity", "mean"))
    soft = [base for base in bases if isinstance(base, SoftPoint)]
    base: SoftPoint | DensePoint
    if len(soft) == len(bases):
        base = side_by_side(soft, shares.tolist())
    else:
        base = DensePoint(sum(share * one.dense() for share, one in zip(shares, bases, strict=True)))
    return MixedPoint(base, identity, mean, points[0].fixed)
