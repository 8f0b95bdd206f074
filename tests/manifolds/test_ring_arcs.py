"""Rings show whole at every size of patch, and are not cut at the gaps of their sample."""

import numpy as np
import pytest

from sknomad import Gram, datasets
from sknomad._manifolds import strength as strengths
from sknomad._manifolds.choice import decide
from sknomad._manifolds.ring_arcs import are_arcs_of_a_ring
from sknomad._manifolds.strength import MORE_FOR_RINGS
from sknomad._manifolds.survey import look_around


def noisy_ring(seed, noise, columns=2):
    """300 points at random angles, with noise in every column."""
    random = np.random.default_rng(seed)
    angles = random.uniform(0, 2 * np.pi, 300)
    X = np.zeros((300, columns))
    X[:, 0], X[:, 1] = np.cos(angles), np.sin(angles)
    return X + random.normal(0, noise, X.shape)


def shown(X):
    """The looks at some points, and the best division into several parts."""
    survey = look_around(Gram.from_data(X))
    return survey, decide(survey, allow_single=False).labels


@pytest.mark.parametrize(("seed", "noise", "columns"), [(0, 0.01, 2), (1, 0.05, 2), (2, 0.1, 10)])
def test_arcs_of_a_ring_are_known_and_the_ring_stays_one(seed, noise, columns):
    X = noisy_ring(seed, noise, columns)
    survey, _ = shown(X)
    quarters = np.digitize(np.arctan2(X[:, 1], X[:, 0]), [-np.pi / 2, 0, np.pi / 2])
    assert are_arcs_of_a_ring(survey.looks, quarters)
    assert decide(survey).n_parts == 1


def test_arcs_need_more_strength(monkeypatch):
    survey, labels = shown(noisy_ring(1, 0.1, 10))
    assert are_arcs_of_a_ring(survey.looks, labels)
    strength = decide(survey).strength
    monkeypatch.setattr(strengths, "MORE_FOR_RINGS", 0.0)
    assert decide(survey).strength == pytest.approx(strength + MORE_FOR_RINGS)


SEVERAL = {
    "two rings": lambda: datasets.two_rings(200)[0],
    "half-rings": lambda: datasets.moons(200, noise=0.1, random_state=0)[0],
    "spirals": lambda: datasets.three_spirals(210)[0],
    "noisy spirals": lambda: datasets.three_spirals(300, noise=0.05, random_state=0)[0],
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_parts_are_no_arcs(name):
    """Spirals out of one centre lie around a hole, but each of them goes all the way round."""
    survey, labels = shown(SEVERAL[name]())
    assert not are_arcs_of_a_ring(survey.looks, labels)
    assert decide(survey).n_parts > 1


def test_parts_of_an_arc_are_no_arcs_of_a_ring():
    X = noisy_ring(3, 0.05)
    survey, labels = shown(X[X[:, 1] > 0])
    assert not are_arcs_of_a_ring(survey.looks, labels)


def test_six_clear_clouds_around_a_hole_are_still_six():
    random = np.random.default_rng(0)
    angles = 2 * np.pi * np.arange(6) / 6
    X = np.repeat(np.c_[np.cos(angles), np.sin(angles)], 50, axis=0) + random.normal(0, 0.12, (300, 2))
    assert decide(look_around(Gram.from_data(X))).n_parts == 6
