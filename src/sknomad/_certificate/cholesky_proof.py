"""The verified grade: one Cholesky factorisation proves an upper bound, rounding errors included.

For any float ``t``, any ``F`` (n x p), any vector ``a`` and any symmetric ``N >= 0`` let

    A = t I + F F' + 1 a' + a 1' - D - N.

With weights ``sqrt(n) u`` takes the place of the vector 1 below, ``u`` the computed fixed vector.

If ``A >= -delta I`` then every feasible ``Q = J + W`` has ``<D, Q> <= 1'N1/n + (K-1)(t + delta) + |F|_F^2``, because
``W 1 = 0`` removes ``a``, ``tr W = K - 1``, and ``0 <= W <= I`` bounds ``<F F', W>``. Eigenvalues only suggest good
``t`` and ``F``. The proof is that a computed lower triangular ``L`` reproduces ``A``: ``L L'`` is psd whatever ``L``
is, so ``A >= -|L L' - A|_F``. It needs ordinary float64 arithmetic (no Strassen, no emulation), and beside its inputs
one n x n array: the matrix is built, factored and checked in row blocks, and only lower triangles are ever read.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._numerics.arrays import (
    UNIT_ROUNDOFF,
    Array,
    device,
    double,
    frobenius,
    gamma,
    inverse_of_lower,
    is_on_gpu,
    namespace,
)
from .._numerics.block_eigen import EXTRA_VECTORS, leading_eigenpairs
from .._numerics.projections import lift, restrict
from .._numerics.sizes import FULL_FOR_A_PROOF
from .._program.problem import KMeansSDP
from .iterate import Multiplier
from .proof_terms import MultiplierSize, Terms, lower_part, multiplier_size

# Each failed factorisation retries with four times the margin.
N_ATTEMPTS = 9
# Where block iteration suggests the shift, the first margin is wider by this share.
BLOCK_MARGIN = 1e-6
# What squares that underflow can hide of a norm, per row: the root of half the least positive number, rounded up.
UNDERFLOW = 2.0**-536
# Accuracy of an estimate that only tells whether a proof is worth trying.
SCREENING = 1e-5
# Accuracy of the suggestion for a proof. On a GPU more passes cost less than one factorisation that fails.
SETTLED, SETTLED_ON_GPU = 2e-6, 1e-7
# Vectors beyond the wanted ones: 64 columns and fewer cost the same there, and the more the fewer passes.
EXTRA_ON_GPU = 54


class Shift(NamedTuple):
    """The matrix ``t I + F F' + 1a' + a1'`` that is to dominate ``D + N``."""

    t: float
    F: Array  # (n, p)
    a: Array  # (n,)


class _Operator:
    def __init__(self, terms: Terms):
        self.terms, self.shape = terms, (terms.n, terms.n)

    def __matmul__(self, V: Array) -> Array:
        return self.terms.apply(V)


def verified_upper_bound(problem: KMeansSDP, N: Multiplier, template: Array, start: Array | None = None) -> float:
    """A proven upper bound on the optimum from the lower triangle of a finite ``N``; inf if no proof was found.

    `template` is an empty float64 array of the library to compute in, `start` a guess of leading eigenvectors or None.
    """
    terms = Terms(problem.gram, N, template)
    size = multiplier_size(terms)
    if not size.is_finite:
        return math.inf
    spectrum, U = suggest_eigenpairs(terms, problem.K, start)
    margin = _first_margin(spectrum, problem)
    for _ in range(N_ATTEMPTS):
        shift = make_shift(terms, spectrum, U, margin, size)
        delta = negative_curvature(terms, shift, size)
        if math.isfinite(delta):
            return _bound(problem, size, shift, delta)
        margin *= 4
    return math.inf


def estimated_upper_bound(
    problem: KMeansSDP, N: Multiplier, template: Array, start: Array | None = None
) -> tuple[float, Array]:
    """What the bound will be about, from Ritz values (not a proof), and the vectors for the proof to start from."""
    terms = Terms(problem.gram, N, template)
    count = min(math.floor(problem.K - 1) + 1, problem.n - 1)
    is_gpu = is_on_gpu(template)
    U, values, _, _ = leading_eigenpairs(
        _Operator(terms),
        count,
        terms.state_template,
        problem.fixed,
        start,
        settled=SCREENING,
        extra=EXTRA_ON_GPU if is_gpu else EXTRA_VECTORS,
    )
    xp = namespace(values)
    whole = float(xp.sum(values[1:])) if count > 1 else 0.0
    part = (problem.K - 1 - (count - 1)) * float(values[0])
    # With the vectors beyond the wanted ones the next block settles sooner; a GPU has the memory for them.
    return multiplier_size(terms).total / problem.n + whole + part, U if is_gpu else U[:, -count:]


class Spectrum(NamedTuple):
    """Suggested eigenvalues of ``D + N`` on the complement of the ones vector."""

    leading: Array  # those above t0
    t0: float  # the K-th largest
    largest: float
    smallest: float
    error: float  # how far off t0 may be


def suggest_eigenpairs(terms: Terms, K: float, start: Array | None) -> tuple[Spectrum, Array]:
    """Eigenvalues above the K-th largest of ``D + N`` (on the complement of the ones vector), and their vectors."""
    xp = namespace(terms.template)
    count = math.floor(K - 1)
    if terms.n <= FULL_FOR_A_PROOF.on(terms.template):
        M = xp.concat([terms.gram_rows(b, terms.n) for b in terms.blocks()], axis=0) + _symmetric_multiplier(terms)
        values, Z = xp.linalg.eigh(restrict((M + M.T) / 2, terms.gram.fixed))
        smallest, error = float(values[0]), 0.0
        values, U = values[-1 - count :], lift(Z[:, -1 - count :], terms.gram.fixed)
    else:
        size = min(count + 1, terms.n - 1)
        is_gpu = is_on_gpu(terms.template)
        U, values, smallest, change = leading_eigenpairs(
            _Operator(terms),
            size,
            terms.state_template,
            terms.gram.fixed,
            start,
            settled=SETTLED_ON_GPU if is_gpu else SETTLED,
            extra=EXTRA_ON_GPU if is_gpu else EXTRA_VECTORS,
        )
        U = U[:, -size:]
        rounding = 8 * float(xp.finfo(values.dtype).eps) * abs(float(values[-1]))
        error = 4 * change + BLOCK_MARGIN * abs(float(values[0])) + rounding
        U, values = double(U), double(values)
    t0 = float(values[0])
    above = values > t0
    keep = int(xp.sum(xp.astype(above, xp.int64)))
    first = values.shape[0] - keep
    return Spectrum(values[first:], t0, float(values[-1]), smallest, error), U[:, first:]


def _symmetric_multiplier(terms: Terms) -> Array:
    xp = namespace(terms.template)
    n = terms.n
    L = xp.zeros((n, n), dtype=xp.float64, device=device(terms.template))
    for block in terms.blocks():
        L[block, : block.stop] = terms.multiplier_rows(block, block.stop)
    diagonal = xp.eye(n, dtype=xp.float64, device=device(terms.template)) * xp.linalg.diagonal(L)
    return L + L.T - diagonal


def _first_margin(spectrum: Spectrum, problem: KMeansSDP) -> float:
    n = problem.n
    spread = n * abs(spectrum.t0) + max(spectrum.largest, 0) - min(spectrum.smallest, 0)
    return 4 * gamma(n + 1) * spread + problem.gram.forming_error + spectrum.error


def make_shift(terms: Terms, spectrum: Spectrum, U: Array, margin: float, size: MultiplierSize) -> Shift:
    """Choose ``a`` so that the ones vector becomes a harmless eigenvector, of eigenvalue ``kappa > 0``."""
    xp = namespace(terms.template)
    n = terms.n
    F = U * xp.sqrt(xp.clip(spectrum.leading - spectrum.t0, min=0.0))
    t = spectrum.t0 + margin
    kappa = max(t, (abs(spectrum.largest) + abs(spectrum.smallest)) / 2)
    ones = terms.ones
    X = terms.gram.factor_like(terms.template)
    column = ones[:, None]
    gram_sums = X @ (X.T @ column) if X is not None else terms.gram.formed_like(terms.template) @ column
    row_means = (gram_sums[:, 0] + size.row_sums) / n
    if terms.gram.fixed.is_weighted:
        return Shift(t, F, row_means + ones * ((kappa - t) / (2 * n) - float(ones @ row_means) / (2 * n)))
    return Shift(t, F, row_means - xp.mean(row_means) / 2 + (kappa - t) / (2 * n))


def negative_curvature(terms: Terms, shift: Shift, size: MultiplierSize) -> float:
    """A `delta` for which ``A >= -delta I`` is proven; inf if the factorisation breaks down."""
    xp = namespace(terms.template)
    n, (t, F, a) = terms.n, shift
    L = xp.zeros((n, n), dtype=xp.float64, device=device(terms.template))
    for block in terms.blocks():
        L[block, : block.stop] = _rows_of_A(terms, shift, block)
    trace = float(xp.sum(xp.linalg.diagonal(L)))
    if not (trace > 0 and _factor_in_place(L, terms.blocks())):
        return math.inf
    residual = square = 0.0
    for block in terms.blocks():
        rows = L[block, : block.stop]
        error = lower_part(_times_lower_transposed(rows, L, terms.blocks()), block) - _rows_of_A(terms, shift, block)
        residual += 2 * float(xp.sum(xp.sum(error * error, axis=1)))
        square += float(xp.sum(xp.sum(rows * rows, axis=1)))
    backward = math.sqrt(residual) * (1 + gamma(2 * n + 9)) + gamma(n + 3) * (square * (1 + gamma(2 * n)) + trace)
    forming = (
        terms.gram.forming_error
        + gamma(F.shape[1] + 9) * frobenius(F) ** 2
        # With weights two more roundings, of the products with the fixed vector.
        + gamma(11 if terms.gram.fixed.is_weighted else 9) * (size.largest + 2 * math.sqrt(n) * frobenius(a) + abs(t))
    )
    delta = (backward + forming + n * UNDERFLOW) * (1 + 1e-10)
    return delta if math.isfinite(delta) else math.inf


def _rows_of_A(terms: Terms, shift: Shift, block: slice) -> Array:
    """Rows of the lower triangle of ``A``, up to the end of the diagonal block."""
    xp = namespace(terms.template)
    t, F, a = shift
    stop = block.stop
    rows = terms.plus_ones_times(F[block, :] @ F[:stop, :].T, a, block, stop)
    rows = rows - terms.gram_rows(block, stop) - terms.multiplier_rows(block, stop)
    rows[:, block.start :] += t * xp.eye(stop - block.start, dtype=xp.float64, device=device(terms.template))
    return lower_part(rows, block)


def _times_lower_transposed(rows: Array, L: Array, blocks: list[slice]) -> Array:
    """``rows L'`` for the leading part of a lower triangular ``L``, leaving out products with its zeros."""
    width = rows.shape[1]
    parts = [rows[:, : block.stop] @ L[block, : block.stop].T for block in blocks if block.stop <= width]
    return namespace(rows).concat(parts, axis=1)


def _factor_in_place(L: Array, blocks: list[slice]) -> bool:
    """Overwrite the lower triangle of `L` by its Cholesky factor, block column by block column; False on breakdown."""
    xp = namespace(L)
    for block in blocks:
        below = slice(block.stop, L.shape[0])
        left = slice(0, block.start)
        if block.start:
            L[block, block] = L[block, block] - lower_part(L[block, left] @ L[block, left].T, slice(0, 0))
        try:
            corner = xp.linalg.cholesky(_mirrored(L[block, block]))
        except Exception:  # each library has its own error for "not positive definite"
            return False
        if not bool(xp.all(xp.isfinite(corner))):
            return False
        L[block, block] = corner
        if block.stop < L.shape[0]:
            panel = L[below, block]
            if block.start:
                panel = panel - L[below, left] @ L[block, left].T
            L[below, block] = panel @ inverse_of_lower(corner).T
    return True


def _mirrored(lower: Array) -> Array:
    xp = namespace(lower)
    return lower + xp.tril(lower, k=-1).T


def _bound(problem: KMeansSDP, size: MultiplierSize, shift: Shift, delta: float) -> float:
    """``1'N1/n + (K-1)(t + delta) + |F|_F^2``, rounded up."""
    n, K, is_weighted = problem.n, problem.K, problem.fixed.is_weighted
    # The computed vector is a multiple of the true one, that factor 1 up to n roundings, and three roundings of each
    # entry off: the first matters for its norm, the second also because W does not quite annihilate it.
    mean = size.total / n * (1 + gamma(4 * n + 40 if is_weighted else 2 * n + 2))
    fixed_error = 7 * UNIT_ROUNDOFF * math.sqrt(n) * frobenius(shift.a) if is_weighted else 0.0
    excess = frobenius(shift.F) ** 2 * (1 + gamma(n * shift.F.shape[1] + 4))
    level = (K - 1) * (shift.t + delta)
    pad = 8 * UNIT_ROUNDOFF * (mean + excess + (K - 1) * (abs(shift.t) + delta))
    return mean + excess + level + pad + problem.gram.centring_error + fixed_error
