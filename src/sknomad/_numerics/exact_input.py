"""Numbers as they were given: float64 holds every one of them, or the user hears of it.

Bounds are true of numbers in float64. Whole numbers beyond 2^53, extended precision and decimals may lose digits when
they become that, and a bound would then be one of other data. So they are refused, unless they are whole numbers of
points: those are first taken relative to the first row, in whole numbers, which changes no distance. Times of day and
lengths of time are whole numbers of their unit.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np

from .arrays import Array, Data, Sparse, Table, is_sparse

# Below this float64 holds every whole number, and no other is rounded to one.
LARGEST_WHOLE = 2.0**53


def check_exact(given: Data, table: Table, name: str) -> None:
    """Refuse what `table`, in float64, holds only rounded, naming the first such entry.

    Parameters
    ----------
    given : array-like, sparse matrix or data frame
        What the user gave.
    table : array or CSR matrix
        What it became.
    name : str
        What the error calls it.
    """
    place = first_rounded(given, table)
    if place is not None:
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"index {place[0]}"
        raise ValueError(
            f"{name} must hold numbers that float64 can represent, got another one at {where}, near "
            f"{table[place]:.17g}. Subtract what they have in common, or pass {name} in float64 to have it rounded."
        )


def exact_table(given: Data, table: Table, name: str) -> tuple[Table, Array | None]:
    """`table`, or the exact differences of whole numbers to their first row and that row; None where it is the first.

    What neither way can be represented is refused.

    Examples
    --------
    >>> given = 2**60 + np.array([[0], [1], [3]])
    >>> exact_table(given, given.astype(float), "X")[0].tolist()
    [[0.0], [1.0], [3.0]]
    """
    if first_rounded(given, table) is None:
        return table, None
    whole = None if is_sparse(given) else _counted(np.asarray(given))
    if whole is None or whole.dtype.kind not in "iu":
        check_exact(given, table, name)
    origin = cast("Array", whole)[0].copy()
    moved = whole_differences(whole, origin)
    differences = moved.astype(np.float64)
    check_exact(moved, differences, name)
    return differences, origin


def whole_differences(rows: Any, origin: Array) -> Array:
    """Rows of whole numbers less one of them, as Python's own numbers, which have no largest."""
    return np.asarray(rows).astype(object) - origin.astype(object)


def _counted(entries: Array) -> Array:
    """Times as whole numbers of their unit; other arrays as they are."""
    if entries.dtype.kind not in "Mm":
        return entries
    if np.isnat(entries).any():
        raise ValueError("a table must have no missing times, got NaT. Impute or drop them.")
    return entries.astype(np.int64)


def rows_from(origin: Array, given: Data, table: Table) -> Array:
    """New rows relative to the row that `exact_table` took off those before."""
    whole = None if is_sparse(given) else _counted(np.asarray(given))
    if whole is not None and whole.dtype.kind in "iu":
        return whole_differences(whole, origin).astype(np.float64)
    return (table.toarray() if is_sparse(table) else table) - origin.astype(np.float64)


def first_rounded(given: Data, table: Table) -> tuple[int, ...] | None:
    """Where the first entry of `table` stands that is not the number given; None where there is none."""
    if isinstance(given, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(given)):
        raise ValueError("a table must have no masked entries, got a masked array. Impute or drop them.")
    if is_sparse(table):
        index = _first_rounded(np.asarray(cast("Sparse", given).tocsr().data), np.asarray(table.data))
        if index is None:
            return None
        return int(np.searchsorted(table.indptr, index[0], side="right") - 1), int(table.indices[index[0]])
    return _first_rounded(_entries(given, table), table)


def _first_rounded(entries: Array | None, table: Array) -> tuple[int, ...] | None:
    if entries is None or entries.shape != table.shape:
        return None
    entries = _counted(entries)
    kind, size = entries.dtype.kind, entries.dtype.itemsize
    if kind == "O":
        suspects = np.argwhere(np.isfinite(table))
    elif kind in "US" or (kind in "iu" and size > 4):
        suspects = np.argwhere(np.abs(table) >= LARGEST_WHOLE)
    elif kind == "f" and size > 8:
        suspects = np.argwhere((entries != table.astype(entries.dtype)) & np.isfinite(table))
    else:
        return None
    places = (tuple(map(int, place)) for place in suspects)
    return next((place for place in places if not is_equal(entries[place], table[place])), None)


def _entries(given: Data, table: Array) -> Array | None:
    """What was given as an array in which nothing is rounded yet; None where nothing can have been."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame | pandas.Series):
        types = list(given.dtypes) if isinstance(given, pandas.DataFrame) else [given.dtype]
        is_small = bool(np.all(np.abs(table) < LARGEST_WHOLE))
        if all(_is_held(t, is_small=is_small) for t in types):
            return None
        return given.to_numpy(dtype=None if all(t.kind in "Mm" for t in types) else object)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):  # frames of other libraries, column by column
        columns: Any = given
        return np.column_stack([np.asarray(columns[name]).astype(object) for name in columns.columns])
    # Of a list with whole and other numbers NumPy would round the whole ones.
    return np.array(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)


def _is_held(dtype: Any, *, is_small: bool) -> bool:
    """Whether float64 holds every number of a column of this type, whole ones if they are small."""
    return (dtype.kind in "fb" and dtype.itemsize <= 8) or (dtype.kind in "iu" and is_small)


def is_equal(given: Any, number: float) -> bool:
    """Whether float64 holds exactly what was given; of text with a point it holds what the text says."""
    if isinstance(given, str | bytes):
        try:
            return int(given) == float(number)
        except ValueError:
            return True
    if isinstance(given, np.longdouble):
        return bool(given == np.longdouble(number))
    if isinstance(given, int | np.integer | Fraction | Decimal):
        return Fraction(given if isinstance(given, Fraction | Decimal) else int(given)) == Fraction(float(number))
    try:
        return bool(given == float(number))
    except (TypeError, ValueError):
        return False
