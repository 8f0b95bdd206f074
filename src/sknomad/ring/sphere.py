"""NOMAD on the whole sphere: a linear program in its harmonics, with bounds from both sides, and spherical designs.

Rotations leave the problem unchanged, so an optimum depends on the inner product ``t`` of two points alone:
``Q(x, y) = k(x.y)/n`` with ``k(t) = sum_l (2l + 1) q_l P_l(t)``, where ``q_l`` is the eigenvalue of all harmonics of
degree ``l``. Row sums make ``q_0 = 1``, the trace ``k(1) = K``, and the value is ``n q_1``. On the points of a
spherical design the same kernel, cut off below the strength of the design, is feasible to the last digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares, linprog
from scipy.special import eval_legendre

from .._numerics.validation import check_integer, check_real

Array = NDArray[np.float64]

# Points of the polar angle at which the kernel is held nonnegative, for each degree; and finer ones for the check.
GRID_PER_DEGREE, CHECK_PER_DEGREE = 24, 2000
# Intervals of the dual measure, and degrees that its program has. More intervals let the density jump, and the bound
# beyond the degrees that are checked suffers.
INTERVALS, DUAL_DEGREES = 64, 300
CHECKED_DEGREES = 4000  # up to which the dual bound is checked one by one
# Degrees below 30 at which the rotations of the icosahedron leave a harmonic unchanged: one each.
ICOSAHEDRAL_DEGREES = (6, 10, 12, 15, 16, 18, 20, 21, 22, 24, 25, 26, 27, 28)
EXACT_DESIGN = 1e-9  # largest mean of an invariant harmonic over the points of a design


@dataclass(frozen=True, eq=False)
class SphereSolution:
    """The optimal kernel of at most a given degree, and bounds on the optimum over all degrees.

    Examples
    --------
    >>> solution = sphere_optimum(1.6, 10)
    >>> round(solution.lower, 6), round(solution.upper, 6)
    (0.2, 0.2)
    """

    K: float  # the trace
    degree: int  # largest degree that is used
    eigenvalues: Array  # (degree + 1,) q_l, each for 2l + 1 harmonics
    lower: float  # a value per point that a nonnegative kernel reaches, this one or a completely positive one
    upper: float  # no kernel of any degree has a larger value per point

    def kernel(self, t: ArrayLike) -> Array:
        """``k(t)`` for inner products `t`."""
        return np.asarray(legendre.legval(np.asarray(t, dtype=np.float64), _weights(self.degree) * self.eigenvalues))


def sphere_optimum(K: float, degree: int = 24) -> SphereSolution:
    """The best kernel of at most the given degree on the sphere in three dimensions, with bounds.

    ``max q_1`` subject to ``q >= 0``, ``q_0 = 1``, ``sum (2l + 1) q_l = K`` and ``k(t) >= 0`` on ``[-1, 1]``. The lower
    bound pays for what is negative between grid points; the upper bound is a dual one, by a measure on ``[-1, 1]``, and
    holds for all degrees.

    Parameters
    ----------
    K : float
        The trace, at least 1.
    degree : int, default=24
        Largest degree, at least 1; neighbourhoods of K need about ``3 sqrt(K)``.

    Returns
    -------
    SphereSolution

    Examples
    --------
    >>> solution = sphere_optimum(8, 12)
    >>> solution.lower < solution.upper < 1.01 * solution.lower
    True
    """
    K = check_real(K, "K", 1, math.inf, "a real number >= 1")
    check_integer(degree, "degree", 1)
    if (degree // 2 + 1) ** 2 < K:  # no nonnegative kernel of this degree is as high at its centre
        raise ValueError(f"degree must be at least {2 * math.ceil(math.sqrt(K)) - 2} for K={K:g}, got {degree}.")
    weights = _weights(degree)
    t = np.cos(np.linspace(0, np.pi, GRID_PER_DEGREE * degree + 1))
    harmonics = legendre.legvander(t, degree) * weights
    # Maximise q_1 over q_1, ..., q_degree; row sums have fixed q_0 = 1.
    answer = linprog(
        -np.eye(degree)[0], -harmonics[:, 1:], np.ones(len(t)), weights[None, 1:], [K - 1], method="highs-ds"
    )
    q = np.concatenate([[1.0], np.asarray(answer.x)])
    below = _most_negative(q * weights)
    lower = max(float(q[1] / (1 + below)), sphere_completely_positive_value(K))
    return SphereSolution(K, degree, q, lower, min(_upper_bound(K), 1.0))


def _weights(degree: int) -> Array:
    return np.arange(1.0, 2 * degree + 2, 2.0)


def _most_negative(coefficients: Array) -> float:
    """How far a kernel can be below zero: its least value on a fine grid, and what can hide between grid points.

    As a function of the angle it is a trigonometric polynomial, whose second derivative is at most the square of its
    degree times its size (Bernstein).
    """
    degree = len(coefficients) - 1
    angle = np.linspace(0, np.pi, CHECK_PER_DEGREE * degree + 1)
    values = legendre.legval(np.cos(angle), coefficients)
    hidden = (angle[1] * degree) ** 2 / 8 * float(np.abs(coefficients).sum())
    return max(hidden - float(values.min()), 0.0) if values.min() < hidden else 0.0


def _upper_bound(K: float) -> float:
    """``mu(1) + (K - 1) lambda``, for a measure ``mu >= 0`` with ``[l = 1]/3 + mu(P_l) <= lambda`` for all ``l >= 1``.

    The measure has a constant density on each of many intervals, whose integrals of Legendre polynomials are known.
    A linear program finds one for the first degrees; ``lambda`` is then raised to hold for all.
    """
    ends = np.cos(np.linspace(0, np.pi, INTERVALS + 1))
    integrals = _legendre_integrals(ends, DUAL_DEGREES)
    target = np.zeros(len(integrals))
    target[0] = -1 / 3
    rows = np.column_stack([integrals, -np.ones(len(integrals))])
    costs = np.append(-np.diff(ends), K - 1)
    answer = linprog(costs, rows, target, method="highs")
    density = np.maximum(np.asarray(answer.x)[:-1], 0)
    slopes = _legendre_integrals(ends, CHECKED_DEGREES) @ density
    slopes[0] += 1 / 3
    # Summed by parts, an integral of P_l is at most 2/(2l + 1) times the variation of the density.
    variation = float(np.abs(np.diff(density, prepend=0.0, append=0.0)).sum())
    largest = max(float(slopes.max()), 2 * variation / (2 * CHECKED_DEGREES + 3))
    return float(-np.diff(ends) @ density) + (K - 1) * largest


def _legendre_integrals(ends: Array, degrees: int) -> Array:
    """Integrals of ``P_1, P_2, ...`` between neighbouring ends, which fall: ``(2l + 1) P_l = P_{l+1}' - P_{l-1}'``."""
    values = np.empty((degrees + 2, len(ends)))
    values[0], values[1] = 1.0, ends
    for order in range(1, degrees + 1):
        values[order + 1] = ((2 * order + 1) * ends * values[order] - order * values[order - 1]) / (order + 1)
    primitive = (values[2:] - values[:-2]) / (2 * np.arange(1, degrees + 1) + 1)[:, None]
    return np.asarray(-np.diff(primitive, axis=1))


def sphere_completely_positive_value(K: float) -> float:
    """The best value per point of a completely positive kernel on the sphere.

    One window ``v(t) = max(t - c, 0)``, a truncated cosine about its centre, is best for its own trace
    (Sengupta, Pehlevan, Tepper, Genkin and Chklovskii, 2018); all rotations of it make the kernel. For ``K <= 4/3`` the
    window covers the sphere and nothing is lost; beyond, ``c = 1 - 8/(3K)``.

    Parameters
    ----------
    K : float
        The trace, at least 1.

    Returns
    -------
    float
        Never above the optimum over all kernels.

    Examples
    --------
    >>> round(sphere_completely_positive_value(4 / 3), 6), round(sphere_completely_positive_value(8), 6)
    (0.111111, 0.790123)
    """
    K = check_real(K, "K", 1, math.inf, "a real number >= 1")
    c = window_threshold(K)
    mass, moment = _window_moments(c)
    return (moment / mass) ** 2


def window_threshold(K: float) -> float:
    """The ``c`` of the window ``max(t - c, 0)`` whose kernel has the trace `K`."""
    if K <= 4 / 3:
        return -1 / math.sqrt(3 * (K - 1)) if K > 1 else -1e9
    return 1 - 8 / (3 * K)


def _window_moments(c: float) -> tuple[float, float]:
    """Means over the sphere of ``max(t - c, 0)``, and of ``t`` times it."""
    if c <= -1:
        return -c, 1 / 3
    return (1 - c) ** 2 / 4, ((1 - c**3) / 3 - c * (1 - c**2) / 2) / 2


def sphere_design(orbits: int = 2, *, random_state: int = 0) -> tuple[Array, int]:
    """Points of a spherical design: orbits of the rotations of the icosahedron, placed so that harmonics cancel.

    Means over the points of all polynomials up to the strength are those over the sphere. Rotations take care of all
    degrees but a few, and two angles for each orbit make two more of these vanish.

    Parameters
    ----------
    orbits : int, default=2
        Each has 60 points.
    random_state : int, default=0
        Of the starts of the search.

    Returns
    -------
    (array of shape (60 orbits, 3), int)
        The points, and the strength that was reached, checked by the means themselves.

    Examples
    --------
    >>> X, strength = sphere_design(1)
    >>> X.shape, strength >= 9
    ((60, 3), True)
    """
    check_integer(orbits, "orbits", 1)
    group, rng = _icosahedral_rotations(), np.random.default_rng(random_state)
    for count in range(min(2 * orbits, len(ICOSAHEDRAL_DEGREES) - 1), 0, -1):
        degrees = ICOSAHEDRAL_DEGREES[:count]
        for _ in range(10):
            start = np.column_stack([rng.uniform(-1, 1, orbits), rng.uniform(0, 2 * np.pi, orbits)])
            found = least_squares(_invariants, start.ravel(), args=(group, degrees), xtol=1e-15, ftol=1e-15, gtol=1e-15)
            if np.abs(found.fun).max() < EXACT_DESIGN:
                X = (group @ _on_sphere(found.x).T).transpose(0, 2, 1).reshape(-1, 3)
                return X, ICOSAHEDRAL_DEGREES[count] - 1
    raise RuntimeError("no design was found; change random_state.")


def _on_sphere(parameters: Array) -> Array:
    height, angle = parameters.reshape(-1, 2).T
    height = np.sin(height)  # any number is allowed
    ring = np.sqrt(1 - height**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height])


def _invariants(parameters: Array, group: Array, degrees: tuple[int, ...]) -> Array:
    """Mean over the points of the one harmonic of each degree that the rotations leave unchanged."""
    pole = np.array([0.3, 0.5, np.sqrt(1 - 0.34)])  # of no symmetry, so that no invariant vanishes there
    products = np.clip(np.einsum("gij,aj,i->ga", group, _on_sphere(parameters), pole), -1, 1)
    return np.array([eval_legendre(degree, products).mean() for degree in degrees])


def _icosahedral_rotations() -> Array:
    """The 60 rotations of the icosahedron, as matrices."""
    golden = (1 + np.sqrt(5)) / 2
    turns = [np.roll(np.eye(3), 1, axis=0), _rotation(np.array([0.0, 1.0, golden]), 2 * np.pi / 5)]
    found = [np.eye(3)]
    for matrix in found:  # grows while it is walked through
        for turn in turns:
            product = turn @ matrix
            if not any(np.allclose(product, other, atol=1e-6) for other in found):
                found.append(product)
    return np.array(found)


def _rotation(axis: Array, angle: float) -> Array:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)
