"""`KMeansSDP`: the question that every solver answers and the judge marks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .._numerics.arrays import Array
from .._numerics.fixed_vector import FixedVector
from .._numerics.validation import check_K
from .gram import Gram


@dataclass(frozen=True)
class KMeansSDP:
    """Maximise ``<D, Q>`` over ``Q 1 = 1``, ``tr Q = K``, ``Q`` psd, ``Q >= 0``.

    Where `gram` has weights ``w`` it is the weighted program, with ``Q sqrt(w) = sqrt(w)`` in the place of ``Q 1 = 1``.

    Parameters
    ----------
    gram : Gram
        The centred inner products ``D``.
    K : float
        The trace of ``Q``, any real number between 1 and the number of points. Each point gets about ``n/K``
        neighbours.

    Examples
    --------
    >>> KMeansSDP(Gram.from_data([[0.0], [1.0], [3.0]]), 1.5).K
    1.5
    """

    gram: Gram
    K: float

    def __post_init__(self) -> None:
        if not isinstance(self.gram, Gram):
            raise TypeError(f"gram must be a Gram, got {type(self.gram).__name__}. Make one with Gram.from_data(X).")
        object.__setattr__(self, "K", check_K(self.K, self.gram.n))

    @property
    def n(self) -> int:
        """Number of points."""
        return self.gram.n

    @property
    def fixed(self) -> FixedVector:
        """The unit vector ``u`` with ``Q u = u``, and ``J = u u'``."""
        return self.gram.fixed

    @property
    def direction(self) -> Array | None:
        """The vector of `fixed`, None without weights. Deprecated: use `fixed`."""
        warnings.warn("KMeansSDP.direction is now KMeansSDP.fixed, and will be gone in 0.3.", DeprecationWarning, 2)
        return self.fixed.vector(np.empty(0)) if self.fixed.is_weighted else None

    @property
    def is_trivial(self) -> bool:
        """Whether one feasible point is known to be optimal, as far as ``D`` is: ``K = 1``, ``K = n``, or no ``D``.

        Bounds tell whether ``D`` is zero because all points are equal, or only because it was rounded.
        """
        return self.K == 1 or self.n == self.K or self.gram.norm == 0

    @property
    def interior_weights(self) -> tuple[float, float]:
        """``(a, b)`` of the most interior feasible point ``a I + b J``, ``J = u u'``."""
        a = (self.K - 1) / (self.n - 1)
        return a, 1 - a

    @property
    def interior_entry(self) -> float:
        """A lower bound on all entries of ``a I + b J``, in units of those of ``n J``: its off-diagonal value."""
        return (self.n - self.K) / (self.n * (self.n - 1))
