"""Links that jump to another turn are left out; those across a hole, or the only ones, are not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import kneighbors_graph

from sknomad import NOMAD
from sknomad._manifolds.shortcuts import without_shortcuts


def neighbours(X, count=6):
    graph = kneighbors_graph(X, count, mode="distance")
    return graph.maximum(graph.T).tocsr()


def same(one, other):
    return (one != other).nnz == 0


def sheet(rng, n=400):
    return rng.uniform(-1, 1, size=(n, 2))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_links_that_jump_are_found_whatever_the_scale(rng, scale):
    X = sheet(rng) * [10, 1]
    graph = neighbours(X).tolil()
    left, right = np.argsort(X[:, 0])[[0, 1, 2]], np.argsort(X[:, 0])[[-1, -2, -3]]
    whole = neighbours(X)
    for i, j in zip(left, right, strict=True):
        graph[i, j] = graph[j, i] = 3 * np.median(whole.data)
    found = without_shortcuts((graph.tocsr() * scale).tocsr())
    assert same(found, (whole * scale).tocsr())


def test_ways_around_a_hole_stay_as_long_as_they_are(rng):
    X = sheet(rng, 800)
    annulus = neighbours(X[np.linalg.norm(X, axis=1) > 0.4])
    before, after = (dijkstra(graph, directed=False) for graph in (annulus, without_shortcuts(annulus)))
    assert after.sum() <= 1.001 * before.sum()


def test_a_link_that_alone_joins_two_pieces_stays(rng):
    apart = sp.block_diag([neighbours(sheet(rng)), neighbours(sheet(rng))]).tolil()
    apart[0, 500] = apart[500, 0] = 5.0  # the only link between two sheets
    assert same(without_shortcuts(apart.tocsr()), apart.tocsr())


def test_what_hangs_together_still_does(rng):
    graph = neighbours(rng.standard_normal((300, 8)), 4)
    graph = graph + sp.random(300, 300, 0.002, random_state=0) * 20
    graph = graph.maximum(graph.T).tocsr()
    before, after = (connected_components(g, directed=False)[0] for g in (graph, without_shortcuts(graph)))
    assert before == after


def test_graphs_with_nothing_to_judge_are_as_they_were():
    for graph in (sp.csr_matrix((4, 4)), sp.csr_matrix(np.full((3, 3), np.finfo(float).tiny))):
        assert without_shortcuts(graph) is graph


@pytest.mark.parametrize("seed", [3, 4, 8])
def test_rolls_that_used_to_fold_are_in_order(seed):
    X, t = make_swiss_roll(500, random_state=seed)
    assert abs(spearmanr(NOMAD(K=24).fit(X).order_, t)[0]) > 0.99


def test_a_roll_with_the_spectrum_of_a_ring_is_none():
    X, t = make_swiss_roll(500, random_state=30)
    model = NOMAD(K=24).fit(X)
    assert not model.is_closed_.any()
    assert abs(spearmanr(model.order_, t)[0]) > 0.99


@pytest.mark.parametrize("seed", [0, 1])
def test_a_ring_with_a_gap_wider_than_its_patches_stays_round(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.3, 2 * np.pi, 300)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = NOMAD(K=25).fit(circle + 0.03 * rng.standard_normal((300, 2)))
    radius = np.linalg.norm(model.embedding_ - model.embedding_.mean(axis=0), axis=1)
    assert radius.std() < 0.1 * radius.mean()
    assert model.closedness_[0] > 0.85
    assert abs(spearmanr(model.order_, angle)[0]) > 0.99 or model.is_closed_[0]
