"""Numbers whose squares leave float64, and what is divided by a power of two to bring them back."""

from __future__ import annotations

import math
import warnings
from typing import cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._numerics.arrays import Array, SameTable, Table, is_sparse
from .._numerics.validation import check_weights

# Outside this range squares of the numbers, or squares of those, leave float64.
SMALLEST_SIZE, LARGEST_SIZE = 1e-70, 1e70
# The same for the roots of weights, whose products with those numbers must not leave it either.
SMALLEST_ROOT, LARGEST_ROOT = 1e-5, 1e5
# Beyond this a weight's own square leaves float64.
LARGEST_MATCHED_ROOT = 1e140


def roots_of(weights: ArrayLike | None, n: int) -> tuple[Array | None, int]:
    """The roots of checked weights, divided by the power of two returned; (None, 0) without weights."""
    if weights is None:
        return None, 0
    roots = np.sqrt(check_weights(weights, n))
    size = float(roots.max())
    if SMALLEST_ROOT <= size <= LARGEST_ROOT:
        return roots, 0
    exponent = math.frexp(size)[1]
    _warn_of_weights(exponent)
    return np.ldexp(roots, -exponent), exponent


def matched_roots(roots: Array | None, exponent: int, size: float) -> tuple[Array | None, int]:
    """Roots divided further where the points times their roots, the largest of which has `size`, are out of range.

    So it is where heavy points lie close together and what lies far off is light.
    """
    if roots is None or SMALLEST_SIZE <= size <= LARGEST_SIZE:
        return roots, exponent
    further = math.frexp(size)[1]
    if size == 0 or math.log2(float(roots.max())) - further > math.log2(LARGEST_MATCHED_ROOT):
        raise ValueError(
            f"weights must leave the points, times the roots of their weights, within float64, got {size:.1e} for the "
            "largest. Leave out points of next to no weight."
        )
    _warn_of_weights(exponent + further)
    return np.ldexp(roots, -further), exponent + further


def _warn_of_weights(exponent: int) -> None:
    warnings.warn(
        f"weights have a size far from 1: they were divided by 2**{2 * exponent}, and bounds are for the divided ones. "
        "Rescale them to choose the units yourself.",
        UserWarning,
        stacklevel=4,
    )


def power_of_two(exponent: int) -> float:
    """``2**exponent``, or infinity (or zero) where float64 has no such number."""
    return math.ldexp(1.0, exponent) if exponent < 1024 else math.inf


def tame(A: SameTable, name: str) -> tuple[SameTable, int]:
    """`A` divided by the power of two returned, with a warning where that is not 1."""
    A, exponent = within_range(A)
    if exponent:
        warn_of_scale(name, exponent)
    return A, exponent


def within_range(A: SameTable) -> tuple[SameTable, int]:
    """`A` divided by ``2**exponent`` and the exponent, 0 unless squares would over- or underflow."""
    size = float(cast("Array", abs(A)).max())
    if size == 0 or SMALLEST_SIZE <= size <= LARGEST_SIZE:
        return A, 0
    exponent = math.frexp(size)[1]
    return divided(A, exponent), exponent


def divided(A: SameTable, exponent: int) -> SameTable:
    """``A / 2**exponent``."""
    if exponent == 0:
        return A
    table: Table = A
    if is_sparse(table):
        table = sp.csr_matrix((np.ldexp(table.data, -exponent), table.indices, table.indptr), shape=table.shape)
    else:
        table = np.ldexp(table, -exponent)
    return cast("SameTable", table)


def warn_of_scale(name: str, exponent: int) -> None:
    warnings.warn(
        f"{name} has a size whose square leaves float64: it was divided by 2**{exponent}, and bounds are for the "
        f"divided {name}. Rescale {name} to choose the units yourself.",
        UserWarning,
        stacklevel=4,
    )
