"""Single cells: `NOMAD` on an `AnnData`, with its answers where scanpy looks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import NOMAD

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import Categorical
    from scipy.sparse import csr_matrix

__all__ = ["nomad"]


def nomad(
    adata: AnnData,
    K: float | str = "auto",
    *,
    use_rep: str | None = "X_pca",
    key_added: str = "nomad",
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Separate and unroll the manifolds among the cells of an `AnnData`.

    Parameters
    ----------
    adata : AnnData
        Changed in place unless `copy`.
    K : float or "auto", default="auto"
        About ``n_obs / K`` neighbours per cell, see `NOMAD`.
    use_rep : str or None, default="X_pca"
        Key of ``adata.obsm`` that holds the data; "X" or None is ``adata.X``.
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
        ``.obs[key_added]``, ``.obs[key_added + "_order"]``
            the manifold of each cell (categorical; "-1" is none) and its position along it, in [0, 1];
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
    model = NOMAD(K, **{**parameters, "affinity": "sparse"}).fit(_representation(adata, use_rep))
    adata.obsm[f"X_{key_added}"] = model.embedding_
    adata.obsm[f"X_{key_added}_map"] = model.map_
    adata.obs[key_added] = _categories(model.labels_)
    adata.obs[f"{key_added}_order"] = model.order_
    adata.obsp[f"{key_added}_affinity"] = model.affinity_
    adata.uns[key_added] = _summary(model, use_rep, key_added)
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


def _representation(adata: AnnData, use_rep: str | None) -> NDArray[np.float64] | csr_matrix:
    if use_rep is None or use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm.keys())) or "none"
        raise ValueError(
            f'use_rep must be "X" or a key of adata.obsm ({known}), got {use_rep!r}. '
            'Compute it first (scanpy.pp.pca makes "X_pca"), or pass use_rep="X".'
        )
    return np.asarray(adata.obsm[use_rep])


def _categories(labels: NDArray[np.int64]) -> Categorical:
    """Labels as the categorical of strings that scanpy colours by, categories in numerical order."""
    import pandas as pd

    names, codes = np.unique(labels, return_inverse=True)
    # Plain Python strings: not every version of anndata writes pandas' own string type.
    return pd.Categorical.from_codes(codes, categories=pd.Index([str(name) for name in names], dtype=object))


def _summary(model: NOMAD, use_rep: str | None, key_added: str) -> dict[str, object]:
    """What was asked and what was proven, in types that an h5ad file can hold."""
    proof = model.certificate_
    given = {**model.get_params(), "K": model.K_, "use_rep": use_rep or "X"}
    return {
        "params": {name: _plain(value) for name, value in given.items() if value is not None},
        "certificate": {"lower": proof.lower, "upper": proof.upper, "gap": proof.gap, "grade": proof.grade},
        "status": model.solution_.status.name,
        "is_closed": model.is_closed_,
        "affinity_key": f"{key_added}_affinity",
    }


def _plain(value: object) -> str | bool | int | float:
    return value if isinstance(value, str | bool | int | float) else repr(value)
