"""Tables that people have made for people: titles, units, thousands and percent signs."""

import pytest

from sknomad._command.raw_table import TableError
from sknomad._command.table import TableChoices
from sknomad._command.table_file import read_table

ROWS = ["1,2,3", "4,5,7", "6,8,9"]


def read(tmp_path, *lines, **choices):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_table(path, TableChoices(**choices))


@pytest.mark.parametrize(
    "above", [["Sales,,"], ["Sales,,", "made in May,,", ",,"], ["Sales"], ["Sales", "made in May"]]
)
def test_titles_above_the_names_are_left_out(tmp_path, above):
    table = read(tmp_path, *above, "a,b,c", *ROWS)
    assert table.names == ["a", "b", "c"]
    assert len(table.X) == 3
    titles = sum(any(line.replace(",", "")) for line in above)
    assert table.notes == [f"{titles} line{'s' * (titles > 1)} above the names left out"]


def test_nothing_is_a_title_where_no_names_are_said_to_be(tmp_path):
    with pytest.raises(TableError, match="got text in the column"):
        read(tmp_path, "Sales,,", *ROWS, header=False)


def test_first_names_are_no_title(tmp_path):
    assert read(tmp_path, "a,b,c", *ROWS).notes == []
    assert read(tmp_path, "a,b", "1,2", "3,5", "4,4").names == ["a", "b"]
    assert read(tmp_path, "a,,", *ROWS, "2,2,2").notes != []


@pytest.mark.parametrize("units", ["deg,N,s", "[deg],[N],[-]"])
def test_units_below_the_names_are_left_out(tmp_path, units):
    table = read(tmp_path, "a,b,c", units, *ROWS)
    assert (table.names, table.X.shape) == (["a", "b", "c"], (3, 3))
    assert table.notes == ["the line of units below the names left out"]


def test_units_beside_a_column_of_labels(tmp_path):
    table = read(tmp_path, "who,b,c", "[-],N,s", "Ann,1,2", "Ben,3,4", "Ann,5,6", label_columns=["who"])
    assert table.labels["who"].tolist() == ["Ann", "Ben", "Ann"]


@pytest.mark.parametrize("first", ["broken,2,3", "Ann,broken,broken", "1,broken,broken"])
def test_a_broken_first_row_is_no_line_of_units(tmp_path, first):
    names = "who,b,c" if first.startswith("Ann") else "a,b,c"
    rows = [row.replace(row[0], "Ben", 1) for row in ROWS] if first.startswith("Ann") else ROWS
    with pytest.raises(TableError, match="broken"):
        read(tmp_path, names, first, *rows)


def test_commas_between_thousands(tmp_path):
    table = read(tmp_path, "a,b", '"1,234.50",1', '"12,000",2', "7.5,3", '"-1,000,000",4', index_column="none")
    assert table.X[:, 0].tolist() == [1234.5, 12000, 7.5, -1000000]
    assert table.notes[0] == "the commas of 'a' are taken for thousands"


@pytest.mark.parametrize("cell", ["0,142", "12,34", "1,2345", "1,234,5"])
def test_other_commas_are_not_taken_for_thousands(tmp_path, cell):
    with pytest.raises(TableError, match="got text in the column 'a'"):
        read(tmp_path, "a,b", '"1,234",5', f'"{cell}",6', "3,9")


@pytest.mark.parametrize("text", ['"', '""', '"",""'])
def test_cells_with_nothing_in_them_are_no_table(tmp_path, text):
    with pytest.raises(TableError, match="FILE must hold a table"):
        read(tmp_path, text)
