"""Whether arithmetic is what proofs assume: float64 that rounds to nearest, subnormal numbers and all.

The experiments take a fraction of a millisecond, or a twentieth of a long proof, and are made before every one: the
mode of a processor belongs to a thread, and a library may change it at any time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, device, namespace, to_numpy

# Least and most rows of the matrices that are multiplied, and the share of the problem's: libraries may do it otherwise
# for large ones.
SMALLEST_SIDE, LARGEST_SIDE, SHARE = 64, 1024, 4
# What a row of them also holds: lost beside it would be whatever is not float64, and what Strassen's method adds to it.
LARGE = 2.0**100
# The least normal number; its half is subnormal. Times this, both are normal again and can be compared in any mode.
LEAST_NORMAL, BACK = 2.0**-1022, 2.0**100
LAST_BIT = 2.0**-52


class UnsoundArithmeticError(RuntimeError):
    """Float64 is not here what a proof that includes rounding assumes."""


class Experiment(NamedTuple):
    """What a computation gave and what it gives in IEEE float64."""

    defect: str  # what arithmetic that fails it does
    found: Array
    wanted: Array  # NumPy


def check_arithmetic(template: Array, n: int = 0) -> None:
    """Refuse to prove anything with arithmetic that is not IEEE float64, in the library and on the device given.

    Parameters
    ----------
    template : array
        Stands for its library and its device.
    n : int, default=0
        Number of rows of the matrices that will be multiplied.
    """
    side = 2 * (min(max(n // SHARE, SMALLEST_SIDE), LARGEST_SIDE) // 2)
    for defect, found, wanted in _experiments(template, side):
        if not np.array_equal(to_numpy(found), wanted):
            raise UnsoundArithmeticError(
                f'grade "verified" must be proven in IEEE float64, got arithmetic ({_library(template)} on '
                f'{device(template)}) that {defect}. Switch that mode off, or use grade="eigen".'
            )


def _library(template: Array) -> str:
    return str(namespace(template).__name__).rpartition(".")[2]


def _experiments(template: Array, side: int) -> Iterator[Experiment]:
    xp: Any = namespace(template)

    def here(numbers: Array) -> Array:
        return xp.asarray(numbers, dtype=xp.float64, device=device(template))

    flushes, least = "takes subnormal numbers for zero", np.full((8, 8), LEAST_NORMAL)
    yield Experiment(flushes, (here(least) * 0.5) * BACK, least * BACK / 2)
    yield Experiment(flushes, xp.matmul(here(least), here(np.eye(8) / 2)) * BACK, least * BACK / 2)

    a, b, sums, products = _rounded_to_nearest()
    rounds = "does not round to the nearest number"
    yield Experiment(rounds, here(a) + here(b), sums)
    yield Experiment(rounds, here(a) * here(a), products)
    yield Experiment(rounds, here(np.ones(1)) / here(3 * np.ones(1)), np.array([math.ldexp(6004799503160661, -54)]))

    left, right, product = _graded_product(side)
    yield Experiment("multiplies matrices otherwise", xp.matmul(here(left), here(right)), product)


def _rounded_to_nearest() -> tuple[Array, Array, Array, Array]:
    """Numbers, what is added to them, their sums and their squares, each rounded to nearest, ties to even."""
    rows = [
        (1.0, LAST_BIT / 2, 1.0, 1.0),
        (1 + LAST_BIT, LAST_BIT / 2, 1 + 2 * LAST_BIT, 1 + 2 * LAST_BIT),
        (1.0, LAST_BIT / 2 * (1 + LAST_BIT), 1 + LAST_BIT, 1.0),
        (1.0, 2.0**-60, 1.0, 1.0),
        (1.0, -(2.0**-60), 1.0, 1.0),
        (-1.0, -(2.0**-60), -1.0, 1.0),
        (1 + 2.0**-27, 0.0, 1 + 2.0**-27, 1 + 2.0**-26),
    ]
    a, b, sums, products = np.array(rows).T
    return a, b, sums, products


@functools.lru_cache(maxsize=1)
def _graded_product(side: int) -> tuple[Array, Array, Array]:
    """Two matrices whose product has nothing to round: large numbers of the first meet only zeros of the second."""
    half = side // 2
    R = np.random.default_rng(0).random((half, half)) + 1
    left = np.tile(np.hstack([np.full((half, half), LARGE), np.eye(half)]), (2, 1))
    right = np.vstack([np.zeros((half, side)), np.tile(R, (1, 2))])
    return left, right, np.tile(R, (2, 2))
