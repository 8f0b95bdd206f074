"""Projection on the spectraplex by its complement, where that has few dimensions.

The projection keeps what of a matrix lies above a threshold ``t``. Where nearly all eigenvalues do, as on the way to
solutions with few points per patch, the few below are all that has to be known. With these eigenvalues ``l`` and their
eigenvectors ``V`` it is ``W = A - t P + V diag(t - l) V'``, and the trace tells ``t``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .._files.records import saved
from .._numerics.arrays import Array, all_finite, device, frobenius, like, namespace
from .._numerics.block_eigen import (
    LARGEST_EIGENVALUE,
    chebyshev_filter,
    check_pairs,
    fresh_vectors,
    lowest_eigenvalue_bound,
    orthonormal,
    rayleigh_ritz,
    safe_degree,
)
from .._numerics.fixed_vector import FixedVector
from .._numerics.validation import check_count, check_real

# Vectors kept above the threshold: so many, and this share of those below it.
GUARD_COUNT, GUARD_SHARE = 8, 0.2
# With fewer left than this the block is too narrow to be trusted.
LEAST_GUARDS, LEAST_GUARD_SHARE = 2, 0.05
# The fewer vectors there are, the higher a degree they are filtered with: their products cost little beside the others
# of a step. As many columns in all as this share of n, by degrees between these.
COLUMNS_SHARE, LEAST_DEGREE, LARGEST_DEGREE = 0.5, 4, 8
# What residuals of the pairs below the threshold may amount to, in units of ``sqrt(tr W)``, the norm of a hard
# clustering. The projection is wrong by no more: it moves no further than the matrix does.
RESIDUAL_TOLERANCE = 0.003
MAX_PASSES = 2
# Beyond this share of n a full decomposition costs less.
LARGEST_SHARE = 0.25
# The high end of the spectrum is looked up after this many matrices, and taken this share of the spread higher.
HIGHEST_LIFETIME, HIGHEST_MARGIN = 8, 0.1


@saved
@dataclass(frozen=True)
class TrailingBlock:
    """What is known of the smallest eigenvalues of the last matrix: enough to follow them to the next."""

    vectors: Array  # (n, p) orthonormal Ritz vectors
    values: Array  # (p,) their Ritz values, ascending
    highest: float  # above all eigenvalues
    age: int  # matrices since that bound was renewed

    def fits(self, n: int) -> bool:
        """Whether it may be of a matrix of `n` rows: a file may hold anything."""
        try:
            check_pairs(self.vectors, self.values, n)
            check_real(self.highest, "highest", -LARGEST_EIGENVALUE, LARGEST_EIGENVALUE, "an eigenvalue")
            check_count(self.age, "age")
        except (TypeError, ValueError):
            return False
        return True

    def like(self, template: Array) -> TrailingBlock:
        """The same in the library, on the device and in the precision of `template`."""
        return TrailingBlock(like(self.vectors, template), like(self.values, template), self.highest, self.age)


@dataclass(frozen=True)
class FullProjection:
    """A point of the spectraplex of nearly full rank."""

    Q: Array  # (n, n), W + J
    rank: int  # of W
    block: TrailingBlock  # for the next matrix


def trailing_size(n: int, rank: int) -> int:
    """Vectors to follow where a projection has some rank."""
    below = n - 1 - rank
    return below + GUARD_COUNT + math.ceil(GUARD_SHARE * below)


def trailing_pays(n: int, rank: int) -> bool:
    """Whether following what is below the threshold costs less than a full decomposition."""
    return trailing_size(n, rank) <= LARGEST_SHARE * n


def project_by_complement(A: Array, total: float, fixed: FixedVector, block: TrailingBlock) -> FullProjection | None:
    """The ``W`` nearest to `A` with ``W`` psd, ``W u = 0``, ``tr W = total``; None where `block` does not suffice."""
    C = fixed.centre(fixed.centre(A).T)
    C = (C + C.T) / 2  # what rounding leaves unsymmetric would grow from step to step
    trace = float(namespace(C).linalg.trace(C))
    for _ in range(MAX_PASSES):
        block = _renewed(C, block, fixed)
        V = _filtered(C, block, fixed)
        if not all_finite(V):  # of a block that was none of this matrix's
            return None
        V, values, image = rayleigh_ritz(C, orthonormal(fixed.centre(V)), fixed)
        block = replace(block, vectors=V, values=values)
        below, threshold = _below(block.values, trace - total, C.shape[0] - 1)
        if block.values.shape[0] - below < LEAST_GUARDS + LEAST_GUARD_SHARE * below:
            return None
        if _is_accurate(block, image, below, total):
            return _projection(C, block, below, threshold, fixed)
    return None


def _filtered(C: Array, block: TrailingBlock, fixed: FixedVector) -> Array:
    """The vectors of the block after one filter with the centred matrix `C`."""
    lowest, cut = float(block.values[0]), float(block.values[-1])
    top = max(block.highest + HIGHEST_MARGIN * (block.highest - lowest), cut + 1e-6 * abs(cut))
    degree = math.floor(COLUMNS_SHARE * C.shape[0] / block.values.shape[0])
    degree = min(max(degree, LEAST_DEGREE), LARGEST_DEGREE)
    degree = safe_degree(degree, cut, top, cut + top - lowest, block.vectors)
    return chebyshev_filter(C, block.vectors, cut, top, degree, fixed)


def _renewed(C: Array, block: TrailingBlock, fixed: FixedVector) -> TrailingBlock:
    """The block, one matrix older, with the high end of the spectrum looked up where that is due."""
    if block.age < HIGHEST_LIFETIME:
        return replace(block, age=block.age + 1)
    return replace(block, highest=-lowest_eigenvalue_bound(_Negative(C), block.vectors, fixed), age=1)


class _Negative:
    """A symmetric matrix times -1."""

    def __init__(self, C: Array):
        self.C, self.shape = C, C.shape

    def __matmul__(self, V: Array) -> Array:
        return -(self.C @ V)


def _below(values: Array, excess: float, count: int) -> tuple[int, float]:
    """How many of the ascending smallest `values` of `count` are below the threshold, and the threshold.

    It takes away `excess` in all: ``sum(min(l, t)) = excess`` over all eigenvalues ``l``.
    """
    xp = namespace(values)
    sums = xp.cumulative_sum(values, include_initial=True)
    left = count - xp.arange(values.shape[0] + 1, dtype=values.dtype, device=device(values))
    thresholds = (excess - sums) / left
    below = int(xp.sum(xp.astype(values < thresholds[:-1], xp.int64)))
    return below, float(thresholds[below])


def _is_accurate(block: TrailingBlock, image: Array, below: int, total: float) -> bool:
    """Whether the pairs below the threshold are right enough."""
    error = image[:, :below] - block.vectors[:, :below] * block.values[:below]
    return frobenius(error) <= RESIDUAL_TOLERANCE * math.sqrt(total)


def _projection(C: Array, block: TrailingBlock, below: int, threshold: float, fixed: FixedVector) -> FullProjection:
    """The projection of the centred `C`, whose eigenvalues below `threshold` are the first of the block."""
    xp = namespace(C)
    n = C.shape[0]
    V = block.vectors[:, :below]
    Q = C + (V * (threshold - block.values[:below])) @ V.T
    Q = Q - threshold * xp.eye(n, dtype=C.dtype, device=device(C)) + fixed.rows(weight=1 + threshold)
    return FullProjection(Q, n - 1 - below, _resized(block, trailing_size(n, n - 1 - below), fixed))


def _resized(block: TrailingBlock, size: int, fixed: FixedVector) -> TrailingBlock:
    """The block with as many vectors as wanted: without the last ones, or with fresh ones after them."""
    xp = namespace(block.vectors)
    width = block.values.shape[0]
    if width >= size:
        return replace(block, vectors=block.vectors[:, :size], values=block.values[:size])
    fresh = fresh_vectors(fixed, size - width, block.vectors)
    vectors = xp.concat([block.vectors, fresh], axis=1)
    values = xp.concat([block.values, xp.zeros_like(fresh[0, :]) + block.values[-1]])
    return replace(block, vectors=vectors, values=values)
