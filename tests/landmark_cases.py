"""Small programs by landmarks, and the same multiplier as a dense matrix for the dense judge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sknomad import Gram, KMeansSDP
from sknomad._landmark.basis import find_basis
from sknomad._landmark.choice import choose_landmarks
from sknomad._landmark.rows import CentredRows
from sknomad._landmark.sums import sum_rows
from sknomad._landmark.upper import LandmarkProgram


class Case(NamedTuple):
    """One question, asked of both judges."""

    X: np.ndarray
    problem: KMeansSDP
    program: LandmarkProgram
    Phi: np.ndarray  # columns scaled as those of the program

    def dense_multiplier(self, M):
        return self.Phi @ M @ self.Phi.T


def points(kind, n, rng):
    """Points of several kinds, some of them unkind."""
    t = rng.random(n) * 3 * np.pi + np.pi
    spiral = np.column_stack([t * np.cos(t), t * np.sin(t)])
    if kind == "spiral":
        return spiral
    if kind == "noisy":
        return np.hstack([spiral, 0.3 * rng.standard_normal((n, 2))])
    if kind == "cloud":
        return rng.standard_normal((n, 4))
    if kind == "far":
        return spiral + 1e6
    if kind == "tiny":
        return spiral * 1e-60
    if kind == "line":
        return t[:, None]
    assert kind == "copies"
    return spiral[rng.integers(0, max(n // 3, 3), n)]


KINDS = ("spiral", "noisy", "cloud", "far", "tiny", "line", "copies")


def make_case(kind, n, m, K, rng):
    X = points(kind, n, rng)
    rows = CentredRows.of(X)
    landmarks = choose_landmarks(rows, m, 0.0, int(rng.integers(1000)))
    sums = sum_rows(rows, landmarks)
    basis = find_basis(sums, np.empty(0))
    assert basis is not None
    program = LandmarkProgram(sums, basis, K, rows.centring.off_mean)
    Phi = landmarks.weights.matrix(np.concatenate(list(rows.blocks()))).toarray()[:, sums.used] * sums.scale
    return Case(X, KMeansSDP(Gram.from_data(X), K), program, Phi)


def multiplier(case, kind, rng):
    """A symmetric nonnegative matrix: none, random, sparse, or one that separates landmarks far apart."""
    m, size = case.program.sums.m, case.problem.gram.trace / case.problem.n
    if kind == "none":
        return np.zeros((m, m))
    R = rng.random((m, m)) * size
    if kind == "sparse":
        R = R * (rng.random((m, m)) < 0.1)
    if kind == "distances":
        B = case.program.sums.B[:m] * case.program.sums.scale[:, None]
        R = (
            0.1
            * np.sum((B[:, None] - B[None]) ** 2, axis=2)
            / np.outer(case.program.sums.scale, case.program.sums.scale)
        )
    return np.maximum(R + R.T, 0) / 2


MULTIPLIERS = ("none", "random", "sparse", "distances")
