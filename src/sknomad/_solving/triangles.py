"""Symmetric nonnegative matrices as lower triangles: the form of multipliers in files."""

from __future__ import annotations

import numpy as np

from .._files.archive import FormatError
from .._numerics.arrays import Array


def pack(N: Array) -> Array:
    """The lower triangle of the symmetric nonnegative part of ``N``, row by row, in float32 where that loses nothing.

    Examples
    --------
    >>> pack(np.array([[0.0, 2.0], [2.0, 1.0]])).tolist()
    [0.0, 2.0, 1.0]
    """
    N = np.asarray(N, dtype=np.float64)
    lower = np.maximum(N / 2 + N.T / 2, 0)[np.tril_indices(len(N))]
    with np.errstate(over="ignore"):
        single = lower.astype(np.float32)
    return single if np.array_equal(single, lower) else lower


def unpack(lower: Array, n: int) -> Array:
    """The symmetric matrix of `pack`."""
    if lower.shape != (n * (n + 1) // 2,) or lower.dtype.kind != "f":
        raise FormatError(f"N must be the lower triangle for n={n}, got shape {lower.shape} of {lower.dtype}.")
    N = np.zeros((n, n))
    N[np.tril_indices(n)] = lower
    return np.maximum(N, N.T)
