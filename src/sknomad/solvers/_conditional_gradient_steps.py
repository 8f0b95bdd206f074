"""The passes over n x n arrays that a conditional gradient step consists of."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import dger

from .._numerics.arrays import Array, row_slices
from .._numerics.projections import project_simplex

# Numbers in one row block of the passes below: a block of each of three arrays stays in a core's cache.
BLOCK_ENTRIES = 2**15
# Newton steps of the line search; on a convex piecewise quadratic a handful suffice.
SEARCH_STEPS = 30


def violations(Q: Array, K: float) -> tuple[float, float]:
    """Largest ``-Q_ij`` in units of ``K/n``, and the root mean square of the negative entries; 0 where none is."""
    negative = Q[Q < 0]
    if negative.size == 0:
        return 0.0, 0.0
    return -float(negative.min()) * Q.shape[0] / K, math.sqrt(float(np.mean(negative**2)))


def augmented_lagrangian(W: Array, B: Array, gamma: float) -> float:
    """``<B, W> + (gamma/2) |[W + J]_-|^2``, with ``B = G - D``: what the inner steps minimise, less a constant."""
    return float(np.vdot(B, W)) + gamma / 2 * float(np.sum(np.minimum(W + 1 / len(W), 0) ** 2))


class ScaledMatrix:
    """``W = scale * S`` with ``S`` in the memory of ``W``: a step then costs one rank-one update and no second pass."""

    def __init__(self, W: Array):
        self.S, self.scale = W, 1.0

    def mix(self, a: float, V: Array, weights: Array) -> None:
        """``W <- (1 - a) W + a V diag(weights) V'``."""
        if a < 1:
            self.scale *= 1 - a
        else:
            self.S[:], self.scale = 0.0, 1.0
        for weight, v in zip(weights * (a / self.scale), V.T, strict=True):
            # The transpose of a symmetric row-major array is the column-major array that BLAS updates in place.
            dger(weight, v, v, a=self.S.T, overwrite_x=False, overwrite_y=False, overwrite_a=True)

    def settle(self) -> None:
        """Bring the scale back to 1."""
        self.S *= self.scale
        self.scale = 1.0


def form_gradient(point: ScaledMatrix, B: Array, gamma: float, out: Array) -> None:
    """``B + gamma [W + J]_-``, less a multiple of ``J``, which no centred vector sees, written into `out`."""
    n, scale = B.shape[0], point.scale
    for rows in row_slices(n, max(1, BLOCK_ENTRIES // n)):
        part = out[rows]
        np.minimum(point.S[rows], -1 / (n * scale), out=part)
        part *= gamma * scale
        part += B[rows]


def best_on_span(A: Array, point: ScaledMatrix, V: Array, curvature: float, mass: float) -> tuple[Array, Array]:
    """Minimiser of ``<A, S> + (curvature/2) |S - W|^2`` over psd ``S = V C V'`` of trace `mass`, as eigenpairs."""
    target = point.scale * (V.T @ (point.S @ V)) - V.T @ (A @ V) / curvature
    values, vectors = np.linalg.eigh((target + target.T) / 2)
    weights = project_simplex(values, mass)
    return V @ vectors[:, weights > 0], weights[weights > 0]


def exact_step(W: Array, B: Array, gamma: float, S: Array) -> float:
    """The length in [0, 1] that minimises the augmented Lagrangian along ``W + a S``.

    Its derivative is increasing and piecewise linear, so Newton's method, kept inside the bracket, ends on the root.
    """
    n = W.shape[0]
    slope = float(np.vdot(B, S))

    def derivative(a: float) -> tuple[float, float]:
        Q = W + a * S + 1 / n
        negative = Q < 0
        along = S[negative]
        return slope + gamma * float(Q[negative] @ along), gamma * float(along @ along)

    low, high = 0.0, 1.0
    if derivative(high)[0] <= 0:
        return high
    a = low
    for _ in range(SEARCH_STEPS):
        first, second = derivative(a)
        if first <= 0:
            low = a
        else:
            high = a
        newton = a - first / second if second > 0 else math.inf
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - a) <= 1e-12 * high:
            break
        a = following
    return a
