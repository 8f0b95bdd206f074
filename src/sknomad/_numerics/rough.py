"""Products with a symmetric matrix that are right to four or five digits, on the tensor cores of a CUDA device.

Enough for the filter of a warm block on the way to gaps of 1e-3 or so: the Ritz values that follow are computed from
the matrix itself. Two or three digits, one product in bfloat16, were not: steps doubled on MNIST zeros.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .arrays import Array, is_on_gpu, is_torch_array, namespace
from .fused import LEAST_CAPABILITY, halves, padded_columns


def can_be_rough(A: object) -> bool:
    """Whether `A` is a matrix in float64 on a device that multiplies bfloat16 numbers many times faster."""
    if not is_torch_array(A):
        return False
    matrix: Any = A
    return bool(is_on_gpu(matrix) and matrix.dtype == namespace(matrix).float64 and _is_known(str(matrix.device)))


@functools.cache
def _is_known(device: str) -> bool:
    """Whether the device has such cores, and torch lets them add up in float32."""
    import torch

    if torch.cuda.get_device_capability(device)[0] < LEAST_CAPABILITY:
        return False
    one = torch.ones((16, 16), dtype=torch.bfloat16, device=device)
    try:
        torch.mm(one, one, out_dtype=torch.float32)
    except (TypeError, RuntimeError):  # before torch 2.8
        return False
    return True


@contextmanager
def rough_products(template: Array) -> Iterator[None]:
    """Meanwhile products of torch's float32 matrices may be right to three digits only, many times faster on a GPU.

    Only for what is checked afterwards, as a search direction is. Nothing changes where `template` is not on a GPU.
    """
    if not (is_torch_array(template) and is_on_gpu(template)):
        yield
        return
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


class RoughMatrix:
    """A symmetric matrix as the sum of two in bfloat16; multiplies float32 columns."""

    def __init__(self, A: Array):
        n = A.shape[0]
        self.shape = (n, n)
        self._high, self._low = halves(A, n, padded_columns(n))

    def __matmul__(self, V: Array) -> Array:
        import torch

        n, count = V.shape
        # Rows that begin at odd places would slow the product down fourfold.
        high, low = halves(V, padded_columns(n), padded_columns(count))
        product = torch.mm(self._low, high, out_dtype=torch.float32)
        product += torch.mm(self._high, low, out_dtype=torch.float32)
        product += torch.mm(self._high, high, out_dtype=torch.float32)
        return product[:, :count]
