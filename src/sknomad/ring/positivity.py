"""Complete positivity on the ring: explicit nonnegative factors, and the best value any of them can reach."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import circulant

from .._numerics.validation import check_integer, check_K
from .program import Array, check_radius

Window = tuple[int, float]  # number of points of an arc, minus 1, and steepness of the cosine on it

# How far Q may be from symmetric, nonnegative, circulant, semidefinite, or from unit row sums.
ROUNDING = 1e-9


def completely_positive_factor(Q: ArrayLike) -> Array:
    """Nonnegative ``B`` with ``B B' = Q``, where the proposition provides one.

    If every ``Q_ii >= 1/2``, then ``Q`` is diagonally dominant: the sum of ``Q_ij (e_i + e_j)(e_i + e_j)'`` over
    pairs, plus a nonnegative diagonal. If ``Q`` is circulant with ``tr Q <= 3/2``, each Fourier mode is a sum of
    three shifted cosines, ``1 + cos(x - y)/2 = (1/3) sum_k (1 + cos(x - 2 pi k/3)) (1 + cos(y - 2 pi k/3))``.

    Parameters
    ----------
    Q : array of shape (n, n)
        Feasible: symmetric, nonnegative, positive semidefinite, rows summing to 1.

    Returns
    -------
    array of shape (n, r)
        ``r`` is at most ``n(n+1)/2`` in the first case and ``3 n//2 + 1`` in the second.

    Raises
    ------
    ValueError
        If ``Q`` is not feasible, or neither condition holds. The latter does not say that no factor exists.

    Examples
    --------
    >>> B = completely_positive_factor([[0.75, 0.25], [0.25, 0.75]])
    >>> B @ B.T
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    Q = _check_feasible(Q)
    K = float(np.trace(Q))
    if Q.diagonal().min() >= 0.5 - ROUNDING:
        return dominance_factor(Q)
    if K <= 1.5 + ROUNDING and is_circulant(Q):
        return three_cosines_factor(Q[0])
    raise ValueError(
        "Q must be circulant with trace at most 3/2, or have every diagonal entry at least 1/2, "
        f"got trace {K:.6g} and smallest diagonal entry {Q.diagonal().min():.6g}. "
        "The proposition is silent here; best_completely_positive gives the completely positive optimum on the ring."
    )


def _check_feasible(Q: ArrayLike) -> Array:
    Q = np.asarray(Q, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or Q.size == 0:
        raise ValueError(f"Q must be a square matrix, got shape {Q.shape}. Pass solution.Q.")
    errors = {
        "symmetric": np.abs(Q - Q.T).max(),
        "nonnegative": -Q.min(),
        "of unit row sums": np.abs(Q.sum(axis=1) - 1).max(),
    }
    for rule, error in errors.items():
        if not error <= ROUNDING:  # also catches NaN
            raise ValueError(f"Q must be {rule}, got an error of {error:.1e}. Repair Q first.")
    return np.maximum(Q, 0.0)


def is_circulant(Q: Array) -> bool:
    """Whether every column of ``Q`` is the one before it moved down by one, up to rounding."""
    return bool(np.abs(Q - circulant(Q[:, 0])).max() <= ROUNDING)


def dominance_factor(Q: Array) -> Array:
    """Nonnegative ``B`` with ``B B' = Q`` for a nonnegative, diagonally dominant ``Q``."""
    i, j = np.nonzero(np.triu(Q, 1))
    pairs = np.zeros((len(Q), i.size))
    pairs[i, np.arange(i.size)] = pairs[j, np.arange(i.size)] = np.sqrt(Q[i, j])
    # With unit row sums this is 2 Q_ii - 1; this form reproduces the diagonal whatever the row sums' rounding.
    rest = Q.diagonal() - (Q.sum(axis=1) - Q.diagonal())
    return np.hstack([pairs, np.diag(np.sqrt(np.maximum(rest, 0.0)))])


def three_cosines_factor(row: Array) -> Array:
    """Nonnegative ``B`` for the circulant ``Q`` with this first row, of unit sum and ``tr Q <= 3/2``."""
    n = row.size
    q = np.fft.fft(row).real
    if q.min() < -ROUNDING:
        raise ValueError(f"Q must be positive semidefinite, got an eigenvalue of {q.min():.1e}. Repair Q first.")
    mode = np.arange(1, n // 2 + 1)
    weight = np.maximum(q[mode], 0.0) * np.where(2 * mode == n, 1, 2)  # modes p and n - p are the same cosine
    angle = 2 * np.pi * (np.outer(np.arange(n), mode) % n) / n
    shifts = 2 * np.pi * np.arange(3) / 3
    bumps = [np.sqrt(2 * weight / (3 * n)) * (1 + np.cos(angle - shift)) for shift in shifts]
    constant = np.sqrt(max(1 - 2 * weight.sum(), 0.0) / n)
    return np.hstack([np.full((n, 1), constant), *bumps])


@dataclass(frozen=True, eq=False)
class CompletelyPositiveOptimum:
    """The best completely positive ``Q`` on a ring: two nonnegative windows, averaged over all rotations.

    Examples
    --------
    >>> best = best_completely_positive(12, 3)
    >>> bool(np.allclose(best.factor @ best.factor.T, best.Q)), best.factor.shape
    (True, (12, 24))
    """

    n: int  # number of points
    K: float  # trace of Q
    value: float  # <D, Q>, attained by this Q
    upper: float  # bound on <D, Q> for every completely positive feasible Q; equals value up to rounding
    price: float  # slope of the best value in K, which proves the bound
    windows: Array  # (2, n): nonnegative, each summing to 1
    weights: Array  # (2,): nonnegative, summing to 1

    @property
    def factor(self) -> Array:
        """Nonnegative ``B`` of shape (n, 2 n) with ``B B' = Q``."""
        pairs = zip(self.weights, self.windows, strict=True)
        return np.hstack([np.sqrt(weight) * circulant(window) for weight, window in pairs])

    @property
    def Q(self) -> Array:
        """Dense ``Q``, circulant."""
        B = self.factor
        return B @ B.T


def best_completely_positive(n: int, K: float, *, radius: float = 1.0) -> CompletelyPositiveOptimum:
    """Best feasible ``Q = B B'`` with ``B >= 0`` on a ring: no method with nonnegative factors can pass its value.

    Averaging over rotations makes it a mixture of windows ``v >= 0``, ``1'v = 1``: maximise the mean of
    ``n |sum_i v_i e^{i a_i}|^2`` with the mean of ``n |v|^2`` equal to ``K``. The best windows are cosines,
    truncated to an arc.

    The value is that of `ring_optimum` up to ``K = 1 + 1/(2 cos(pi/n)^2)`` (just above the proposition's 3/2) and from
    ``K = n/2`` on; for even n already from ``3 n/8``, with windows ``(1/4, 1/2, 1/4)`` and ``(1/2, 1/2)``, and also at
    ``K`` close to ``pi^2/4``, with the clipped cosine ``max(cos, 0)``. In between, from five points on, it is less for
    odd n, and nearly everywhere for even n (n=30 has a further interval of equality, 8.7 to 10.1).

    Parameters
    ----------
    n, K, radius : int, float, float
        Points on the circle, trace of ``Q`` and radius, as for `ring_optimum`.

    Returns
    -------
    CompletelyPositiveOptimum

    Examples
    --------
    >>> best = best_completely_positive(100, 2)
    >>> round(best.value, 5)  # the relaxation itself reaches 50
    47.28661
    """
    n = check_integer(n, "n", 2)
    K, scale = check_K(K, n), check_radius(radius) ** 2
    # Weak duality: for any price, the maximum over windows of value - price (k - K) bounds every mixture, and the
    # two windows between which the bisection on the price is caught mix to a feasible point. Both ends meet to
    # rounding, and the maximum is over all windows, not over a grid of them (see _Arcs): that is the proof.
    arcs = _Arcs(n)
    sharp, flat = (0, 0.0), (n - 1, 0.0)  # a single point, where k = n; all points alike, where k = 1
    low, high = 0.0, float(n)  # the price where the sharp window wins; and where the flat one does
    for _ in range(100):
        price = (low + high) / 2
        window = arcs.best(price)
        if arcs.k(window) > K:
            low, sharp = price, window
        else:
            high, flat = price, window
    width = arcs.k(sharp) - arcs.k(flat)
    weight = (K - arcs.k(flat)) / width if width > 0 else 1.0  # K = n: both are the single point
    top = arcs.best(price)
    return CompletelyPositiveOptimum(
        n=n,
        K=K,
        value=scale * (weight * arcs.value(sharp) + (1 - weight) * arcs.value(flat)),
        upper=scale * (arcs.value(top) - price * (arcs.k(top) - K)),
        price=scale * price,
        windows=np.array([arcs.entries(sharp), arcs.entries(flat)]),
        weights=np.array([weight, 1 - weight]),
    )


def best_completely_positive_value(n: int, K: float, *, radius: float = 1.0) -> float:
    """Value of `best_completely_positive`.

    Parameters
    ----------
    n, K, radius : int, float, float
        As for `best_completely_positive`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(best_completely_positive_value(40, 4), 6)
    33.413998
    """
    return best_completely_positive(n, K, radius=radius).value


class _Arcs:
    """Windows ``v = 1/m + steepness (c - mean c)``, with ``c`` the cosine centred on an arc of ``m = 1..n`` points.

    They contain a maximiser of ``|sum_i v_i e^{i a_i}|^2 - price |v|^2`` over all windows, for every price > 0. By
    stationarity a maximiser is ``max(cos(a - phi) + b, 0)`` up to scale, so its support is an arc. On an arc the
    function splits into an even and an odd part around the centre, and at a maximum the odd part, ``(s'v)^2 -
    price |v|^2`` with ``s`` the sines, is nowhere positive. If it is negative, ``v`` is even, hence centred. If it
    vanishes along ``s``, ``v`` can move along ``s`` at no cost until an entry is zero, onto a shorter arc; so a
    maximiser on the shortest arc is centred.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.size = np.arange(1, n + 1)
        depths = [self._depth(int(m)) for m in self.size]
        # Through 1 - c, because the spread of cosines over a short arc drowns in the rounding of c itself.
        mean_depth = np.array([depth.mean() for depth in depths])
        drop = np.array([depth.max() for depth in depths]) - mean_depth
        self.mean = 1 - mean_depth
        self.spread = np.array([np.square(depth - depth.mean()).sum() for depth in depths])
        # At the steepest, the ends of the arc reach 0. Arcs of one or two points are level: nothing to steepen.
        self.steepest = np.divide(1, self.size * drop, out=np.zeros(n), where=drop > 0)

    def _depth(self, m: int) -> Array:
        """``1 - cos`` of the angles of an arc of ``m`` points around its centre."""
        return 2 * np.sin(np.pi / self.n * (np.arange(m) - (m - 1) / 2)) ** 2

    def best(self, price: float) -> Window:
        """Window that maximises ``value - price k``: on each arc a parabola in the steepness, then the best arc."""
        room = price - self.spread  # the parabola is concave where this is positive
        top = np.divide(self.mean, room, out=np.full(self.n, np.inf), where=room > 0)
        steepness = np.clip(top, 0.0, self.steepest)
        profit = (self.mean + steepness * self.spread) ** 2 - price * (1 / self.size + steepness**2 * self.spread)
        arc = int(np.argmax(profit))
        return arc, float(steepness[arc])

    def k(self, window: Window) -> float:
        """``n |v|^2``, the trace of the rotation average."""
        arc, steepness = window
        return float(self.n * (1 / self.size[arc] + steepness**2 * self.spread[arc]))

    def value(self, window: Window) -> float:
        """``n |sum_i v_i e^{i a_i}|^2``, the value of the rotation average on the unit circle."""
        arc, steepness = window
        return float(self.n * (self.mean[arc] + steepness * self.spread[arc]) ** 2)

    def entries(self, window: Window) -> Array:
        """The window as a vector, on the first ``m`` of the ``n`` points."""
        arc, steepness = window
        depth = self._depth(arc + 1)
        v = np.zeros(self.n)
        v[: arc + 1] = np.maximum(1 / (arc + 1) + steepness * (depth.mean() - depth), 0.0)
        return v
