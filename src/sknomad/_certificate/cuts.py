"""Inequalities that every hard clustering obeys and ``Q`` need not: the bound they give on the best clustering.

Let ``Z`` be the `assignment_matrix` of a clustering: ``Z_ij = 1/|C|`` where i and j share the cluster C, else 0. Then

    pair      Z_ij <= Z_ii
    triangle  Z_ij + Z_ik <= Z_ii + Z_jk

Written ``<A_c, Z> >= 0`` with symmetric ``A_c``, any weights ``w_c >= 0`` give ``<D, Z> <= <D + C, Z>`` with
``C = sum_c w_c A_c``. As ``1'A_c 1 = 0``, the same certificate as for ``D`` bounds the right-hand side. NOMAD's ``Q``
is no clustering: a bound that rests on cuts says nothing about the value of the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .._numerics.arrays import Array
from .._numerics.validation import check_numbers
from .._program.gram import Gram
from .._program.inputs import check_unweighted
from .._program.problem import KMeansSDP
from .iterate import LARGEST_ENTRY
from .upper import upper_bound

# Weights are rounded to this many bits below their sum, so that no sum of them is ever rounded.
WEIGHT_BITS = 50


@dataclass(frozen=True)
class Multipliers:
    """All that a lower bound on the inertia rests on; anything may be in it, a bad one only makes the bound loose."""

    N: Array  # (n, n), of Q >= 0
    cuts: Array = field(
        default_factory=lambda: np.empty((0, 3), dtype=np.int32)
    )  # (m, 3) points i, j, k; a pair: k = j
    weights: Array = field(default_factory=lambda: np.empty(0))  # (m,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "N", check_numbers(self.N, "N", (None, None)))
        object.__setattr__(self, "cuts", check_numbers(self.cuts, "cuts", (None, 3)))
        weights = check_numbers(self.weights, "weights of cuts, one weight each,", (len(self.cuts),))
        object.__setattr__(self, "weights", weights)


def clustering_upper_bound(problem: KMeansSDP, multipliers: Multipliers | None, *, grade: str = "eigen") -> float:
    """Upper bound on ``<D, Z>`` over all clusterings into K groups; without cuts it bounds the whole program.

    Parameters
    ----------
    problem : KMeansSDP
    multipliers : Multipliers or None
    grade : {"eigen", "verified"}, default="eigen"

    Returns
    -------
    float
        ``inf`` where nothing can be said.

    Examples
    --------
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> proof = Multipliers(np.zeros((4, 4)), np.array([[0, 1, 2]]), np.array([0.5]))
    >>> clustering_upper_bound(problem, proof) >= 100
    True
    """
    if problem.is_trivial or multipliers is None:
        return upper_bound(problem, None, grade=grade)
    if len(multipliers.weights) == 0:
        return upper_bound(problem, multipliers.N, grade=grade)
    if not bool(np.all(np.abs(multipliers.weights) <= LARGEST_ENTRY)):
        return math.inf
    gram = with_cuts(problem.gram, multipliers.cuts, multipliers.weights)
    return upper_bound(KMeansSDP(gram, problem.K), multipliers.N, grade=grade) + problem.gram.centring_error


def with_cuts(gram: Gram, cuts: Array, weights: Array) -> Gram:
    """``D + C`` as an indefinite kernel, its forming error that of ``D`` and of the sum together."""
    check_unweighted(gram, "cuts")
    combined = Gram(kernel=_symmetric(gram.formed()) + cut_matrix(gram.n, cuts, weights), unit=gram.unit)
    combined.forming_error += gram.forming_error
    return combined


def cut_matrix(n: int, cuts: Array, weights: Array) -> Array:
    """``C = sum_c w_c A_c`` without any rounding, for the rounded positive parts of the weights.

    Examples
    --------
    >>> cut_matrix(3, np.array([[0, 1, 2]]), np.array([2.0]))
    array([[ 2., -1., -1.],
           [-1.,  0.,  1.],
           [-1.,  1.,  0.]])
    """
    check_cuts(cuts, n)
    half = rounded_weights(weights) / 2
    i, j, k = cuts.T
    is_pair = j == k
    upper = np.zeros((n, n))
    np.add.at(upper, (i, i), half)
    np.add.at(upper, (j, k), np.where(is_pair, 0, half))
    np.add.at(upper, (i, j), -half)
    np.add.at(upper, (i, k), np.where(is_pair, 0, -half))
    return upper + upper.T


def rounded_weights(weights: Array) -> Array:
    """Positive parts, rounded down to multiples of one power of two so coarse that all their sums are exact."""
    weights = np.maximum(np.asarray(weights, dtype=np.float64), 0)
    total = float(weights.sum())
    if total == 0:
        return weights
    quantum = math.ldexp(1.0, math.frexp(total)[1] - WEIGHT_BITS)
    return np.floor(weights / quantum) * quantum


def violations(Z: Array, cuts: Array) -> Array:
    """``Z_ij + Z_ik - Z_ii - Z_jk`` of each triangle, ``Z_ij - Z_ii`` of each pair: positive where a cut is broken."""
    i, j, k = cuts.T
    second = np.where(j == k, 0, Z[i, k] - Z[j, k])
    return Z[i, j] + second - Z[i, i]


def check_cuts(cuts: Array, n: int) -> None:
    """Triples of points in range, the first unlike the others."""
    if cuts.size and (cuts.dtype.kind not in "iu" or int(cuts.min()) < 0 or int(cuts.max()) >= n):
        raise ValueError(f"cuts must be whole numbers between 0 and {n - 1}, got others. Use them with their own data.")
    if bool(np.any(cuts[:, 0] == cuts[:, 1])) or bool(np.any(cuts[:, 0] == cuts[:, 2])):
        raise ValueError("cuts must name a first point that differs from the other two, got one that does not.")


def _symmetric(D: Array) -> Array:
    return D / 2 + D.T / 2
