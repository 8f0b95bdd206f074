"""Cells of text as numbers, exactly, and columns that are none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .number_text import is_missing, is_number, plain_number
from .raw_table import Column, TableError

# A whole number as text, and from where on float64 cannot represent all of them.
WHOLE, LARGEST_EXACT = re.compile(r"[+-]?\d{1,400}"), 2.0**53


def is_text(column: Column, decimal: str) -> bool:
    """Whether any cell of a column is neither a number nor missing.

    Examples
    --------
    >>> is_text(["1", "NA", "2e3"], "."), is_text(["1", "two"], ".")
    (False, True)
    """
    if isinstance(column, np.ndarray):
        return column.dtype.kind not in "biuf"
    if _plain_numbers(column) is not None:
        return False
    return not all(is_number(cell, decimal) for cell in column)


def column_of_numbers(column: Column, name: str, decimal: str) -> NDArray[Any]:
    """The numbers of a column that is not text, NaN where one is missing."""
    if isinstance(column, np.ndarray):
        return column
    numbers = _plain_numbers(column)
    if numbers is None:
        numbers = np.array([_number(cell, decimal) for cell in column], dtype=np.float64)
    for i in np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT):
        cell = column[int(i)].strip()
        if WHOLE.fullmatch(cell) and np.isfinite(numbers[i]) and int(cell) != int(numbers[i]):
            raise TableError(
                f"FILE must hold whole numbers that float64 can represent, got {cell[:40]} in column {name!r}, "
                f"data row {i}. Subtract what they have in common first, or pass whole numbers as npy."
            )
    return numbers


def _plain_numbers(column: list[str]) -> NDArray[np.float64] | None:
    """The numbers of a column that Python reads as they are, as most are, in a tenth of the time; None of others."""
    try:
        numbers = np.fromiter(map(float, column), dtype=np.float64, count=len(column))
    except ValueError:
        return None
    return None if "_" in "".join(column) else numbers


def _number(cell: str, decimal: str) -> float:
    return float("nan") if is_missing(cell) else float(plain_number(cell, decimal))
