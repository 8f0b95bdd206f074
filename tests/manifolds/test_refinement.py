"""Divisions within the best one: taken where one of its parts is several by itself, and nowhere else."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sknomad import Gram, assignment_matrix
from sknomad._manifolds import refinement
from sknomad._manifolds.choice import decide
from sknomad._manifolds.divisions import Scored
from sknomad._manifolds.look import Landscape, make_look
from sknomad._manifolds.refinement import CLOSE_SCORE, refined
from sknomad._manifolds.strength import Verdict
from sknomad._manifolds.survey import look_around

SIZE = 110
CLOUDS = np.repeat([0, 1, 2], SIZE)
TWO_JOINED = np.minimum(CLOUDS, 1)


@pytest.fixture(scope="module")
def survey():
    """Three clouds in a plane, the last two nearer to each other."""
    centres = np.array([[0.0, 0.0], [16.0, 0.0], [22.0, 0.0]])
    return look_around(Gram.from_data(centres[CLOUDS] + np.random.default_rng(0).normal(size=(len(CLOUDS), 2))))


def taken(survey, *candidates, behind=0.1):
    """Labels after refinement, where every candidate is as far behind the one before."""
    ranked = [Scored(labels, -behind * place) for place, labels in enumerate(candidates)]
    return refined(survey.looks, Verdict(ranked, 1.0)).labels


def test_a_part_of_two_clouds_is_divided(survey):
    assert np.array_equal(taken(survey, TWO_JOINED, CLOUDS), CLOUDS)
    assert adjusted_rand_score(decide(survey).labels, CLOUDS) > 0.95


def test_a_part_that_is_one_cloud_is_not(survey):
    halved = np.where(np.arange(len(CLOUDS)) < SIZE // 2, 3, CLOUDS)
    assert np.array_equal(taken(survey, CLOUDS, halved), CLOUDS)
    # Nor is a division taken that leaves the two clouds together and halves the other.
    joined_and_halved = np.where(halved == 3, 2, TWO_JOINED)
    assert np.array_equal(taken(survey, TWO_JOINED, joined_and_halved), TWO_JOINED)
    # The one after it that parts the two clouds is.
    assert np.array_equal(taken(survey, TWO_JOINED, joined_and_halved, CLOUDS), CLOUDS)


def test_the_finer_division_must_come_close(survey):
    assert np.array_equal(taken(survey, TWO_JOINED, CLOUDS, behind=0.9 * CLOSE_SCORE), CLOUDS)
    assert np.array_equal(taken(survey, TWO_JOINED, CLOUDS, behind=1.1 * CLOSE_SCORE), TWO_JOINED)


def test_the_finer_division_must_lie_within(survey):
    others_joined = np.array([0, 0, 1])[CLOUDS]
    across = np.where(np.arange(len(CLOUDS)) % 2, 2, TWO_JOINED)
    assert np.array_equal(taken(survey, TWO_JOINED, across), TWO_JOINED)
    assert np.array_equal(taken(survey, TWO_JOINED, others_joined), TWO_JOINED)


def test_few_points_are_left_whole(survey, monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_TO_DIVIDE", 2 * SIZE + 1)
    assert np.array_equal(taken(survey, TWO_JOINED, CLOUDS), TWO_JOINED)


def test_no_part_is_looked_at_where_no_finer_division_is_close(survey, monkeypatch):
    monkeypatch.setattr(refinement, "_are_clearly_several", lambda looks, points: pytest.fail("looked at a part"))
    assert np.array_equal(taken(survey, CLOUDS, TWO_JOINED), CLOUDS)


def test_a_look_at_all_points_again_is_the_same(survey):
    look = survey.looks[0]
    again = look.within(np.arange(look.n))
    assert np.isclose(again.K, np.trace(look.Q))
    for landscape in Landscape:
        assert np.allclose(again.density[landscape], look.density[landscape])
        assert np.allclose(again.levels[landscape], look.levels[landscape])


def test_a_look_at_some_points_has_their_patches_and_masses():
    masses = np.array([1.0, 3, 2, 2, 1, 1, 1])
    look = make_look(3.0, assignment_matrix([0, 0, 1, 1, 2, 2, 2]), masses)
    some = look.within(np.array([0, 1, 2, 3]))
    assert np.isclose(some.K, 2)
    assert some.n == 4
    assert some.masses.tolist() == [0.5, 1.5, 1.0, 1.0]
