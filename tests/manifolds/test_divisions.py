"""Valley trees, spectral cuts and the pool of divisions, against brute force and exact cases."""

import math
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sknomad import Gram, assignment_matrix
from sknomad._manifolds.divisions import (
    EVIDENCE_WEIGHTS,
    LEAST_EVIDENCE,
    POWER_OF_AGREEMENT,
    Pool,
    _agreement,
    gather,
    gather_told,
)
from sknomad._manifolds.look import FAINTEST, Landscape, make_look
from sknomad._manifolds.spectral_cuts import spectral_cut, spectral_gaps
from sknomad._manifolds.survey import look_around
from sknomad._manifolds.valley_tree import prominences_between, smallest_part, valley_tree
from sknomad._points.components import in_order
from sknomad.datasets import three_spirals


def chain(weights):
    """A kernel of points in a row, each linked to the next by a similarity, with a given diagonal."""
    diagonal, links = weights
    n = len(diagonal)
    Q = np.diag(np.asarray(diagonal, dtype=float))
    for i, s in enumerate(links):
        Q[i, i + 1] = Q[i + 1, i] = s * math.sqrt(diagonal[i] * diagonal[i + 1])
    return Q[:n, :n]


@pytest.fixture
def two_hills():
    """Dense points (small diagonal) at 1 and 5, a valley at 3, all links alike."""
    density = np.array([2.0, 3.0, 2.5, 0.5, 2.0, 2.8, 2.2])
    return make_look(3.0, chain((np.exp(-density), [0.9] * 6))), density


def test_the_prominence_of_the_lower_peak_is_its_height_above_the_valley(two_hills):
    look, density = two_hills
    tree = valley_tree(look, Landscape.PLAIN, 2)
    valley = 0.5 + Landscape.PLAIN.value * math.log(0.9)
    assert tree.prominence.max() == pytest.approx(2.8 - valley)
    assert tree.cut(2).tolist() in ([0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1])
    assert prominences_between(look, tree.cut(2)) == pytest.approx([2.8 - valley])
    assert np.all(np.diff(tree.levels) <= 0)
    assert density[look.density[Landscape.PLAIN].argmax()] == 3.0


def test_parts_join_where_the_highest_link_between_them_is():
    """The saddles of every pair of parts, looked up link by link."""
    generator = np.random.default_rng(1)
    Q = generator.random((20, 20)) * (generator.random((20, 20)) < 0.3)
    look = make_look(4.0, Q @ Q.T + 0.1 * np.eye(20))
    density, level = look.density[Landscape.PLAIN], look.levels[Landscape.PLAIN]
    for count in (2, 3):
        labels = np.arange(20) % count
        peak = [density[labels == c].max() for c in range(count)]
        saddle = np.full((count, count), -np.inf)
        for i, j, height in zip(labels[look.first], labels[look.second], level, strict=True):
            saddle[i, j] = saddle[j, i] = max(saddle[i, j], height)
        np.fill_diagonal(saddle, -np.inf)
        # The first two parts to join are those with the highest saddle; the lower of their peaks ends there.
        a, b = np.unravel_index(saddle.argmax(), saddle.shape)
        assert prominences_between(look, labels)[0] == pytest.approx(max(min(peak[a], peak[b]) - saddle[a, b], 0))


def test_parts_that_nothing_links_join_faintly():
    """Whichever of them come first, every lower peak stands as far above a faint link as any other."""
    labels = np.repeat([0, 1, 2, 3], [5, 3, 9, 4])
    look = make_look(4.0, assignment_matrix(labels))
    expected = -Landscape.PLAIN.value * math.log(FAINTEST)
    assert prominences_between(look, labels) == pytest.approx([expected] * 3)


def test_prominences_do_not_depend_on_the_order_of_points(two_hills):
    look, density = two_hills
    Q = chain((np.exp(-density), [0.9] * 6))
    order = np.random.default_rng(0).permutation(7)
    mixed = valley_tree(make_look(3.0, Q[np.ix_(order, order)]), Landscape.PLAIN, 2)
    straight = valley_tree(look, Landscape.PLAIN, 2)
    np.testing.assert_allclose(np.sort(mixed.prominence), np.sort(straight.prominence), atol=1e-12)


@pytest.mark.parametrize("count", [2, 4, 7])
def test_links_outside_the_tree_change_no_merge_of_parts(count):
    """The tree is all that is looked at; here all links are, for parts that do not even hang together."""
    generator = np.random.default_rng(count)
    Q = generator.random((40, 40)) * (generator.random((40, 40)) < 0.2)
    look = make_look(4.0, Q @ Q.T + 0.1 * np.eye(40))
    labels = generator.permutation(np.arange(40) % count)
    density = look.density[Landscape.PLAIN]
    sets = {c: density[labels == c].max() for c in range(count)}
    links = list(zip(labels[look.first], labels[look.second], look.levels[Landscape.PLAIN], strict=True))
    expected = []
    while len(expected) < count - 1:
        a, b, level = max(((i, j, h) for i, j, h in links if i != j), key=lambda link: link[2])
        expected.append(max(min(sets[a], sets[b]) - level, 0))
        sets[a] = max(sets[a], sets[b])
        links = [(a if i == b else i, a if j == b else j, height) for i, j, height in links]
    assert prominences_between(look, labels) == pytest.approx(expected)


def test_the_tree_is_a_maximum_spanning_tree():
    generator = np.random.default_rng(0)
    Q = generator.random((14, 14)) * (generator.random((14, 14)) < 0.4)
    look = make_look(4.0, Q @ Q.T + 0.1 * np.eye(14))
    # Kruskal's algorithm, by hand.
    level, sets, total = look.levels[Landscape.PLAIN], np.arange(14), []
    for k in np.argsort(-level):
        a, b = sets[look.first[k]], sets[look.second[k]]
        if a != b:
            sets[sets == b] = a
            total.append(level[k])
    assert len(total) == 13
    assert valley_tree(look, Landscape.PLAIN, 3).levels == pytest.approx(total)


def test_sets_that_are_too_small_join_what_they_meet(two_hills):
    look, _ = two_hills
    tree = valley_tree(look, Landscape.PLAIN, 4)
    assert tree.prominence.max() == 0
    assert tree.cut(2) is None
    assert tree.cut(1).tolist() == [0] * 7


def test_what_nothing_links_hangs_on_the_densest_point():
    look = make_look(2.0, assignment_matrix([0, 0, 0, 0, 1, 1, 1]))
    tree = valley_tree(look, Landscape.PLAIN, 3)
    assert len(tree.levels) == 6
    assert tree.cut(2).tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert tree.levels.min() == pytest.approx(math.log(3) + Landscape.PLAIN.value * math.log(FAINTEST))
    assert tree.highest_prominence(0.5) == 0
    assert tree.highest_prominence(0.3) > 4


@pytest.mark.parametrize("sizes", [(5, 5), (4, 7, 9), (3, 3, 3, 3, 8)])
def test_hard_clusterings_are_cut_exactly(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(0).permutation(len(labels))
    look = make_look(len(sizes) + 1.0, assignment_matrix(labels)[np.ix_(order, order)])
    counts, gaps = spectral_gaps(look)
    assert counts[gaps.argmax()] == len(sizes)
    assert adjusted_rand_score(labels[order], spectral_cut(look, len(sizes))) == 1
    tree = valley_tree(look, Landscape.PLAIN, 3)
    assert adjusted_rand_score(labels[order], tree.cut(len(sizes))) == 1


def test_more_parts_than_eigenvectors_are_no_cut():
    look = make_look(2.0, assignment_matrix([0, 0, 1, 1]))
    assert spectral_cut(look, 5) is None


def test_equal_divisions_share_their_votes_and_unequal_ones_do_not():
    look = make_look(3.0, assignment_matrix([0] * 10 + [1] * 10))
    halves, almost, other = np.repeat([0, 1], 10), np.repeat([0, 1], [10, 10]), np.tile([0, 1], 10)
    pool = Pool([look])
    pool.add(halves, 0, 0.5)
    pool.add(almost, 0, 0.25)
    pool.add(other, 0, 0.25)
    pool.add(None, 0, 1.0)
    assert len(pool.divisions) == 2
    best, worse = pool.scored()
    assert best.labels.tolist() == halves.tolist()
    assert best.n_parts == 2
    assert best.score > worse.score
    assert worse.score < math.log(LEAST_EVIDENCE + EVIDENCE_WEIGHTS[0] * 0.25)


def test_one_part_is_never_scored_above_several():
    pool = Pool([make_look(2.0, np.full((6, 6), 1 / 6))])
    pool.add(np.zeros(6, dtype=int), 0, 1.0)
    assert pool.scored()[0].score == -math.inf
    assert Pool().scored() == []


def test_gathering_finds_the_blocks():
    labels = np.repeat([0, 1, 2], [10, 12, 14])
    looks = [make_look(K, assignment_matrix(labels)) for K in (4.0, 6.0)]
    pool = gather(looks)
    assert adjusted_rand_score(pool.scored()[0].labels, labels) == 1
    assert pool.highest_valley > 1
    assert adjusted_rand_score(gather_told(looks, 3).scored()[0].labels, labels) == 1


def test_a_pool_that_sees_looks_one_after_another_ends_as_one_that_sees_all():
    looks = look_around(Gram.from_data(three_spirals(100)[0])).looks
    pool = gather(looks[:2])
    pool.scored()
    one, other = gather(looks, pool), gather(looks)
    assert one.highest_valley == other.highest_valley
    assert [found.score for found in one.scored()] == [found.score for found in other.scored()]


def test_smallest_part_is_a_fiftieth_and_three_at_least():
    assert smallest_part(10) == 3
    assert smallest_part(1000) == 20
    assert smallest_part(1000, 0.05) == 50


def test_divisions_agree_by_a_power_of_the_adjusted_rand_index():
    generator = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), [30, 20, 8, 2])
    divisions = [truth, np.zeros(60, dtype=int), np.arange(60)]
    for count in (1, 2, 3, 6, 20):
        changed = truth.copy()
        changed[generator.choice(60, count, replace=False)] = generator.integers(0, 6, count)
        divisions.append(in_order(changed))
    index = np.array([[adjusted_rand_score(one, other) for other in divisions] for one in divisions])
    assert np.allclose(_agreement(divisions, np.ones(60)), np.maximum(index, 0) ** POWER_OF_AGREEMENT, atol=1e-12)


def test_divisions_into_hundreds_of_parts_are_compared_in_little_memory():
    """A dense table of what any two of their parts share would take three gigabytes."""
    random = np.random.default_rng(0)
    divisions = [random.permutation(500) for _ in range(40)]
    tracemalloc.start()
    agreement = _agreement([*divisions, np.arange(500) // 2], np.ones(500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.all(agreement[:40, :40] == 1)
    assert np.all(agreement[40, :40] == 0)
    assert peak < 200e6


def test_a_pair_of_groups_counts_as_often_as_its_points_do():
    """Divisions of groups agree as those of their points do, pairs within a group left out of both counts."""
    masses, one, other = np.array([3.0, 2.0, 1.0, 2.0, 1.0]), np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1])
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]

    def counted(*together):
        return sum(masses[i] * masses[j] for i, j in pairs if all(labels[i] == labels[j] for labels in together))

    expected = counted(one) * counted(other) / counted()
    index = (counted(one, other) - expected) / ((counted(one) + counted(other)) / 2 - expected)
    assert _agreement([one, other], masses)[0, 1] == pytest.approx(max(index, 0) ** POWER_OF_AGREEMENT)


@pytest.mark.parametrize("stays", [0.9, 0.999])
def test_a_point_that_is_hardly_ever_left_is_no_spectral_part(stays):
    """Two halves with many links between them, and one point beside: its own mode of ``Q`` is slower than theirs."""
    halves = np.repeat([0, 1], 10)
    Q = np.zeros((21, 21))
    Q[:20, :20] = 0.7 * assignment_matrix(halves) + 0.3 / 20
    Q[20, 20] = stays
    Q[20, :20] = Q[:20, 20] = (1 - stays) / 20
    Q[np.arange(20), np.arange(20)] -= (1 - stays) / 20
    look = make_look(4.0, Q)
    assert np.argmax(np.abs(look.modes.vectors[:, 1])) == 20
    assert adjusted_rand_score(halves, spectral_cut(look, 2)[:20]) == 1
