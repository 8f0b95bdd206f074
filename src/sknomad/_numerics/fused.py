"""Passes over the n x n float32 state of a large problem on a CUDA device, every entry moved once.

They need Triton, which torch brings along, and a C compiler, which Triton calls. Where either is missing `can_fuse`
says so, and the plain passes run, which the tests hold these to.
"""

from __future__ import annotations

import functools
from importlib.util import find_spec
from typing import Any

from .arrays import LARGEST_IN_DOUBLE, Array, is_on_gpu, is_torch_array, namespace
from .fixed_vector import FixedVector, Weighted

# Halves of bfloat16 need tensor cores that know them.
LEAST_CAPABILITY = 8
# Rows and depth of the tiles of a product, and the tiles of an update: the fastest of some ten on an H200.
PRODUCT_ROWS, PRODUCT_DEPTH = 128, 32
UPDATE_ROWS, UPDATE_COLUMNS, UPDATE_DEPTH = 64, 128, 16
# Columns of a product are filled up to a multiple of one of these: a third would save less than compiling it takes.
FEW_COLUMNS, MANY_COLUMNS = 64, 128
# The sum of a product is cut into so many chunks, so that no processor is left without work at the end.
CHUNKS = 4
# Numbers that a load takes at once.
ALIGNMENT = 16
# Points and columns of the product that is tried before the first real one.
TRIAL_POINTS, TRIAL_COLUMNS, TRIAL_ERROR = 160, 3, 1e-4


def can_fuse(T: Array) -> bool:
    """Whether the passes of this module can be had for the state `T`, and are precise enough for its size.

    They are as precise as gaps of 1e-4 need, what is asked of problems so large that their state is in float32 even
    where float64 is fast.
    """
    if T.shape[0] <= LARGEST_IN_DOUBLE or not is_torch_array(T) or not is_on_gpu(T):
        return False
    foreign: Any = T
    return bool(T.dtype == namespace(T).float32 and foreign.stride(1) == 1 and _kernels_work(str(foreign.device)))


@functools.cache
def _kernels_work(device: str) -> bool:
    """Whether Triton can be had, compiles, and multiplies on this device."""
    if find_spec("triton") is None:
        return False
    import torch

    if torch.cuda.get_device_capability(device)[0] < LEAST_CAPABILITY:
        return False
    T = torch.linspace(-1, 1, TRIAL_POINTS**2, device=device).reshape(TRIAL_POINTS, TRIAL_POINTS)
    V = T[:, :TRIAL_COLUMNS]
    try:
        product = part_times(T, V)
    except Exception:  # whatever a compiler says
        return False
    return bool(torch.linalg.norm(product - torch.abs(T) @ V) <= TRIAL_ERROR * torch.linalg.norm(product))


def padded_columns(n: int) -> int:
    """Columns of an array whose rows of `n` numbers all begin where a load may begin."""
    return _rounded_up(n, ALIGNMENT)


def part_times(T: Array, V: Array, *, is_negative: bool = False) -> Array:
    """``|T| V``, or ``max(-T, 0) V``."""
    import torch

    from . import fused_kernels

    n, count = V.shape
    columns = FEW_COLUMNS if count <= FEW_COLUMNS else MANY_COLUMNS
    high, low = halves(V, n, _rounded_up(count, columns))
    width = int(high.shape[1])
    reach = padded_columns(n) if _has_padding(T) else n
    chunk = _rounded_up(-(-reach // CHUNKS), PRODUCT_DEPTH)
    chunks = -(-reach // chunk)
    out = torch.empty((chunks, n, width), dtype=torch.float32, device=high.device)
    grid = (-(-n // PRODUCT_ROWS), chunks, width // columns)
    with torch.cuda.device(out.device):
        fused_kernels.part_times[grid](
            T, high, low, out, n, reach, _stride(T), width, chunk, 0.0 if is_negative else 1.0,
            ROWS=PRODUCT_ROWS, COLUMNS=columns, DEPTH=PRODUCT_DEPTH, num_warps=8, num_stages=4,
        )  # fmt: skip
    return out.sum(0)[:, :count]


def advance_and_sum(T: Array, U: Array, weights: Array, relaxation: float, fixed: FixedVector) -> Array:
    """``T <- T + relaxation (Q - R)`` in place, for ``Q = J + U diag(weights) U'`` and ``R = max(T, 0)``.

    Returns the sums of squares of ``Q - R``, of the change of ``R``, of the new ``R`` and of ``T - R``: on the device,
    so that nobody waits for sums that are not wanted.
    """
    import torch

    from . import fused_kernels

    n, rank = U.shape
    # The same factor on both sides: the update is as symmetric as the state.
    high, low = halves(U * namespace(weights).sqrt(weights), n, _rounded_up(rank, UPDATE_DEPTH))
    tiles = (-(-n // UPDATE_COLUMNS), -(-n // UPDATE_ROWS))
    sums: Any = torch.empty((tiles[1], tiles[0], 4), dtype=torch.float32, device=high.device)
    vector = fixed.vector(T) if isinstance(fixed, Weighted) else sums
    with torch.cuda.device(sums.device):
        fused_kernels.advance_tile[tiles](
            T, high, low, vector, sums, n, _stride(T), int(high.shape[1]), relaxation, 1 / n,
            IS_WEIGHTED=fixed.is_weighted,
            ROWS=UPDATE_ROWS, COLUMNS=UPDATE_COLUMNS, DEPTH=UPDATE_DEPTH, num_warps=4, num_stages=3,
        )  # fmt: skip
    return sums.double().sum((0, 1))


def halves(A: Array, rows: int, columns: int) -> tuple[Array, Array]:
    """`A` as the sum of two bfloat16 arrays, with zeros up to so many rows and columns."""
    import torch

    whole: Any = torch.zeros((rows, columns), dtype=torch.float32, device=A.device)
    whole[: A.shape[0], : A.shape[1]] = A
    high = whole.to(torch.bfloat16)
    return high, (whole - high).to(torch.bfloat16)


def _has_padding(T: Array) -> bool:
    """Whether memory goes on after every row, the last one too, up to where the next could begin."""
    foreign: Any = T
    n, stride = T.shape[0], _stride(T)
    end = foreign.storage_offset() + (n - 1) * stride + padded_columns(n)
    return stride >= padded_columns(n) and end * foreign.element_size() <= foreign.untyped_storage().nbytes()


def _stride(T: Array) -> int:
    foreign: Any = T
    return int(foreign.stride(0))


def _rounded_up(count: int, step: int) -> int:
    return -(-count // step) * step
