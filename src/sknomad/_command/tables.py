"""Tables to write: CSV, and aligned columns for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def csv_text(columns: Mapping[str, Sequence[Any] | Any]) -> str:
    """Columns of equal length as CSV, numbers with ten digits.

    Examples
    --------
    >>> csv_text({"row": [0, 1], "x": [0.5, 1 / 3]}).split()
    ['row,x', '0,0.5', '1,0.3333333333']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in column] for column in columns.values()), strict=True))
    return text.getvalue()


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with columns as wide as their widest cell.

    Examples
    --------
    >>> print(aligned(["K", "parts"], [["4", "1"], ["16", "2"]]))
    K   parts
    4   1
    16  2
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (header, *rows)]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.10g}" if isinstance(value, float) or getattr(value, "dtype", None) == "float64" else str(value)
