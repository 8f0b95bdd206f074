"""Where landmarks go: by k-means, or by a tree where they are many, and never twice to one place."""

import numpy as np
import pytest

from sknomad._landmark import choice
from sknomad._landmark.choice import choose_landmarks
from sknomad._landmark.rows import CentredRows
from sknomad.datasets import swiss_roll_3d


@pytest.fixture
def rows():
    return CentredRows.of(swiss_roll_3d(3000, random_state=0)[0])


def test_a_tree_spreads_landmarks_nearly_as_well(rows, monkeypatch):
    by_kmeans = choose_landmarks(rows, 200, 0.0, 0)
    monkeypatch.setattr(choice, "MOST_SPREAD_BY_KMEANS", 100)
    by_tree = choose_landmarks(rows, 200, 0.0, 0)
    assert by_tree.weights.m == 200
    assert by_kmeans.residual < by_tree.residual < 2 * by_kmeans.residual
    assert np.array_equal(choose_landmarks(rows, 200, 0.0, 0).C, by_tree.C)


def test_copies_of_few_points_have_as_many_landmarks_as_points(monkeypatch):
    monkeypatch.setattr(choice, "MOST_SPREAD_BY_KMEANS", 3)
    X = np.repeat(np.arange(5.0)[:, None], 40, axis=0)
    found = choose_landmarks(CentredRows.of(X), 50, 0.0, 0)
    assert found.weights.m == 5
    assert found.residual < 1e-5


def test_automatic_counts_double_until_enough_is_met(rows, monkeypatch):
    monkeypatch.setattr(choice, "FIRST_COUNT", 50)
    monkeypatch.setattr(choice, "LAST_COUNT", 400)
    first = choose_landmarks(rows, "auto", 1.0, 0)
    last = choose_landmarks(rows, "auto", 0.0, 0)
    assert (first.weights.m, last.weights.m) == (50, 400)
    assert last.residual < first.residual / 4
