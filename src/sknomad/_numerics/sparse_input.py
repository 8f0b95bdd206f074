"""Sparse tables as they are read: entries in their places, each once, and nobody else's memory."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from .arrays import Data, is_sparse

# Formats that know how to check themselves; SciPy's own code trusts what they say of their sizes.
CHECKED = ("csr", "csc", "bsr")


def well_formed(X: Data, name: str) -> Data:
    """A sparse table by rows, copied, with sorted indices and no entry twice; anything else as it is.

    Entries that are given twice are one, their sum, as SciPy has it.

    Examples
    --------
    >>> import numpy as np
    >>> well_formed(sp.csr_matrix((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2]))), "X").data.tolist()
    [3.0]
    """
    if not is_sparse(X) or X.ndim != 2:
        return X
    given: Any = X
    matrix = given
    try:
        if matrix.format in CHECKED:
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            matrix = sp.coo_matrix((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        rows = matrix.tocsr(copy=True)
    except ValueError as error:
        raise ValueError(f"{name} must be a well-formed sparse matrix, got one in which {error}.") from error
    cls = sp.csr_array if isinstance(given, sp.sparray) else sp.csr_matrix
    # Made anew of its parts: a matrix believes what it was once told of its own order.
    table: Any = cls((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    table.sum_duplicates()
    return table
