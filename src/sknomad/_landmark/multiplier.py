"""`LandmarkMultiplier`: a multiplier of all points, given between landmarks, and the bound that it proves by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._certificate.trivial import trivial_value
from .._files.records import saved
from .._numerics.arrays import Array
from .._numerics.validation import check_numbers
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .barycentric import Barycentric
from .basis import find_basis
from .choice import N_NEIGHBOURS, Landmarks
from .rows import GramRows, has_rows
from .sums import LandmarkSums, sum_rows
from .upper import LandmarkProgram


@saved
@dataclass(frozen=True)
class LandmarkMultiplier:
    """``N = Phi M Phi'`` with the barycentric weights ``Phi`` of all points on landmarks."""

    places: Array  # (m, d), the landmarks, centred as the points are
    C: Array  # (m, d), rows with which the points are about Phi C
    M: Array  # (m, m)

    def __post_init__(self) -> None:
        m, d = check_numbers(self.places, "places of landmarks", (None, None), finite=True).shape
        check_numbers(self.C, "rows of landmarks", (m, d), finite=True)
        check_numbers(self.M, "the multiplier of landmarks", (m, m), finite=True)

    @classmethod
    def of(cls, landmarks: Landmarks, sums: LandmarkSums, M: Array) -> LandmarkMultiplier:
        """The multiplier whose columns are scaled as in the sums, and which is zero where no point has a weight."""
        m = landmarks.weights.m
        unscaled = np.zeros((m, m))
        unscaled[np.ix_(sums.used, sums.used)] = M * sums.scale[:, None] * sums.scale
        return cls(landmarks.weights.landmarks, landmarks.C, unscaled)

    def check_space(self, gram: Gram) -> None:
        """Refuse landmarks of another space than that of the points."""
        if not has_rows(gram) or self.places.shape[1] != gram.table.shape[1]:
            raise ValueError(
                f"landmarks must lie among dense points without weights, got {self.places.shape[1]} columns and {gram}."
            )

    def upper_bound(self, problem: KMeansSDP, grade: str = "eigen") -> float:
        """The bound on the optimum that it proves, from one pass over the points; nothing of it need be right.

        Parameters
        ----------
        problem : KMeansSDP
            Of dense points without weights, as many columns as the landmarks have.
        grade : {"eigen", "verified"}, default="eigen"

        Returns
        -------
        float
            ``inf`` where no proof is found.
        """
        self.check_space(problem.gram)
        if problem.is_trivial:
            return trivial_value(problem, +1)
        rows = GramRows.of(problem.gram)
        sums = sum_rows(rows, Landmarks(Barycentric(self.places, N_NEIGHBOURS), self.C, math.nan))
        basis = find_basis(sums, np.empty(0))
        if basis is None:
            return math.inf
        M = self.M[np.ix_(sums.used, sums.used)] / sums.scale[:, None] / sums.scale
        return LandmarkProgram(sums, basis, problem.K, rows.centring.off_mean).upper_bound(M, grade)
