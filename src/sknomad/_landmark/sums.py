"""One pass over the rows: all that bounds by landmarks need of them.

With ``E = X - Phi C`` as computed and ``F = [Phi, E]`` the pass gives ``F'F`` and ``Phi'1``. Columns of ``F`` are
scaled by powers of two to lengths near one, which rounds nothing; ``X`` itself in the place of ``E`` would make
``F'F`` singular, as ``Phi C`` is nearly ``X``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array, gamma
from .choice import N_NEIGHBOURS, Landmarks
from .rows import Rows

# Columns of E shorter than this share of |X|_F are left out, and their lengths added to what E was rounded by.
SHORTEST_RESIDUAL = 1e-13


@dataclass(frozen=True)
class LandmarkSums:
    """What is known of ``F = [Phi, E]``, columns scaled, and of ``X = F B + (what is left out)``."""

    n: int  # number of rows
    used: Array  # (m,) numbers of the landmarks that have a weight anywhere: the columns of Phi
    H: Array  # F'F, (k, k)
    H_error: float  # bound on the Frobenius norm of the rounding error of H
    B: Array  # (k, d)
    ones: Array  # Phi'1, scaled as Phi is, (m,)
    ones_weights: Array  # (k,) c with F c = 1 up to rounding
    ones_error: float  # bound on |F c - 1|
    left_out: float  # bound on |X - F B|_F
    trace: float  # |X|_F^2
    residual: float  # |E|_F^2 as a share of |X|_F^2
    depth: int  # roundings of a sum over all rows

    @property
    def m(self) -> int:
        """Number of columns of Phi."""
        return len(self.used)

    @property
    def scale(self) -> Array:
        """Powers of two by which columns of Phi were multiplied."""
        return 1 / self.ones_weights[: self.m]

    @property
    def k(self) -> int:
        """Number of columns of F."""
        return int(self.H.shape[0])


def sum_rows(rows: Rows, landmarks: Landmarks) -> LandmarkSums:
    """Pass once over the rows."""
    m, d, C = landmarks.weights.m, rows.d, landmarks.C
    H, ones = np.zeros((m + d, m + d)), np.zeros(m)
    for X in rows.blocks():
        Phi = landmarks.weights.matrix(X)
        E = X - Phi @ C
        inner = (Phi.T @ Phi).tocoo()
        H[inner.row, inner.col] += inner.data
        H[:m, m:] += Phi.T @ E
        H[m:, m:] += E.T @ E
        ones += np.asarray(Phi.sum(axis=0)).ravel()
    H[m:, :m] = H[:m, m:].T
    return _scaled(rows, C, H, ones)


def _scaled(rows: Rows, C: Array, H: Array, ones: Array) -> LandmarkSums:
    m, d = C.shape
    lengths = np.sqrt(np.diagonal(H))
    size = math.sqrt(rows.squares)
    kept = lengths > np.concatenate([np.zeros(m), np.full(d, SHORTEST_RESIDUAL * size)])
    scale = np.ldexp(1.0, -np.frexp(lengths[kept])[1])
    m_kept, residual = int(kept[:m].sum()), float(np.sum(lengths[m:] ** 2))
    H_scaled = H[np.ix_(kept, kept)] * scale[:, None] * scale
    B = np.vstack([C, np.eye(d)])[kept] / scale[:, None]
    # What computing E rounds: products with weights of sum one, whose squared sizes are at most sum_l w_l |c_l|^2.
    rounded = gamma(N_NEIGHBOURS + 4) * (math.sqrt(residual) + math.sqrt(float(ones @ np.sum(C * C, axis=1))))
    left_out = rounded + math.sqrt(float(np.sum(lengths[m:][~kept[m:]] ** 2)))
    slack = 1 + gamma(4 * rows.depth + (m + d) ** 2)
    return LandmarkSums(
        n=rows.n,
        used=np.flatnonzero(kept[:m]),
        H=H_scaled,
        H_error=gamma(rows.depth + N_NEIGHBOURS) * _size_of_terms(H_scaled, m_kept) * slack,
        B=B,
        ones=ones[kept[:m]] * scale[:m_kept],
        ones_weights=np.concatenate([1 / scale[:m_kept], np.zeros(len(scale) - m_kept)]),
        ones_error=math.sqrt(rows.n) * gamma(N_NEIGHBOURS + 4) * slack,
        left_out=left_out * slack,
        trace=rows.squares,
        residual=residual / rows.squares if rows.squares > 0 else 0.0,
        depth=rows.depth,
    )


def _size_of_terms(H: Array, m: int) -> float:
    """Bound on the Frobenius norm of ``|F|'|F|``: of the nonnegative ``Phi`` it is that of ``Phi'Phi`` itself."""
    of_Phi, of_E = float(np.linalg.norm(H[:m, :m])), math.sqrt(float(np.trace(H[m:, m:])))
    return of_Phi + 2 * math.sqrt(of_Phi) * of_E + of_E * of_E
