"""`sknomad.sc.nomad` on real AnnData: what it writes, that it survives a file, and that scanpy can draw it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sknomad import NOMAD, MultiLayerNOMAD, sc
from sknomad.datasets import two_rings

anndata = pytest.importorskip("anndata")


def digits(n=150):
    """The first digits as cells, their pixels as genes."""
    data = load_digits()
    adata = anndata.AnnData(data.data[:n].astype(np.float32))
    adata.obs_names = pd.Index([f"cell{i}" for i in range(n)], dtype=object)
    adata.var_names = pd.Index([f"pixel{j}" for j in range(64)], dtype=object)
    adata.obs["digit"] = pd.Series([str(digit) for digit in data.target[:n]], index=adata.obs_names, dtype=object)
    adata.obsm["X_pca"] = PCA(20, svd_solver="full").fit_transform(data.data[:n])
    return adata


@pytest.fixture(scope="module")
def annotated():
    adata = digits()
    assert sc.nomad(adata, K=12) is None
    return adata


def test_writes_what_the_estimator_finds(annotated):
    model = NOMAD(K=12, affinity="sparse").fit(annotated.obsm["X_pca"])
    assert np.array_equal(annotated.obsm["X_nomad"], model.embedding_)
    assert np.array_equal(annotated.obsm["X_nomad_map"], model.map_)
    assert annotated.obs["nomad"].astype(int).tolist() == model.labels_.tolist()
    assert annotated.obs["nomad"].dtype == "category"
    assert annotated.obs["nomad_order"].to_numpy() == pytest.approx(model.order_)
    affinity = annotated.obsp["nomad_affinity"]
    assert sp.issparse(affinity)
    assert abs(affinity - model.affinity_).max() == 0
    assert affinity.nnz < 0.5 * 150**2
    summary = annotated.uns["nomad"]
    assert summary["params"]["K"] == 12
    assert summary["params"]["use_rep"] == "X_pca"
    assert summary["certificate"]["gap"] <= 1e-3
    assert summary["certificate"]["lower"] == model.certificate_.lower


def test_clusters_are_written_the_same_way(tmp_path):
    adata = digits(100)
    assert sc.cluster(adata, 4, n_pcs=10, schedule=[12, 6, 4], tol=1e-2) is None
    model = MultiLayerNOMAD([12, 6, 4], n_clusters=4, tol=1e-2).fit(adata.obsm["X_pca"][:, :10])
    assert adata.obs["nomad_cluster"].astype(int).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(adata.obsm["X_nomad_cluster_map"], model.map_)
    np.testing.assert_array_equal(adata.obs["nomad_cluster_outlier"], model.outlier_scores_)
    affinity, Q = adata.obsp["nomad_cluster_affinity"], model.layers_[0].Q
    assert affinity.min() >= 0
    assert abs(affinity - Q).max() <= 0.01 * Q.max()
    adata.write_h5ad(tmp_path / "digits.h5ad")
    read = anndata.read_h5ad(tmp_path / "digits.h5ad").uns["nomad_cluster"]
    assert read["layers_K"].tolist() == model.schedule_
    assert (read["layers_gap"] <= 1e-2).all()
    assert read["params"]["n_clusters"] == 4
    assert read["params"]["n_pcs"] == 10


def test_categories_are_in_numerical_order():
    labels = np.array([0, 10, 2, -1, 2])
    categories = sc._categories(labels)
    assert categories.categories.tolist() == ["-1", "0", "2", "10"]
    assert categories.tolist() == ["0", "10", "2", "-1", "2"]


def test_survives_a_file(annotated, tmp_path):
    path = tmp_path / "digits.h5ad"
    annotated.write_h5ad(path)
    read = anndata.read_h5ad(path)
    assert np.array_equal(read.obsm["X_nomad"], annotated.obsm["X_nomad"])
    assert read.obs["nomad"].tolist() == annotated.obs["nomad"].tolist()
    assert abs(read.obsp["nomad_affinity"] - annotated.obsp["nomad_affinity"]).max() == 0
    assert read.uns["nomad"]["certificate"] == annotated.uns["nomad"]["certificate"]
    assert read.uns["nomad"]["params"] == annotated.uns["nomad"]["params"]


def test_copy_key_and_representation():
    adata = digits(60)
    adata.X = sp.csr_matrix(adata.X)
    other = sc.nomad(adata, K=6, use_rep="X", key_added="rolls", n_components=3, min_component_size=20, copy=True)
    assert "rolls" not in adata.obs
    assert other.obsm["X_rolls"].shape == (60, 3)
    expected = NOMAD(K=6, n_components=3, min_component_size=20).fit(adata.X)
    assert other.obs["rolls"].astype(int).tolist() == expected.labels_.tolist()
    assert other.uns["rolls"]["affinity_key"] in other.obsp


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"use_rep": "X_umap"}, ValueError, r"use_rep must be .*'X_pca'.* got 'X_umap'"),
        ({"key_added": ""}, ValueError, "key_added must be"),
        ({"n_pcs": 21}, ValueError, "n_pcs must be a whole number from 1 to 20, the columns there are, got 21"),
        ({"n_pcs": 2.5}, ValueError, "n_pcs must be a whole number"),
        ({"K": 1000}, ValueError, "K must be a real number"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        sc.nomad(digits(30), **{"K": 3, **arguments})


def test_arrays_are_sent_to_the_estimator():
    with pytest.raises(TypeError, match="adata must be an AnnData, got ndarray"):
        sc.nomad(np.eye(4), K=2)


def test_scanpy_draws_it(annotated, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy's own
        scanpy = pytest.importorskip("scanpy")
        import matplotlib

        matplotlib.use("Agg")
        axes = scanpy.pl.embedding(annotated, "nomad", color=["nomad", "digit", "nomad_order"], show=False)
    assert len(axes) == 3
    for axis in axes:
        offsets = axis.collections[0].get_offsets()
        assert np.allclose(np.sort(offsets[:, 0]), np.sort(annotated.obsm["X_nomad"][:, 0]))
    axes[0].figure.savefig(tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 10_000


def rings_in_chunks():
    da = pytest.importorskip("dask.array")
    X, truth = two_rings(300)
    adata = anndata.AnnData(np.zeros((300, 1), dtype=np.float32), obsm={"X_pca": da.from_array(X, chunks=(100, 2))})
    adata.obs_names = pd.Index([f"cell{i}" for i in range(300)], dtype=object)
    adata.var_names = pd.Index(["gene"], dtype=object)
    return adata, truth


def test_cells_in_chunks_stay_there(tmp_path):
    adata, truth = rings_in_chunks()
    sc.nomad(adata, K=12)
    assert type(adata.obsm["X_pca"]).__module__.startswith("dask")
    assert len(set(zip(truth, adata.obs["nomad"], strict=True))) == 2
    assert adata.obsm["X_nomad"].shape == (300, 2)
    assert adata.uns["nomad"]["certificate"]["lower"] > 0
    assert "X_nomad_map" not in adata.obsm
    adata.write_h5ad(tmp_path / "rings.h5ad")
    assert anndata.read_h5ad(tmp_path / "rings.h5ad").obs["nomad"].tolist() == adata.obs["nomad"].tolist()


def test_a_file_is_read_as_needed(tmp_path):
    pytest.importorskip("dask")
    adata = digits(120)
    adata.write_h5ad(tmp_path / "dense.h5ad")
    backed = anndata.read_h5ad(tmp_path / "dense.h5ad", backed="r")
    sc.nomad(backed, K=6, use_rep="X", n_pcs=10)
    assert backed.isbacked
    assert backed.obs["nomad"].notna().all()
    adata.X = sp.csr_matrix(adata.X)
    adata.write_h5ad(tmp_path / "sparse.h5ad")
    backed = anndata.read_h5ad(tmp_path / "sparse.h5ad", backed="r")
    with pytest.raises(TypeError, match="must be dense, got _CSRDataset"):
        sc.nomad(backed, K=6, use_rep="X")
