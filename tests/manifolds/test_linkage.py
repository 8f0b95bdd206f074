"""The linkage tree: against scipy's, its monotone count, its smallest parts, and what it says of known matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from sknomad import SoftPoint
from sknomad._manifolds.division_tree import division_tree
from sknomad._manifolds.linkage import CEILING, TOGETHER, linkage_tree, similarities, smallest_part
from sknomad._points.forms import DensePoint


def random_similarity(n, seed, gaps=3):
    """A psd matrix of positive entries: a Gaussian kernel of points on a line with some gaps."""
    generator = np.random.default_rng(seed)
    x = np.cumsum(generator.exponential(size=n) * np.where(generator.random(n) < gaps / n, 8, 1))
    return np.exp(-((x[:, None] - x[None]) ** 2) / 8) * np.outer(*[generator.uniform(1, 2, n)] * 2)


def blocks(*sizes):
    Q = np.zeros((sum(sizes), sum(sizes)))
    start = 0
    for size in sizes:
        Q[start : start + size, start : start + size] = 1 / size
        start += size
    return Q


def test_components_are_those_of_scipys_single_linkage():
    Q = random_similarity(40, 0)
    scale = np.sqrt(np.diag(Q))
    distance = -np.log10(np.minimum(Q / np.outer(scale, scale), 1))
    np.fill_diagonal(distance, 0)
    truth = linkage(squareform(distance, checks=False), "single")
    tree = linkage_tree(DensePoint(Q))
    finite = np.isfinite(tree.heights)
    assert np.allclose(tree.heights[finite], np.sort(truth[:, 2])[: finite.sum()], atol=1e-12)
    for height in (0.05, 0.2, 0.5, 1.0, 3.0):
        assert adjusted_rand_score(tree.components(height), fcluster(truth, height, "distance")) == 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 10**6), hnp.arrays(float, 4, elements=st.floats(0, 6)))
def test_count_falls_with_height_and_no_part_is_too_small(n, seed, heights):
    tree = linkage_tree(DensePoint(random_similarity(n, seed)))
    counts = [tree.count(height) for height in np.sort(heights)]
    assert counts == sorted(counts, reverse=True)
    assert tree.count(np.inf) == 1
    for height in heights:
        sizes = np.bincount(tree.parts(height))
        assert len(sizes) == tree.count(height)
        assert sizes.min() >= (smallest_part(n) if len(sizes) > 1 else 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10**6), st.data())
def test_a_cut_has_exactly_so_many_parts(n, seed, data):
    tree = linkage_tree(DensePoint(random_similarity(n, seed)))
    count = data.draw(st.integers(1, n))
    labels = tree.cut(count)
    assert np.array_equal(np.unique(labels), np.arange(count))
    if count <= tree.count(-1.0):
        assert np.bincount(labels).min() >= (smallest_part(n) if count > 1 else 1)


def test_cuts_refine_each_other():
    tree = linkage_tree(DensePoint(random_similarity(60, 3)))
    for count in range(2, tree.count(-1.0) + 1):
        coarse, fine = tree.cut(count - 1), tree.cut(count)
        assert len(set(zip(coarse, fine, strict=True))) == count


def test_small_sets_join_what_they_are_most_similar_to():
    x = np.r_[np.arange(20.0), 24.0, 40 + np.arange(20.0)]  # one point between two chains, nearer to the first
    Q = np.exp(-((x[:, None] - x[None]) ** 2) / 20)
    labels = linkage_tree(DensePoint(Q)).cut(2)
    assert labels[20] == labels[0]
    assert np.bincount(labels).tolist() == [21, 20]


def test_hard_clusters_persist_as_far_as_heights_go():
    tree = linkage_tree(DensePoint(blocks(10, 10, 20)))
    assert tree.persistence(3) == pytest.approx(np.log10(CEILING / TOGETHER))
    assert tree.persistence(1) == tree.persistence(2) == tree.persistence(4) == 0
    assert np.bincount(tree.parts(1.0)).tolist() == [10, 10, 20]


def test_the_clearest_number_is_that_of_the_widest_gap():
    Q = blocks(10, 10, 10)
    Q[:20, :20] += 0.03  # the first two are linked, far more weakly than each within
    assert linkage_tree(DensePoint(Q)).clearest() == 3
    Q[:20, :20] += 0.07
    assert linkage_tree(DensePoint(Q)).clearest() == 2


def test_one_block_is_one():
    tree = linkage_tree(DensePoint(np.full((30, 30), 1 / 30)))
    assert tree.persistence(1) == pytest.approx(np.log10(CEILING / TOGETHER))
    assert tree.count(0.0) == tree.clearest() == 1


def test_a_matrix_in_pieces_says_nothing_of_parts():
    """Where no set holds a twentieth of the points there is nothing to count."""
    tree = linkage_tree(DensePoint(np.eye(100)))
    assert all(tree.persistence(count) == 0 for count in range(1, 20))


def test_negative_entries_tell_the_noise():
    Q = blocks(10, 10)
    Q[:10, 10:] = Q[10:, :10] = 1e-4
    assert np.isfinite(linkage_tree(DensePoint(Q)).heights).all()
    Q[0, 1] = Q[1, 0] = -2e-4
    assert np.isinf(linkage_tree(DensePoint(Q)).heights).sum() == 1


def test_soft_assignments_give_the_same_tree_as_their_matrix():
    V = np.random.default_rng(0).dirichlet(np.full(6, 0.2), size=50)
    V[V < 0.05] = 0
    point = SoftPoint(V / V.sum(axis=1)[:, None])
    soft, full = linkage_tree(point), linkage_tree(DensePoint(point.dense()))
    finite = np.isfinite(full.heights)
    assert np.allclose(soft.heights[finite], full.heights[finite], atol=1e-9)
    assert similarities(point).diagonal().sum() == 0


@pytest.mark.parametrize(("n", "size"), [(2, 1), (4, 2), (20, 2), (100, 5), (101, 6)])
def test_smallest_part(n, size):
    assert smallest_part(n) == size


def test_points_that_nothing_joins_are_in_no_branch():
    pairs = np.kron(np.eye(20), np.full((2, 2), 0.5))
    block = np.full((10, 10), 0.1)
    Q = np.block([[block, np.zeros((10, 40))], [np.zeros((40, 10)), pairs]])
    found = division_tree(linkage_tree(DensePoint(Q)), np.r_[np.zeros(10, dtype=int), np.full(40, -1)])
    assert found.sizes.tolist() == [10]
    assert found.labels.tolist() == [0]
