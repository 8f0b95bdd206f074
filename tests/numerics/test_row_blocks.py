"""Tables in blocks of rows: what is read is what is there, and the first wrong number is named."""

import numpy as np
import pytest
import scipy.sparse as sp

from sknomad._numerics import row_blocks
from sknomad._numerics.row_blocks import RowBlocks


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 12)


class Sliced:
    """What zarr and HDF5 offer: a shape, a dtype, slices; no lists of rows."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.array[rows]


def tables():
    X = np.arange(30.0).reshape(10, 3)
    return [X, X.astype(np.float32), X.astype(np.int16), X.tolist(), sp.csr_matrix(X), sp.coo_array(X), Sliced(X)]


@pytest.mark.parametrize("table", tables(), ids=lambda table: type(table).__name__)
def test_blocks_and_chosen_rows(small_blocks, table):
    X, blocks = np.arange(30.0).reshape(10, 3), RowBlocks(table)
    assert (blocks.n, blocks.d) == (10, 3)
    read = list(blocks.each(lambda block: block))
    assert [len(block) for block in read] == [4, 4, 2]
    assert np.array_equal(np.concatenate(read), X)
    assert all(block.dtype == np.float64 for block in read)
    rows = blocks.take(np.array([0, 5, 9]))
    assert np.array_equal(rows.toarray() if sp.issparse(rows) else rows, X[[0, 5, 9]])
    pairs = list(blocks.each(lambda block, along, factor: (along * factor).tolist(), 2, along=np.arange(10)))
    assert pairs == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]]


def test_first_wrong_number_is_named_with_its_block(small_blocks):
    X = np.zeros((10, 3))
    X[6, 2] = np.nan
    X[7, 0] = np.inf
    with pytest.raises(ValueError, match=r"got 2 values.* in block 1 of 3, the first at row 6, column 2"):
        list(RowBlocks(X).each(np.sum))


def test_numbers_that_float64_does_not_hold_are_refused():
    with pytest.raises(ValueError, match="float64 can represent"):
        list(RowBlocks(np.array([[2**53 + 1], [0]])).each(np.sum))


@pytest.mark.parametrize(
    "table", [np.zeros((1, 2)), np.zeros(3), [["a"], ["b"]], np.zeros((2, 0)), np.full((2, 2), 1j)]
)
def test_what_is_no_table_is_refused(table):
    with pytest.raises((TypeError, ValueError)):
        RowBlocks(table)
