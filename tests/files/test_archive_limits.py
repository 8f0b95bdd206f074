"""Headers: what a stranger's file may make this library allocate, and that nothing is written that is not read."""

import tracemalloc

import numpy as np
import pytest

from hostile import forge
from sknomad import NOMAD, FormatError, load
from sknomad._files import archive
from sknomad._files.archive import Kind, read_archive, write_archive

KIND = Kind("model", 1, "")


@pytest.mark.parametrize(
    "header",
    [
        b"[" + b"[]," * (8 * 2**20) + b"[]]",
        b"[" + b"{}," * (8 * 2**20) + b"{}]",
        b"[" + b'{"a":{}},' * (2 * 2**20) + b"0]",
        b"[" + b"1.5," * (6 * 2**20) + b"0]",
        b'["' + b"x" * (24 * 2**20) + b'"]',
    ],
    ids=["lists", "objects", "nested", "numbers", "text"],
)
def test_a_long_header_takes_no_memory_to_speak_of(tmp_path, header):
    path = tmp_path / "model"
    path.write_bytes(forge([("header.json", header)]))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"whose header is too long"):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 64 * 2**20


def test_the_longest_header_takes_a_bounded_multiple(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(forge([("header.json", b"[" + b'{"a":0},' * (archive.MOST_NODES // 3) + b"0]")]))
    tracemalloc.start()
    try:
        read_archive(path, KIND)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 64 * 2**20


def test_what_could_not_be_read_is_not_written(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(ValueError, match="a header must have at most"):
        write_archive(path, KIND, [[]] * archive.MOST_NODES, {})
    assert not list(tmp_path.iterdir())


def test_thousands_of_feature_names_are_read_back(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((5, 50_000)))
    X.columns = [f"gene, number [{j}]" for j in range(X.shape[1])]
    model = NOMAD(K=2).fit(X)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").feature_names_in_[-1] == "gene, number [49999]"
