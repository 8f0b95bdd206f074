"""NOMAD with a ridge, less the cone: the nonnegative matrix nearest to a multiple of ``D``, rows one, trace ``K``.

Without ``Q psd`` the program ``maximise <D, Q> - ridge |Q|^2 / 2`` needs no eigenvalues. Its solution is
``Q = max(M, 0) / ridge`` with ``M = D + y 1' + 1 y' + t I``, where ``y`` and ``t`` minimise the convex function
``|max(M, 0)|^2 / 2 - ridge (2 1'y + K t)``: Newton's method ends after some four steps, each a linear system of size
n + 1. It is regularised optimal transport of the points to themselves, with the trace held.

On curves, surfaces and clusters that are sampled well it is nearly psd, and so nearly the solution with the cone. In
many dimensions it is not: rows then rest on too few entries. One thing that the cone implies can be asked for all the
same: one eigenvalue of a feasible ``Q`` is one and the others, at most one, add up to ``K - 1``, so that
``|Q|^2 <= K``. The multiplier of that ball does what a larger ridge does.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from .._numerics.arrays import Array

# Newton steps at most, and how far row sums and trace may be from what they should be, relatively: it is a start only.
MOST_STEPS, ACCURACY = 40, 1e-3
# The ball asked for is ``|Q|^2 <= 1 + .85 (K - 1)``, and how far from it is near enough. Chosen on digits, rings of
# neurons, noise in 2 to 50 dimensions, heavy tails, an S-curve and a roll, by the steps of ADMM that follow.
SHARE_OF_NORM, NEAR_ENOUGH = 0.85, (0.75, 1.2)
# The square of the norm falls about as the ridge to the power of -1/1.7; so many ridges are tried at most.
POWER_OF_NORM, MOST_RIDGES = 1.7, 8
# What is added to the diagonal of a Hessian, relative to its largest entry, and the lengths of steps, until one brings
# this share of what it promises.
SHIFTS, STEP_LENGTHS, SUFFICIENT_DECREASE = np.geomspace(1e-8, 1e2, 6), 0.5 ** np.arange(8), 1e-4


def nearest_within_ball(D: Array, ridge: float, K: float) -> tuple[Array, float]:
    """The matrix ``M`` of the least ridge, from the given one on, that brings ``Q`` into the ball, and that ridge.

    Parameters are those of `nearest_without_cone`. The norm is met roughly: it is a start only.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> D = X @ X.T / np.linalg.norm(X @ X.T)
    >>> M, larger = nearest_within_ball(D, 0.01, 6.0)
    >>> larger > 0.01, float(np.sum(np.maximum(M / larger, 0) ** 2)) < 6
    (True, True)
    """
    guess = _Place(D, ridge, K, _own_reach(D, ridge), 0.0).M
    following = max(ridge, ridge * _norm_for_ball(guess, ridge, K))
    for _ in range(MOST_RIDGES):
        larger = following
        M = nearest_without_cone(D, larger, K)
        norm = _norm_for_ball(M, larger, K)
        following = max(ridge, larger * norm**POWER_OF_NORM)
        if NEAR_ENOUGH[0] <= norm <= NEAR_ENOUGH[1] or following == larger:
            break
    return M, larger


def _norm_for_ball(M: Array, ridge: float, K: float) -> float:
    """The square of the norm of ``Q``, in units of the largest within the ball."""
    positive = np.maximum(M, 0).ravel() / ridge
    return float(positive @ positive) / (1 + SHARE_OF_NORM * (K - 1))


def nearest_without_cone(D: Array, ridge: float, K: float) -> Array:
    """The matrix ``M``: ``max(M, 0) / ridge`` is the solution, ``max(-M, 0)`` the multiplier of ``Q >= 0``.

    Parameters
    ----------
    D : array of shape (n, n)
        Inner products, of moderate size.
    ridge : float
        Positive.
    K : float
        The trace.

    Returns
    -------
    array of shape (n, n)

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]]) - 5.5
    >>> Q = np.maximum(nearest_without_cone(X @ X.T, 0.1, 2.0), 0) / 0.1
    >>> abs(Q[0].round(2)).tolist(), round(float(Q.trace()), 2)
    ([0.5, 0.5, 0.0, 0.0], 2.0)
    """
    place = _Place(D, ridge, K, _own_reach(D, ridge), 0.0)
    for _ in range(MOST_STEPS):
        if place.error < ACCURACY:
            break
        following = _following(place)
        if following is None:
            break
        place = following
    return place.M


def _own_reach(D: Array, ridge: float) -> Array:
    """The start ``y``: ``M_ij = (c_i + c_j - d_ij^2) / 2``, where row `i` would sum to one if all had its ``c_i``."""
    diagonal = np.diag(D)
    closeness = np.sort(D - (diagonal[:, None] + diagonal) / 2, axis=1)[:, ::-1]
    # The sum of max(closeness + c, 0) shall be the ridge: c is told by how many entries count.
    below = (np.cumsum(closeness, axis=1) - ridge) / np.arange(1, len(D) + 1)
    last = np.maximum(np.sum(closeness > below, axis=1), 1) - 1
    return -(below[np.arange(len(D)), last] + diagonal) / 2


class _Place:
    """The function, its gradient and how far from its minimum it is, at some ``y`` and ``t``."""

    def __init__(self, D: Array, ridge: float, K: float, y: Array, t: float):
        self.D, self.ridge, self.K, self.y, self.t = D, ridge, K, y, t
        self.M = D + y[:, None] + y
        self.M[np.diag_indices(len(y))] += t
        positive = np.maximum(self.M, 0)
        self.value = float(np.sum(positive**2)) / 2 - ridge * (2 * float(y.sum()) + K * t)
        rows, trace = positive.sum(axis=1) / ridge - 1, float(positive.trace()) / ridge - K
        self.gradient = ridge * np.r_[2 * rows, trace]
        self.error = max(float(np.abs(rows).max()), abs(trace) / K)

    def moved(self, step: Array) -> _Place:
        """The place a step away."""
        return _Place(self.D, self.ridge, self.K, self.y + step[:-1], self.t + float(step[-1]))

    def hessian(self) -> Array:
        """(n + 1, n + 1), a generalised one: entries of ``M`` count where they are positive."""
        counts = (self.M > 0).astype(float)
        n, on_diagonal = len(counts), np.diag(counts)
        H = np.empty((n + 1, n + 1))
        H[:n, :n] = 2 * counts
        H[np.arange(n), np.arange(n)] += 2 * counts.sum(axis=1)
        H[:n, n] = H[n, :n] = 2 * on_diagonal
        H[n, n] = on_diagonal.sum()
        return H


def _following(place: _Place) -> _Place | None:
    """The place after a Newton step; None where none decreases the function enough.

    Where no entry of a row is positive the Hessian is singular and says nothing of how far to go: the more is added to
    its diagonal, the shorter the step.
    """
    H = place.hessian()
    diagonal = np.diag_indices(len(H))
    entries, size = H[diagonal], float(H.max(initial=1.0))
    for shift in SHIFTS:
        H[diagonal] = entries + shift * size
        try:
            step = -la.cho_solve(la.cho_factor(H, check_finite=False), place.gradient, check_finite=False)
        except la.LinAlgError:
            continue
        following = _decrease(place, step)
        if following is not None:
            return following
    return None


def _decrease(place: _Place, step: Array) -> _Place | None:
    """The first of ever shorter steps that decreases the function enough; None where it does not any more."""
    promised = float(place.gradient @ step)
    for length in STEP_LENGTHS:
        following = place.moved(length * step)
        if following.value <= place.value + SUFFICIENT_DECREASE * length * promised:
            return following
    return None
