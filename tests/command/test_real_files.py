"""Ten files as people have them: what one command makes of each."""

import gzip
import io
import json

import numpy as np
import pytest

from running import run
from sknomad.datasets import two_rings

X, TRUTH = two_rings(40)
KIND = np.where(TRUTH == 0, "outer", "inner")


def text(columns, separator=",", line_end="\n", decimal="."):
    rows = [list(columns), *zip(*([cell(v, decimal) for v in column] for column in columns.values()), strict=True)]
    return line_end.join(separator.join(row) for row in rows) + line_end


def cell(value, decimal):
    return value if isinstance(value, str) else repr(float(value)).replace(".", decimal)


PLAIN = {"x": X[:, 0], "y": X[:, 1]}
LABELLED = {**PLAIN, "ring": KIND}


def with_gaps():
    holes = [*map(str, X[:, 0])]
    holes[3] = "NA"
    return text({"x": holes, "y": X[:, 1], "ring": KIND})


def thousands_of_columns():
    """The rings turned into three thousand dimensions."""
    turned = X @ np.linalg.qr(np.random.default_rng(0).standard_normal((3000, 2)))[0].T
    return text({f"gene_{j}": turned[:, j] for j in range(3000)})


def parquet():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(pyarrow.table({"x": X[:, 0], "y": X[:, 1], "ring": list(KIND)}), buffer)
    return buffer.getvalue()


RING = ("--label-column", "ring")
# Name, contents, options, and what must be said about it.
FILES = {
    "semicolons": ("rings.csv", lambda: text(LABELLED, ";"), RING, "separated by semicolons"),
    "decimal commas": ("rings.csv", lambda: text(LABELLED, ";", decimal=","), RING, "decimal commas"),
    "gz": ("rings.csv.gz", lambda: gzip.compress(text(LABELLED).encode()), RING, ""),
    "index column": ("rings.csv", lambda: text({"": [*map(str, range(40))], **LABELLED}), RING, "only counts rows"),
    "two text columns": (
        "rings.csv", lambda: text({**LABELLED, "lab": ["Pisa", "Bern"] * 20}), (*RING, "--drop", "lab"), "",
    ),
    "missing values": ("rings.csv", with_gaps, (*RING, "--missing", "drop"), "1 row with missing values"),
    "parquet": ("rings.parquet", parquet, RING, ""),
    "Windows line ends": ("rings.csv", lambda: text(LABELLED, line_end="\r\n"), RING, ""),
    "byte-order mark": ("rings.csv", lambda: "\ufeff" + text(LABELLED), RING, ""),
    "thousands of columns": ("rings.csv", thousands_of_columns, (), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_one_command(capsys, tmp_path, case):
    name, make, options, note = FILES[case]
    contents = make()
    (tmp_path / name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    code, out, err = run(capsys, "fit", tmp_path / name, "-K", 12, "--json", *options)
    summary = json.loads(out)
    assert code == 0, err
    assert summary["n_samples"] == (39 if case == "missing values" else 40)
    assert summary["n_features"] == (3000 if case == "thousands of columns" else 2)
    assert summary["n_manifolds"] == 2
    assert summary.get("adjusted_rand_index", 1.0) == 1.0
    assert note in err
    assert (err == "") == (note == "")


def test_what_to_do_is_said_at_once(capsys, tmp_path):
    """The command that was refused says the options with which it works."""
    (tmp_path / "rings.csv").write_text(text({**LABELLED, "lab": ["Pisa", "Bern"] * 20}))
    code, _, err = run(capsys, "fit", tmp_path / "rings.csv", "-K", 12)
    assert code == 1
    said = err.split("Pass ")[1].split(" for those")[0]
    assert said == "--label-column ring --label-column lab"
    code, out, _ = run(capsys, "fit", tmp_path / "rings.csv", "-K", 12, *said.split())
    assert code == 0
    assert "adjusted Rand index 1.000 with ring" in out
    assert "with lab" in out


def test_a_column_of_names_is_told_from_labels(capsys, tmp_path):
    names = [f"P-{i:04d}" for i in range(40)]
    (tmp_path / "rings.csv").write_text(text({"patient": names, **LABELLED}))
    code, _, err = run(capsys, "fit", tmp_path / "rings.csv", "-K", 12)
    assert code == 1
    assert "Pass --index-column patient for what names the rows, --label-column ring for those" in err
    options = ["--index-column", "patient", "--label-column", "ring", "--out", tmp_path / "out"]
    assert run(capsys, "fit", tmp_path / "rings.csv", "-K", 12, *options)[0] == 0
    assert (tmp_path / "out" / "points.csv").read_text().splitlines()[1].startswith("0,P-0000,0,")


def test_times_and_remarks_are_not_taken_for_labels(capsys, tmp_path):
    times = [f"2026-03-01 09:{i:02d}" for i in range(40)]
    remarks = ["sensor loose", *[""] * 39]
    (tmp_path / "rings.csv").write_text(text({**LABELLED, "time": times, "remark": remarks}))
    code, _, err = run(capsys, "fit", tmp_path / "rings.csv", "-K", 12)
    assert code == 1
    assert "Pass --index-column time for what names the rows, --label-column ring for those that are labels, " in err
    assert "--drop remark for the rest, or --drop ring,time,remark to leave them out." in err


def test_one_part_is_followed_by_what_else_to_try(capsys, tmp_path):
    cloud = np.random.default_rng(0).standard_normal((60, 2))
    np.savetxt(tmp_path / "cloud.csv", cloud, delimiter=",", header="x,y", comments="")
    for command in ("fit", "cluster"):
        code, out, _ = run(capsys, command, tmp_path / "cloud.csv", "--tol", 0.1)
        assert code == 0
        assert "hint          no division is clear" in out
        code, out, _ = run(capsys, command, tmp_path / "cloud.csv", "--tol", 0.1, "--several", "--json")
        assert json.loads(out)["n_manifolds" if command == "fit" else "n_clusters"] > 1
    code, _, err = run(capsys, "fit", tmp_path / "cloud.csv", "-K", 5, "--several")
    assert code == 1
    assert "--several must go with an automatic K, got -K 5" in err
