"""Lines above the rows of a table: titles, names of the columns, and their units."""

from __future__ import annotations

from .number_text import is_missing, is_number


def split_header(
    rows: list[list[str]], width: int, decimal: str, header: bool | None
) -> tuple[list[str], list[list[str]], list[str]]:
    """Names of the columns, numbers where there are none; the rows below; and notes on lines that are neither."""
    notes = []
    if header is not False:
        titles = _number_of_titles(rows, width, decimal)
        rows = rows[titles:]
        notes += [f"{_lines(titles)} above the names left out"] if titles else []
    first = [cell.strip() for cell in rows[0]]
    if header is None:
        header = not all(is_number(cell, decimal) for cell in first)
    if not header:
        return [str(j) for j in range(len(first))], rows, notes
    rows = rows[1:]
    if len(first) == width - 1 and rows:  # R names its rows and not their column
        first = ["", *first]
    if _begin_with_units(rows, decimal):
        rows = rows[1:]
        notes.append("the line of units below the names left out")
    return first, rows, notes


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _number_of_titles(rows: list[list[str]], width: int, decimal: str) -> int:
    """How many rows stand above the names: one cell of text in a table of three columns or more, or too few cells."""
    count = 0
    while count < len(rows) - 2 and _is_title(rows[count], rows[count + 1], width, decimal):
        count += 1
    return count


def _is_title(row: list[str], below: list[str], width: int, decimal: str) -> bool:
    if _has_numbers(row, decimal):
        return False
    filled = sum(bool(cell.strip()) for cell in row)
    return (filled == 1 and width > 2) or (len(row) < width == len(below) and not _has_numbers(below, decimal))


def _begin_with_units(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first row has text in all columns, two or more, in which the next has numbers, and none in others."""
    if len(rows) < 3 or len(rows[0]) != len(rows[1]):
        return False
    numeric = [j for j, cell in enumerate(rows[1]) if is_number(cell, decimal) and not is_missing(cell)]
    units = [rows[0][j].strip() for j in numeric]
    others = [cell.strip(" -[]()") for j, cell in enumerate(rows[0]) if j not in numeric]
    return len(units) > 1 and not any(is_number(unit, decimal) for unit in units) and not any(others)


def _has_numbers(row: list[str], decimal: str) -> bool:
    return any(is_number(cell, decimal) and not is_missing(cell) for cell in row)
