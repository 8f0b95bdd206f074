"""K-means on Dask: the bounds of the table, the same bits on any number of workers, errors that name the place."""

import os
import signal

import numpy as np
import pytest

from divided_data import clustered
from sknomad import CertifiedKMeans, certify_kmeans, load
from sknomad._kmeans.dask_parts import ClusterError
from sknomad._kmeans.row_inertia import clusters_of
from sknomad._kmeans.row_lloyd import lloyd_rows
from sknomad._numerics.dask_blocks import DaskBlocks, is_dask
from sknomad._numerics.row_blocks import RowBlocks
from sknomad._solving.budget import Budget

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def data():
    return clustered(180, 3, 3, seed=41)


def cluster(workers, **options):
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", **options)


def test_blocks_of_a_dask_array_are_those_of_the_table(one_thread, data):
    X, labels = data
    blocks = DaskBlocks(da.from_array(X, chunks=(50, 3)))
    assert (blocks.n, blocks.d) == (180, 3)
    assert np.array_equal(np.concatenate(list(blocks.each(lambda block: block))), X)
    assert np.array_equal(blocks.take(np.array([0, 49, 50, 179])), X[[0, 49, 50, 179]])
    assert np.array_equal(np.concatenate(list(blocks.each(lambda block, along: along, along=labels))), labels)
    parts = [np.arange(part, 180, 20) for part in range(20)]
    for part, rows in zip(parts, blocks.promise(parts), strict=True):
        assert np.array_equal(rows.compute(), X[part])
    lengths = blocks.per_row(lambda block: np.sum(block**2, axis=1), width=None, dtype=float)
    assert lengths.chunks == ((50, 50, 50, 30),)
    assert lengths.compute() == pytest.approx(np.sum(X**2, axis=1))
    assert clusters_of(blocks, labels).inertia == pytest.approx(clusters_of(RowBlocks(X), labels).inertia)


def test_bound_is_that_of_the_table(one_thread, data):
    X, labels = data
    division = np.arange(180) % 3
    here = certify_kmeans(X, labels, parts=division)
    there = certify_kmeans(da.from_array(X, chunks=(50, 3)), da.from_array(labels, chunks=60), parts=division)
    assert there.lower_bound == here.lower_bound
    assert there.inertia == pytest.approx(here.inertia, rel=1e-14)
    assert certify_kmeans(da.from_array(X, chunks=(50, 3)), labels).parts.count == 1  # "auto" without being asked


def test_frames_are_read_too(one_thread, data):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, labels = data
    frame = frames.from_pandas(pandas.DataFrame(X, columns=list("abc")), npartitions=3)
    assert is_dask(frame)
    proof = certify_kmeans(frame, labels, parts=2, max_iter=20)
    assert proof.inertia == pytest.approx(certify_kmeans(X, labels, parts=2, max_iter=20).inertia)


def test_estimator_gives_dask_labels_and_a_plain_model(one_thread, data, tmp_path):
    X, _ = data
    model = CertifiedKMeans(3, tol=0.9, random_state=0).fit(da.from_array(X, chunks=(50, 3)))
    assert is_dask(model.labels_)
    assert model.labels_.chunks == ((50, 50, 50, 30),)
    assert model.labels_.dtype == np.int32
    assert np.array_equal(model.labels_.compute(), model.certificate_.labels)
    assert np.array_equal(model.labels_.compute(), model.predict(X))
    whole = CertifiedKMeans(3, tol=0.9, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-2)
    assert 0 < model.lower_bound_ <= whole.inertia_
    model.save(tmp_path / "model.sknomad")
    assert np.array_equal(load(tmp_path / "model.sknomad").predict(X), model.predict(X))


def test_lloyd_ends_where_no_pass_helps(data):
    X, labels = data
    centres = lloyd_rows(RowBlocks(X), 3, 3, np.random.RandomState(0), Budget.of(None))
    codes = np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    assert clusters_of(RowBlocks(X), codes).inertia <= 1.01 * clusters_of(RowBlocks(X), labels).inertia


def test_bad_collections_are_named_in_one_sentence(one_thread, data):
    X, labels = data
    unknown = da.from_array(X, chunks=(50, 3))
    unknown = unknown[unknown[:, 0] > -1e9]
    for wrong, message in [
        (unknown, "chunks of known sizes.*compute_chunk_sizes"),
        (
            da.from_array(X, chunks=(50, 2)),
            r"all columns in each chunk, got chunks of 2, 1 columns.*rechunk\({1: -1}\)",
        ),
        (da.from_array(X[:, 0], chunks=50), "table of real numbers"),
        (da.from_array(X[:1], chunks=(1, 3)), "at least 2 rows"),
        (da.from_array(X, chunks=((90, 90, 0), 3)), "got none in chunk 2 of 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            certify_kmeans(wrong, labels)
    with_nan = X.copy()
    with_nan[170, 1] = np.nan
    with pytest.raises(ValueError, match="in block 17 of 18, the first at row 170, column 1"):
        certify_kmeans(da.from_array(with_nan, chunks=(10, 3)), labels)
    with pytest.raises(ValueError, match="got 2 in part 1"):
        certify_kmeans(da.from_array(X, chunks=(50, 3)), labels, parts=np.r_[np.zeros(178), 1, 1].astype(int))
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        CertifiedKMeans(300).fit(da.from_array(X, chunks=(50, 3)))


def test_a_client_is_used_where_there_is_one(data):
    X, labels = data
    with cluster(1, processes=False) as local, distributed.Client(local):
        told = []
        proof = certify_kmeans(da.from_array(X, chunks=(50, 3)), labels, parts=np.arange(180) % 3, callback=told.append)
    assert [progress.parts_done for progress in told] == [1, 2, 3]
    assert proof.lower_bound == certify_kmeans(X, labels, parts=np.arange(180) % 3).lower_bound


def hide_the_package(dask_worker):
    import sys

    sys.modules["sknomad"] = None


@pytest.mark.slow
def test_a_worker_without_the_package_is_named(data):
    X, labels = data
    with cluster(2) as local, distributed.Client(local) as client:
        worker = sorted(client.scheduler_info()["workers"])[0]
        client.run(hide_the_package, workers=[worker])
        with pytest.raises(ImportError, match=f"got {worker} without it"):
            certify_kmeans(da.from_array(X, chunks=(50, 3)), labels)


@pytest.mark.slow
def test_the_same_bits_on_1_2_and_4_workers():
    X, labels = clustered(2400, 4, 4, seed=42)
    found = []
    for workers in (1, 2, 4):
        with cluster(workers) as local, distributed.Client(local):
            proof = certify_kmeans(da.from_array(X, chunks=(500, 4)), labels, parts=6, max_iter=15)
            found.append((proof.lower_bound, proof.inertia, proof.parts.numbers.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(tmp_path):
    X, labels = clustered(1600, 4, 4, seed=43)
    calm = certify_kmeans(da.from_array(X, chunks=(400, 4)), labels, parts=8, max_iter=15)
    with cluster(2) as local, distributed.Client(local) as client:
        processes = client.run(os.getpid)
        killed = []

        def kill_one(progress):
            if progress.parts_done == 2 and not killed:
                killed.append(next(iter(processes.values())))
                os.kill(killed[0], signal.SIGKILL)

        proof = certify_kmeans(da.from_array(X, chunks=(400, 4)), labels, parts=8, max_iter=15, callback=kill_one)
    assert killed
    assert proof.parts.done == 8
    assert proof.lower_bound == calm.lower_bound


@pytest.mark.slow
def test_a_dead_scheduler_ends_the_work_and_keeps_what_is_done(tmp_path):
    X, labels = clustered(1600, 4, 4, seed=44)
    table, folder = da.from_array(X, chunks=(400, 4)), tmp_path / "kept"
    with distributed.Client(cluster(2)) as client:

        def stop(progress):
            if progress.parts_done == 2:
                client.shutdown()

        with pytest.raises(ClusterError, match="finished parts"):
            certify_kmeans(table, labels, parts=8, max_iter=15, checkpoint=folder, callback=stop)
    assert len(list(folder.glob("part-*"))) >= 2
    with dask.config.set(scheduler="synchronous"):
        again = certify_kmeans(table, labels, parts=8, max_iter=15, checkpoint=folder)
    assert again.parts.done == 8
