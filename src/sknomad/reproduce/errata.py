"""Misprints and slips of the paper, each with a check: how wrong it is as printed, and how wrong corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import conditional_gradient, datasets
from ..ring import ring_optimum, ring_points

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Erratum:
    """What is printed, what is meant, and a check."""

    place: str  # a key of `coverage.PLACES`
    quotation: str  # a few words of the paper, beside the slip or of it
    printed: str  # what the paper says, in a sentence
    corrected: str  # what is true
    measure: str  # what the check measures; 0 is right
    check: Callable[[], tuple[float, float]]  # the measure as printed, and corrected


def _same_cluster() -> tuple[float, float]:
    same = np.equal.outer([0, 0, 0, 1, 1], [0, 0, 0, 1, 1]).astype(float)
    shares = same / same.sum(axis=1, keepdims=True)
    return float(np.abs(same.sum(axis=1) - 1).max()), float(np.abs(shares.sum(axis=1) - 1).max())


def _circulant_index() -> tuple[float, float]:
    angle = 2 * np.pi * np.arange(12) / 12
    i, j, k = np.indices((12, 12, 12))
    cosine = np.cos(angle[i] - angle[j])
    shifted = [np.cos(angle[(i + k) % 12] - angle[(other + k) % 12]) for other in (k, j)]
    return float(np.abs(cosine - shifted[0]).max()), float(np.abs(cosine - shifted[1]).max())


def _fourier_basis() -> tuple[float, float]:
    n = 16
    p, k = np.indices((n, n))
    printed = 2 / np.sqrt(n) * np.where(k % 2 == 0, np.cos(2 * np.pi * p * k / n), np.sin(2 * np.pi * p * (k - 1) / n))
    return _from_orthonormal(printed), _from_orthonormal(real_fourier_basis(n))


def real_fourier_basis(n: int) -> Array:
    """Orthonormal columns: the constant, then a cosine and a sine of each frequency (for even n the last is alone).

    Examples
    --------
    >>> bool(np.allclose(real_fourier_basis(5).T @ real_fourier_basis(5), np.eye(5)))
    True
    """
    p = np.arange(n)
    columns = [np.full(n, 1 / np.sqrt(n))]
    for m in range(1, (n + 1) // 2):
        columns += [np.sqrt(2 / n) * wave(2 * np.pi * m * p / n) for wave in (np.cos, np.sin)]
    if n % 2 == 0:
        columns.append((-1.0) ** p / np.sqrt(n))
    return np.stack(columns, axis=1)


def _from_orthonormal(F: Array) -> float:
    return float(np.abs(F.T @ F - np.eye(len(F))).max())


def _eigenvalue_count() -> tuple[float, float]:
    n = 100
    frequencies = n // 2 - 1  # those with a cosine and a sine of their own
    return float(1 + 2 * (n - 1) - n), float(1 + 2 * frequencies + 1 - n)


def _cone_cosine() -> tuple[float, float]:
    n, K = 100, 16
    vectors = ring_optimum(n, K).cone_vectors()
    found = vectors[0] / np.linalg.norm(vectors, axis=0)
    return float(np.abs(found - 4 / n).max()), float(np.abs(found - 1 / np.sqrt(K)).max())


def _cone_of_eigenvectors() -> tuple[float, float]:
    n, K = 100, 16
    F = real_fourier_basis(n)
    angle = np.degrees(np.arccos(1 / np.sqrt(K)))
    between = np.degrees(np.arccos(np.clip(F[:, 1:].T @ F[:, 0], -1, 1)))
    vectors = ring_optimum(n, K).cone_vectors()
    columns = np.degrees(np.arccos(vectors[0] / np.linalg.norm(vectors, axis=0)))
    return float(np.abs(between - angle).max()), float(np.abs(columns - angle).max())


def _edge_lengths() -> tuple[float, float]:
    Q = ring_optimum(60, 6).Q
    squares = np.maximum(np.add.outer(np.diag(Q), np.diag(Q)) - 2 * Q, 0)
    return _share_of_shorter_detours(squares), _share_of_shorter_detours(np.sqrt(squares))


def _share_of_shorter_detours(lengths: Array) -> float:
    """Share of pairs that are farther apart than the way through some third point, which no distance allows."""
    through = np.min(lengths[:, :, None] + lengths[None, :, :], axis=1)
    return float(np.mean(through < lengths - 1e-9))


def _multiplier_sign() -> tuple[float, float]:
    X = ring_points(20)
    v = X[:, 0] / np.linalg.norm(X[:, 0])
    Q = 1 / 20 + 3 * np.outer(v, v)  # after the first step of the paper's method with K = 4
    multiplier = np.minimum(0 + Q, 0)
    return float(np.maximum(-multiplier, 0).max()), float(np.maximum(multiplier, 0).max())


def _is_maximised() -> tuple[float, float]:
    C = np.diag([3.0, 1.0, 2.0, 0.0])
    value = conditional_gradient(lambda Z: float(np.sum(C * Z)), lambda Z: C, 1.0, [0.0, 0.0, 0.0, 1.0]).value
    return value - 1.0, 3.0 - value  # over the directions that are allowed, least and largest


def _not_a_cone() -> tuple[float, float]:
    first, second = np.diag([1.0, 0.0, 0.0]), np.diag([0.0, 1.0, 0.0])
    return float(abs(np.trace(2 * first) - 1)), float(abs(np.trace((first + second) / 2) - 1))


def _iteration_count() -> tuple[float, float]:
    C, accuracy = 1.0, 0.01
    printed, corrected = 4 * C / accuracy - 1, 8 * C / accuracy - 2
    excess = [8 * C / (t + 2) / accuracy - 1 for t in (printed, corrected)]
    return excess[0], max(excess[1], 0.0)


class _Quadratic:
    """``f(Z) = -|Z - A|^2/2`` on psd matrices of trace 1 that map ones to zero; its curvature is 1."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        A = rng.standard_normal((6, 6))
        self.A, self.P = (A + A.T) / 2, np.eye(6) - 1 / 6
        self.Z, self.H = (self._vertex(rng.standard_normal(6)) for _ in range(2))

    def _vertex(self, v: Array) -> Array:
        v = self.P @ v
        return np.outer(v, v) / (v @ v)

    def f(self, Z: Array) -> float:
        return -float(np.sum((Z - self.A) ** 2)) / 2

    def gradient(self, Z: Array) -> Array:
        return self.A - Z


def _curvature_sign() -> tuple[float, float]:
    q, step = _Quadratic(), 1.0
    left = q.f(q.Z + step * (q.H - q.Z))
    right = q.f(q.Z) + step * float(np.sum((q.H - q.Z) * q.gradient(q.Z)))
    return max(right + step**2 - left, 0.0), max(right - step**2 - left, 0.0)


def _dual_sign() -> tuple[float, float]:
    q = _Quadratic()
    best = conditional_gradient(q.f, q.gradient, 1.0, np.ones(6), max_iter=2000).value
    slope = q.gradient(q.Z)
    phi = float(np.linalg.eigvalsh(q.P @ slope @ q.P).max())
    without = q.f(q.Z) - float(np.sum(slope * q.Z))
    return max(best - (without - phi), 0.0), max(best - (without + phi), 0.0)


def _indicator_product() -> tuple[float, float]:
    z = np.array([1.0, 1.0, 0.0])
    return float(z.size**2 - np.size(z @ z)), float(z.size**2 - np.size(np.outer(z, z)))


def _nmf_problem() -> tuple[Array, Array, Array]:
    A = ring_optimum(40, 8).Q
    rng = np.random.default_rng(0)
    X, Y = (np.abs(rng.standard_normal((40, 16))) * np.sqrt(A.mean() / 16) for _ in range(2))
    return A, X, Y


def _nmf_sign() -> tuple[float, float]:
    errors = []
    for sign in (-1.0, 1.0):
        A, X, Y = _nmf_problem()
        G, eye = np.zeros_like(Y), np.eye(16)
        for _ in range(300):
            X = np.maximum(np.linalg.solve(Y.T @ Y + eye, (A @ Y + Y - G).T).T, 0)
            Y = np.maximum(np.linalg.solve(X.T @ X + eye, (A @ X + X + G).T).T, 0)
            G = np.clip(G + sign * (X - Y), -1e6, 1e6)
        errors.append(float(np.linalg.norm(X - Y) / np.linalg.norm(A)))
    return errors[0], errors[1]


def _nmf_argument() -> tuple[float, float]:
    A, before, Y = _nmf_problem()
    slopes = []
    for other in (before, Y):
        X = np.linalg.solve(other.T @ other + np.eye(16), (A @ other + other).T).T
        slopes.append(float(np.linalg.norm(-(A - Y @ X.T).T @ Y - (Y - X)) / np.linalg.norm(A)))
    return slopes[0], slopes[1]


def _zeros() -> tuple[float, float]:
    count = len(datasets.fetch_mnist(0).target)
    return float(abs(9603 - count)), float(abs(6903 - count))


ERRATA = (
    Erratum(
        "Section 1", "if points i and j belong to the same cluster",
        "Entries of Q are 1 for points of one cluster.", "They are 1 over the size of the cluster.",
        "largest distance of a row sum from 1", _same_cluster,
    ),
    Erratum(
        "Section 2.1", "is a circulant matrix, i.e.",
        "The cosine of two angles is that of angles i+k and k+k.", "It is that of angles i+k and j+k.",
        "largest difference of cosines, 12 points", _circulant_index,
    ),
    Erratum(
        "Section 2.3", "decompose it with the real Fourier basis",
        "The real Fourier basis has the factor 2/sqrt(n) and the frequencies k and k - 1.",
        "The factor is sqrt(2/n), 1/sqrt(n) for the constant, and the frequencies are k/2 and (k + 1)/2.",
        "largest entry of F'F - I, n = 16", _fourier_basis,
    ),
    Erratum(
        "Section 2.3", "they can be fully represented with only one half of the Fourier basis",
        "The eigenvalues repeat up to number n - 1.", "They repeat up to number n/2.",
        "number of eigenvalues minus n, n = 100", _eigenvalue_count,
    ),
    Erratum(
        "Section 2.3", "meaning that the vectors",
        "The cosine between a vector of the cone and its axis is 4/n.", "It is 1/sqrt(K).",
        "largest error of the cosine, n = 100, K = 16", _cone_cosine,
    ),
    Erratum(
        "Figure 3d", "form a high-dimensional cone",
        "The eigenvectors of Q form a cone.", "The columns of its root do; eigenvectors are orthogonal to the axis.",
        "largest error of the half-angle in degrees, n = 100, K = 16", _cone_of_eigenvectors,
    ),
    Erratum(
        "Section 3.2", "we derive distances from it with the formula",
        "Q_ii + Q_jj - 2 Q_ij is a distance.", "Its root is one.",
        "share of pairs with a shorter way through a third point, ring n = 60, K = 6", _edge_lengths,
    ),
    Erratum(
        "Section 5.1", "is the associated Lagrange multiplier",
        "The multiplier is nonnegative.", "Its update makes it nonpositive; its negative is the multiplier of a bound.",
        "largest entry of the wrong sign after one step, ring n = 20, K = 4", _multiplier_sign,
    ),
    Erratum(
        "Algorithm 1", "to minimize, scale parameter",
        "Algorithm 1 minimises f.", "It maximises f.",
        "distance of its value from the least (largest) one", _is_maximised,
    ),
    Erratum(
        "Algorithm 1", "be the convex cone of positive semidefinite matrices with trace",
        "The matrices of a fixed trace form a cone.", "They form a compact convex set.",
        "distance of the trace of a double (a mean) from it", _not_a_cone,
    ),
    Erratum(
        "Complexity", "yields a solution with accuracy",
        "Accuracy e takes 4 C/e - 1 steps.", "By the bound of the paper it takes 8 C/e - 2.",
        "relative excess of the bound over e, C = 1, e = 0.01", _iteration_count,
    ),
    Erratum(
        "Proposition (accuracy)", "Now, using",
        "In the proof the curvature is added.", "It is subtracted.",
        "violation of the inequality, a quadratic of curvature 1", _curvature_sign,
    ),
    Erratum(
        "Proposition (accuracy)", "In the first iteration",
        "The step of length 1 is number 1.", "It is number 0, so that the induction starts at t = 1.",
        "distance of 2/(t + 2) from 1", lambda: (abs(2 / (1 + 2) - 1), abs(2 / (0 + 2) - 1)),
    ),
    Erratum(
        "Lemma (dual)", "Without loss of generality, we set",
        "In the proof s psi is subtracted.", "It is added, as in the statement.",
        "how far the dual value lies below the optimum, the same quadratic", _dual_sign,
    ),
    Erratum(
        "Appendix A", "be the indicator vector of set",
        "Pairs are counted by z'z.", "They are counted by zz'.",
        "entries that are missing, 3 points", _indicator_product,
    ),
    Erratum(
        "Appendix D", "then updating the multiplier",
        "The multiplier falls by X - Y.", "It grows by X - Y.",
        "|X - Y| / |A| after 300 steps, ring n = 40, K = 8, r = 16", _nmf_sign,
    ),
    Erratum(
        "Appendix D", "one at a time while fixing the other at its most recent value",
        "X is found with the last X in the place of Y.", "It is found with the last Y.",
        "slope of the Lagrangian at the new X, same problem", _nmf_argument,
    ),
    Erratum(
        "Figure 16", "we use all 9603 images of the digit",
        "MNIST has 9603 zeros.", "It has 6903.",
        "distance from their number", _zeros,
    ),
)  # fmt: skip
