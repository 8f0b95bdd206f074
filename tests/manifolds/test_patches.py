"""The K for coordinates: as large patches as the shape allows."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

from sknomad import NOMAD, Gram, datasets
from sknomad._manifolds.choice import PATCHES_FOR_COORDINATES, choose
from sknomad._manifolds.look import make_look
from sknomad._manifolds.order import WIDEST_GAP, widest_gap
from sknomad._manifolds.patches import _agree, coordinates_K, shared_variance


@pytest.mark.parametrize(("n", "parts", "K"), [(2, 1, 2), (5, 1, 2), (120, 1, 12), (10_000, 1, 32), (300, 20, 40)])
def test_without_looks_there_are_ten_points_per_patch_and_two_patches_per_part(n, parts, K):
    assert coordinates_K(n, parts) == K


@pytest.mark.slow
def test_order_of_a_swiss_roll_with_defaults():
    """Patches of 25 points join the turns: the order is then that of a disc."""
    X, t = make_swiss_roll(400, random_state=0)
    model = NOMAD().fit(X)
    assert model.n_manifolds_ == 1
    assert abs(spearmanr(model.order_, t)[0]) >= 0.95


def test_a_noisy_ring_gets_large_patches():
    X, _ = datasets.ring(250, noise=0.2, random_state=0)
    points_per_patch = 250 / choose(Gram.from_data(X)).K
    assert points_per_patch == pytest.approx(max(PATCHES_FOR_COORDINATES))


def chain_of_blobs(width):
    """Q of 80 points on a line whose neighbourhoods have about so many points."""
    steps = np.abs(np.arange(80)[:, None] - np.arange(80))
    Q = np.exp(-((steps / width) ** 2))
    return make_look(80 / width, Q / Q.sum(axis=1).max())


def test_the_coarsest_look_that_agrees_with_all_finer_ones(rng):
    looks, one = [chain_of_blobs(width) for width in (8, 6, 4, 3)], np.zeros(80, dtype=int)
    assert coordinates_K(80, 1, looks, one) == looks[0].K
    other = chain_of_blobs(8).modes
    order = rng.permutation(80)
    Q = ((other.vectors * other.values) @ other.vectors.T)[np.ix_(order, order)]
    assert coordinates_K(80, 1, [make_look(10, Q), *looks[1:]], one) == looks[1].K
    assert coordinates_K(80, 1, [*looks[:3], make_look(27, Q)], one) == 8
    # Three parts want 24 patches, which one look alone has: nothing to compare it with, and patches have nine points.
    assert coordinates_K(80, 3, looks, np.repeat([0, 1, 2], (27, 27, 26))) == 8
    assert coordinates_K(800, 3, looks, np.repeat([0, 1, 2], (27, 27, 26))) == 32


def look_at(first, second, K):
    """A look whose two leading coordinates are these, of unit variance."""
    return make_look(K, (1 + 0.9 * np.outer(first, first) + 0.6 * np.outer(second, second)) / len(first))


def test_a_ring_that_closes_in_the_finest_look_is_believed(rng):
    """Coarser patches join points across it, as on the teapots: they show an arc in another order."""
    t, one = np.pi * (np.arange(80) + 0.5) / 80, np.zeros(80, dtype=int)
    waves = [np.sqrt(2) * np.cos(t), np.sqrt(2) * np.cos(2 * t), np.sqrt(2) * np.sin(2 * t)]
    order = rng.permutation(80)
    coarse = look_at(waves[0][order], waves[1][order], 10)
    assert coordinates_K(80, 1, [coarse, look_at(waves[1], waves[2], 20)], one) == 20
    # An arc that only the finest look shows may be noise.
    assert coordinates_K(80, 1, [coarse, look_at(waves[0], waves[1], 20)], one) == 8


def test_shared_variance_does_not_see_rotation_and_scale(rng):
    E = rng.standard_normal((50, 2))
    turned = E @ np.array([[3.0, 1.0], [-1.0, 2.0]])
    assert shared_variance(E, turned) == pytest.approx(1)
    assert shared_variance(E, rng.standard_normal((50, 2))) < 0.3
    assert shared_variance(np.zeros((50, 2)), E) == 1
    assert shared_variance(E, np.zeros((50, 2))) == 0


def test_an_arc_that_was_none_must_agree_more_clearly(rng):
    """Both have two thirds of their variance in common with what they are compared with."""
    t = np.pi * (np.arange(200) + 0.5) / 200
    arc, ring = np.column_stack([np.cos(t), np.cos(2 * t)]), np.column_stack([np.cos(2 * t), np.sin(2 * t)])
    noise = 0.45 * rng.standard_normal((200, 2))
    assert widest_gap(arc + noise) < WIDEST_GAP <= widest_gap(arc)
    assert 0.6 <= shared_variance(arc + noise, arc) < 0.9
    assert _agree(arc, arc)
    assert _agree(ring + noise, ring)
    assert not _agree(arc + noise, arc)
