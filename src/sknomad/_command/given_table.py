"""The table that a command line names, with what was guessed about it said."""

from __future__ import annotations

import argparse

from .command import tell
from .table import Table, TableChoices
from .table_file import read_table


def choices_of(options: argparse.Namespace) -> TableChoices:
    """What the options of `add_table` say."""
    return TableChoices(
        header=options.header,
        key=options.key,
        columns=tuple(options.columns),
        drop=tuple(options.drop),
        label_columns=tuple(options.label_column),
        index_column=options.index_column,
        missing=options.missing,
        standardize=options.standardize,
        image_size=options.image_size,
    )


def read_given(options: argparse.Namespace) -> Table:
    """Read the table, and say what was guessed and done."""
    table = read_table(options.file, choices_of(options))
    tell_notes(options, table)
    return table


def tell_notes(options: argparse.Namespace, table: Table) -> None:
    """Say what was guessed and done."""
    for note in table.notes:
        tell(options, f"sknomad: note: {note}.")


def remembered(table: Table) -> dict[str, object]:
    """What a saved model needs to know to read other tables of the same kind."""
    return {"names": list(table.names), "centre": table.centre, "scale": table.scale}
