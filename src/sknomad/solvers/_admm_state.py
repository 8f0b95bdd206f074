"""The one n x n matrix of ADMM, and the passes over it, row block by row block.

``T`` holds both variables: ``R = max(T, 0)`` is the nonnegative copy of ``Q``, ``N = -rho min(T, 0)`` the multiplier.
No pass allocates a second n x n array. Large states on a CUDA device are passed over by the kernels of `fused`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

from .._certificate.iterate import Iterate, NegativePart
from .._files.records import saved
from .._numerics import fused
from .._numerics.arrays import Array, device, double, is_on_gpu, like, namespace, row_slices
from .._numerics.fixed_vector import FixedVector
from .._numerics.validation import check_count, check_moderate, check_real
from .._points.forms import SoftPoint, SpectralPoint
from .._points.point import Point
from .._program.data_rows import rows_of
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from ._halpern import Anchor
from ._soft_updates import SoftState, row_scores
from ._trailing_block import TrailingBlock
from ._trust import Trust
from ._warm_eigenspace import WarmBlock

# Up to this many points the matrix of a step is formed, a second n x n array, for faster products.
FORM_BELOW = 30_000
# Numbers in one row block: large enough for fast products, small beside the state.
BLOCK_ENTRIES = 2**26
# Entries of a state are about those of ``Q``, penalties about the norm of ``D``: beyond this, times more, is no state.
LARGEST_STATE = 1e16


@saved
@dataclass(frozen=True)
class Residuals:
    """Relative distances from the fixed point."""

    primal: float  # between Q and its nonnegative copy
    dual: float  # between successive nonnegative copies, in units of the multiplier


@saved
@dataclass(frozen=True)
class ADMMState:
    """All that a step of ADMM depends on."""

    T: Array  # (n, n), the state, shared with the solver until its next step
    rho: float  # penalty
    step: int  # steps taken
    residuals: Residuals  # as last measured
    trust: Trust  # in the point of the start
    block: WarmBlock | TrailingBlock | None  # what is known of the eigenvectors at one end of the spectrum
    anchor: Anchor | None  # of anchored steps
    keeps_rows: bool = False  # whether the nonnegative copies of plain steps keep the sums of rows
    sought_since: int = 0  # step after which the point is sought as well as the bound

    def check(self, problem: KMeansSDP) -> None:
        """Refuse what no step on `problem` can have left: a file may hold anything. Blocks are seen to elsewhere."""
        n, size = problem.n, problem.gram.norm or 1.0
        check_moderate(self.T, "the matrix of ADMM's state", (n, n), LARGEST_STATE)
        rule = "a positive real number of the size of the data"
        check_real(self.rho, "the penalty of ADMM's state", size / LARGEST_STATE, size * LARGEST_STATE, rule)
        check_count(self.step, "the steps of ADMM's state")
        check_count(self.sought_since, "the steps of ADMM's state before its point was sought")
        if not isinstance(self.residuals, Residuals) or not isinstance(self.anchor, Anchor | None):
            raise TypeError("ADMM's state must have residuals, and an anchor or None, got something else.")
        if not isinstance(self.trust, Trust) or not isinstance(self.keeps_rows, bool):
            raise TypeError("ADMM's state must have a trust, and keep rows or not, got something else.")
        self.trust.check()
        for residual in (self.residuals.primal, self.residuals.dual):
            check_real(residual, "a residual of ADMM's state", 0, sys.float_info.max, "a finite number >= 0")
        if self.anchor is not None:
            self.anchor.check(n, LARGEST_STATE)


def row_blocks(n: int) -> list[slice]:
    """Slices that cover ``range(n)``."""
    return row_slices(n, max(1, min(n, BLOCK_ENTRIES // n)))


class GramOperator:
    """``D`` as an operator in a given array library and precision; formed only where ``X`` is no shorter."""

    def __init__(self, gram: Gram, template: Array):
        self.n = gram.n
        self.fixed = gram.fixed.like(template)
        X = gram.factor_like(template) if gram.factor is not None and 2 * gram.factor.shape[1] < gram.n else None
        self.is_factored = X is not None
        self.matrix = like(gram.dense(), template) if X is None else X  # X or D
        self._formed: Array | None = None  # D, where it is kept beside X

    def __matmul__(self, V: Array) -> Array:
        return self.matrix @ (self.matrix.T @ V) if self.is_factored else self.matrix @ V

    def rows(self, block: slice) -> Array:
        """Some rows of ``D``; a GPU, which forms them in every step, keeps them all where they are not too many."""
        if not self.is_factored:
            return self.matrix[block, :]
        if self.n > FORM_BELOW or not is_on_gpu(self.matrix):
            return self.matrix[block, :] @ self.matrix.T
        if self._formed is None:
            self._formed = self.matrix @ self.matrix.T
        return self._formed[block, :]


class StepMatrix:
    """``|T| + D/rho``, the matrix each step projects: applied blockwise, or formed on request."""

    def __init__(self, T: Array, gram: GramOperator, rho: float):
        self.T, self.gram, self.rho = T, gram, rho
        self.shape = T.shape

    def __matmul__(self, V: Array) -> Array:
        return self._magnitude_times(V) + (self.gram @ V) / self.rho

    def _magnitude_times(self, V: Array) -> Array:
        """``|T| V``."""
        if fused.can_fuse(self.T):
            return fused.part_times(self.T, V)
        xp = namespace(self.T)
        blocks = [xp.abs(self.T[block, :]) @ V for block in row_blocks(self.T.shape[0])]
        return blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=0)

    def formed(self) -> Array:
        """The matrix itself: a second n x n array."""
        A = namespace(self.T).abs(self.T)
        for block in row_blocks(A.shape[0]):
            A[block, :] += self.gram.rows(block) / self.rho
        return A


def advance(T: Array, point: Point, relaxation: float) -> None:
    """``T <- T + relaxation (Q - R)`` in place, for the ``Q`` of `point`."""
    if isinstance(point, SpectralPoint) and fused.can_fuse(T):
        fused.advance_and_sum(T, point.U, point.l, relaxation, point.fixed)
        return
    for block in row_blocks(T.shape[0]):
        T[block, :] += relaxation * _step(T, point, block)


def advance_and_measure(T: Array, point: Point, relaxation: float) -> Residuals:
    """As `advance`, with the residuals, which cost about as much again."""
    if isinstance(point, SpectralPoint) and fused.can_fuse(T):
        return _residuals(*map(float, fused.advance_and_sum(T, point.U, point.l, relaxation, point.fixed)))
    xp = namespace(T)
    gap = change = positive = negative = 0.0
    for block in row_blocks(T.shape[0]):
        before = xp.clip(T[block, :], min=0.0)
        step = _step(T, point, block)
        T[block, :] += relaxation * step
        after = xp.clip(T[block, :], min=0.0)
        gap += _square(step)
        change += _square(after - before)
        positive += _square(after)
        negative += _square(T[block, :] - after)
    return _residuals(gap, change, positive, negative)


def _residuals(gap: float, change: float, positive: float, negative: float) -> Residuals:
    """From the squares of ``Q - R``, of the change of ``R``, and of the positive and the negative part of ``T``."""
    tiny = 1e-300
    return Residuals(math.sqrt(gap / max(positive, tiny)), math.sqrt(change / max(negative, tiny)))


def _step(T: Array, point: Point, block: slice) -> Array:
    """Rows of ``Q - R``."""
    return point.rows(block.start, block.stop) - namespace(T).clip(T[block, :], min=0.0)


def rescale_multiplier(T: Array, factor: float) -> None:
    """Divide the negative part of ``T`` by `factor`, in place: what a penalty `factor` times larger asks for."""
    xp = namespace(T)
    for block in row_blocks(T.shape[0]):
        part = T[block, :]
        T[block, :] = xp.where(part < 0, part / factor, part)


def cold_state(fixed: FixedVector, template: Array) -> Array:
    """``T = J``: no multiplier, without weights every entry equal."""
    T, fixed = _empty_state(fixed.n, template), fixed.like(template)
    for block in row_blocks(fixed.n):
        T[block, :] = fixed.rows(block)
    return T


def _empty_state(n: int, template: Array) -> Array:
    columns = fused.padded_columns(n) if is_on_gpu(template) else n
    T = namespace(template).empty((n, columns), dtype=template.dtype, device=device(template))
    return T if columns == n else T[:, :n]


def warm_state(problem: KMeansSDP, start: Iterate, rho: float, template: Array) -> Array:
    """``T = Q - N/rho`` for the ``Q`` of an iterate and its multiplier, or the one guessed from soft assignments.

    Where that is none that steps can be taken from, as in single precision for a start of any size, ``T = J``.
    """
    T = _state_at(problem, start, rho, template)
    try:
        return check_moderate(T, "a state", (problem.n, problem.n), LARGEST_STATE)
    except ValueError:
        return cold_state(problem.fixed, template)


def _state_at(problem: KMeansSDP, start: Iterate, rho: float, template: Array) -> Array:
    """``T`` as the start suggests."""
    point = start.point
    if isinstance(point, SoftPoint) and isinstance(start.state, SoftState) and start.N is None:
        start.state.check_multiplier(problem)
        return _soft_state(problem, point, start.state.lam, rho, template)
    T = _formed_point(point, template)
    N = start.multiplier
    return T if N is None else T - like(N, template) / rho


def with_guessed_multiplier(problem: KMeansSDP, soft: Iterate, template: Array) -> Iterate:
    """Soft assignments with the multiplier that they suggest, so that they have both bounds."""
    rho = problem.gram.norm / math.sqrt(problem.K)
    return replace(soft, N=NegativePart(warm_state(problem, soft, rho, template), rho))


def _soft_state(problem: KMeansSDP, point: SoftPoint, lam: float, rho: float, template: Array) -> Array:
    """Start at the dual guess ``N_ij = max(0, (y_i + y_j)/2 - D_ij)`` of the row multipliers ``y``, zero diagonal.

    With weights ``q_i q_j`` times that, as for a pair of groups of equal points: ``D`` has these factors already.
    """
    xp = namespace(template)
    V = like(point.V, template)
    gram = GramOperator(problem.gram, template)
    y = row_multipliers(problem, V, lam)
    roots = problem.gram.roots
    q = None if roots is None else like(roots, template)
    B = V if q is None else V * q[:, None]
    sizes = xp.sum(V if q is None else B * q[:, None], axis=0)
    scaled = B / sizes
    T = _empty_state(problem.n, template)
    for block in row_blocks(problem.n):
        pairs = (y[block, None] + y[None, :]) / 2
        N = xp.clip((pairs if q is None else pairs * (q[block, None] * q[None, :])) - gram.rows(block), min=0.0)
        T[block, :] = scaled[block, :] @ B.T - N / rho
    diagonal = xp.sum(scaled * B, axis=1)
    _set_diagonal(T, diagonal)
    return T


def row_multipliers(problem: KMeansSDP, V: Array, lam: float) -> Array:
    """Multipliers ``y_i`` of ``sum_j v_ij = 1`` at soft assignments ``V`` with trace multiplier ``lam``."""
    xp = namespace(V)
    rows = rows_of(problem.gram, V)
    sums = rows.sums(V)
    scores = row_scores(rows, sums, lam) - (2 * lam) * V / sums.sizes
    return xp.sum(V * scores, axis=1)


def _set_diagonal(T: Array, diagonal: Array) -> None:
    xp = namespace(T)
    n = T.shape[0]
    for block in row_blocks(n):
        part = T[block, :]
        columns = xp.arange(n, device=device(T))[None, :]
        is_diagonal = columns == xp.arange(block.start, block.stop, device=device(T))[:, None]
        T[block, :] = xp.where(is_diagonal, diagonal[block][:, None], part)


def _formed_point(point: Point, template: Array) -> Array:
    T = _empty_state(point.n, template)
    for block in row_blocks(point.n):
        T[block, :] = like(point.rows(block.start, block.stop), template)
    return T


def _square(A: Array) -> float:
    """Squared Frobenius norm, summed in float64 over rows."""
    xp = namespace(A)
    return float(xp.sum(double(xp.vecdot(A, A))))
