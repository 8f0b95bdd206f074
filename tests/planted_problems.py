"""Problems with a planted optimum, and points in every form near it and far from it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from oracles import planted, points_of
from sknomad import DensePoint, FactorPoint, Gram, KMeansSDP, MixedPoint, SoftPoint, SpectralPoint

seeds = st.integers(0, 2**32 - 1)

sizes = st.integers(4, 14)

GRADES = ["eigen", "verified"]

# Forming the planted matrix in float64 moves its optimum by this much, relatively.
ROUNDING = 1e-12


def planted_problem(seed, n, *, hard=False, factored=False):
    rng = np.random.default_rng(seed)
    example = planted(rng, n, max(2, n // 3), hard=hard)
    gram = Gram.from_data(points_of(example.D)) if factored else Gram.from_kernel(example.D)
    return rng, example, KMeansSDP(gram, example.K)


def _noisy(rng, example, log_size):
    return example.Q + 10.0**log_size * rng.standard_normal(example.Q.shape)


def _near_ones(rng, n):
    """Columns that are the ones vector but for the last bits."""
    return np.ones((n, 2)) + 2.0**-52 * (rng.random((n, 2)) < 0.3)


POINTS = {
    "optimal": lambda rng, e: e.Q,
    "tiny noise": lambda rng, e: _noisy(rng, e, rng.uniform(-16, -8)),
    "noise": lambda rng, e: _noisy(rng, e, rng.uniform(-8, 3)),
    "asymmetric": lambda rng, e: e.Q + np.triu(rng.random(e.Q.shape)),
    "scaled": lambda rng, e: e.Q * 10.0 ** rng.uniform(-3, 3),
    "scaled far": lambda rng, e: e.Q * 10.0 ** rng.uniform(3, 30),
    "noise scaled far": lambda rng, e: _noisy(rng, e, -2) * 10.0 ** rng.uniform(3, 30),
    "negative": lambda rng, e: -e.Q,
    "zero": lambda rng, e: np.zeros_like(e.Q),
    "identity": lambda rng, e: np.eye(len(e.Q)),
    "ones": lambda rng, e: np.ones_like(e.Q),
    "the matrix D": lambda rng, e: e.D,
    "integers": lambda rng, e: rng.integers(-3, 4, e.Q.shape),
    "single precision": lambda rng, e: e.Q.astype(np.float32),
    "spectral": lambda rng, e: SpectralPoint(rng.standard_normal((len(e.Q), 3)), rng.standard_normal(3)),
    "spectral scaled": lambda rng, e: SpectralPoint(
        rng.standard_normal((len(e.Q), 3)) * 10.0 ** rng.uniform(-50, 50, 3), 10.0 ** rng.uniform(-50, 50, 3)
    ),
    "spectral of D": lambda rng, e: SpectralPoint(points_of(e.D), rng.standard_normal(len(e.Q))),
    "spectral negative": lambda rng, e: SpectralPoint(np.eye(len(e.Q)), -np.ones(len(e.Q))),
    "spectral repeated": lambda rng, e: SpectralPoint(np.repeat(e.Q[:, :1], 4, axis=1), np.ones(4)),
    "spectral near ones": lambda rng, e: SpectralPoint(_near_ones(rng, len(e.Q)), np.array([1.0, 1e30])),
    "spectral single": lambda rng, e: SpectralPoint(
        np.linalg.qr(e.D)[0].astype(np.float32), rng.random(len(e.Q)).astype(np.float32)
    ),
    "soft optimal": lambda rng, e: SoftPoint(e.V),
    "soft not stochastic": lambda rng, e: SoftPoint(rng.random(e.V.shape) * 10.0 ** rng.uniform(-5, 5)),
    "soft negative": lambda rng, e: SoftPoint(rng.standard_normal(e.V.shape)),
    "soft empty rows": lambda rng, e: SoftPoint(e.V * (rng.random((len(e.V), 1)) < 0.5)),
    "soft empty columns": lambda rng, e: SoftPoint(np.hstack([e.V, np.zeros_like(e.V)])),
    "soft subnormal column": lambda rng, e: SoftPoint(np.column_stack([e.V, np.full(len(e.V), 1e-310)])),
    "soft tiny column": lambda rng, e: SoftPoint(np.column_stack([e.V, np.full(len(e.V), 1e-200)])),
    "soft sharp": lambda rng, e: SoftPoint(np.exp(-800 * rng.random(e.V.shape))),
    "soft identity": lambda rng, e: SoftPoint(np.eye(len(e.V))),
    "factor": lambda rng, e: FactorPoint(rng.standard_normal(e.V.shape)),
    "factor optimal": lambda rng, e: FactorPoint(e.V / np.sqrt(e.V.sum(axis=0))),
    "factor scaled": lambda rng, e: FactorPoint(e.V * 10.0 ** rng.uniform(-50, 50)),
    "factor zero": lambda rng, e: FactorPoint(np.zeros_like(e.V)),
    "mixed": lambda rng, e: MixedPoint(DensePoint(e.Q), identity=3.0, mean=-1.0),
    "mixed mixed": lambda rng, e: MixedPoint(MixedPoint(SoftPoint(e.V), identity=0.5), mean=7.0),
}


def forms(rng, n):
    U = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    V = rng.random((n, 4))
    V /= V.sum(axis=1, keepdims=True)
    soft = SoftPoint(V)
    return {
        "dense": (DensePoint(V @ V.T), V @ V.T),
        "spectral": (SpectralPoint(U, np.arange(3.0)), (U * np.arange(3)) @ U.T + 1 / n),
        "soft": (soft, V @ np.diag(1 / V.sum(axis=0)) @ V.T),
        "factor": (FactorPoint(V - 0.5), (V - 0.5) @ (V - 0.5).T),
        "mixed": (
            MixedPoint(soft, identity=0.2, mean=0.3),
            0.5 * (V / V.sum(axis=0)) @ V.T + 0.2 * np.eye(n) + 0.3 / n,
        ),
    }
