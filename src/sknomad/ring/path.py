"""How the diagonals of the ring's optimal ``Q`` move and vanish as ``K`` grows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._numerics.validation import check_integer, check_K
from .program import Array, Orbits, best_row, ring_kernel, ring_orbits, solve_lags

# A diagonal below this share of the main one has vanished. The simplex method makes it an exact zero; the smallest
# nonzero diagonal at a kink (n=100) is 2e-8.
VANISHED_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class RingPath:
    """Optimal circulant ``Q`` for every ``K`` at once: linear in ``K`` between kinks of the optimal value.

    Examples
    --------
    >>> path = ring_path(6)
    >>> path.K.round(6).tolist(), path.diagonals.shape
    ([1.0, 2.0, 3.0, 6.0], (4, 4))
    """

    n: int  # number of points
    K: Array  # kinks of the optimal value, from 1 to n, increasing
    values: Array  # optimal value at each kink, for the unit circle
    diagonals: Array  # (kinks, n//2 + 1): entry of Q at lag h for each kink


@dataclass(frozen=True, eq=False)
class InactiveK:
    """Where each h-diagonal of the ring's optimal ``Q`` vanishes.

    Examples
    --------
    >>> inactive = inactive_K(12, [5, 6])
    >>> inactive.h.tolist(), bool((inactive.first <= inactive.final).all())
    ([5, 6], True)
    """

    h: NDArray[np.intp]  # lags
    first: Array  # smallest K at which the h-diagonal is zero
    final: Array  # K from which on it stays zero; above first when the diagonal comes back


def diagonal_path(n: int, K_values: ArrayLike, n_diagonals: int) -> Array:
    """Entries of the optimal circulant ``Q`` at lags ``0..n_diagonals - 1``, for each ``K``, by one program each.

    Parameters
    ----------
    n : int
        Number of points on the circle.
    K_values : array-like of float
        Values in ``[1, n]``, in any order.
    n_diagonals : int
        At most ``n//2 + 1``, the number of different diagonals.

    Returns
    -------
    array of shape (len(K_values), n_diagonals)
        Column 0 is ``K/n``.

    Examples
    --------
    >>> diagonal_path(8, [1, 4, 8], 2)
    array([[0.125, 0.125],
           [0.5  , 0.25 ],
           [1.   , 0.   ]])
    """
    n, n_diagonals = check_integer(n, "n", 2), check_integer(n_diagonals, "n_diagonals", 1)
    if n_diagonals > n // 2 + 1:
        raise ValueError(
            f"n_diagonals must be at most n//2 + 1 = {n // 2 + 1}, got {n_diagonals}. "
            "The h- and (n-h)-diagonals are equal."
        )
    Ks = [check_K(K, n) for K in np.ravel(K_values).tolist()]
    orbits, kernel = ring_orbits(n), ring_kernel(n)
    rows = [best_row(kernel, orbits, K)[:n_diagonals] for K in Ks]
    return np.array(rows).reshape(len(Ks), n_diagonals)


def ring_path(n: int) -> RingPath:
    """Optimal ``Q`` on the unit circle as an exact piecewise linear function of ``K``.

    The optimum of a linear program is concave and piecewise linear in its budget. Between two neighbouring kinks
    the mixture of the two solutions is feasible and attains the value, so the kinks hold the whole path. They are
    found by chords: maximise ``value - slope K`` over all ``K`` at once; a vertex above the chord splits it in
    two.

    Kinks that rise less than ``1e-10 n`` above their chord are skipped. The number of kinks grows faster than ``n^2``
    (n=40: 91 in 0.5 s, n=100: 867 in 7 s, on one core).

    Parameters
    ----------
    n : int
        Number of points on the circle.

    Returns
    -------
    RingPath

    Examples
    --------
    >>> ring_path(6).K
    array([1., 2., 3., 6.])
    """
    n = check_integer(n, "n", 2)
    orbits, kernel = ring_orbits(n), ring_kernel(n)
    flat, identity = np.ones(n // 2 + 1), n * np.eye(n // 2 + 1)[0]
    kinks, chords = [flat], [(flat, identity)]
    while chords:  # leftmost chord first, so that kinks come out in the order of K
        left, right = chords.pop()
        vertex = _vertex_above(left, right, kernel, orbits)
        if vertex is None:
            kinks.append(right)
        else:
            chords += [(vertex, right), (left, vertex)]
    rows = np.array(kinks)
    return RingPath(n=n, K=rows[:, 0], values=rows @ (orbits.size * kernel), diagonals=rows / n)


def inactive_K(n: int, h_values: Sequence[int]) -> InactiveK:
    """The ``K`` at which each h-diagonal of the ring's optimal ``Q`` becomes inactive.

    Diagonals vanish one after the other from the antipode inwards: ``first`` decreases in ``h``, and for even n
    (at least 4) is 2 for ``h = n/2``, ``n/2`` for ``h = 2`` and ``n`` for ``h = 1``. A distant diagonal that has
    vanished may come back, never above about 1e-3 of the main one (measured, n up to 100), before it stays zero:
    hence ``first`` and ``final``. Both are kinks of `ring_path`, not results of a search, because a nonnegative
    piecewise linear function reaches and leaves zero at kinks.

    Where ``Q`` is not unique (see `ring_optimum`) the path, hence this function, mixes the solutions at both kinks.

    Parameters
    ----------
    n : int
        Number of points on the circle.
    h_values : sequence of int
        Lags in ``1..n//2``. The main diagonal is ``K/n`` and never vanishes.

    Returns
    -------
    InactiveK

    Examples
    --------
    >>> inactive_K(10, [1, 2, 5]).first
    array([10.,  5.,  2.])
    """
    n = check_integer(n, "n", 2)
    h = np.array([_check_lag(value, n) for value in h_values], dtype=np.intp)
    path = ring_path(n)
    vanished = path.diagonals[:, h] <= VANISHED_SHARE * path.diagonals[:, :1]
    # All but the main diagonal are zero at K = n, so both searches end.
    first = np.argmax(vanished, axis=0)
    final = len(path.K) - np.argmin(vanished[::-1], axis=0)
    return InactiveK(h=h, first=path.K[first], final=path.K[final])


def _check_lag(h: int, n: int) -> int:
    lag = check_integer(h, "h", 1)
    if lag > n // 2:
        raise ValueError(f"h must be at most n//2 = {n // 2}, got {lag}. The h- and (n-h)-diagonals are equal.")
    return lag


def _vertex_above(left: Array, right: Array, kernel: Array, orbits: Orbits) -> Array | None:
    """Solution (as ``n row``) farthest above the chord between two solutions in the (K, value) plane, if any."""
    n, gain = orbits.label.size, orbits.size * kernel
    slope = gain @ (right - left) / (right[0] - left[0])
    tilted = kernel - slope * np.eye(kernel.size)[0]
    vertex: Array = solve_lags(tilted, orbits, np.arange(kernel.size), diagonal=(1.0, float(n))).x
    rise = gain @ (vertex - left) - slope * (vertex[0] - left[0])
    return vertex if rise > 1e-10 * n and left[0] < vertex[0] < right[0] else None
