"""The leading eigenspace of a slowly changing symmetric matrix, carried along from step to step.

Warm started, one low-degree filter per change of the matrix keeps up with a full decomposition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np

from .._files.records import saved
from .._numerics.arrays import Array, all_finite, double, eigh, frobenius, is_on_gpu, like, namespace
from .._numerics.block_eigen import (
    LARGEST_EIGENVALUE,
    Operator,
    chebyshev_filter,
    check_pairs,
    fresh_vectors,
    lowest_eigenvalue_bound,
    orthonormal,
    rayleigh_ritz,
    rotated_to_ritz,
    safe_degree,
    widened,
)
from .._numerics.fixed_vector import FixedVector
from .._numerics.partial_ritz import PartialRitz, partial_ritz, partly_pays
from .._numerics.projections import lift, project_simplex, restrict, simplex_threshold
from .._numerics.rough import RoughMatrix, can_be_rough
from .._numerics.validation import check_count, check_real

# Vectors kept below the threshold, as a share of those above it: the gap that the filter works with.
GUARD_SHARE, GUARD_COUNT = 0.2, 8
# With fewer left than this the block is too narrow to be trusted.
LEAST_GUARDS, LEAST_GUARD_SHARE = 2, 0.05
FILTER_DEGREE = 4
# The residuals of all pairs that count, together, may reach this share of the norm of the projected matrix.
RESIDUAL_TOLERANCE = 0.1
# Beyond this share of n a full decomposition costs less than filtering.
LARGEST_SHARE_CPU, LARGEST_SHARE_GPU = 0.3, 0.6
MAX_PASSES = 3
# A block that proves too narrow grows by this factor.
GROWTH = 1.5
# The low end of the spectrum is looked up after this many matrices, and taken this share of the spread lower.
LOWEST_LIFETIME, LOWEST_MARGIN = 8, 0.1
# A spectrum spreads by more than this share of its size.
LEAST_SPREAD = 1e-6
# Points that may be rougher than this may be had without rotating the whole block.
LEAST_ROUGHNESS = 1e-4
# Guards that may be missing before new ones are added.
SPARE_GUARDS = 6
# A block becomes narrower by this factor at most from one matrix to the next: the first points after a start have far
# lower ranks than those to come, and a block that was cut to them was decomposed anew in each of the next steps.
FASTEST_SHRINKING = 0.7


@saved
@dataclass(frozen=True)
class WarmBlock:
    """What a `LeadingProjector` has learned: enough to go on exactly as it would."""

    vectors: Array  # (n, p) orthonormal Ritz vectors of the last matrix
    values: Array  # (p,) their Ritz values, ascending, or Rayleigh quotients where only a part was rotated
    lowest: float  # below all eigenvalues
    age: int  # matrices since that bound was renewed

    def fits(self, n: int) -> bool:
        """Whether it may be of a matrix of `n` rows: a file may hold anything."""
        try:
            check_pairs(self.vectors, self.values, n)
            check_real(self.lowest, "lowest", -LARGEST_EIGENVALUE, LARGEST_EIGENVALUE, "an eigenvalue")
            check_count(self.age, "age")
        except (TypeError, ValueError):
            return False
        top = float(self.values[-1])
        return top - self.lowest > LEAST_SPREAD * max(abs(top), abs(self.lowest))


@runtime_checkable
class Formable(Operator, Protocol):
    """A symmetric matrix that can be had as an array, at a price."""

    def formed(self) -> Array:
        """The matrix itself."""
        ...


class LeadingProjector:
    """Projection on the spectraplex ``{W psd, W u = 0, tr W = total}`` for a sequence of similar matrices.

    The matrices are arrays, or have ``A @ V``, ``A.shape`` and, for the rare full decomposition, `formed`.
    """

    def __init__(self, total: float, exact_limit: int, fixed: FixedVector):
        self.total = total
        self.fixed = fixed
        self.exact_limit = exact_limit  # beyond this many points full decompositions are out of the question
        self.roughness = (
            0.0  # how far from the projection a point may be, as a share of it; if at all, filters are rough
        )
        self._warm: Array | None = None  # orthonormal Ritz vectors of the last matrix
        self._ritz: Array = np.empty(0)  # their Ritz values, ascending
        self._image: Array = np.empty(0)  # the last matrix times the block, where all of it was rotated
        self._partial: PartialRitz | None = None  # what is known where a part of it was
        self._lowest = 0.0  # below all eigenvalues
        self._age = 0  # matrices since that bound was renewed

    @property
    def _block(self) -> Array:
        """The warm block, where there is one."""
        assert self._warm is not None
        return self._warm

    def state(self) -> WarmBlock | None:
        """What `restore` needs to go on exactly as this object would; None before there is a block."""
        return None if self._warm is None else WarmBlock(self._warm, self._ritz, self._lowest, self._age)

    def restore(self, state: WarmBlock | None, template: Array) -> None:
        """Take over the warm block of an earlier run, if it had one that may be of these matrices."""
        if isinstance(state, WarmBlock) and state.fits(self.fixed.n):
            self._warm, self._ritz = like(state.vectors, template), like(state.values, template)
            self._lowest, self._age = state.lowest, state.age

    def begin(self, A: Array | Formable, columns: Array) -> None:
        """Take the span of `columns`, say a factor of a good ``Q``, as the first block: no decomposition at all."""
        n = A.shape[0]
        size = min(_block_size(columns.shape[1]), n - 1)
        V = orthonormal(self.fixed.centre(widened(columns, size, self.fixed)))
        self._warm, self._ritz, self._image = rayleigh_ritz(A, V, self.fixed)
        self._lowest, self._age = lowest_eigenvalue_bound(A, self._block, self.fixed), 0

    def pays(self, rank: int, template: Array) -> bool:
        """Whether a block for so many eigenvectors costs less than a full decomposition, or that is out of question."""
        n = self.fixed.n
        share = LARGEST_SHARE_GPU if is_on_gpu(template) else LARGEST_SHARE_CPU
        return n > self.exact_limit or _block_size(rank) <= share * n

    def project(self, A: Array | Formable) -> tuple[Array, Array]:
        """The point ``U diag(l) U'`` of the spectraplex nearest to the symmetric `A`, columns of length one, ``l > 0``.

        These are eigenpairs, unless roughness is allowed.
        """
        if self._warm is None:
            return self._exact(A)
        passes = 0
        while passes < MAX_PASSES:
            if not self._filter(A):
                break
            weights, has_guards, is_accurate = self._weights()
            if has_guards:
                passes += 1
                if is_accurate or (passes == MAX_PASSES and not self._may_decompose(A)):
                    return self._trim(weights)
            elif self._may_decompose(A) or self._block.shape[1] >= A.shape[0] - 1:
                break
            else:
                self._widen(math.ceil((GROWTH - 1) * self._block.shape[1]))
        return self._exact(A)

    def _may_decompose(self, A: Array | Formable) -> bool:
        return bool(A.shape[0] <= self.exact_limit)

    def _exact(self, A: Array | Formable) -> tuple[Array, Array]:
        """The projection by a full decomposition."""
        A = A.formed() if isinstance(A, Formable) else A
        xp = namespace(A)
        values, Z = eigh(restrict(A, self.fixed))
        weights = project_simplex(values, self.total)
        rank = int(xp.sum(xp.astype(weights > 0, xp.int64)))
        self._keep(values, Z, rank)
        return lift(Z[:, -rank:], self.fixed), weights[-rank:]

    def _keep(self, values: Array, Z: Array, rank: int) -> None:
        """Keep of a full decomposition, whose projection has this rank, what following the next matrix needs."""
        size = _block_size(rank)
        self._warm = None
        if self.pays(rank, Z):
            self._warm, self._ritz = lift(Z[:, -size:], self.fixed), values[-size:]
            self._lowest, self._age = float(values[0]), 0

    def _filter(self, A: Array | Formable) -> bool:
        """Bring the block to the matrix `A`; False where it was none of such a matrix."""
        if self._age >= LOWEST_LIFETIME:
            self._lowest, self._age = lowest_eigenvalue_bound(A, self._block, self.fixed), 0
        self._age += 1
        top, cut = float(self._ritz[-1]), float(self._ritz[0])
        lowest = self._lowest - LOWEST_MARGIN * (top - self._lowest)
        high = max(cut, lowest + 1e-6 * (top - lowest))
        degree = safe_degree(FILTER_DEGREE, lowest, high, top, self._block)
        V = self._filtered(A, lowest, high, degree)
        if not all_finite(V):
            return False
        self._rotate(A, orthonormal(self.fixed.centre(V)))
        return True

    def _rotate(self, A: Array | Formable, V: Array) -> None:
        """Turn the orthonormal `V` to Ritz vectors of `A`; only those near the threshold where steps may be rough."""
        image = self.fixed.centre(A @ V)
        is_tried = self.roughness >= LEAST_ROUGHNESS and partly_pays(V)
        self._partial = partial_ritz(V, image, self.total, self.roughness) if is_tried else None
        if self._partial is None:
            self._warm, self._ritz, self._image = rotated_to_ritz(V, image)
        else:
            self._warm, self._ritz = self._partial.vectors, self._partial.values

    def _filtered(self, A: Array | Formable, low: float, high: float, degree: int) -> Array:
        if self.roughness > 0 and can_be_rough(A):
            V = namespace(self._block).astype(self._block, namespace(self._block).float32)
            return double(chebyshev_filter(RoughMatrix(cast("Array", A)), V, low, high, degree, self.fixed))
        return chebyshev_filter(A, self._block, low, high, degree, self.fixed)

    def _weights(self) -> tuple[Array, bool, bool]:
        """Projected eigenvalues, and whether the block is wide enough, and accurate enough, to trust them."""
        xp = namespace(self._ritz)
        threshold = simplex_threshold(self._ritz, self.total)
        weights = xp.clip(self._ritz - threshold, min=0.0)
        is_accurate = self._residual(weights) <= RESIDUAL_TOLERANCE * frobenius(weights)
        rank = int(xp.sum(xp.astype(weights > 0, xp.int64)))
        # Where the rank grows faster than the guards, directions that should count are missing from the block.
        has_guards = self._ritz.shape[0] - rank >= LEAST_GUARDS + LEAST_GUARD_SHARE * rank
        return weights, has_guards, is_accurate

    def _residual(self, weights: Array) -> float:
        """The norm of what is missing from the block of the image of its vectors with positive weight."""
        if self._partial is not None:
            return self._partial.residual
        error = self._image - self._block * self._ritz
        return frobenius(error * namespace(weights).astype(weights > 0, weights.dtype))

    def _trim(self, weights: Array) -> tuple[Array, Array]:
        """Drop guards beyond the wanted number, or add some; hand out columns with positive weight."""
        xp = namespace(weights)
        n_zero = int(xp.sum(xp.astype(weights <= 0, xp.int64)))
        U, weights = self._block[:, n_zero:], weights[n_zero:]
        missing = _block_size(U.shape[1]) - self._block.shape[1]
        if missing < 0:
            surplus = min(-missing, math.floor((1 - FASTEST_SHRINKING) * self._block.shape[1]))
            self._warm, self._ritz = self._block[:, surplus:], self._ritz[surplus:]
        elif n_zero < _block_size(U.shape[1]) - U.shape[1] - SPARE_GUARDS:
            self._widen(missing)
        if not self.pays(U.shape[1], U):
            self._warm = None
        return (U, weights) if self._partial is None else _unit_columns(U @ self._partial.root)

    def _widen(self, count: int) -> None:
        """Add fresh vectors below the block; the next filter turns them into directions that count."""
        xp = namespace(self._block)
        n, width = self._block.shape
        count = min(count, n - 1 - width)
        if count > 0:
            self._warm = xp.concat([fresh_vectors(self.fixed, count, self._block), self._block], axis=1)
            self._ritz = xp.concat([xp.full_like(self._ritz[:1], float(self._ritz[0]))] * count + [self._ritz])


def _unit_columns(B: Array) -> tuple[Array, Array]:
    """``(U, l)`` with ``U diag(l) U' = B B'`` and columns of length one."""
    xp = namespace(B)
    squares = xp.sum(B * B, axis=0)
    return B / xp.sqrt(squares), squares


def _block_size(rank: int) -> int:
    return rank + GUARD_COUNT + math.ceil(GUARD_SHARE * rank)
