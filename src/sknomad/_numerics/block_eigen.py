"""Leading eigenpairs of large symmetric matrices on the complement of the vector ``u``, by filtered block iteration.

A block of vectors is filtered by a Chebyshev polynomial of the matrix that is small on the whole unwanted part of the
spectrum, its negative end included, and then rotated to the best eigenvector approximations in its span. Matrices need
only ``A @ V`` and ``A.shape``. What comes out is an approximation: good for steps and shifts, never a proof.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from .arrays import Array, device, eigh, frobenius, inverse_of_lower, is_on_gpu, itemsize, like, namespace
from .fixed_vector import FixedVector
from .validation import check_moderate

LANCZOS_STEPS = 12
# Vectors beyond the wanted ones, the filter's degree, and the passes of `leading_eigenpairs`.
EXTRA_VECTORS, DEGREE, MAX_PASSES = 24, 8, 30
# Inner products of different columns after one Cholesky factor that make a second one superfluous on a GPU.
ORTHONORMAL_ENOUGH = 1e-9
# Most amplification in one pass, by the bytes of a number; beyond, other directions drown in the rounding of the
# largest: in single precision half-rings with rank a third of n took five times as many steps.
LARGEST_GAIN = {8: 1e8, 4: 1e5}
# Eigenvalues of the matrices of steps are far below this, whatever the data: their penalty has the data's scale.
LARGEST_EIGENVALUE = 1e30
# Entries of vectors of length one, with room for rounding.
LARGEST_OF_A_UNIT_VECTOR = 2.0


def check_pairs(vectors: Array, values: Array, n: int) -> None:
    """Refuse what cannot be Ritz pairs of a matrix of `n` rows."""
    check_moderate(values, "Ritz values", (None,), LARGEST_EIGENVALUE)
    count = values.shape[0]
    if not 0 < count < n:
        raise ValueError(f"Ritz values must be at least one and fewer than {n}, got {count}.")
    check_moderate(vectors, "Ritz vectors", (n, count), LARGEST_OF_A_UNIT_VECTOR)


class Operator(Protocol):
    """A symmetric matrix, known by its products: an array, or an object that never forms it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n, n)``."""
        ...

    def __matmul__(self, V: Array, /) -> Array:
        """Its product with an n x k array."""
        ...


def leading_eigenpairs(
    A: Operator,
    count: int,
    template: Array,
    fixed: FixedVector,
    start: Array | None = None,
    *,
    settled: float,
    extra: int = EXTRA_VECTORS,
) -> tuple[Array, Array, float, float]:
    """The `count` largest eigenvalues of the centred `A`, ascending, by block iteration with `extra` vectors more.

    Passes end when the sum of the values moves by less than the share `settled` of it.

    Returns
    -------
    vectors, values : arrays of shape (n, p) and (count,)
        Ritz pairs. The values are never above the true ones, and close to them once they have settled. The vectors are
        those of all that were iterated, ``p >= count``, the wanted ones last.
    lowest : float
        A number below the whole spectrum.
    change : float
        How much the smallest of the values still moved in the last pass.
    """
    xp = namespace(template)
    n = A.shape[0]
    size = min(count + extra, n - 1)
    V = fresh_vectors(fixed, size, template) if start is None else widened(like(start, template), size, fixed)
    lowest = lowest_eigenvalue_bound(A, template, fixed)
    V, values, _ = rayleigh_ritz(A, orthonormal(fixed.centre(V)), fixed)
    change = math.inf
    for _ in range(MAX_PASSES):
        before = values[-count:]
        top, cut = float(values[-1]), float(values[0])
        high = max(cut, lowest + 1e-9 * (top - lowest))
        V = chebyshev_filter(A, V, lowest, high, safe_degree(DEGREE, lowest, high, top, V), fixed)
        V, values, _ = rayleigh_ritz(A, orthonormal(fixed.centre(V)), fixed)
        moved = xp.abs(values[-count:] - before)
        change = float(moved[0])
        # The total may rest on a few large values: the smallest one must have settled too.
        total = float(xp.sum(xp.abs(values[-count:])))
        if float(xp.sum(moved)) <= settled * total and change <= 10 * settled * abs(float(values[-count])):
            break
    return V, values[-count:], lowest, change


def orthonormal(V: Array) -> Array:
    """An orthonormal basis of the span of the columns of `V`.

    By Cholesky factors of its Gram matrix, twice: products only, many times faster than Householder reflections on a
    GPU. Filtered Ritz vectors are nearly orthogonal once scaled; where columns are not, reflections take over.

    Columns keep the direction that they have beside all later ones. A filter brings the last, those of the largest
    eigenvalues, into all others, so that ascending Ritz vectors stay near to what they were.
    """
    xp = namespace(V)
    V = xp.flip(V, axis=1)
    return xp.flip(_orthonormal_in_order(V), axis=1)


def _orthonormal_in_order(V: Array) -> Array:
    """The same, columns keeping the direction that they have beside all earlier ones."""
    xp = namespace(V)
    norms = xp.sqrt(xp.sum(V * V, axis=0))
    scaled = V / xp.where(norms > 0, norms, 1.0)
    for is_second in (False, True):
        G = scaled.T @ scaled
        if is_second:
            error = float(xp.max(xp.abs(G - xp.eye(G.shape[0], dtype=G.dtype, device=device(G)))))
            if error <= ORTHONORMAL_ENOUGH and is_on_gpu(V):
                return scaled
            if not error <= 0.1:
                break
        try:
            inverse = inverse_of_lower(xp.linalg.cholesky(G))
        except Exception:  # each library has its own error for "not positive definite"
            break
        scaled = scaled @ inverse.T
    else:
        return scaled
    return xp.linalg.qr(V, mode="reduced")[0]


def fresh_vectors(fixed: FixedVector, count: int, template: Array) -> Array:
    """`count` centred vectors from a fixed seed: runs repeat to the bit."""
    columns = np.random.default_rng(count).standard_normal((fixed.n, count)) / math.sqrt(fixed.n)
    return fixed.centre(like(columns, template))


def rayleigh_ritz(A: Operator, V: Array, fixed: FixedVector) -> tuple[Array, Array, Array]:
    """Ritz vectors, ascending Ritz values and the image of the vectors, in the span of `V` (centred, orthonormal)."""
    return rotated_to_ritz(V, fixed.centre(A @ V))


def rotated_to_ritz(V: Array, image: Array) -> tuple[Array, Array, Array]:
    """The same for a block whose centred `image` is known."""
    H = V.T @ image
    values, rotation = eigh((H + H.T) / 2)
    return V @ rotation, values, image @ rotation


def chebyshev_filter(A: Operator, V: Array, low: float, high: float, degree: int, fixed: FixedVector) -> Array:
    """Chebyshev polynomial of `A`, small on ``[low, high]``, growing fast above, applied to `V`."""
    centre, half = (low + high) / 2, (high - low) / 2
    previous, current = V, (fixed.centre(A @ V) - centre * V) / half
    for _ in range(degree - 1):
        previous, current = current, (2 / half) * (fixed.centre(A @ current) - centre * current) - previous
    return current


def safe_degree(degree: int, low: float, high: float, top: float, V: Array) -> int:
    """`degree`, or less where the eigenvalue `top` would grow so much that the others drown in the rounding of `V`."""
    growth = math.acosh(max((2 * top - low - high) / (high - low), 1 + 1e-9))
    return max(1, min(degree, math.floor(math.acosh(LARGEST_GAIN[itemsize(V)]) / growth)))


def lowest_eigenvalue_bound(A: Operator, template: Array, fixed: FixedVector) -> float:
    """A number below (nearly always) all eigenvalues of the centred `A`: Lanczos plus its last residual."""
    xp = namespace(template)
    n = A.shape[0]
    v = xp.cos(xp.arange(n, dtype=template.dtype, device=device(template)) * 1.7)
    v = fixed.centre(v)
    v = v / frobenius(v)
    alphas, betas, previous, beta = [], [], xp.zeros_like(v), 0.0
    for _ in range(min(LANCZOS_STEPS, n - 1)):
        w = (A @ v[:, None])[:, 0]
        w = fixed.centre(w) - beta * previous
        alphas.append(float(w @ v))
        w = w - alphas[-1] * v
        beta = frobenius(w)
        betas.append(beta)
        if beta == 0:
            break
        previous, v = v, w / beta
    return float(eigvalsh_tridiagonal(alphas, betas[:-1])[0]) - betas[-1]


def widened(V: Array, size: int, fixed: FixedVector) -> Array:
    """`V` cut to its last `size` columns, or filled up with fresh ones."""
    if V.shape[1] >= size:
        return V[:, -size:]
    return namespace(V).concat([fresh_vectors(fixed, size - V.shape[1], V), V], axis=1)
