"""Tables from files: what is guessed, what is chosen, and what is refused."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pytest

from sknomad._command.raw_table import TableError
from sknomad._command.table import TableChoices
from sknomad._command.table_file import read_table

X = np.array([[1.5, -2.0, 0.0], [3e-4, 4.0, 1.0], [2.5, 8.0, 1.0]])
TEXT = "\n".join(["a,b,c", *(",".join(map(repr, map(float, row))) for row in X)])


def read(path, **choices):
    return read_table(path, TableChoices(**choices))


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".npz"])
@pytest.mark.parametrize("header", [True, False])
def test_every_format_reads_the_same_table(tmp_path, suffix, header):
    path = tmp_path / f"table{suffix}"
    if suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez(path, X=X, other=np.zeros(2))
    else:
        separator = "," if suffix == ".csv" else "\t"
        rows = [separator.join(map(repr, map(float, row))) for row in X]
        path.write_text("\n".join([separator.join("abc")] * header + rows))
    assert np.array_equal(read(path).X, X)
    table = read(path, label_columns=("-1",))
    assert np.array_equal(table.X, X[:, :2])
    assert [values.tolist() for values in table.labels.values()] == [["0.0", "1.0", "1.0"]]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), ("", gzip.compress)],
)
def test_compressed(tmp_path, suffix, pack):
    assert np.array_equal(read(written(tmp_path, pack(TEXT.encode()), f"table.csv{suffix}")).X, X)


def test_zip_has_one_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
        archive.writestr("folder/table.csv", TEXT)
        archive.writestr("__MACOSX/._table.csv", "junk")
    assert np.array_equal(read(tmp_path / "table.zip").X, X)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", TEXT)
    with pytest.raises(TableError, match="2 files"):
        read(tmp_path / "two.zip")


@pytest.mark.parametrize("name", ["table.csv.gz", "table.csv.xz", "table.zip"])
def test_torn_archives_are_refused(tmp_path, name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("table.csv", TEXT)
    packed = {"gz": gzip.compress(TEXT.encode()), "xz": lzma.compress(TEXT.encode()), "ip": buffer.getvalue()}[
        name[-2:]
    ]
    with pytest.raises(TableError, match="intact"):
        read(written(tmp_path, packed[:-20], name))


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace(",", ";"), TEXT.replace(",", "\t"), TEXT.replace(",", "|"), TEXT.replace(",", "   "),
        TEXT.replace(",", ";").replace(".", ","), "sep=;\n" + TEXT.replace(",", ";"), "# made by hand\n" + TEXT,
        TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r"), "\ufeff" + TEXT, "\n\n" + TEXT + "\n\n",
        TEXT.replace("\n", ",\n") + ",", "Exported on Monday\n" + TEXT,
    ],
)  # fmt: skip
def test_layouts_of_text(tmp_path, text):
    table = read(written(tmp_path, text))
    assert np.array_equal(table.X, X)
    assert table.names == ["a", "b", "c"]


def test_names_in_a_comment_and_utf_16(tmp_path):
    np.savetxt(tmp_path / "numpy.txt", X, header="a b c")
    table = read(tmp_path / "numpy.txt")
    assert np.array_equal(table.X, X)
    assert table.names == ["a", "b", "c"]
    assert np.array_equal(read(written(tmp_path, TEXT.encode("utf-16"), "excel.txt")).X, X)


def test_windows_text_is_read_and_said(tmp_path):
    table = read(written(tmp_path, "Größe,b\n1,2\n3,4\n".encode("cp1252")))
    assert table.names == ["Größe", "b"]
    assert "Windows-1252" in table.notes[0]


def test_thousands_with_decimal_commas(tmp_path):
    assert read(written(tmp_path, "a;b\n1.234,5;2\n3,25;4\n")).X.tolist() == [[1234.5, 2], [3.25, 4]]


def test_separator_that_fits_the_header(tmp_path):
    table = read(written(tmp_path, "name;price\nx;1.234,50\ny;2,00\n"), label_columns=("name",))
    assert table.X.tolist() == [[1234.5], [2.0]]


def test_numeric_header_when_said(tmp_path):
    path = written(tmp_path, "2020,2021\n1,2\n3,4\n", "years.csv")
    assert read(path).X.shape == (3, 2)
    assert read(path, header=True).X.tolist() == [[1, 2], [3, 4]]


def test_npz_needs_a_key(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.eye(3), b=np.zeros((2, 2)))
    with pytest.raises(TableError, match="a, b"):
        read(tmp_path / "two.npz")
    assert read(tmp_path / "two.npz", key="b").X.shape == (2, 2)


def test_standard_input(tmp_path, monkeypatch):
    buffer = io.BytesIO()
    np.save(buffer, X)
    for data in (TEXT.encode(), gzip.compress(TEXT.encode()), buffer.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert np.array_equal(read(type(tmp_path)("-")).X, X)


INDEX_COLUMNS = {
    "counting from 0": ("n,a,b", "0,5,6", "1,7,8", "2,9,3"),
    "counting from 1, no header": ("1,5,6.5", "2,7,8", "3,9,3"),
    "pandas": (",a,b", "10,5,6", "7,7,8", "3,9,3"),
    "names": ("id,a,b", "p1,5,6", "p2,7,8", "p3,9,3"),
    "R": ("a,b", "p1,5,6", "p2,7,8", "p3,9,3"),
}


@pytest.mark.parametrize("case", INDEX_COLUMNS)
def test_index_column_is_left_out_and_named(tmp_path, case):
    path = written(tmp_path, "\n".join(INDEX_COLUMNS[case]))
    table = read(path)
    assert table.X.shape == (3, 2)
    assert any("only counts rows" in note for note in table.notes)
    if case == "counting from 0":
        assert read(path, index_column="none").X.shape == (3, 3)
        assert read(path, columns=("0,a",)).X.shape == (3, 2)
        assert "n" in read(path, columns=("n", "a")).names


@pytest.mark.parametrize("first", ["5,6,7", "0,1,1", "0.5,1.5,2.5", "2,3,4"])
def test_data_are_no_index(tmp_path, first):
    rows = [f"{x},{y}" for x, y in zip(first.split(","), "389", strict=True)]
    assert read(written(tmp_path, "\n".join(["a,b", *rows]))).X.shape == (3, 2)


def test_index_column_by_name(tmp_path):
    path = written(tmp_path, "a,key,b\n1,x,2\n3,y,4\n")
    assert read(path, index_column="key").names == ["a", "b"]


def test_columns_by_name_number_and_pattern(tmp_path):
    path = written(tmp_path, "gene_1,gene_2,age,'x,y'\n1,2,3,4\n5,6,7,8\n".replace("'", '"'))
    assert read(path, columns=("gene_*",)).names == ["gene_1", "gene_2"]
    assert read(path, columns=("age,0",)).names == ["gene_1", "age"]
    assert read(path, drop=("x,y", "-2")).names == ["gene_1", "gene_2"]
    for choices in ({"columns": ("height",)}, {"drop": ("height",)}, {"label_columns": ("height",)}):
        with pytest.raises(TableError, match="Columns: gene_1, gene_2, age, x,y"):
            read(path, **choices)
    with pytest.raises(TableError, match="a column left as data"):
        read(path, drop=("*",))


def test_all_text_columns_are_named_at_once(tmp_path):
    path = written(tmp_path, "a,kind,b,where\n1,cat,2,in the house\n3,dog,4,outside\n5,cat,6,outside\n")
    with pytest.raises(TableError) as error:
        read(path)
    message = str(error.value)
    assert "'kind' (cat, dog), 'where' (in the house, outside)" in message
    assert "--label-column kind --label-column where" in message
    assert "--drop kind,where" in message
    table = read(path, label_columns=("kind", "where"))
    assert table.labels["kind"].tolist() == ["cat", "dog", "cat"]
    assert list(table.labels) == ["kind", "where"]


def test_missing_values_are_said_with_the_text(tmp_path):
    path = written(tmp_path, "a,kind,b\n1,cat,NA\n3,dog,4\n")
    with pytest.raises(TableError, match=r"Values are missing too, in b: add --missing drop"):
        read(path)
    with pytest.raises(TableError) as error:
        read(path, missing="drop")
    assert "missing" not in str(error.value)


def test_a_column_that_outweighs_the_others_is_named(tmp_path):
    path = written(tmp_path, "length,depth,mass\n1,2,3000\n3,2,5000\n2,1,4000\n")
    assert "'mass' has 100 % of the variance; --standardize" in read(path).notes[0]
    assert read(path, standardize=True).notes == []
    assert read(path, drop=("mass",)).notes == []


def test_long_lines(tmp_path):
    wide = np.random.default_rng(0).standard_normal((3, 20000))
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in wide)
    assert read(written(tmp_path, text)).X.shape == (3, 20000)
    with pytest.raises(TableError, match="moderate length"):
        read(written(tmp_path, 'a,b\n1,"' + 200000 * "x"))


def test_missing_values(tmp_path):
    path = written(tmp_path, "a,b,label\n1,NA,x\n2,5,y\n,7,x\n6,9,\n")
    with pytest.raises(TableError, match=r"got 1 in 'a', 1 in 'b'. Pass --missing drop to leave out the 2 rows"):
        read(path, label_columns=("label",))
    dropped = read(path, label_columns=("label",), missing="drop")
    assert dropped.X.tolist() == [[2, 5], [6, 9]]
    assert dropped.rows.tolist() == [1, 3]
    assert dropped.labels["label"].tolist() == ["y", ""]
    assert read(path, label_columns=("label",), missing="mean").X.tolist() == [[1, 7], [2, 5], [3, 7], [6, 9]]
    with pytest.raises(TableError, match="none in 'b'"):
        read(written(tmp_path, "a,b\n1,\n2,\n"), missing="mean")


def test_standardize(tmp_path):
    table = read(written(tmp_path, "a,b,c\n1,5,2\n3,5,4\n"), standardize=True)
    assert table.X.tolist() == [[-1, 0, -1], [1, 0, 1]]
    assert table.centre.tolist() == [2, 5, 3]


def test_whole_numbers_that_floats_cannot_hold_are_refused(tmp_path):
    with pytest.raises(TableError, match="9007199254740993 in column 'b', data row 1"):
        read(written(tmp_path, "a,b\n1,2\n3,9007199254740993\n"))


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"x": [1.5, 2.0, 4.0], "n": [1, None, 3], "kind": ["a", None, "b"], "__index_level_0__": [7, 3, 5]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", label_columns=("kind",), missing="drop")
    assert table.X.tolist() == [[1.5, 1], [4, 3]]
    assert table.labels["kind"].tolist() == ["a", "b"]
    with pytest.raises(TableError, match="intact"):
        read(written(tmp_path, b"PAR1 and no more", "torn.parquet"))


def test_matlab(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "t.mat", {"fea": X, "gnd": np.array([1, 2, 2])})
    table = read(tmp_path / "t.mat", label_columns=("gnd",))
    assert np.array_equal(table.X, X)
    assert table.labels["gnd"].tolist() == ["1", "2", "2"]
    savemat(tmp_path / "two.mat", {"a": X, "b": X})
    with pytest.raises(TableError, match="a, b"):
        read(tmp_path / "two.mat")
    with pytest.raises(TableError, match="MATLAB"):
        read(written(tmp_path, b"junk", "junk.mat"))


def test_anndata(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    # Text as objects, because anndata cannot write the text of pyarrow.
    obs = pandas.DataFrame({"kind": [1, 2, 2]}, index=pandas.Index(["p", "q", "r"], dtype=object))
    var = pandas.DataFrame(index=pandas.Index(["g1", "g2", "g3"], dtype=object))
    cells = anndata.AnnData(X, obs=obs, var=var)
    cells.obsm["X_pca"] = X[:, :2]
    cells.write_h5ad(tmp_path / "t.h5ad")
    table = read(tmp_path / "t.h5ad", label_columns=("kind",), drop=("g2",))
    assert table.names == ["g1", "g3"]
    assert np.array_equal(table.X, X[:, [0, 2]])
    assert table.labels["kind"].tolist() == ["1", "2", "2"]
    assert read(tmp_path / "t.h5ad", key="X_pca").X.shape == (3, 2)


def test_folder_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for folder, level in (("cats", 0), ("dogs", 255)):
        (tmp_path / folder).mkdir()
        for i in range(2):
            image.new("RGB", (4, 3), (level, level, level)).save(tmp_path / folder / f"{i}.png")
    table = read(tmp_path, label_columns=("folder",))
    assert table.X.shape == (4, 12)
    assert table.X[:, 0].tolist() == [0, 0, 1, 1]
    assert table.labels["folder"].tolist() == ["cats", "cats", "dogs", "dogs"]
    image.new("L", (5, 5)).save(tmp_path / "other.png")
    with pytest.raises(TableError, match=r"4x3 in '0.png' and 5x5 in 'other.png'. Pass --image-size 4x3"):
        read(tmp_path)
    assert read(tmp_path, image_size=(2, 2)).X.shape == (5, 4)
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="no image"):
        read(tmp_path / "empty")


@pytest.mark.parametrize(("name", "package"), [("t.parquet", "pyarrow"), ("t.h5ad", "anndata")])
def test_missing_extra_is_named(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}: pip install 'sknomad\[files\]'"):
        read(written(tmp_path, b"anything", name))


def test_percent_signs_are_left_out_of_columns_of_shares(tmp_path):
    (tmp_path / "shares.csv").write_text("x,share,mixed\n1,80%,5%\n2,7.5 %,6\n3,,7\n4,%,8\n")
    with pytest.raises(TableError, match=r"'share' \(80%, 7\.5 %, %\), 'mixed'"):
        read_table(tmp_path / "shares.csv", TableChoices())
    (tmp_path / "shares.csv").write_text("x,share\n1,80%\n2,7.5 %\n3,1%\n")
    table = read_table(tmp_path / "shares.csv", TableChoices(index_column="none"))
    assert table.X[:, 1].tolist() == [80.0, 7.5, 1.0]
    assert "the percent signs of 'share' are left out" in table.notes
