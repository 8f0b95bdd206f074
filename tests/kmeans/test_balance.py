"""Parts of equal make: every part has its share of the soft sums."""

import numpy as np
import pytest

from divided_data import clustered
from sknomad._kmeans.balance import ROUNDS, balanced_parts, deal, exchange, lens_of, tree_order
from sknomad._kmeans.division import divide, join, shard_numbers, sketch_of
from sknomad._numerics.row_blocks import RowBlocks
from sknomad._solving.streaming import stream_soft


@pytest.fixture(scope="module")
def setting():
    X, labels = clustered(1200, 4, 4, seed=31, noise=1.5)
    blocks = RowBlocks(X)
    cells = stream_soft(blocks, 4).cells
    lens = lens_of(cells, X)
    return X, labels, cells, lens, join(list(blocks.each(sketch_of, cells, lens)))


def imbalance(numbers, lens, sketch):
    features = lens.features(sketch, np.arange(len(numbers))).astype(float)
    sums = np.array([features[numbers == part].sum(axis=0) for part in np.unique(numbers)])
    return float(np.sum((sums - sums.mean(axis=0)) ** 2))


def test_exchanges_make_parts_more_equal_than_chance_and_dealing(setting):
    _, labels, _, lens, sketch = setting
    chance = np.random.default_rng(0).permutation(np.arange(1200) % 8)
    table = deal(sketch.Z, labels, 8, np.random.default_rng(1))
    dealt = np.empty(1200, dtype=int)
    dealt[table] = np.arange(8)
    exchanged = balanced_parts(sketch, labels, lens, 8, np.random.default_rng(1))
    of_chance, of_dealt, of_exchanged = (imbalance(part, lens, sketch) for part in (chance, dealt, exchanged))
    assert of_exchanged < 0.2 * of_dealt < 0.2 * of_chance
    assert np.bincount(exchanged).tolist() == [150] * 8


def test_no_exchange_is_for_the_worse(setting):
    _, labels, _, lens, sketch = setting
    table = deal(sketch.Z, labels, 7, np.random.default_rng(2))

    def of(table):
        numbers = np.empty(1200, dtype=int)
        there = table >= 0
        numbers[table[there]] = np.broadcast_to(np.arange(7), table.shape)[there]
        return imbalance(numbers, lens, sketch)

    before = of(table)
    points = np.sort(table, axis=1)
    exchange(table, sketch, lens, np.random.default_rng(3), 0.0)
    assert of(table) <= before * (1 + 1e-4)
    assert np.array_equal(np.sort(table, axis=1), points)  # rows keep their points


def test_clusters_are_spread_evenly_over_parts(setting):
    X, labels, cells, _, _ = setting
    numbers = divide(RowBlocks(X), labels, cells, 10)
    counts = np.array([[np.sum((numbers == part) & (labels == k)) for k in range(4)] for part in range(10)])
    assert np.ptp(counts, axis=0).max() <= 3


def test_division_is_the_same_each_time(setting):
    X, labels, cells, _, _ = setting
    assert np.array_equal(divide(RowBlocks(X), labels, cells, 5), divide(RowBlocks(X), labels, cells, 5))


@pytest.mark.parametrize(("n", "count"), [(1000, 1), (1000, 7), (450_000, 450), (1_000_003, 1000)])
def test_shards_have_parts_of_one_size(n, count):
    numbers, parts = shard_numbers(n, count, seed=0)
    sizes = np.bincount(numbers, minlength=len(parts))
    assert parts.sum() == count
    assert sizes.sum() == n
    assert np.all(np.abs(sizes / parts - n / count) < 2)


def test_order_of_a_tree_keeps_neighbours_together():
    Z = np.random.default_rng(0).permutation(np.arange(64.0))[:, None]
    order = Z[tree_order(Z, 4, np.random.default_rng(1)), 0]
    assert np.ptp(order.reshape(16, 4), axis=1).tolist() == [3.0] * 16
    assert sorted(tree_order(np.ones((9, 2)), 2, np.random.default_rng(0))) == list(range(9))  # equal points


def test_exchanges_end_where_nothing_is_left_to_gain(setting):
    _, labels, _, lens, sketch = setting
    rounds = []

    class Counting(np.random.Generator):
        def permutation(self, x):
            rounds.append(x)
            return super().permutation(x)

    table = deal(sketch.Z, labels, 8, np.random.default_rng(2))
    exchange(table.copy(), sketch, lens, Counting(np.random.PCG64(0)), np.inf)
    assert not rounds
    exchange(table.copy(), sketch, lens, Counting(np.random.PCG64(0)), 0.0)
    assert rounds.count(8) == ROUNDS
