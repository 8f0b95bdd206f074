"""Values that are missing: refused, dropped with their rows, or filled in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .raw_table import TableError
from .table import SHOWN_NAMES, Table, quoted


def without_missing(table: Table, missing: str) -> Table:
    """Missing values refused, their rows dropped, or filled in; infinite ones refused with their place."""
    if hasattr(table.X, "toarray") or not np.issubdtype(table.X.dtype, np.floating):
        return table
    X, is_missing = table.X, np.isnan(table.X)
    if np.isinf(X).any():
        i, j = np.argwhere(np.isinf(X))[0]
        raise TableError(
            f"FILE must hold finite numbers, got {X[i, j]} in column {table.names[j]!r}, data row {i}. "
            f"Correct it, or pass --drop {quoted(table.names[j])}."
        )
    if not is_missing.any():
        return table
    counts = is_missing.sum(axis=0)
    gaps = [f"{counts[j]} in {table.names[j]!r}" for j in np.flatnonzero(counts)]
    more = f" and {len(gaps) - SHOWN_NAMES} more columns" if len(gaps) > SHOWN_NAMES else ""
    described = ", ".join(gaps[:SHOWN_NAMES]) + more
    complete = ~is_missing.any(axis=1)
    n_dropped = int((~complete).sum())
    rows = "1 row" if n_dropped == 1 else f"{n_dropped} rows"
    if missing == "error":
        raise TableError(
            f"FILE must have no missing values, got {described}. Pass --missing drop to leave out the "
            f"{rows} with any, or --missing mean to fill in the mean of their column."
        )
    if missing == "drop":
        note = f"{rows} with missing values left out ({described})"
        labels = {name: values[complete] for name, values in table.labels.items()}
        return replace(table, X=X[complete], labels=labels, rows=table.rows[complete], notes=[*table.notes, note])
    if counts.max() == len(X):
        name = table.names[int(counts.argmax())]
        raise TableError(
            f"--missing mean needs values in every column, got none in {name!r}. Pass --drop {quoted(name)}."
        )
    note = f"missing values are replaced by the mean of their column ({described})"
    return replace(table, X=np.where(is_missing, np.nanmean(X, axis=0), X), notes=[*table.notes, note])
