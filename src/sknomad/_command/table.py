"""`TableChoices` and `Table`: what a user says about a table, and the table that comes of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Where to look for a column that only counts rows, unless it is named.
AUTO, NONE = "auto", "none"
# Names shown in a message.
SHOWN_NAMES = 12


@dataclass(frozen=True)
class TableChoices:
    """What a user said about a table; columns by name, by number from 0 (negative from the end), or by pattern."""

    header: bool | None = None  # whether the first row holds names; None looks
    key: str | None = None  # which array of a file with several
    columns: tuple[str, ...] = ()  # the data; nothing said: all others
    drop: tuple[str, ...] = ()  # neither data nor labels
    label_columns: tuple[str, ...] = ()  # known labels, kept apart
    index_column: str = AUTO  # counts rows; "auto" looks at the first, "none" has none
    missing: str = "error"  # values: refuse them, drop their rows, or fill in the column's mean
    standardize: bool = False  # bring every column to mean 0 and deviation 1
    image_size: tuple[int, int] | None = None  # width and height to bring images to


@dataclass(frozen=True)
class Table:
    """Numbers to work with, and what was set apart."""

    X: Any  # (n, d) numbers, dense or sparse
    names: list[str]  # (d,)
    labels: dict[str, NDArray[np.str_]]  # by column, (n,) as text
    rows: NDArray[np.int64]  # (n,) the data row of the file that each row of X is, from 0
    n_given: int  # rows of the file
    notes: list[str] = field(default_factory=list)  # what was guessed and done, for the user
    centre: NDArray[np.float64] | None = None  # (d,) subtracted from the columns; None where they are as they were
    scale: NDArray[np.float64] | None = None  # (d,) what they were divided by then
    index: list[str] | None = None  # (n_given,) what the index column calls each row of the file

    @property
    def row_names(self) -> list[str] | None:
        """What the index column calls the rows of X."""
        return None if self.index is None else [self.index[i] for i in self.rows]

    @property
    def as_given(self) -> Any:
        """The numbers of the file, before columns were moved and scaled."""
        return self.X if self.centre is None or self.scale is None else self.X * self.scale + self.centre


def listed(names: Sequence[str]) -> str:
    """Names for a message, not too many of them."""
    return ", ".join(names[:SHOWN_NAMES]) + (f", ... ({len(names)} in all)" if len(names) > SHOWN_NAMES else "")


def quoted(text: str) -> str:
    """As a shell wants it."""
    return shlex.quote(text)
