"""Soft assignments of a stream: running averages in the place of sums over all points.

A step reads one mini-batch: its rows are assigned to the cells as they are, and the averages of what cells are made of
(see `solvers._soft_stream`) move a little towards those of the batch: by ``(t + 2)^-decay`` for 256 rows, of which
``t`` times as many came before, and accordingly for more or fewer. With an exponent between 1/2 and 1 this is
stochastic approximation, as in online EM (Cappé and Moulines, 2009), and its fixed points are those of the sweeps over
all points. The multiplier of the trace follows the trace of the batches, at the same pace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._files.records import saved
from .._numerics.arrays import Array
from .._numerics.validation import check_integer, check_numbers
from .._program.data_rows import Sums
from ..solvers._soft_stream import Cells, assignments, sums_of
from .cells import SMALLEST_SHARE, cells_of_sample

# The trace of batches is held this much below K: what is missing is mended at next to no cost, what is too much is not.
TRACE_AIM = 0.998
# Number of the first step in the formula for its size, and the rows of a step: batches of other sizes take as many
# steps as they have so many rows, so that it hardly matters how a stream is cut.
FIRST_STEP, ROWS_OF_A_STEP = 2, 256


@saved
@dataclass(frozen=True)
class Stream:
    """Cells of a stream so far: averages over points, not sums."""

    cells: Cells  # sums per point: sizes add up to one
    overlaps: Array  # (r, r), the average of v_j v_k
    n_first: int  # rows that it began with
    n_seen: int  # rows, those included

    def __post_init__(self) -> None:
        check_numbers(self.overlaps, "overlaps of cells", (len(self.cells.sizes),) * 2)
        check_integer(self.n_first, "the number of first rows", 0)
        check_integer(self.n_seen, "the number of rows seen", 0)

    @classmethod
    def begin(cls, rows: Array, K: float, seed: int) -> Stream:
        """The cells of the first rows, from the solver for points in memory."""
        cells = cells_of_sample(rows, K, seed, max_growth=0).scaled(1 / len(rows))
        V = assignments(rows, cells)
        return cls(cells, V.T @ V / len(rows), len(rows), len(rows))

    def after(self, rows: Array, K: float, decay: float) -> Stream:
        """The stream after one more mini-batch."""
        old, count = self.cells, len(rows)
        steps = (self.n_seen - self.n_first) / ROWS_OF_A_STEP
        size = 1 - (1 - (steps + FIRST_STEP) ** -decay) ** (count / ROWS_OF_A_STEP)
        V = assignments(rows, old)

        def moved(average: Array, total: Array) -> Array:
            return average + size * (total / count - average)

        # With the sizes of before, which hardly move, this has no bias however small the batch is.
        trace = float(np.sum(np.sum(V * V, axis=0) / old.sizes)) / count
        sums = Sums(*(moved(*pair) for pair in zip(old.sums, sums_of(rows, V), strict=True)))
        cells = Cells.of(sums, old.lam * (trace / (K * TRACE_AIM)) ** size, old.origin)
        overlaps = moved(self.overlaps, V.T @ V)
        return Stream(cells, overlaps, self.n_first, self.n_seen + count)._without_empty_cells()

    def _without_empty_cells(self) -> Stream:
        kept = np.flatnonzero(self.cells.sizes > SMALLEST_SHARE * self.cells.sizes.mean())
        if len(kept) == len(self.cells.sizes):
            return self
        return replace(self, cells=self.cells.only(kept), overlaps=self.overlaps[np.ix_(kept, kept)])

    @property
    def similarities(self) -> Array:
        """``diag(s)^-1/2 V'V diag(s)^-1/2``, (r, r): its eigenvalues are those of ``Q``."""
        roots = np.sqrt(self.cells.sizes)
        return self.overlaps / roots / roots[:, None]

    def manifolds(self, threshold: float) -> Array:
        """Manifold of each cell: its component in the graph of cells that share points, numbered by size."""
        similarities = self.similarities
        links = sp.csr_matrix(similarities > threshold * np.diagonal(similarities).max())
        parts = connected_components(links, directed=False)[1]
        order = np.argsort(-np.bincount(parts, weights=self.cells.sizes), kind="stable")
        return np.argsort(order)[parts]

    def coordinates(self, parts: Array, n_components: int) -> Array:
        """What each cell's share contributes to a point's coordinates, (r, n_components), manifold by manifold.

        They are the leading eigenvectors of that block of ``Q`` off the constant one, scaled by the roots of their
        eigenvalues, in units in which points have mean weight one.
        """
        found = np.zeros((len(parts), n_components))
        for part in range(parts.max() + 1):
            of = np.flatnonzero(parts == part)
            roots = np.sqrt(self.cells.sizes[of])
            constant = roots / np.linalg.norm(roots)
            block = self.similarities[np.ix_(of, of)]
            block = block - np.outer(constant, block @ constant)
            block = block - np.outer(block @ constant, constant)
            vectors = np.linalg.eigh((block + block.T) / 2)[1][:, ::-1][:, : min(n_components, len(of) - 1)]
            # Signs are made those in which the largest entry is positive.
            largest = np.abs(vectors).argmax(axis=0)
            vectors = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
            found[of, : vectors.shape[1]] = vectors / roots[:, None]
        return found
