"""Which columns of a table are data, which are labels, which only count rows; and what to do about gaps."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import column_of_numbers, is_text
from .missing_values import without_missing
from .number_text import is_missing
from .raw_table import Column, RawTable, TableError
from .table import AUTO, NONE, SHOWN_NAMES, Table, TableChoices, listed, quoted

# Names that people and programs give to a first column that only names rows.
INDEX_NAMES = frozenset({"", "unnamed: 0", "index", "id", "row", "rownames", "row_names", "rowid", "no", "nr", "#"})
# From this share of the variance on one column outweighs the others, of which there must be some.
OUTWEIGHS, FEWEST_TO_OUTWEIGH = 0.9, 3
# Texts shown of a column in a message.
SHOWN_TEXTS = 3


def choose_columns(raw: RawTable, choices: TableChoices) -> Table:
    """The table that a user asked for."""
    labels = {name: values for text in choices.label_columns for name, values in _label_columns(raw, text)}
    taken = {raw.names.index(name) for name in labels if name not in raw.annotations}
    dropped = _find_all(choices.drop, raw.names, "--drop")
    wanted = _find_all(choices.columns, raw.names, "--columns")
    index, notes = _index_column(raw, choices, {*taken, *dropped, *wanted})
    kept = [j for j in wanted or range(len(raw.names)) if j not in {*taken, *dropped, *index}]
    if not kept:
        raise TableError(f"FILE must have a column left as data, got none of {listed(raw.names)}.")
    X, names = _numbers(raw, kept, choices.missing), [raw.names[j] for j in kept]
    known = {name: np.array(list(values), dtype=str) for name, values in labels.items()}
    called = _texts(raw, index[0]) if index else None
    table = Table(X, names, known, np.arange(raw.n_rows), raw.n_rows, [*raw.notes, *notes], index=called)
    table = without_missing(table, choices.missing)
    return standardized(table) if choices.standardize else _with_note_on_scales(table, raw)


def standardized(
    table: Table, centre: NDArray[np.float64] | None = None, scale: NDArray[np.float64] | None = None
) -> Table:
    """The table with every column at mean 0 and deviation 1, or moved and scaled as given; constant ones at 0."""
    X = np.asarray(table.X.toarray() if hasattr(table.X, "toarray") else table.X, dtype=np.float64)
    if centre is None or scale is None:
        centre, spread = X.mean(axis=0), X.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
    return replace(table, X=(X - centre) / scale, centre=centre, scale=scale)


def _with_note_on_scales(table: Table, raw: RawTable) -> Table:
    """The same, with a note where one column of several outweighs all others: most likely for its unit alone."""
    if raw.matrix is not None or len(table.names) < FEWEST_TO_OUTWEIGH or len(table.X) < 2:
        return table
    spread = np.var(np.asarray(table.X, dtype=np.float64), axis=0)
    largest, total = int(spread.argmax()), float(spread.sum())
    if not np.isfinite(total) or spread[largest] <= OUTWEIGHS * total or total == 0:
        return table
    share = f"{100 * spread[largest] / total:.0f} % of the variance"
    note = f"{table.names[largest]!r} has {share}; --standardize brings all columns to one scale"
    return replace(table, notes=[*table.notes, note])


def _label_columns(raw: RawTable, text: str) -> list[tuple[str, Sequence[Any]]]:
    if text in raw.annotations:
        return [(text, raw.annotations[text])]
    others = list(raw.annotations)
    return [(raw.names[j], _texts(raw, j)) for j in _find(text, raw.names, "--label-column", others)]


def _texts(raw: RawTable, j: int) -> list[str]:
    if raw.matrix is not None:
        column = raw.matrix[:, [j]]
        return [str(value) for value in np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()]
    return [str(value).strip() for value in raw.columns[j]]


def _find_all(texts: Iterable[str], names: list[str], option: str) -> list[int]:
    """Columns that an option names, each once, in the order of the file; lists are separated by commas."""
    found: set[int] = set()
    for text in texts:
        pieces = [text] if text in names else [piece.strip() for piece in text.split(",")]
        found.update(j for piece in pieces for j in _find(piece, names, option))
    return sorted(found)


def _find(text: str, names: list[str], option: str, others: Sequence[str] = ()) -> list[int]:
    """The columns that a name, a number or a pattern means."""
    exact = [j for j, name in enumerate(names) if name == text]
    if exact:
        return exact
    if text.lstrip("-").isdigit() and -len(names) <= int(text) < len(names):
        return [int(text) % len(names)]
    matching = [j for j, name in enumerate(names) if fnmatch.fnmatchcase(name, text)]
    if not matching:
        raise TableError(
            f"{option} must be a column name or number, got {text!r}. Columns: {listed([*others, *names])}."
        )
    return matching


def _index_column(raw: RawTable, choices: TableChoices, spoken_for: set[int]) -> tuple[list[int], list[str]]:
    """The column that only counts or names rows, and a note about it."""
    if choices.index_column == NONE:
        return [], []
    if choices.index_column != AUTO:
        return _find(choices.index_column, raw.names, "--index-column"), []
    if not raw.may_have_index or len(raw.names) < 2 or 0 in spoken_for or not _looks_like_index(raw):
        return [], []
    called = f"{raw.names[0]!r}" if raw.names[0] else "without a name"
    return [0], [f"the first column, {called}, only counts rows and is left out; --index-column none keeps it as data"]


def _looks_like_index(raw: RawTable) -> bool:
    """Whether the first column counts from 0 or 1, or has the name of one that does and no value twice."""
    column, name = raw.columns[0], raw.names[0].strip().lower()
    if len(column) < 3:
        return False
    if name in INDEX_NAMES and len(set(map(str, column))) == len(column):
        return is_text(column, raw.decimal) or _are_whole(column)
    if not _are_whole(column):
        return False
    values = [int(float(value)) for value in column]
    return values[0] in (0, 1) and values == list(range(values[0], values[0] + len(values)))


def _are_whole(column: Column) -> bool:
    try:
        return all(float(value).is_integer() for value in column)
    except ValueError:
        return False


def _numbers(raw: RawTable, kept: list[int], missing: str) -> Any:
    """The data columns as one array; all that are text are named at once."""
    if raw.matrix is not None:
        matrix = raw.matrix if len(kept) == raw.matrix.shape[1] else raw.matrix[:, kept]
        return matrix.astype(np.float64) if matrix.dtype == np.bool_ else matrix
    text = [j for j in kept if is_text(raw.columns[j], raw.decimal)]
    if text:
        gaps = [j for j in kept if j not in text and any(map(is_missing, map(str, raw.columns[j])))]
        too = (
            f" Values are missing too, in {listed([raw.names[j] for j in gaps])}: add --missing drop or --missing mean."
        )
        raise TableError(_about_text(raw, text) + (too if gaps and missing == "error" else ""))
    columns = [column_of_numbers(raw.columns[j], raw.names[j], raw.decimal) for j in kept]
    return np.column_stack(columns) if raw.n_rows else np.empty((0, len(kept)))


def _about_text(raw: RawTable, text: list[int]) -> str:
    """All columns of text with some of their cells, and the options that handle them."""
    described = [f"{raw.names[j]!r} ({_some_texts(raw.columns[j], raw.decimal)})" for j in text[:SHOWN_NAMES]]
    more = f" and {len(text) - SHOWN_NAMES} more" if len(text) > SHOWN_NAMES else ""
    names = {j: raw.names[j] if raw.names[j] else str(j) for j in text}
    naming = next((j for j in text if _names_rows(raw.columns[j], raw.decimal)), None)
    as_names = "" if naming is None else f"--index-column {quoted(names[naming])} for what names the rows, "
    others = [j for j in text if j != naming]
    # Where nothing looks like labels, who knows the file decides.
    labels = [j for j in others if _repeats(raw.columns[j])] or others
    rest = [names[j] for j in others if j not in labels][:SHOWN_NAMES]
    as_labels = " ".join(f"--label-column {quoted(names[j])}" for j in labels[:SHOWN_NAMES])
    for_labels = f"{as_labels} for those that are labels, " if labels else ""
    for_rest = f"--drop {quoted(','.join(rest))} for the rest, " if rest else ""
    return (
        f"FILE must hold numbers, got text in the {'column' if len(text) == 1 else 'columns'} "
        f"{', '.join(described)}{more}. Pass {as_names}{for_labels}{for_rest}or "
        f"--drop {quoted(','.join([*names.values()][:SHOWN_NAMES]))} to leave them out."
    )


def _repeats(column: Column) -> bool:
    """Whether most rows have a text and each occurs twice on average, as labels do; times and remarks do not."""
    present = [cell for cell in (str(cell).strip() for cell in column) if not is_missing(cell)]
    return 2 * len(set(present)) <= len(present) and 2 * len(present) >= len(column)


def _names_rows(column: Column, decimal: str) -> bool:
    """Whether a column has a text in every row, and none twice."""
    cells = [str(cell).strip() for cell in column]
    return len(cells) > 2 and len(set(cells)) == len(cells) and all(is_text([cell], decimal) for cell in cells)


def _some_texts(column: Column, decimal: str) -> str:
    """Cells that are no numbers, the first of each kind; with the row where most cells are numbers."""
    wrong = [i for i, cell in enumerate(column) if is_text([cell], decimal)]
    if len(wrong) * 2 <= len(column):
        return f"{str(column[wrong[0]]).strip()[:40]!r} in data row {wrong[0]}"
    kinds = list(dict.fromkeys(str(column[i]).strip()[:40] for i in wrong))
    return ", ".join(kinds[:SHOWN_TEXTS]) + (", ..." if len(kinds) > SHOWN_TEXTS else "")
