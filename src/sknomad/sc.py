"""Single cells: `NOMAD` and `MultiLayerNOMAD` on an `AnnData`, with their answers where scanpy looks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from . import NOMAD, MultiLayerNOMAD
from ._numerics.dask_blocks import is_dask
from ._numerics.row_blocks import block_rows

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import Categorical

__all__ = ["cluster", "nomad"]

# Entries of the first layer's Q above this share of the largest connect cells, as by default in `NOMAD`.
LINKED_SHARE = 1e-2


def nomad(
    adata: AnnData,
    K: float | str = "auto",
    *,
    use_rep: str | None = "X_pca",
    n_pcs: int | None = None,
    key_added: str = "nomad",
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Separate and unroll the manifolds among the cells of an `AnnData`.

    Where the data are a Dask array, or the ``X`` of a file that is read as needed (``backed="r"``), they are never in
    memory as a whole: see ``docs/scaling.md``. Set are then manifolds, embedding, parameters and the lower bound, and
    nothing that rests on ``Q``.

    Parameters
    ----------
    adata : AnnData
        Changed in place unless `copy`.
    K : float or "auto", default="auto"
        About ``n_obs / K`` neighbours per cell, see `NOMAD`.
    use_rep : str or None, default="X_pca"
        Key of ``adata.obsm`` that holds the data; "X" or None is ``adata.X``.
    n_pcs : int, optional
        Use so many of its first columns; None is all of them.
    key_added : str, default="nomad"
        Name under which results are stored.
    copy : bool, default=False
        Work on a copy and return it.
    **parameters
        Further parameters of `NOMAD`, such as `n_components`, `tol`, `min_component_size` or `random_state`.

    Returns
    -------
    AnnData or None
        The copy, or None where `adata` itself was changed. Set are

        ``.obsm["X_" + key_added]``
            the embedding, each manifold in its own coordinates;
        ``.obsm["X_" + key_added + "_map"]``
            all manifolds on one plane: ``scanpy.pl.embedding(adata, key_added + "_map", color=key_added)`` draws it;
        ``.obs[key_added]``, ``.obs[key_added + "_order"]``, ``.obs[key_added + "_outlier"]``
            the manifold of each cell (categorical; "-1" is none), its position along it, in [0, 1], and the share of a
            typical cell's neighbours that it lacks;
        ``.obsp[key_added + "_affinity"]``
            the entries of ``Q`` that connect cells, a CSR matrix;
        ``.uns[key_added]``
            parameters, certificate, and which manifolds close on themselves.

    Examples
    --------
    >>> import anndata
    >>> from sknomad.datasets import two_rings
    >>> from sknomad.sc import nomad
    >>> adata = anndata.AnnData(two_rings(60)[0])
    >>> nomad(adata, K=12, use_rep="X")
    >>> adata.obs["nomad"].value_counts().to_dict()
    {'0': 30, '1': 30}
    """
    _check(adata, key_added)
    adata = adata.copy() if copy else adata
    cells = _representation(adata, use_rep, n_pcs)
    model = NOMAD(K, **{**parameters, "affinity": "sparse"}).fit(cells)
    proof = model.certificate_
    certificate = {"lower": proof.lower, "upper": proof.upper, "gap": proof.gap, "grade": proof.grade}
    found = {**_asked(model, use_rep, n_pcs, K=model.K_), "certificate": certificate}
    if is_dask(cells):
        _write_cells(adata, key_added, model)
        adata.uns[key_added] = found
        return adata if copy else None
    found |= {"status": model.solution_.status.name, "is_closed": model.is_closed_}
    _write(adata, key_added, model, model.affinity_, found)
    return adata if copy else None


def cluster(
    adata: AnnData,
    n_clusters: int | None = None,
    *,
    use_rep: str | None = "X_pca",
    n_pcs: int | None = None,
    key_added: str = "nomad_cluster",
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Clusters of any shape among the cells of an `AnnData`, by `MultiLayerNOMAD`.

    Parameters
    ----------
    adata : AnnData
        Changed in place unless `copy`.
    n_clusters : int, optional
        Their number, if it is known. None leaves it to the data, which is cautious: cell types that pass into each
        other are called one.
    use_rep : str or None, default="X_pca"
        Key of ``adata.obsm`` that holds the data; "X" or None is ``adata.X``.
    n_pcs : int, optional
        Use so many of its first columns; None is all of them.
    key_added : str, default="nomad_cluster"
        Name under which results are stored.
    copy : bool, default=False
        Work on a copy and return it.
    **parameters
        Further parameters of `MultiLayerNOMAD`, such as `allow_single_cluster`, `outlier_threshold` or `tol`.

    Returns
    -------
    AnnData or None
        The copy, or None where `adata` itself was changed. Set are the same keys as by `nomad`, with clusters instead
        of manifolds and the affinity of the first layer; ``.uns[key_added]`` has ``K`` and gap of each layer, and the
        confidence in the number of clusters.

    Examples
    --------
    >>> import anndata
    >>> from sknomad.datasets import two_rings
    >>> from sknomad.sc import cluster
    >>> adata = anndata.AnnData(two_rings(60)[0])
    >>> cluster(adata, 2, use_rep="X", schedule=[12, 6, 2])
    >>> adata.obs["nomad_cluster"].value_counts().to_dict()
    {'0': 30, '1': 30}
    """
    _check(adata, key_added)
    adata = adata.copy() if copy else adata
    cells = _representation(adata, use_rep, n_pcs)
    model = MultiLayerNOMAD(**{**parameters, "n_clusters": n_clusters}).fit(cells)
    first = model.layers_[0].Q
    linked = csr_matrix(np.where(first > LINKED_SHARE * first.max(), first, 0.0))
    found = {
        "layers_K": np.array(model.schedule_),
        "layers_gap": np.array([layer.certificate.gap for layer in model.layers_]),
        "confidence": model.confidence_,
        "is_closed": model.is_closed_,
    }
    _write(adata, key_added, model, linked, {**_asked(model, use_rep, n_pcs), **found})
    return adata if copy else None


def _check(adata: object, key_added: object) -> None:
    try:
        from anndata import AnnData
    except ImportError as error:
        raise ImportError("sknomad.sc needs anndata: pip install 'sknomad[sc]'.") from error
    if not isinstance(adata, AnnData):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}. For arrays use NOMAD itself.")
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"key_added must be a non-empty string, got {key_added!r}.")


def _representation(adata: AnnData, use_rep: str | None, n_pcs: int | None) -> NDArray[np.float64] | csr_matrix:
    """The cells, one per row, by the first columns of what the user named."""
    table = _named(adata, use_rep)
    if n_pcs is None:
        return table
    is_whole = isinstance(n_pcs, int | np.integer) and not isinstance(n_pcs, bool)
    if not is_whole or not 1 <= n_pcs <= table.shape[1]:
        raise ValueError(
            f"n_pcs must be a whole number from 1 to {table.shape[1]}, the columns there are, got {n_pcs!r}."
        )
    return table[:, :n_pcs]


def _named(adata: AnnData, use_rep: str | None) -> NDArray[np.float64] | csr_matrix:
    if use_rep is None or use_rep == "X":
        return _in_chunks(adata.X) if adata.isbacked else adata.X
    if use_rep not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm.keys())) or "none"
        raise ValueError(
            f'use_rep must be "X" or a key of adata.obsm ({known}), got {use_rep!r}. '
            'Compute it first (scanpy.pp.pca makes "X_pca"), or pass use_rep="X".'
        )
    table = adata.obsm[use_rep]
    return table if is_dask(table) else np.asarray(table)


def _in_chunks(table: Any) -> Any:
    """The table of a file as a Dask array of its rows, read when they are needed."""
    if not hasattr(table, "chunks"):  # compressed by rows or columns
        raise TypeError(
            f"X of a file that is read as needed must be dense, got {type(table).__name__}. Compute X_pca, which is."
        )
    try:
        import dask.array as da
    except ImportError as error:
        raise ImportError("a file that is read as needed needs dask: pip install 'sknomad[distributed]'.") from error
    return da.from_array(table, chunks=(block_rows(table.shape[1]), table.shape[1]))


def _categories(labels: NDArray[np.int64]) -> Categorical:
    """Labels as the categorical of strings that scanpy colours by, categories in numerical order."""
    import pandas as pd

    names, codes = np.unique(labels, return_inverse=True)
    # Plain Python strings: not every version of anndata writes pandas' own string type.
    return pd.Categorical.from_codes(codes, categories=pd.Index([str(name) for name in names], dtype=object))


def _write_cells(adata: AnnData, key: str, model: NOMAD) -> None:
    """Put there what a model of a Dask collection has, in memory as all that has a row for each cell must be."""
    from dask import compute

    labels, embedding = compute(model.labels_, model.embedding_)
    adata.obsm[f"X_{key}"] = embedding
    adata.obs[key] = _categories(labels)


def _write(
    adata: AnnData, key: str, model: NOMAD | MultiLayerNOMAD, affinity: csr_matrix, summary: dict[str, object]
) -> None:
    """Put what was found where scanpy looks for it."""
    adata.obsm[f"X_{key}"] = model.embedding_
    adata.obsm[f"X_{key}_map"] = model.map_
    adata.obs[key] = _categories(model.labels_)
    adata.obs[f"{key}_order"] = model.order_
    adata.obs[f"{key}_outlier"] = model.outlier_scores_
    adata.obsp[f"{key}_affinity"] = affinity
    adata.uns[key] = {**summary, "affinity_key": f"{key}_affinity"}


def _asked(
    model: NOMAD | MultiLayerNOMAD, use_rep: str | None, n_pcs: int | None, **known: object
) -> dict[str, object]:
    """The parameters, in types that an h5ad file can hold."""
    given = {**model.get_params(), **known, "use_rep": use_rep or "X", "n_pcs": n_pcs}
    return {"params": {name: _plain(value) for name, value in given.items() if value is not None}}


def _plain(value: object) -> str | bool | int | float:
    return value if isinstance(value, str | bool | int | float) else repr(value)
