"""Manifolds read off cells: as many as there are, whatever the number of points."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, Gram, KMeansSDP, load, solve
from sknomad._manifolds.cell_reading import CellReading, overlaps, read_cells
from sknomad._numerics.row_blocks import RowBlocks
from sknomad._points.embedding import embed
from sknomad._points.forms import SoftPoint
from sknomad._solving.streaming import stream_soft
from sknomad.datasets import two_rings
from sknomad.solvers._soft_stream import assignments

da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def rings():
    X, truth = two_rings(800, random_state=0)
    order = np.random.default_rng(0).permutation(800)
    return X[order], truth[order]


@pytest.fixture(scope="module")
def reading(rings):
    blocks = RowBlocks(rings[0])
    streamed = stream_soft(blocks, 16)
    shared = np.sum(list(blocks.each(overlaps, streamed.cells)), axis=0)
    return read_cells(streamed.cells, shared, 1e-2, 16, 2)


def test_components_of_cells_are_the_manifolds(rings, reading):
    X, truth = rings
    assert adjusted_rand_score(truth, reading.labels(X)) == 1
    assert reading.n_parts == 2


def test_coordinates_are_the_leading_eigenvectors_on_each_manifold(rings, reading):
    X, _ = rings
    V = assignments(X, reading.cells)
    labels = reading.place(X)[0]
    expected, found = embed(SoftPoint(V), 2, labels), reading.coordinates(X, 2)
    for manifold in (0, 1):
        mine = labels == manifold
        # The two eigenvalues of a ring are equal: planes are compared, not axes.
        overlap = np.linalg.svd(np.linalg.qr(expected[mine])[0].T @ np.linalg.qr(found[mine])[0], compute_uv=False)
        assert overlap == pytest.approx([1, 1], abs=2e-2)


def test_small_components_have_no_name(rings, reading):
    sizes = reading.cells.sizes
    shared = np.diag(sizes)
    alone = read_cells(reading.cells, shared, 1e-2, 1e9, 2)
    assert alone.n_parts == len(sizes)
    assert np.sum(alone.names >= 0) == np.sum(sizes == sizes.max())


def test_a_reading_must_fit_together(reading):
    for change in ({"components": reading.components + 5}, {"offsets": reading.offsets[:1]}, {"names": "ab"}):
        with pytest.raises((TypeError, ValueError)):
            CellReading(**{**vars(reading), **change})


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_nomad_on_a_dask_array(rings, tmp_path):
    X, truth = rings
    table = da.from_array(X, chunks=(300, 2))
    told = []
    model = NOMAD(K=16, callback=told.append).fit(table)
    assert model.labels_.chunks == ((300, 300, 200),)
    assert model.embedding_.chunks == ((300, 300, 200), (2,))
    assert adjusted_rand_score(truth, model.labels_.compute()) == 1
    assert (model.n_manifolds_, model.K_, model.n_features_in_) == (2, 16, 2)
    # What is proven: the value of a feasible point, and no upper bound.
    optimum = solve(KMeansSDP(Gram.from_data(X), 16), tol=1e-2).certificate
    assert 0.97 * optimum.lower <= model.certificate_.lower <= optimum.upper
    assert model.certificate_.upper == np.inf
    assert told[-1].lower == pytest.approx(model.certificate_.lower)
    assert model.transform(X[:5]) == pytest.approx(model.embedding_[:5].compute())
    assert np.array_equal(model.predict(table).compute(), model.predict(X))
    assert model.transform(table).compute() == pytest.approx(model.transform(X))
    assert -0.1 < model.score(X) < 0
    model.save(tmp_path / "model.sknomad")
    assert np.array_equal(load(tmp_path / "model.sknomad").predict(X), model.predict(X))
    # A later fit in memory leaves nothing of it, and the other way round.
    assert model.fit(X[:60]).map_.shape == (60, 2)
    assert not hasattr(model.fit(table), "map_")


def test_nomad_refuses_what_needs_all_pairs(rings):
    table = da.from_array(rings[0], chunks=(300, 2))
    with pytest.raises(ValueError, match="Dask collection"):
        NOMAD(K=4, metric="precomputed").fit(table)
    with pytest.raises(ValueError, match="Dask collection"):
        NOMAD(K=4).fit(table, sample_weight=np.ones(800))
    with pytest.raises(ValueError, match="n_samples=800"):
        NOMAD(K=801).fit(table)
