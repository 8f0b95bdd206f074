"""How far new points lie from everything a model was fitted to."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .._numerics.arrays import Array, Table
from .cell_reading import CellReading
from .new_points import Extension

# The share of training points whose nearest neighbour is no farther than what counts as near.
NEAR = 0.95


def remoteness(extension: Extension | CellReading, X: Table) -> Array:
    """For every row of dense points ``1 - r/d``, not below 0.

    ``d`` is its distance to the nearest training point, ``r`` the distance to the nearest other one that 95 % of the
    training points of its component do not exceed. Not the distance to the mean of what its row of ``Q`` rests on: in
    the middle of a ring that is zero.
    """
    if isinstance(extension, CellReading):
        raise ValueError(
            "remoteness must know the training points, which a model of a Dask collection does not keep. "
            "Fit a sample of the rows instead."
        )
    known = extension.correction
    assert known is not None, "models of points remember their training points"
    parts, _ = extension.place(X)
    training = np.asarray(known.features)
    nearest = NearestNeighbors(n_neighbors=1).fit(training)
    distances = nearest.kneighbors(np.asarray(extension.features.of(X)))[0][:, 0]
    spacing = nearest.kneighbors()[0][:, 0] if len(training) > 1 else np.zeros(1)
    reach = np.array([_quantile(spacing[known.parts == part]) for part in range(int(parts.max()) + 1)])[parts]
    return np.where(distances > reach, 1 - reach / np.where(distances > 0, distances, 1), 0.0)


def _quantile(values: Array) -> float:
    """Zero of none: a component that a file claims and no training point has."""
    return float(np.quantile(values, NEAR)) if len(values) else 0.0
