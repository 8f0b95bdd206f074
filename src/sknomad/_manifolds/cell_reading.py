"""Manifolds and coordinates read off the cells of soft assignments: a small graph, whatever the number of points.

With ``B = S^-1/2 V'V S^-1/2`` (r x r), ``S = diag(V'1)``, two cells are linked where ``B_jk`` is not small beside
``sqrt(B_jj B_kk)``: points of both share neighbours. Components of this graph are the manifolds, a point belongs to the
one with most of its row of ``V``. The rows of ``V S^-1/2`` are a root of ``Q``, so their principal coordinates are the
leading eigenvectors of ``Q`` on the manifold; their covariance follows from ``B`` and ``S`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from .._files.records import saved
from .._numerics.arrays import Array, Table, is_sparse
from .._numerics.validation import check_indices, check_numbers
from ..solvers._soft_stream import Cells, assignments


def overlaps(block: Array, cells: Cells) -> Array:
    """The share of a block in ``V'V``."""
    V = assignments(block, cells)
    return V.T @ V


@saved
@dataclass(frozen=True)
class CellReading:
    """How a point's manifold and coordinates follow from its row of soft assignments."""

    cells: Cells
    names: Array  # (components,) manifold of each component, -1 for those too small
    directions: Array  # (r, p) what a unit of each cell adds to the coordinates of a point
    offsets: Array  # (components, p) subtracted from them
    components: Array  # (r,) component of each cell

    def __post_init__(self) -> None:
        count = len(check_numbers(self.names, "names", (None,)))
        r = len(check_indices(self.components, "components of cells"))
        width = check_numbers(self.directions, "directions", (r, None), finite=True).shape[1]
        check_numbers(self.offsets, "offsets", (count, width), finite=True)
        if len(self.cells.sizes) != r or int(self.components.max(initial=-1)) >= count:
            raise ValueError(f"a reading must have a component for each of its cells, got {r} of {count} components.")

    @property
    def n_parts(self) -> int:
        """How many components there are."""
        return len(self.names)

    def place(self, table: Table) -> tuple[Array, Array]:
        """Component and coordinates of rows."""
        V = assignments(table.toarray() if is_sparse(table) else table, self.cells)
        shares = np.stack([V[:, self.components == c].sum(axis=1) for c in range(len(self.offsets))], axis=1)
        mine = np.argmax(shares, axis=1)
        V = np.where(self.components == mine[:, None], V, 0.0)
        return mine, V @ self.directions - self.offsets[mine]

    def labels(self, table: Table) -> Array:
        """Manifold of each row."""
        return self.names[self.place(table)[0]]

    def coordinates(self, table: Table, width: int) -> Array:
        """The first `width` coordinates of each row."""
        return self.place(table)[1][:, :width]

    def misfit(self, table: Table) -> Array:
        """Squared distances of rows to the mean of the centroids of their cells."""
        rows = table.toarray() if is_sparse(table) else table
        means = assignments(rows, self.cells) @ self.cells.centroids.T + self.cells.origin
        return np.sum((rows - means) ** 2, axis=1)


def read_cells(cells: Cells, shared: Array, threshold: float, smallest: float, n_components: int) -> CellReading:
    """The reading of cells whose assignments overlap by `shared`, ``V'V``.

    Parameters
    ----------
    cells : Cells
        With the sums of the assignments that `shared` is of.
    shared : array of shape (r, r)
    threshold : float
        Cells with less than this share of overlap are apart.
    smallest : float
        Points that a manifold has at least.
    n_components : int
        Coordinates of each point.
    """
    roots = np.sqrt(cells.sizes)
    B = shared / np.outer(roots, roots)
    diagonal = np.sqrt(np.maximum(np.diagonal(B), 0.0))
    count, components = connected_components(threshold * np.outer(diagonal, diagonal) < B, directed=False)
    sizes = np.bincount(components, weights=cells.sizes)
    names = np.full(count, -1)
    ranked = [c for c in np.argsort(-sizes, kind="stable") if sizes[c] >= min(smallest, sizes.max())]
    names[ranked] = np.arange(len(ranked))
    directions, offsets = np.zeros((len(roots), n_components)), np.zeros((count, n_components))
    for c in range(count):
        inside = components == c
        mean = roots[inside] / sizes[c]
        values, vectors = np.linalg.eigh(B[np.ix_(inside, inside)] - sizes[c] * np.outer(mean, mean))
        leading = vectors[:, ::-1][:, :n_components] * (values[::-1][:n_components] > 0)
        leading *= np.where(leading.sum(axis=0) < 0, -1.0, 1.0)
        directions[np.flatnonzero(inside)[:, None], np.arange(leading.shape[1])] = leading / roots[inside][:, None]
        offsets[c, : leading.shape[1]] = mean @ leading
    return CellReading(cells, names, directions, offsets, components)
