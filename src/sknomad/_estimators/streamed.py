"""`NOMAD` on a Dask collection: soft assignments by streaming, everything else from the few numbers of their cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._certificate.certificate import Certificate
from .._manifolds.cell_reading import CellReading, overlaps, read_cells
from .._manifolds.choice import choose
from .._numerics.arrays import UNIT_ROUNDOFF, Array
from .._numerics.dask_blocks import DaskBlocks
from .._numerics.validation import check_K
from .._program.gram import Gram
from .._program.inputs import METRICS
from .._solving.budget import SEARCH_SHARE, Budget
from .._solving.run_state import Progress
from .._solving.streaming import Streamed, sample_rows, stream_soft
from ..solvers._soft_stream import Cells, value_of
from .reading import POINTS_PER_STRAY

if TYPE_CHECKING:
    from .nomad import NOMAD

# Points of the sample in which K is sought.
SEARCH_POINTS = 1000
# What a fit in memory keeps beside its attributes.
OF_A_SOLUTION = ("_point", "_groups", "_names", "_atlas", "_origin")


def spread_of(block: Array, origin: Array) -> tuple[Array, float]:
    """Sum and squared norm of rows about an origin."""
    rows = block - origin
    return rows.sum(axis=0), float(np.sum(rows**2))


def fit_streamed(model: NOMAD, X: Any, sample_weight: object) -> NOMAD:
    """Set the attributes of `model` that rest on no n x n array; arrays with an entry per row are Dask's own."""
    if model.metric != METRICS[0] or sample_weight is not None:
        raise ValueError(
            f'metric must be "euclidean" and sample_weight None for a Dask collection, got metric={model.metric!r}. '
            "Pass the rows of the data."
        )
    budget, blocks = Budget.of(model.max_seconds), DaskBlocks(X)
    seed = int(check_random_state(model.random_state).randint(2**31))
    K = _trace(model, blocks, seed, budget)
    origin = sample_rows(blocks, 1, seed).mean(axis=0)
    moments = list(blocks.each(spread_of, origin))
    total = np.sum([moment[0] for moment in moments], axis=0)
    spread = math.fsum(moment[1] for moment in moments) - float(total @ total) / blocks.n
    began = budget.elapsed

    def tell(sweeps: int, value: float) -> bool:
        told = Progress(sweeps + 1, budget.elapsed - began, value, math.inf, model.tol, K)
        return model.callback is not None and bool(model.callback(told))

    streamed = stream_soft(
        blocks, K, seed=seed, most_sweeps=model.max_iter, budget=budget, spread=spread, on_sweep=tell
    )
    shared = np.sum(list(blocks.each(overlaps, streamed.cells)), axis=0)
    smallest = blocks.n / POINTS_PER_STRAY if isinstance(model.min_component_size, str) else model.min_component_size
    reading = read_cells(_measured(streamed), shared, model.threshold, smallest, model.n_components)
    _set(model, blocks, reading, streamed, K, spread)
    return model


def _trace(model: NOMAD, blocks: DaskBlocks, seed: int, budget: Budget) -> float:
    if not isinstance(model.K, str):
        return check_K(model.K, blocks.n)
    count = min(blocks.n, SEARCH_POINTS)
    chosen = np.sort(np.random.default_rng(seed).choice(blocks.n, count, replace=False))
    gram = Gram.from_data(blocks.take(chosen))
    search = budget.share(SEARCH_SHARE)
    return choose(gram, allow_single=model.allow_single_cluster, callback=model.callback, budget=search).K


def _measured(streamed: Streamed) -> Cells:
    """Cells whose sizes may be those of the last assignments: what overlaps are compared with."""
    cells, sums = streamed.cells, streamed.sums
    sizes = np.maximum(sums.sizes, math.ulp(0.0))
    return Cells(cells.centroids, sizes, sums.squares, cells.lam, cells.origin)


def _set(model: NOMAD, blocks: DaskBlocks, reading: CellReading, streamed: Streamed, K: float, spread: float) -> None:
    for name in [name for name in vars(model) if name.endswith("_") or name in OF_A_SOLUTION]:
        delattr(model, name)  # of an earlier fit: nothing of it may stay beside these
    model.K_, model.n_iter_, model.n_features_in_ = K, max(streamed.sweeps, 1), blocks.d
    model.n_manifolds_ = int(reading.names.max()) + 1
    model.certificate_ = Certificate(_proven_value(streamed, blocks, K, spread), math.inf)
    model.certificates_, model.confidence_ = [model.certificate_], math.nan
    model._extension, model._n_features_out = reading, model.n_components
    model._groups, model._names = None, reading.names.tolist()
    model.labels_ = blocks.per_row(_labels, reading, width=None, dtype=np.int64)
    model.embedding_ = blocks.per_row(_coordinates, reading, model.n_components, width=model.n_components, dtype=float)


def _labels(block: Array, reading: CellReading) -> Array:
    return reading.labels(block)


def _coordinates(block: Array, reading: CellReading, width: int) -> Array:
    return reading.coordinates(block, width)


def _proven_value(streamed: Streamed, blocks: DaskBlocks, K: float, spread: float) -> float:
    """The value of the feasible point that the assignments are, less what its sums may have lost to rounding.

    Sums of n terms are off by ``g(n)`` of the sums of absolute values, and so are centroids, sizes and squared norms:
    the value by at most ``8 (n + r + d) u (sqrt(K) + K) tr D``, as in memory.
    """
    rounding = 8 * (blocks.n + blocks.d + len(streamed.cells.sizes)) * UNIT_ROUNDOFF * (math.sqrt(K) + K) * spread
    return value_of(streamed.sums, blocks.n, K, spread) - rounding
