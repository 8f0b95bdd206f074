"""Rayleigh and Ritz's rotation for a projection on the spectraplex, made only where the projection needs it.

In an orthonormal block ``V`` with ``H = V' A V`` the projection keeps what lies above a threshold ``t``. Where columns
of the block hardly couple across it, that is ``V_k (H_kk - t I) V_k'`` for the columns ``k`` above: a Cholesky factor
of ``H_kk - t I`` is all it takes, whether or not these columns are Ritz vectors. Those that couple have Ritz values
close to the threshold, so that a rotation of them alone is enough: half of the block, for an eighth of the
operations. What couples still is measured, and the projection is wrong by no more than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .arrays import Array, device, eigh, frobenius, is_on_gpu, namespace
from .projections import simplex_threshold

# The share of the columns above the threshold that are rotated, with all below.
ROTATED_SHARE = 0.4
# From this many columns on a whole rotation takes far longer than products do, on a GPU; on a CPU it never does.
PARTIAL_FROM = 200


@dataclass(frozen=True)
class PartialRitz:
    """A block of which only columns near the threshold are Ritz vectors."""

    vectors: Array  # (n, p) orthonormal, those above the threshold last
    values: Array  # (p,) diagonal of ``H``, ascending below the rotated columns' end and above it
    root: Array  # (r, r) with ``root root' = H_kk - t I`` for the last r columns
    residual: float  # norm of what of their image lies outside of the block


def partly_pays(V: Array) -> bool:
    """Whether rotating a part of the columns of `V` takes less time than rotating all."""
    return is_on_gpu(V) and V.shape[1] >= PARTIAL_FROM


def partial_ritz(V: Array, image: Array, total: float, tolerance: float) -> PartialRitz | None:
    """The orthonormal block `V`, with its centred `image`, made ready for the projection of trace `total`.

    None where what couples across the threshold is more than the share `tolerance` of the norm of the projection, or
    all columns are above it.
    """
    xp = namespace(V)
    H = V.T @ image
    H = (H + H.T) / 2
    order = xp.argsort(xp.linalg.diagonal(H))
    V, image = xp.take(V, order, axis=1), xp.take(image, order, axis=1)
    H = xp.take(xp.take(H, order, axis=0), order, axis=1)
    end = _end_of_rotated(xp.linalg.diagonal(H), total)
    values, rotation = eigh(H[:end, :end])
    V = xp.concat([V[:, :end] @ rotation, V[:, end:]], axis=1)
    across = rotation.T @ H[:end, end:]
    diagonal = xp.concat([values, xp.linalg.diagonal(H)[end:]])
    threshold = simplex_threshold(diagonal, total)
    first = int(xp.sum(xp.astype(values <= threshold, xp.int64)))
    if first == 0 or first == end or not bool(xp.all(diagonal[end:] > threshold)):
        return None
    above = _joined(values[first:], across[first:, :], H[end:, end:])
    coupling = math.sqrt(2) * frobenius(across[:first, :])
    if not coupling <= tolerance * frobenius(diagonal[first:] - threshold):
        return None
    root = _root(above - threshold * xp.eye(above.shape[0], dtype=above.dtype, device=device(above)))
    if root is None:
        return None
    inside = frobenius(above) ** 2 + frobenius(across[:first, :]) ** 2
    image_above = xp.concat([image[:, :end] @ rotation[:, first:], image[:, end:]], axis=1)
    residual = math.sqrt(max(frobenius(image_above) ** 2 - inside, 0.0))
    return PartialRitz(V, diagonal, root, residual)


def _end_of_rotated(diagonal: Array, total: float) -> int:
    """How many of the columns with an ascending `diagonal` are rotated."""
    xp = namespace(diagonal)
    below = int(xp.sum(xp.astype(diagonal <= simplex_threshold(diagonal, total), xp.int64)))
    return below + math.ceil(ROTATED_SHARE * (diagonal.shape[0] - below))


def _joined(values: Array, across: Array, H: Array) -> Array:
    """``[[diag(values), across], [across', H]]``."""
    xp = namespace(H)
    corner = values * xp.eye(values.shape[0], dtype=values.dtype, device=device(values))
    return xp.concat([xp.concat([corner, across], axis=1), xp.concat([across.T, H], axis=1)], axis=0)


def _root(S: Array) -> Array | None:
    """The lower triangular factor of a positive definite matrix; None where it is none."""
    try:
        L: Array = namespace(S).linalg.cholesky(S)
    except Exception:  # each library has its own error for "not positive definite"
        return None
    return L if math.isfinite(frobenius(L)) else None
