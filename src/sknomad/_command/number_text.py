"""Numbers as people write them: decimal commas, thousands, percent signs, and the many words for no value."""

from __future__ import annotations

import re
from collections.abc import Sequence

# How people write that there is no value, in small letters.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "#n/a", "<na>"})
# A number with a decimal comma, also with dots between thousands.
COMMA_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?")
# A number with commas between its thousands.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING


def plain_number(cell: str, decimal: str) -> str:
    """A number as Python writes it.

    Examples
    --------
    >>> plain_number("1.234,5", ","), plain_number(" 2e3", ".")
    ('1234.5', '2e3')
    """
    text = cell.strip()
    if decimal == "," and COMMA_NUMBER.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return text


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell holds a number, or nothing where one may be missing."""
    try:
        float(plain_number(cell, decimal))
    except ValueError:
        return is_missing(cell)
    return "_" not in cell  # Python's own way to write thousands


def with_plain_numbers(
    names: Sequence[str], columns: Sequence[list[str]], decimal: str
) -> tuple[list[list[str]], list[str]]:
    """Columns of shares and of thousands as plain numbers, and notes that name them.

    Examples
    --------
    >>> columns, notes = with_plain_numbers(["share", "cost"], [["80%", ""], ["1,250.5", "7"]], ".")
    >>> columns
    [['80', ''], ['1250.5', '7']]
    """
    plain, shares, grouped = list(columns), [], []
    for j, column in enumerate(columns):
        if _are_shares(column, decimal):
            plain[j] = [cell.strip().removesuffix("%") for cell in column]
            shares.append(repr(names[j]))
        elif decimal == "." and _are_grouped(column):
            plain[j] = [cell.replace(",", "") for cell in column]
            grouped.append(repr(names[j]))
    notes = [f"the percent signs of {', '.join(shares)} are left out"] if shares else []
    notes += [f"the commas of {', '.join(grouped)} are taken for thousands"] if grouped else []
    return plain, notes


def _are_shares(column: list[str], decimal: str) -> bool:
    given = [cell.strip() for cell in column if not is_missing(cell)]
    return bool(given) and all(cell.endswith("%") and cell != "%" and is_number(cell[:-1], decimal) for cell in given)


def _are_grouped(column: list[str]) -> bool:
    """Whether a column has numbers with commas between thousands, and nothing but numbers."""
    groups = [THOUSANDS.fullmatch(cell.strip()) is not None for cell in column]
    return any(groups) and all(group or is_number(cell, ".") for group, cell in zip(groups, column, strict=True))
