"""What is proven of the parts of a data set: the record, its multipliers in little space, and the sum of bounds.

For any division of points into parts, or of their weights, ``OPT_K(all) >= sum_t OPT_K(part_t)``: the centres that are
best for all points are some centres for each part. Each part is centred on its own mean and has its own proof. This is
about clusterings. Of the program's own value the like is false, so no such sum may become an upper bound of NOMAD.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._certificate.upper import upper_bound
from .._files.archive import FormatError
from .._files.records import saved
from .._numerics.arrays import Array, Table
from .._numerics.ieee import check_arithmetic
from .._numerics.validation import check_integer, check_numbers
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .._solving.triangles import pack, unpack
from .inertia import least_inertia
from .principal_bound import principal_bound

# The largest number that float16 holds, as a power of two below it.
HALF_EXPONENT = 15


class Triangle(NamedTuple):
    """A multiplier as its lower triangle, in units of `scale`."""

    lower: Array  # row by row, in float16 where little space matters
    scale: float

    def unpacked(self, n: int) -> Array:
        """The (n, n) matrix."""
        return unpack(self.lower.astype(np.float64) * self.scale, n)


def pack_small(N: Array) -> Triangle:
    """`N` in float16: eleven bits of each entry, which any proof may use as they are."""
    lower = pack(N).astype(np.float64)
    exponent = math.frexp(float(lower.max(initial=0.0)))[1]
    scale = math.ldexp(1.0, min(max(exponent - HALF_EXPONENT, -1000), 1000))
    return Triangle((lower / scale).astype(np.float16), scale)


def pack_whole(N: Array) -> Triangle:
    """`N` without a loss."""
    return Triangle(pack(N), 1.0)


@saved
@dataclass(frozen=True)
class PartProofs:
    """A bound by parts: which point is in which part, and what is proven of each."""

    numbers: Array = field(repr=False)  # (n,) part of each point, or (n, parts) shares of its weight
    bounds: Array = field(repr=False)  # (parts,) least inertia of a clustering of the part; 0 where nothing is proven
    triangles: tuple[Array | None, ...] = field(repr=False)  # multipliers, see `Triangle`; None where none was kept
    scales: Array = field(repr=False)  # (parts,) units of the multipliers
    n_rough: int = 0  # parts whose bound is that of principal components, for want of time

    def __post_init__(self) -> None:
        count = len(check_numbers(self.bounds, "bounds of parts", (None,), finite=True))
        check_numbers(self.scales, "scales of parts", (count,), finite=True)
        if len(self.triangles) != count or bool(np.any(self.bounds < 0)):
            raise ValueError(f"parts must have a bound >= 0 and a multiplier or None each, got {len(self.triangles)}.")
        check_division(self.numbers, None, count)
        check_integer(self.n_rough, "the number of rough bounds", 0)

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.bounds)

    @property
    def done(self) -> int:
        """How many of them have a bound above 0 that time was taken for."""
        return int(np.count_nonzero(self.bounds)) - self.n_rough

    def triangle(self, part: int) -> Triangle | None:
        """The multiplier of a part."""
        lower = self.triangles[part]
        return None if lower is None else Triangle(lower, float(self.scales[part]))

    @property
    def lower_bound(self) -> float:
        """No clustering of all points has an inertia below this."""
        return joint_bound(self.bounds, self.numbers)


def check_division(numbers: Array, n: int | None, count: int | None = None) -> int:
    """The number of parts, after a check that every point has one, or shares that are not negative."""
    numbers = check_numbers(numbers, "parts", (n,) if np.ndim(numbers) == 1 else (n, count))
    if numbers.ndim == 1:
        if numbers.dtype.kind not in "iu" or int(numbers.min()) < 0 or (count and int(numbers.max()) >= count):
            raise ValueError(
                f"parts must be whole numbers from 0, one for each point, got {numbers.dtype} from {numbers.min()} to "
                f"{numbers.max()}."
            )
        return int(numbers.max()) + 1 if count is None else count
    if not bool(np.all(np.isfinite(numbers) & (numbers >= 0))):
        raise ValueError("parts as shares of points must be finite and not negative, got others.")
    return int(numbers.shape[1])


def members(numbers: Array) -> Iterator[tuple[Array, Array | None]]:
    """The points of each part, and their weights in it; None where all are 1."""
    if numbers.ndim == 1:
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers))
        for part in np.split(order, ends[:-1]):
            yield part, None
    else:
        for shares in numbers.T:
            points = np.flatnonzero(shares > 0)
            yield points, np.asarray(shares[points], dtype=np.float64)


def joint_bound(bounds: Iterable[float], numbers: Array) -> float:
    """The sum of the parts' bounds, rounded down.

    Where the shares of a point add up to more than 1, all of them divided by the largest such sum do not, and the sum
    of bounds is divided with them.
    """
    total = sum_down(bounds)
    excess = 0.0 if numbers.ndim == 1 else max(math.fsum([*row, -1.0]) for row in numbers)
    # A few roundings of the divisor and one of the quotient.
    return total if excess <= 0 else total / ((1 + excess) * (1 + 2.0**-50)) * (1 - 2.0**-50)


def sum_down(values: Iterable[float]) -> float:
    """The sum of some numbers, rounded down.

    Examples
    --------
    >>> sum_down([1.0, 2.0**-60]), sum_down([1.0, -(2.0**-60)]) < 1
    (1.0, True)
    """
    values = list(values)
    total = math.fsum(values)
    # The error of the rounded sum, itself rounded, has the right sign.
    return math.nextafter(total, -math.inf) if math.fsum([*values, -total]) < 0 else total


def in_units(bound: float, unit: float) -> float:
    """A bound in the units of a `Gram` in those of its data, rounded down."""
    scaled = bound * unit if bound > 0 else 0.0
    if unit == 1.0 or scaled == 0.0:
        return scaled
    if not math.isfinite(scaled):  # more than float64 holds: at least its largest number
        return math.nextafter(math.inf, 0.0)
    return max(math.nextafter(scaled, -math.inf), 0.0)


def gram_of_part(rows: Table, weights: Array | None) -> Gram:
    """The centred Gram matrix of a part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of its scale, which is that of its bound alone
        return Gram.from_data(rows, weights=weights)


def bound_of_part(gram: Gram, K: int, triangle: Triangle | None, grade: str) -> float:
    """The least inertia, in the units of the data, that a multiplier proves; without one, principal components."""
    problem = KMeansSDP(gram, K)
    if triangle is None and not problem.is_trivial:
        if grade == "verified":
            check_arithmetic(np.empty(0))
        return in_units(principal_bound(gram, K), gram.unit)
    try:
        N = None if triangle is None else triangle.unpacked(gram.n)
    except FormatError:
        return 0.0
    return in_units(least_inertia(gram, K).given(upper_bound(problem, N, grade=grade)), gram.unit)
