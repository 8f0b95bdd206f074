"""Reading text: separator, decimal comma, header, byte-order mark and comments are guessed, and what was is said."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import dropwhile
from typing import NamedTuple

from .header_lines import split_header
from .number_text import COMMA_NUMBER, is_number, with_plain_numbers
from .raw_table import RawTable, TableError

# What may separate cells, the likelier first: among equally good ones the first is taken. Blanks: any number of them.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
USUAL = {".csv": ",", ".tsv": "\t"}
# Rows that are looked at to tell how cells are separated, and the share of them that must have as many cells as most.
LOOKED_AT, REGULAR_SHARE = 60, 0.9
CELLS_LOOKED_AT = 20000
ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Layout(NamedTuple):
    """How the cells of a text lie, and how good a guess that is."""

    separator: str
    decimal: str
    share_of_numbers: float
    fits_header: bool  # whether the first row has as many cells as most
    width: int  # cells of most rows


def read_text(name: str, suffix: str, data: bytes, header: bool | None) -> RawTable:
    """The table in a text file; `header` says whether the first row has names, None to look."""
    text, notes = _decoded(name, data)
    lines, named = _without_comments(re.split(r"\r\n|\n|\r", text))
    if not any(line.strip(" \t,;|") for line in lines):
        raise TableError(f"FILE must hold a table, got the empty file {name}.")
    stated = re.fullmatch(r"sep=(.)", lines[0].strip().strip('"'))  # what some spreadsheets write first
    lines = lines[1:] if stated else lines
    usual = USUAL.get(suffix, ",")
    layout = _layout(lines, [stated[1]] if stated else sorted(SEPARATORS, key=lambda s: s != usual))
    notes += _notes_on(layout, usual)
    rows = _rows(lines, layout.separator)
    if rows == [[]]:  # quotation marks and separators alone
        raise TableError(f"FILE must hold a table, got no cell with anything in it in {name}.")
    names = _rows([named], layout.separator)[0] if named else None
    if names is None or len(names) != layout.width:
        names, rows, more = split_header(rows, layout.width, layout.decimal, header)
        notes += more
    _check_widths(rows, names, name)
    names, columns = _columns(names, rows)
    columns, more = with_plain_numbers(names, columns, layout.decimal)
    return RawTable(names, columns, may_have_index=True, decimal=layout.decimal, notes=[*notes, *more])


def _notes_on(layout: Layout, usual: str) -> list[str]:
    """What a user should hear of a layout other than the usual one."""
    notes = []
    if layout.separator != usual and layout.width > 1:
        notes.append(f"cells are separated by {SEPARATORS.get(layout.separator, repr(layout.separator))}")
    if layout.decimal == ",":
        notes.append("numbers have decimal commas")
    return notes


def _columns(names: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Names and cells by column, without the empty one that a separator at the end of every line makes."""
    if not rows:
        return names, [[] for _ in names]
    columns = [list(column) for column in zip(*rows, strict=True)]
    is_left_over = names[-1] in ("", str(len(names) - 1)) and not any(map(str.strip, columns[-1]))
    return (names[:-1], columns[:-1]) if is_left_over else (names, columns)


def _decoded(name: str, data: bytes) -> tuple[str, list[str]]:
    for mark, encoding in ENCODINGS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), []
    if b"\0" in data:
        raise TableError(f"FILE must be a table of a kind known here, got other bytes in {name!r}. Save it as CSV.")
    try:
        return data.decode(), []
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), ["the text is no UTF-8 and was read as Windows-1252"]


def _without_comments(lines: list[str]) -> tuple[list[str], str | None]:
    """Lines that hold cells, and the last comment before them, in which NumPy writes names."""
    named = None
    while lines and (not lines[0].strip() or lines[0].startswith("#")):
        named = lines[0].lstrip("# ").rstrip() or named
        lines = lines[1:]
    return [line for line in lines if line.strip()], named


def _layout(lines: list[str], separators: list[str]) -> Layout:
    """The way to read the lines that makes most of their cells numbers; of equal ones, that with more cells."""
    sample = lines[:LOOKED_AT]
    separators = [each for each in separators if any(each in line for line in sample)] or separators[:1]
    tried = [_tried(sample, separator) for separator in separators]
    found = [layout for layout in tried if layout is not None]
    best = max(found, key=lambda layout: layout[2:], default=None)
    if best is not None:
        return best
    most = max(separators, key=lambda separator: sum(map(len, _rows(sample, separator))))
    return Layout(most, ".", 0.0, True, len(_rows(sample, most)[0]))


def _tried(sample: list[str], separator: str) -> Layout | None:
    """What reading with one separator gives; None where rows have one cell, or different numbers of them."""
    try:
        rows = _rows(sample, separator)
    except TableError:
        return None
    width, count = Counter(map(len, rows[1:] or rows)).most_common(1)[0]
    body = list(dropwhile(lambda row: len(row) < width, rows[1:] or rows))  # titles above the names are shorter
    if width < 2 or count < REGULAR_SHARE * len(body):
        return None
    cells = [cell.strip() for row in body for cell in row][:CELLS_LOOKED_AT]
    decimal = "," if separator != "," and _has_decimal_commas(cells) else "."
    share = sum(is_number(cell, decimal) for cell in cells) / len(cells)
    return Layout(separator, decimal, share, len(rows[0]) == width, width)


def _has_decimal_commas(cells: list[str]) -> bool:
    """Whether numbers are written with commas; a decimal point anywhere says that they are not."""
    with_point = any(re.fullmatch(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", c) and not COMMA_NUMBER.fullmatch(c) for c in cells)
    return not with_point and any(COMMA_NUMBER.fullmatch(cell) for cell in cells)


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    if separator == " ":
        return [line.split() for line in lines]
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=separator))
    except csv.Error as error:  # a cell without end, most likely
        raise TableError(f"FILE must have cells of moderate length, got one that is not: {error}.") from error
    return [row for row in rows if any(cell.strip() for cell in row)] or [[]]


def _check_widths(rows: list[list[str]], names: list[str], name: str) -> None:
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise TableError(
                f"FILE must have {len(names)} cells in every row, got {len(row)} in data row {i} of {name}."
            )
