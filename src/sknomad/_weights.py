"""Weights that count points: a point of weight three is three equal points.

The program knows equal points only. Whole weights are therefore exactly what they say: rows are repeated, and what is
found is read off the first copy of each. Points of weight zero take no part and are placed like new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight

from ._arrays import Array, given_model, to_numpy


@dataclass(frozen=True)
class Copies:
    """Which point every repeated row is a copy of."""

    of: Array  # (number of copies,)
    first: Array  # (n,) first copy of each point, -1 where there is none

    def repeated(self, X: Array, *, pairwise: bool) -> Array:
        """`X` with its rows repeated, and its columns too where they stand for the same points."""
        return self.columns(X[self.of], pairwise=pairwise)

    def columns(self, X: Array, *, pairwise: bool) -> Array:
        """`X` with its columns repeated where they stand for the training points."""
        return X[:, self.of] if pairwise else X

    @property
    def present(self) -> Array:
        """The points that have a copy."""
        return np.flatnonzero(self.first >= 0)

    @property
    def absent(self) -> Array:
        """The points of weight zero."""
        return np.flatnonzero(self.first < 0)

    def given(self, values: Array, fill: Any) -> Array:
        """Values of the points from those of their copies; `fill` where there are none."""
        result = np.full((len(self.first), *values.shape[1:]), fill, dtype=values.dtype)
        result[self.present] = values[self.first[self.present]]
        return result

    def square(self, Q: Any) -> Any:
        """The mean of a square matrix over the copies of each two points: times the weights its rows still sum to one.

        Sparse where `Q` is; zero for points of weight zero.
        """
        counts = np.bincount(self.of, minlength=len(self.first))
        shares = 1 / counts[self.of]
        mean: Any = sp.csr_matrix((shares, (self.of, np.arange(len(self.of)))), shape=(len(counts), len(self.of)))
        return mean @ Q @ mean.T


def read_copies(sample_weight: Any, X: Array) -> Copies | None:
    """The copies that whole weights ask for; None where every point counts once."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight if given_model(sample_weight) is None else to_numpy(sample_weight), X)
    wrong = np.flatnonzero((weights < 0) | (weights != np.floor(weights)) | ~np.isfinite(weights))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold whole numbers >= 0, how often each point counts, got {weights[wrong[0]]} at "
            f"index {wrong[0]}. Scale the weights to whole numbers: the solution depends only on their ratios."
        )
    if weights.sum() < 2:
        raise ValueError(f"sample_weight must leave at least 2 points, got a sum of {weights.sum():g}.")
    if np.all(weights == 1):
        return None
    counts = weights.astype(np.int64)
    starts = np.cumsum(counts) - counts
    return Copies(np.repeat(np.arange(len(counts)), counts), np.where(counts > 0, starts, -1))
