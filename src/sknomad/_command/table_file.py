"""Reading a table from a file: csv, tsv, npy or npz, with errors that name the place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

FORMATS = (".csv", ".tsv", ".npy", ".npz")
# A whole number as text.
WHOLE = re.compile(r"[+-]?\d{1,400}")


class TableError(ValueError):
    """The file cannot be read as a table; the message is one sentence for the user."""


@dataclass(frozen=True)
class Table:
    """A numeric table, with the label column kept apart."""

    X: NDArray[np.number]  # (n, d)
    labels: NDArray[np.str_] | None  # (n,) values of the label column, as text


def read_table(
    path: Path, *, header: bool | None = None, label_column: str | None = None, key: str | None = None
) -> Table:
    """Read `path` by its suffix.

    Parameters
    ----------
    path : Path
    header : bool, optional
        Whether the first row of a text file holds names; by default it does if any of its cells is not a number.
    label_column : str, optional
        Name or number (from 0, negative from the end) of a column to keep out of the data.
    key : str, optional
        Which array of an npz file to read; by default its only one, or ``X``.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise TableError(
            f"FILE must end in {', '.join(FORMATS)}, got {path.name!r}. Convert it, or rename it if it is one."
        )
    if not path.is_file():
        raise TableError(f"FILE must be an existing file, got {str(path)!r}. Check the path.")
    try:
        if suffix in (".csv", ".tsv"):
            return _read_text(path, "," if suffix == ".csv" else "\t", header, label_column)
        return _split_array(_load_array(path, key), path, label_column)
    except OSError as error:
        raise TableError(f"FILE must be readable, got {str(path)!r}: {error.strerror or error}.") from error


def _load_array(path: Path, key: str | None) -> NDArray[np.generic]:
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else _pick(loaded, path, key)
    except (ValueError, EOFError, BadZipFile) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(
            f"FILE must be a NumPy file without pickled objects, got {path.name!r}: {str(error).splitlines()[0]}"
        ) from error


def _pick(archive: Mapping[str, NDArray[np.generic]], path: Path, key: str | None) -> NDArray[np.generic]:
    names = list(archive.keys())
    if key is None:
        key = names[0] if len(names) == 1 else "X"
    if key not in names:
        raise TableError(f"--key must be one of the arrays in {path.name}: {', '.join(names) or 'none'}; got {key!r}.")
    return archive[key]


def _split_array(array: NDArray[np.generic], path: Path, label_column: str | None) -> Table:
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.number):
        raise TableError(
            f"FILE must hold a 2-D array of numbers, got shape {array.shape} of {array.dtype} in {path.name}."
        )
    X = cast(NDArray[np.number], array)
    if label_column is None:
        return Table(X, None)
    index = _column_index(label_column, [str(j) for j in range(X.shape[1])])
    return Table(np.delete(X, index, axis=1), X[:, index].astype(str))


def _read_text(path: Path, delimiter: str, header: bool | None, label_column: str | None) -> Table:
    rows = _cells(path, delimiter)
    names = [str(j) for j in range(len(rows[0]))]
    if header or (header is None and not all(_is_number(cell) for cell in rows[0])):
        names, rows = [cell.strip() for cell in rows[0]], rows[1:]
    index = None if label_column is None else _column_index(label_column, names)
    columns = [j for j in range(len(names)) if j != index]
    data = [[_number(row[j], i, names[j], path) for j in columns] for i, row in _checked(rows, names, path)]
    labels = None if index is None else np.array([row[index].strip() for row in rows])
    return Table(np.array(data, dtype=np.float64).reshape(len(rows), len(columns)), labels)


def _cells(path: Path, delimiter: str) -> list[list[str]]:
    """Rows of a text file that are not empty."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"FILE must be UTF-8 text, got other bytes in {path.name}: {error.reason}.") from error
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    if not rows:
        raise TableError(f"FILE must hold a table, got the empty file {path.name}.")
    return rows


def _checked(rows: list[list[str]], names: list[str], path: Path) -> Iterator[tuple[int, list[str]]]:
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise TableError(
                f"FILE must have {len(names)} cells in every row, got {len(row)} in data row {i} of {path.name}."
            )
        yield i, row


def _number(cell: str, row: int, name: str, path: Path) -> float:
    try:
        number = float(cell) if cell.strip() else float("nan")
    except ValueError:
        raise TableError(
            f"FILE must hold numbers, got {cell.strip()[:40]!r} in column {name!r}, data row {row} of {path.name}. "
            f"Pass --label-column {name!r} if these are labels."
        ) from None
    if WHOLE.fullmatch(cell.strip()) and int(cell) != number:
        raise TableError(
            f"FILE must hold whole numbers that float64 can represent, got {cell.strip()[:40]} in column {name!r}, "
            f"data row {row} of {path.name}. Subtract what they have in common first, or pass whole numbers as npy."
        )
    return number


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell.strip()
    return True


def _column_index(column: str, names: list[str]) -> int:
    if column in names:
        return names.index(column)
    if column.lstrip("-").isdigit() and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    raise TableError(
        f"--label-column must be a column name or number, got {column!r}. Columns: {', '.join(names[:12])}."
    )
