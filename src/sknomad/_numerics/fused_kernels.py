"""Triton kernels: passes over an n x n state in which every entry is moved once. Only `fused` imports them.

Products are made of bfloat16 halves, ``a = high + low``: three products of halves on tensor cores leave an error of
about 2**-17 of each term, random in sign. Tensor cores add up in float32 but cut off what does not fit, always towards
zero, so their sums are kept short and added up outside.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def part_times(
    T, high, low, out, n, reach, stride, width, chunk, positive,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """``max(-T, positive T) V`` for one block of rows and one of columns, over one chunk of the sum."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, reach)
    inside = rows < n
    starts = T + rows.to(tl.int64)[:, None] * stride
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for begin in range(first, last, DEPTH):
        depth = begin + tl.arange(0, DEPTH)
        t = tl.load(starts + depth[None, :], mask=inside[:, None] & (depth < last)[None, :], other=0.0)
        t = tl.where((depth < n)[None, :], t, 0.0)  # rows may be padded, with anything
        part = tl.maximum(-t, positive * t)
        part_high = part.to(tl.bfloat16)
        part_low = (part - part_high.to(tl.float32)).to(tl.bfloat16)
        places = depth[:, None] * width + columns[None, :]
        V_high = tl.load(high + places, mask=(depth < n)[:, None], other=0.0)
        V_low = tl.load(low + places, mask=(depth < n)[:, None], other=0.0)
        product = tl.dot(part_low, V_high)
        product = tl.dot(part_high, V_low, product)
        total += tl.dot(part_high, V_high, product)
    place = (tl.program_id(1).to(tl.int64) * n + rows)[:, None] * width + columns[None, :]
    tl.store(out + place, total, mask=inside[:, None])


@triton.jit
def advance_tile(
    T, high, low, fixed, sums, n, stride, width, relaxation, mean,
    IS_WEIGHTED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """``T += relaxation (B B' + J - max(T, 0))`` on one tile, with the four sums of squares that residuals need."""
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (rows < n)[:, None] & (columns < n)[None, :]
    place = T + rows.to(tl.int64)[:, None] * stride + columns[None, :]
    t = tl.load(place, mask=inside, other=0.0)
    Q = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for begin in range(0, width, DEPTH):
        depth = begin + tl.arange(0, DEPTH)
        left = rows[:, None] * width + depth[None, :]
        right = columns[None, :] * width + depth[:, None]
        left_high = tl.load(high + left, mask=(rows < n)[:, None], other=0.0)
        left_low = tl.load(low + left, mask=(rows < n)[:, None], other=0.0)
        right_high = tl.load(high + right, mask=(columns < n)[None, :], other=0.0)
        right_low = tl.load(low + right, mask=(columns < n)[None, :], other=0.0)
        Q = tl.dot(left_low, right_high, Q)
        Q = tl.dot(left_high, right_low, Q)
        Q = tl.dot(left_high, right_high, Q)
    if IS_WEIGHTED:
        left_fixed = tl.load(fixed + rows, mask=rows < n, other=0.0)
        right_fixed = tl.load(fixed + columns, mask=columns < n, other=0.0)
        Q += left_fixed[:, None] * right_fixed[None, :]
    else:
        Q += mean
    before = tl.maximum(t, 0.0)
    step = tl.where(inside, Q - before, 0.0)
    t = t + relaxation * step
    tl.store(place, t, mask=inside)
    after = tl.maximum(t, 0.0)
    change, negative = after - before, t - after
    tile = sums + 4 * (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0))
    tl.store(tile, tl.sum(step * step))
    tl.store(tile + 1, tl.sum(change * change))
    tl.store(tile + 2, tl.sum(after * after))
    tl.store(tile + 3, tl.sum(negative * negative))
