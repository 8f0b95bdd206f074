"""Reading a table from a file of whatever kind, and choosing its columns."""

from __future__ import annotations

from pathlib import Path

from .array_files import READERS
from .columns import choose_columns
from .file_bytes import FileBytes, read_bytes
from .image_folder import read_images
from .raw_table import RawTable, TableError
from .table import Table, TableChoices
from .text_table import read_text

# Files of others, by suffix, and what to do instead.
REFUSED = {
    ".xlsx": "Save the sheet as CSV.",
    ".xls": "Save the sheet as CSV.",
    ".ods": "Save the sheet as CSV.",
    ".pkl": "Pickled files can run programs; save the table as CSV or npy.",
    ".rds": "Save the table with write.csv.",
    ".h5": "Save the array as npy, or as h5ad if it is an AnnData.",
    ".json": "Save the table as CSV.",
}


def read_table(path: Path, choices: TableChoices | None = None) -> Table:
    """Read `path` and choose its columns.

    Parameters
    ----------
    path : Path
        A text file with cells separated by commas, semicolons, tabs, bars or blanks; npy, npz, mat, parquet or h5ad;
        any of them compressed; a folder of images; or ``-`` for standard input.
    choices : TableChoices, optional
        What the user said about it.
    """
    choices = choices or TableChoices()
    return choose_columns(read_raw(path, choices), choices)


def read_raw(path: Path, choices: TableChoices) -> RawTable:
    """All columns of a file."""
    if path.is_dir():
        return read_images(path, choices.image_size)
    file = read_bytes(path)
    if file.suffix in REFUSED:
        raise TableError(f"FILE must be a table of a kind known here, got {file.name!r}. {REFUSED[file.suffix]}")
    for suffix, (start, read) in READERS.items():
        if file.suffix == suffix or (_is_unknown(file) and file.data.startswith(start)):
            return read(file.name, file.data, choices.key)
    return read_text(file.name, file.suffix, file.data, choices.header)


def _is_unknown(file: FileBytes) -> bool:
    """Whether the name does not say what a file is."""
    return file.suffix not in READERS and file.suffix not in (".csv", ".tsv", ".txt")
