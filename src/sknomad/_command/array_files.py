"""Tables in binary files: NumPy's, MATLAB's, Parquet and AnnData."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from .raw_table import Column, RawTable, TableError, table_of_matrix

PANDAS_INDEX = "__index_level_"


def read_numpy(name: str, data: bytes, key: str | None) -> RawTable:
    """An npy file, or one array of an npz file."""
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        matrix = loaded if isinstance(loaded, np.ndarray) else _pick(dict(loaded), name, key)
    except TableError:
        raise
    except (ValueError, EOFError, BadZipFile) as error:
        raise TableError(
            f"FILE must be a NumPy file without pickled objects, got {name!r}: {str(error).splitlines()[0]}"
        ) from error
    return table_of_matrix(matrix, name)


def read_matlab(name: str, data: bytes, key: str | None) -> RawTable:
    """One array of a MATLAB file."""
    arrays = _matlab_arrays(name, data)
    tables = {k: v for k, v in arrays.items() if min(v.shape) > 1}
    matrix = _pick(tables if key is None and tables else arrays, name, key)
    labels = {k: [str(item) for item in v.ravel()] for k, v in arrays.items() if v.size == matrix.shape[0] and v.ndim}
    return table_of_matrix(matrix, name, annotations={k: v for k, v in labels.items() if k not in tables})


def _matlab_arrays(name: str, data: bytes) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError
    from scipy.sparse import issparse

    try:
        variables = loadmat(cast("str", io.BytesIO(data)))  # which takes open files as well
    except NotImplementedError:
        raise TableError(
            f"FILE must be a MATLAB file of version 7 or less, got {name!r} of version 7.3. Save it with '-v7'."
        ) from None
    except (MatReadError, ValueError, TypeError, KeyError, OSError) as error:
        raise TableError(f"FILE must be an intact MATLAB file, got {name!r}: {error}.") from error
    return {k: v for k, v in variables.items() if not k.startswith("__") and (issparse(v) or _is_table(v))}


def read_parquet(name: str, data: bytes, key: str | None) -> RawTable:
    """The columns of a Parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'sknomad[files]'.") from None
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(f"FILE must be an intact Parquet file, got {name!r}: {str(error).splitlines()[0]}") from error
    # pandas keeps the index of rows in last columns with such names.
    order = sorted(range(table.num_columns), key=lambda j: not table.column_names[j].startswith(PANDAS_INDEX))
    names = ["" if table.column_names[j].startswith(PANDAS_INDEX) else table.column_names[j] for j in order]
    return RawTable(names, [_arrow_column(table.column(j), pyarrow.types) for j in order], may_have_index=True)


def read_anndata(name: str, data: bytes, key: str | None) -> RawTable:
    """The matrix of an AnnData file, or the layer or embedding that `key` names; annotations are those of cells."""
    try:
        import anndata
    except ImportError:
        raise ImportError("h5ad files need anndata: pip install 'sknomad[files]'.") from None
    try:
        cells = anndata.read_h5ad(io.BytesIO(data))
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise TableError(f"FILE must be an intact h5ad file, got {name!r}: {str(error).splitlines()[0]}.") from error
    of_genes = {**({} if cells.X is None else {"X": cells.X}), **cells.layers}
    matrix = _pick({**of_genes, **cells.obsm}, name, key)
    has_genes = any(matrix is layer for layer in of_genes.values())
    annotations = {column: [str(value) for value in cells.obs[column]] for column in cells.obs}
    return table_of_matrix(
        matrix, name, list(map(str, cells.var_names)) if has_genes else None, annotations=annotations
    )


# By suffix, and the first bytes of each where they tell.
READERS: dict[str, tuple[bytes, Callable[[str, bytes, str | None], RawTable]]] = {
    ".npy": (b"\x93NUMPY", read_numpy),
    ".npz": (b"PK\x03\x04", read_numpy),
    ".mat": (b"MATLAB", read_matlab),
    ".parquet": (b"PAR1", read_parquet),
    ".h5ad": (b"\x89HDF", read_anndata),
}


def _pick(arrays: Mapping[str, Any], name: str, key: str | None) -> Any:
    names = list(arrays)
    if key is None:
        key = names[0] if len(names) == 1 else "X"
    if key not in names:
        raise TableError(f"--key must be one of the arrays in {name}: {', '.join(names) or 'none'}; got {key!r}.")
    return arrays[key]


def _is_table(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biufU"


def _arrow_column(column: Any, types: Any) -> Column:
    """Numbers as an array, NaN where there are none; everything else as text."""
    kind = column.type
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        if column.null_count or types.is_boolean(kind):
            return np.array([np.nan if v is None else float(v) for v in column.to_pylist()], dtype=np.float64)
        return np.asarray(column.to_numpy())
    return ["" if value is None else str(value) for value in column.to_pylist()]
