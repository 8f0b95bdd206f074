"""Looks at data, one after another or side by side."""

import time

import numpy as np
import pytest

from sknomad import Gram, datasets
from sknomad._manifolds import survey
from sknomad._manifolds.look import MOST_PAIRS, make_look
from sknomad._manifolds.survey import look_around
from sknomad._numerics.threads import limited_threads, threads_now
from sknomad._solving.budget import Budget


@pytest.fixture(scope="module")
def gram():
    return Gram.from_data(datasets.moons(60, noise=0.05, random_state=0)[0])


def same_looks(one, other):
    pairs = zip(one.looks, other.looks, strict=True)
    return all(a.K == b.K and np.array_equal(a.Q, b.Q) and np.array_equal(a.rates, b.rates) for a, b in pairs)


def test_looks_do_not_depend_on_the_number_of_threads(gram):
    with limited_threads(1):
        alone = look_around(gram)
        heard = look_around(gram, callback=lambda progress: None)
    with limited_threads(4):
        together = look_around(gram)
    assert same_looks(alone, together)
    assert same_looks(alone, heard)


@pytest.mark.parametrize("n", [60, 250, 450])
def test_eigenvectors_are_those_of_the_solution(n):
    """They are taken from the solver's last step: found again from the dense matrix they are the same."""
    for look in look_around(Gram.from_data(datasets.moons(n, noise=0.1, random_state=1)[0])).looks:
        # The vector of ones comes first, whatever eigenvalue a rough solution has above one.
        modes = look.modes
        assert np.allclose(modes.vectors[:, 0], 1 / np.sqrt(n))
        values = np.r_[1.0, np.sort(np.linalg.eigvalsh(look.Q - 1 / n))[::-1]]
        count = min(len(modes.values), MOST_PAIRS)
        assert np.allclose(modes.values[:count], values[:count], atol=1e-4)
        assert np.allclose(look.Q @ modes.vectors, modes.vectors * modes.values, atol=1e-3)
        again = np.sort(make_look(look.K, look.Q).modes.values)[::-1]
        assert np.allclose(again[:count], np.sort(modes.values)[::-1][:count], rtol=1e-2, atol=1e-3)


def test_looks_that_somebody_listens_to_have_one_thread_too(gram):
    """Threads that wait for each other made the command a hundred times slower beside other processes."""
    seen = []
    with limited_threads(2):
        look_around(gram, callback=lambda progress: seen.append(threads_now()))
        assert set(seen) == {1}
        assert threads_now() == 2


def test_side_by_side_no_look_is_lost(gram, monkeypatch):
    order = []
    make = survey.make_look
    monkeypatch.setattr(survey, "make_look", lambda K, *rest: order.append(K) or make(K, *rest))
    looks = look_around(gram).looks
    assert [look.K for look in looks] == sorted(order) == survey.looked_at(60)


def test_an_error_in_one_look_ends_the_others(gram, monkeypatch):
    finest = max(survey.looked_at(60))
    told_to_stop = []

    def failing(problem, callback, budget):
        if finest == problem.K:
            raise MemoryError("no room for this look")
        while not callback(None):
            time.sleep(0.001)
        told_to_stop.append(problem.K)
        return np.eye(60), True

    monkeypatch.setattr(survey, "_smooth_solution", failing)
    with limited_threads(2), pytest.raises(MemoryError, match="no room"):
        look_around(gram)
    assert len(told_to_stop) <= 2


def test_time_ends_the_search_with_one_look_at_least(gram):
    assert len(look_around(gram, budget=Budget(0.0)).looks) == 1


def test_a_callback_ends_the_search(gram):
    heard = []
    look_around(gram, callback=lambda progress: heard.append(progress.K))
    in_the_second = heard.count(heard[0]) + 1
    heard.clear()
    found = look_around(gram, callback=lambda progress: heard.append(progress.K) or len(heard) == in_the_second)
    assert len(heard) == in_the_second
    assert len(found.looks) == 2


def steps_of_the_first_looks(gram):
    heard = []
    next(survey.surveys(gram, callback=lambda progress: heard.append(progress.K)))
    return len(heard)


def test_who_stops_the_last_of_the_first_looks_sees_no_further_one():
    gram, heard = Gram.from_data(np.random.default_rng(0).normal(size=(210, 2))), []
    steps_of_the_first = steps_of_the_first_looks(gram)

    def stop_in_time(progress):
        heard.append(progress.K)
        return len(heard) == steps_of_the_first

    assert [len(found.looks) for found in survey.surveys(gram, callback=stop_in_time)] == [5]
    assert len(heard) == steps_of_the_first
