"""ADMM for the multiplier ``M`` of landmarks: the program with ``Phi'Q Phi >= 0`` in the place of ``Q >= 0``.

In orthonormal coordinates of the columns of ``Phi`` and ``E``, off the vector of ones, it reads

    maximise <D, Z>   over the Fantope {0 <= Z <= I, tr Z = K - 1}   with   A'ZA + R_0 >= 0,

where ``A`` holds the columns of ``Phi`` and ``R_0 = Phi'J Phi``. One block is ``(Z, R)``, ``Z`` in the Fantope and
``R >= 0``; the other is ``Y`` with ``Z = Y`` and ``R = A'YA + R_0``, found elementwise in the eigenbasis of ``AA'``.
The multiplier of ``R >= 0`` is ``M``. Nothing here need be right: the judge takes any ``M``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array, frobenius, like, namespace
from .._numerics.fixed_vector import Weighted
from .._numerics.projections import reflector
from ..solvers._soft_stream import Cells, assignments, row_multipliers
from .fantope import FantopeProjector
from .upper import LandmarkProgram

# Over-relaxation, and the first penalty as a share of the largest eigenvalue of D.
RELAXATION, FIRST_PENALTY = 1.6, 0.1
# The penalty follows the residuals: after so many steps by this factor, where one is this many times the other.
BALANCE_EVERY, BALANCE_FACTOR, BALANCE_FROM = 10, 1.4, 3.0


class Start(NamedTuple):
    """Where to begin: soft assignments of the landmarks, and a guess of the multiplier."""

    V: Array  # (m, r)
    sizes: Array  # (r,)
    N: Array  # (m, m), between landmarks


def start_from_cells(cells: Cells, C: Array) -> Start:
    """What cells say about landmarks with the rows ``C``: the dual guess of the dense solver, between landmarks."""
    V = assignments(C, cells)
    y = row_multipliers(C, V, cells)
    N = np.maximum((y[:, None] + y[None, :]) / 2 - C @ C.T, 0.0)
    np.fill_diagonal(N, 0.0)
    return Start(V, cells.sizes, N)


def multipliers(program: LandmarkProgram, start: Start) -> Iterator[Array]:
    """Yield one multiplier ``M`` per step, for ever."""
    A, X = _off_ones(program.landmark_columns, program), _off_ones(program.factor, program)
    xp = namespace(A)
    sigma, basis = xp.linalg.eigh(A @ A.T)
    A, X = basis.T @ A, basis.T @ X
    D = X @ X.T
    total = min(program.K - 1, float(A.shape[0]))
    scaled_ones = program.ones / program.sums.n**0.5
    R_0 = scaled_ones[:, None] * scaled_ones[None, :]
    weights = 1 / (1 + sigma[:, None] * sigma[None, :])

    penalty = FIRST_PENALTY * float(xp.linalg.eigvalsh(X.T @ X)[-1])
    scale = program.sums.scale
    cells = A @ like(start.V / scale[:, None] / np.sqrt(start.sizes), A)
    fantope = FantopeProjector(total)
    Y = fantope.project(cells @ cells.T)
    AYA = A.T @ (Y @ A) + R_0
    M = like(start.N / scale[:, None] / scale, A) / penalty  # multipliers over the penalty
    U = -(A @ (M @ A.T))
    step = 0
    while True:
        yield xp.clip(penalty * M, min=0.0)
        Z = fantope.project(Y - U + D / penalty)
        R = xp.clip(AYA - M, min=0.0)
        Z_ahead, R_ahead = RELAXATION * Z + (1 - RELAXATION) * Y, RELAXATION * R + (1 - RELAXATION) * AYA
        Y_old, AYA_old = Y, AYA
        Y = weights * (Z_ahead + U + A @ ((R_ahead + M - R_0) @ A.T))
        AYA = A.T @ (Y @ A) + R_0
        U, M = U + Z_ahead - Y, M + R_ahead - AYA
        step += 1
        if step % BALANCE_EVERY == 0:
            primal = frobenius(Z - Y) + frobenius(R - AYA)
            dual = frobenius(Y - Y_old) + frobenius(AYA - AYA_old)
            factor = _balance(primal, dual)
            penalty, U, M = penalty * factor, U / factor, M / factor


def _balance(primal: float, dual: float) -> float:
    """By what to multiply the penalty."""
    if primal > BALANCE_FROM * dual:
        return BALANCE_FACTOR
    return 1 / BALANCE_FACTOR if dual > BALANCE_FROM * primal else 1.0


def _off_ones(columns: Array, program: LandmarkProgram) -> Array:
    """Coordinates of columns on the complement of the vector of ones."""
    ones = program.basis.ones
    h = reflector(Weighted(ones / frobenius(ones)), columns)
    return (columns - h[:, None] * (h @ columns)[None, :])[1:, :]
