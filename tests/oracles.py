"""Optimal values known without the library: planted problems, rings and tori by linear programming, Clarabel.

Nothing here imports sknomad: these are the second derivation that the first is held against.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

# (n, K) -> optimum for n points on the unit circle.
RING_VALUES = {
    (40, 4): 33.464298427,
    (80, 8): 76.530371721,
    (160, 16): 158.232506062,
    (320, 32): 319.112966345,
    (640, 16): 632.928961329,
    (1000, 25): 995.461914173,
    (2000, 40): 1996.450186747,
}
# (side, K) -> optimum for side^2 points on the flat torus in R^4, two unit circles.
TORUS_VALUES = {(6, 5): 41.0, (20, 16): 671.182879645, (30, 25): 1609.451621699}
# The digits listed above, and the tolerance of the linear programs behind them.
LISTED_TOLERANCE = 5e-9


def ring_points(n, radius=1.0):
    """The `n` corners of a regular polygon."""
    angle = 2 * np.pi * np.arange(n) / n
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def torus_points(side):
    """A `side` x `side` grid on the product of two unit circles."""
    ring = ring_points(side)
    return np.hstack([np.repeat(ring, side, axis=0), np.tile(ring, (side, 1))])


@functools.cache
def ring_value(n, K):
    """Optimum for the unit ring: averaging over rotations leaves a linear program in the Fourier coefficients.

    ``Q`` is circulant with eigenvalues ``q_j``, frequency ``j`` counted ``m_j`` times: ``q_0 = 1``, ``m'q = K``,
    ``q >= 0``, all entries ``sum_j m_j q_j cos(2 pi j k / n) / n >= 0``; only frequency 1 earns anything, n/2 each.
    """
    frequency = np.arange(n // 2 + 1)
    count = np.where((frequency == 0) | (2 * frequency == n), 1.0, 2.0)
    cosines = np.cos(2 * np.pi * np.outer(frequency, frequency) / n) * count
    gain = np.where(frequency == 1, n / 2 * count, 0.0)
    return _fourier_program(gain, count, cosines, K)


@functools.cache
def torus_value(side, K):
    """Optimum for the flat torus, likewise with one frequency per circle."""
    frequency = np.arange(side // 2 + 1)
    count = np.where((frequency == 0) | (2 * frequency == side), 1.0, 2.0)
    cosines = np.cos(2 * np.pi * np.outer(frequency, frequency) / side) * count
    gain = np.zeros((len(count), len(count)))
    gain[1, 0] = gain[0, 1] = side**2 / 2 * count[1]
    return _fourier_program(gain.ravel(), np.kron(count, count), np.kron(cosines, cosines), K)


def _fourier_program(gain, count, cosines, K):
    first = np.zeros_like(count)
    first[0] = 1
    result = linprog(
        -gain,
        A_ub=-cosines,
        b_ub=np.zeros(len(cosines)),
        A_eq=np.vstack([first, count]),
        b_eq=[1, K],
        bounds=(0, 1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise ArithmeticError(result.message)
    return -result.fun


class Planted(NamedTuple):
    """A problem made around its own solution."""

    D: np.ndarray  # psd, rows and columns sum to zero
    Q: np.ndarray  # an optimal point
    N: np.ndarray  # an optimal multiplier of Q >= 0
    V: np.ndarray  # row-stochastic, Q = V diag(V'1)^-1 V'
    K: float
    value: float


def planted(rng, n, r, *, hard=False):
    """A problem with known optimum from a sparse row-stochastic ``V`` with `r` columns (0/1 entries if `hard`).

    With ``S`` psd on the null space of ``Q`` and ``N >= 0`` on its zeros, ``D = P (t I - N - S) P`` has
    ``<D, Q'> = t (K - 1) + 1'N1/n - <N + S, Q'>`` for every feasible ``Q'``, and the last term is 0 at ``Q``.
    """
    V = _soft_assignments(rng, n, r, hard)
    Q = (V / V.sum(axis=0)) @ V.T
    K = float(np.trace(Q))
    values, vectors = np.linalg.eigh(Q)
    Z = vectors[:, values < 1e-9]
    C = rng.standard_normal((Z.shape[1], Z.shape[1]))
    S = Z @ (C @ C.T / max(Z.shape[1], 1)) @ Z.T
    N = np.triu(rng.random((n, n)) * (V @ V.T == 0))
    N = N + N.T
    P = np.eye(n) - 1 / n
    t = 1.5 * float(np.linalg.eigvalsh(P @ (N + S) @ P)[-1]) + 1e-3
    D = P @ (t * np.eye(n) - N - S) @ P
    return Planted((D + D.T) / 2, Q, N, V, K, (K - 1) * t + float(N.sum()) / n)


def _soft_assignments(rng, n, r, hard):
    """Each point belongs to one cell, or partly also to the next one round a ring of `r` cells; none is empty."""
    cell = np.concatenate([np.arange(r), rng.integers(0, r, n - r)])
    V = np.zeros((n, r))
    share = np.ones(n) if hard else rng.uniform(0.5, 1.0, n)
    V[np.arange(n), cell] = share
    V[np.arange(n), (cell + 1) % r] += 1 - share
    return V


def points_of(D):
    """Points whose Gram matrix is the psd matrix `D`."""
    values, vectors = np.linalg.eigh(D)
    return vectors * np.sqrt(np.clip(values, 0, None))


def centred_gram(X):
    """The centred Gram matrix, the plain way."""
    X = X - X.mean(axis=0)
    X = X - X.mean(axis=0)
    return X @ X.T


class Reference(NamedTuple):
    """Two numbers with the optimum between them, from an interior point method and textbook formulas."""

    low: float
    high: float


def clarabel_bounds(D, K):
    """Bounds on max <D, Q>, Q 1 = 1, tr Q = K, Q psd, Q >= 0 from Clarabel's solution, for n up to about 60.

    The solver's word is not taken for anything: its ``Q`` is made feasible and its multiplier ``N`` of ``Q >= 0``
    is turned into a bound by `dual_bound`, so a poor solution shows as a wide bracket.
    """
    n = len(D)
    scale = float(np.abs(D).max()) or 1.0
    A, b, cones, weights = _clarabel_form(n)
    b = b.copy()
    b[n] = K
    rows, columns = _triangle(n)
    q = -weights * (D / scale)[rows, columns]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    answer = clarabel.DefaultSolver(sp.csc_matrix((len(q), len(q))), q, A, b, cones, settings).solve()
    off = rows != columns
    Q, N = np.zeros((n, n)), np.zeros((n, n))
    Q[rows, columns] = Q[columns, rows] = answer.x
    z = np.maximum(np.asarray(answer.z)[n + 1 : n + 1 + off.sum()], 0) / 2 * scale
    N[rows[off], columns[off]] = N[columns[off], rows[off]] = z
    return Reference(float(np.sum(D * feasible_near(Q, K))), dual_bound(D, N, K))


def dual_bound(D, N, K):
    """``1'N1/n`` plus the sum of the ``K - 1`` largest eigenvalues of ``D + N`` orthogonal to the ones vector."""
    n = len(D)
    basis = complement_of_ones(n)
    values = np.linalg.eigvalsh(basis.T @ (D + N) @ basis)[::-1]
    weights = np.clip(K - 1 - np.arange(n - 1), 0, 1)
    return float(N.sum()) / n + float(weights @ values)


def complement_of_ones(n):
    """Orthonormal columns orthogonal to the ones vector: Helmert's contrasts."""
    basis = np.triu(np.ones((n, n - 1)))
    basis[np.arange(1, n), np.arange(n - 1)] = -np.arange(1, n)
    return basis / np.sqrt(np.arange(1, n) * np.arange(2, n + 1))


def feasible_near(Q, K):
    """A feasible matrix near `Q`: eigenvalues clipped and scaled, then mixed with the centre of the feasible set."""
    n = len(Q)
    basis = complement_of_ones(n)
    values, vectors = np.linalg.eigh(basis.T @ (Q + Q.T) @ basis / 2)
    values = np.maximum(values, 0)
    vectors = basis @ vectors
    W = (vectors * (values * (K - 1) / values.sum())) @ vectors.T
    centre = (K - 1) / (n - 1) * (np.eye(n) - 1 / n)
    room, shortfall = (n - K) / (n * (n - 1)), max(-float(np.min(W + 1 / n)), 0.0)
    theta = shortfall / (shortfall + room)
    return (1 - theta) * W + theta * centre + 1 / n


def infeasibility(Q, K):
    """How far `Q` is from feasible, one number per constraint."""
    return {
        "symmetry": float(np.abs(Q - Q.T).max()),
        "row sums": float(np.abs(Q.sum(axis=1) - 1).max()),
        "trace": abs(float(np.trace(Q)) - K),
        "entries": max(-float(Q.min()), 0.0),
        "psd": max(-float(np.linalg.eigvalsh((Q + Q.T) / 2)[0]), 0.0),
    }


def _triangle(n):
    """Row and column of each entry of the upper triangle, column by column, as Clarabel stacks it."""
    columns, rows = np.tril_indices(n)
    return rows, columns


@functools.cache
def _clarabel_form(n):
    """Constraint matrix, right-hand side (with 0 for K), cones and weights of the stacked triangle of ``Q``."""
    rows, columns = _triangle(n)
    size, off = len(rows), rows != columns
    weights = np.where(off, 2.0, 1.0)
    index = np.arange(size)
    sums = sp.csr_matrix((np.ones(size), (rows, index)), (n, size))
    sums += sp.csr_matrix((np.ones(off.sum()), (columns[off], index[off])), (n, size))
    trace = sp.csr_matrix((np.ones(n), (np.zeros(n, dtype=int), index[~off])), (1, size))
    entries = -sp.eye_array(size, format="csr")[off]
    stacked = -sp.diags_array(np.where(off, np.sqrt(2), 1.0))
    A = sp.csc_matrix(sp.vstack([sums, trace, entries, stacked]))
    b = np.concatenate([np.ones(n), [0.0], np.zeros(entries.shape[0] + size)])
    cones = [clarabel.ZeroConeT(n + 1), clarabel.NonnegativeConeT(entries.shape[0]), clarabel.PSDTriangleConeT(n)]
    return A, b, cones, weights


class NearlyAll(NamedTuple):
    """The program for ``K`` in ``[n - 1, n]``, where its optimum is rational; nothing here is rounded."""

    value: Fraction  # the optimum
    trace: Fraction  # of D
    least: Fraction  # what joining the two cheapest points costs
    pair: tuple[int, int]  # these points
    N: np.ndarray  # float64, about the optimal multiplier of Q >= 0


def exact_squares(table, kind):
    """Squared distances of the points of a table of the given kind, as fractions."""
    rows = [[Fraction(x) for x in row] for row in np.asarray(table, dtype=object).tolist()]
    n = len(rows)
    if kind == "distances":
        return [[x * x for x in row] for row in rows]
    if kind == "kernel":
        return [[rows[i][i] + rows[j][j] - rows[i][j] - rows[j][i] for j in range(n)] for i in range(n)]
    return [[sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for q in rows] for p in rows]


def nearly_all(squares, K, weights=None):
    """Optimum for ``n - 1 <= K <= n`` from squared distances, of any sign.

    With ``c = min_{i<j} w_i w_j/(w_i + w_j) d2_ij`` the multiplier ``N_ij = [w_i w_j d2_ij - (w_i + w_j) c] /
    (2 sqrt(w_i w_j)) >= 0`` proves ``tr D - (n - K) c``, and a mixture of ``I`` and of the clustering that joins only
    the cheapest pair attains it.
    """
    n = len(squares)
    w = [Fraction(x) for x in ([1] * n if weights is None else np.asarray(weights).tolist())]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    cost = {(i, j): w[i] * w[j] * squares[i][j] for i, j in pairs}
    pair = min(pairs, key=lambda ij: cost[ij] / (w[ij[0]] + w[ij[1]]))
    least = cost[pair] / (w[pair[0]] + w[pair[1]])
    trace = sum(cost.values()) / sum(w)
    N = np.zeros((n, n))
    for i, j in pairs:
        squared = (cost[i, j] - (w[i] + w[j]) * least) ** 2 / (4 * w[i] * w[j])
        N[i, j] = N[j, i] = root_of(squared)
    return NearlyAll(trace - (n - Fraction(K)) * least, trace, least, pair, N)


def root_of(square):
    """The square root of a nonnegative fraction, in float64; 0 or inf where it leaves that."""
    if square == 0:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    root = float(square / Fraction(4) ** shift) ** 0.5
    return math.ldexp(root, shift) if shift < 1020 else math.inf


def inertia_of(squares, labels):
    """Inertia of a clustering from squared distances, of any sign: those within each cluster over twice its size."""
    total = Fraction(0)
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        total += sum(squares[i][j] for i in members for j in members) / (2 * len(members))
    return total


def clusterings(n, K):
    """Every clustering of n points into at most K clusters, as labels."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, new) for labels in found for new in range(min(max(labels) + 2, K))]
    return found


def least_inertia_of_all(squares, K):
    """The inertia of the best clustering into at most K clusters, by trying every one."""
    return min(inertia_of(squares, labels) for labels in clusterings(len(squares), K))
