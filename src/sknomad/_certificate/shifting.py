"""A nearly feasible point made feasible through its eigenvalues.

Alternating projections set negative entries to zero, then negative eigenvalues, which makes entries negative again.
Here eigenvalues are raised instead, all by what the smallest lacks: that adds a multiple of ``I``, which makes no entry
negative. Mixing with the interior point pays in every row for the worst entry of all; this pays for the smallest
eigenvalue that setting all negative entries to zero leaves, and that is far less where they are many and small, or few.
"""

from __future__ import annotations

from .._numerics.arrays import Array, eigh, namespace
from .._numerics.fixed_vector import FixedVector
from .._numerics.projections import lift, restrict
from .._points.forms import SpectralPoint
from .._points.mixed import shares_for_trace
from .._points.point import Point
from .._program.problem import KMeansSDP

# Rows are scaled until their sums are this close to one, at most so many times; each time halves what they lack.
BALANCED, MOST_SCALINGS = 1e-10, 60
# Keeps a rest of zero from dividing.
TINY = 1e-300


def raise_eigenvalues(problem: KMeansSDP, Q: Array, fixed: FixedVector) -> SpectralPoint:
    """A point near the one with the entries `Q`, feasible up to rounding but for a trace that may be too large.

    Negative entries are set to zero and the sums of rows restored. If the smallest eigenvalue then is ``-t``, adding
    ``t I`` and dividing by ``1 + t`` makes it zero. Should the trace be too small, mixing with ``I`` restores it.
    """
    xp = namespace(Q)
    values, Z = eigh(restrict(_balanced(fixed.raise_entries(Q, 0.0), fixed), fixed))
    lacking = max(-float(xp.min(values)), 0.0)
    raised = (values + lacking) / (1 + lacking)
    identity, _ = shares_for_trace(1 + float(xp.sum(raised)), problem.K, problem.n)
    return SpectralPoint(lift(Z, fixed), (1 - identity) * raised + identity, fixed)


def _balanced(Q: Array, fixed: FixedVector) -> Array:
    """The nonnegative symmetric `Q` with ``Q u = u`` restored: ``S Q S + b b'/(u'b)``.

    The scales of the diagonal ``S`` leave no row too large, and ``b`` is what rows then lack. Neither makes an entry
    negative, and scaling costs a row no more than was added to it.
    """
    xp = namespace(Q)
    u = fixed.like(Q).vector(Q)
    scales = xp.ones_like(u)
    sums = (Q @ u) / u
    for _ in range(MOST_SCALINGS):
        if float(xp.max(xp.abs(sums - 1))) <= BALANCED:
            break
        scales = scales / sums**0.5
        sums = scales * (Q @ (scales * u)) / u
    largest = max(float(xp.max(sums)), 1.0)
    scales = scales / largest**0.5
    rest = xp.clip(u - (sums / largest) * u, min=0.0)
    rank_one = rest[:, None] * (rest / max(float(u @ rest), TINY))[None, :]
    return Q * scales[:, None] * scales[None, :] + rank_one


def negative_share(problem: KMeansSDP, point: Point) -> float:
    """What negative entries lack in sum, as a share of the trace: ``n u'E u / K`` for what they lack, ``E``."""
    Q = point.rows(0, problem.n)
    lacking = namespace(Q).clip(-Q, min=0.0)
    return problem.n * problem.fixed.like(Q).mean_value(lacking) / problem.K
