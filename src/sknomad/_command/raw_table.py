"""`RawTable`: what a file holds, before anybody has said which of its columns are data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# A column of numbers, or the text of its cells, "" where one is missing.
Column: TypeAlias = "NDArray[Any] | list[str]"


class TableError(ValueError):
    """The file cannot be read as a table; the message is a sentence or two for the user."""


@dataclass(frozen=True)
class RawTable:
    """A file's columns, by name and in their order."""

    names: list[str]
    columns: Sequence[Column]
    matrix: Any = None  # the numbers of all columns as one array, dense or sparse, where the file holds one
    annotations: dict[str, list[str]] = field(default_factory=dict)  # columns of labels, names and the like: no data
    may_have_index: bool = False  # whether a first column that only counts rows is to be expected
    decimal: str = "."  # between the digits of numbers in text
    notes: list[str] = field(default_factory=list)  # what was guessed, for the user

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.matrix is not None:
            return int(self.matrix.shape[0])
        return len(self.columns[0]) if self.columns else 0


def table_of_matrix(matrix: Any, what: str, names: list[str] | None = None, **facts: Any) -> RawTable:
    """A table of one array (n, d) of numbers, dense or sparse; columns are called by their numbers."""
    if matrix.ndim != 2 or not (np.issubdtype(matrix.dtype, np.number) or matrix.dtype == np.bool_):
        raise TableError(
            f"FILE must hold a 2-D array of numbers, got shape {matrix.shape} of {matrix.dtype} in {what}. "
            "Pass --key if it has others."
        )
    names = [str(j) for j in range(matrix.shape[1])] if names is None else names
    return RawTable(names, [], matrix, **facts)
