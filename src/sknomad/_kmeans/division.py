"""How many parts, and which point is in which."""

from __future__ import annotations

import math
from collections.abc import Sized

import numpy as np
from numpy.typing import ArrayLike

from .._numerics.arrays import Array
from .._numerics.row_blocks import Blocks
from .._numerics.validation import check_integer
from .._solving.streaming import sample_rows
from ..solvers._soft_stream import Cells, assignments
from .balance import Lens, Sketch, balanced_parts, lens_of
from .part_proof import check_division, members

# A part should have at least so many points, so many per cluster, and so many of the smallest cluster.
FEWEST_POINTS, FEWEST_PER_CLUSTER, FEWEST_OF_SMALLEST = 1000, 50, 20
# Beyond this many points the time of a part, of third order, outweighs what larger parts gain.
LARGEST_PART = 5000
# Points that are dealt and exchanged together: more of them differ by little, and take more memory.
SHARD = 200_000


def automatic_count(n: int, K: int, smallest: float) -> int:
    """The number of parts for `n` points and `K` clusters, the least of which has `smallest` points.

    Examples
    --------
    >>> automatic_count(70_000, 10, 4000), automatic_count(900, 10, 90)
    (70, 1)
    """
    size = max(FEWEST_POINTS, FEWEST_PER_CLUSTER * K, math.ceil(FEWEST_OF_SMALLEST * n / max(smallest, 1)))
    return max(1, n // min(size, max(LARGEST_PART, FEWEST_PER_CLUSTER * K)))


def parts_wanted(parts: object, n: int, K: int, sizes: Array) -> int | None:
    """How many parts are asked for; None where `parts` names them itself."""
    if isinstance(parts, str):
        if parts != "auto":
            raise ValueError(f'parts must be "auto", a number, an array of part numbers or None, got {parts!r}.')
        return automatic_count(n, K, float(sizes.min()))
    if isinstance(parts, Sized | np.ndarray):
        return None
    count = check_integer(parts, "parts", 1)
    if count * K > n:
        raise ValueError(
            f"parts must leave each part at least n_clusters={K} of the {n} points, got {count} parts. "
            f"Pass at most {n // K}."
        )
    return count


def given_numbers(parts: ArrayLike, n: int, K: int) -> Array:
    """A division that the user made, checked: every part must have as many points as there are clusters."""
    numbers = np.asarray(parts)
    check_division(numbers, n)
    names: Array = np.arange(numbers.shape[-1])
    if numbers.ndim == 1:  # counted without gaps
        names, numbers = np.unique(numbers, return_inverse=True)
        numbers = numbers.astype(np.int32)
    for name, (points, _) in zip(names, members(numbers), strict=True):
        if len(points) < K:
            raise ValueError(
                f"parts must have at least n_clusters={K} points each, got {len(points)} in part {name}. "
                "Join it to another part."
            )
    return numbers


def shard_numbers(n: int, count: int, seed: int) -> tuple[Array, Array]:
    """A shard for each point, at random, and the number of parts of each shard: all parts are of about one size."""
    shards = max(1, min(round(n / SHARD), count))
    ends = np.linspace(0, count, shards + 1).round().astype(np.int64)
    parts: Array = ends[1:] - ends[:-1]
    ends = np.round(ends[1:] * (n / count)).astype(np.int64)
    numbers = np.empty(n, dtype=np.int32)
    order = np.random.default_rng([seed, 1]).permutation(n) if shards > 1 else np.arange(n)
    for shard, points in enumerate(np.split(order, ends[:-1])):
        numbers[points] = shard
    return numbers, parts


def divide(blocks: Blocks, codes: Array, cells: Cells, count: int, seed: int = 0) -> Array:
    """Part numbers of all points, balanced within shards of points chosen at random."""
    lens = lens_of(cells, sample_rows(blocks, len(cells.sizes), seed))
    shards, parts = shard_numbers(blocks.n, count, seed)
    sketch = join(list(blocks.each(sketch_of, cells, lens)))
    numbers, first = np.empty(blocks.n, dtype=np.int32), 0
    for shard, wanted in enumerate(parts):
        points = np.flatnonzero(shards == shard)
        own = Sketch(sketch.V[points], sketch.Z[points])
        generator = np.random.default_rng([seed, 2, shard])
        numbers[points] = first + balanced_parts(own, codes[points], lens, int(wanted), generator)
        first += int(wanted)
    return numbers


def sketch_of(block: Array, cells: Cells, lens: Lens) -> Sketch:
    """What exchanges need to know of a block of rows."""
    Z = ((block - cells.origin) / lens.unit).astype(np.float32) @ lens.axes
    return Sketch(assignments(block, cells).astype(np.float32), Z)


def join(sketches: list[Sketch]) -> Sketch:
    """The sketch of several blocks."""
    return Sketch(*(np.concatenate(arrays) for arrays in zip(*sketches, strict=True)))
