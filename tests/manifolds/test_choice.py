"""The choice without labels: known parts, single pieces, many points, few points, copies."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, Gram, datasets
from sknomad._manifolds import coarse_points, survey
from sknomad._manifolds.choice import choose, decide
from sknomad._manifolds.strength import several_from
from sknomad._manifolds.survey import POINTS_PER_PATCH, look_around, looked_at
from spread_blobs import blobs

PIECES = {
    "ring": lambda: datasets.ring(80)[0],
    "cloud": lambda: np.random.default_rng(0).normal(size=(100, 3)),
    "long cloud": lambda: np.random.RandomState(0).randn(200, 3) * [5, 1, 1],
    "square": lambda: np.random.default_rng(1).uniform(size=(300, 2)),
    "heavy tails": lambda: np.random.default_rng(2).standard_t(3, size=(300, 5)),
}


@pytest.mark.parametrize("piece", PIECES)
def test_a_single_piece_is_one_part(piece):
    looks = look_around(Gram.from_data(PIECES[piece]()))
    choice = decide(looks)
    assert choice.n_parts == 1
    assert not choice.labels.any()
    assert choice.strength < 0
    assert 0 < choice.confidence < 1
    assert decide(looks, allow_single=False).n_parts > 1


PARTS = {
    "rolls": lambda: datasets.double_swiss_roll(300),
    "spirals": lambda: datasets.three_spirals(300),
    "moons": lambda: datasets.moons(200, noise=0.1, random_state=0),
    "rings": lambda: datasets.two_rings(200),
    "blobs of few points": lambda: blobs(5, size=12),
}


@pytest.mark.parametrize("name", PARTS)
def test_known_parts_are_found(name):
    X, truth = PARTS[name]()
    looks = look_around(Gram.from_data(X))
    choice = decide(looks)
    assert adjusted_rand_score(truth, choice.labels) > 0.95
    assert choice.strength > 0
    told = decide(looks, n_parts=len(np.unique(truth)))
    assert told.was_found
    assert adjusted_rand_score(truth, told.labels) > 0.95


def test_many_small_parts_are_counted():
    generator = np.random.default_rng(0)
    centres = 8.0 * np.array([(i, j) for i in range(6) for j in range(5)])
    X = np.repeat(centres, 14, axis=0) + generator.normal(size=(420, 2))
    choice = choose(Gram.from_data(X))
    assert 28 <= choice.n_parts <= 30
    assert adjusted_rand_score(np.repeat(np.arange(30), 14), choice.labels) > 0.95
    assert 2 * choice.n_parts == choice.K


def test_labels_do_not_depend_on_scale_or_place():
    X, _ = datasets.moons(150, noise=0.08, random_state=3)
    choice = choose(Gram.from_data(X))
    for moved in (1e3 * X, 1e-3 * X + 5.0, X[:, ::-1]):
        assert np.array_equal(choose(Gram.from_data(moved)).labels, choice.labels)


def test_a_number_that_nothing_shows_is_not_found():
    choice = choose(Gram.from_data(blobs(3, size=20)[0]), n_parts=40)
    assert not choice.was_found
    assert choice.confidence == 0
    assert choose(Gram.from_data(blobs(2)[0]), n_parts=1).labels.tolist() == [0] * 30


def test_few_points_are_one_part():
    for n in (2, 3, 5):
        assert choose(Gram.from_data(np.arange(n, dtype=float)[:, None] ** 2)).n_parts == 1


@pytest.mark.parametrize("n", [2, 5, 12, 60, 200, 500])
def test_looks_scale_with_the_number_of_points(n):
    looks = looked_at(n)
    assert looks == sorted(looks)
    assert min(looks) >= 2 or len(looks) == 1
    assert max(looks) <= n
    if n > 200:
        assert looks == sorted(n / size for size in POINTS_PER_PATCH)


def test_more_points_need_less_strength():
    assert several_from(200) < several_from(150) < several_from(100)
    # Below 100 points what single pieces reach falls faster with their number than above.
    assert several_from(60) - several_from(100) > several_from(100) - several_from(167) > 0
    # With seven looks instead of five their number counts no more.
    assert several_from(201) == several_from(500) == pytest.approx(several_from(200), abs=0.1)


def test_true_divisions_into_many_parts_are_strong():
    """The score of a division into ten is low, because many are nearly the same; the valleys between them are not."""
    X, truth = load_digits(return_X_y=True)
    choice = choose(Gram.from_data(X[:500]))
    assert choice.strength > 0.5
    assert adjusted_rand_score(truth[:500], choice.labels) > 0.7


@pytest.mark.parametrize("seed", [115, 120])
def test_half_rings_with_noise_do_not_fall_into_many_pieces(seed):
    """Those of the first seed were fourteen parts: nearly as good a score spoke for the right two."""
    X, truth = datasets.moons(300, noise=0.1, random_state=seed)
    assert adjusted_rand_score(truth, choose(Gram.from_data(X)).labels) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_a_roll_that_is_sampled_thinly_stays_one(seed):
    assert choose(Gram.from_data(make_swiss_roll(500, random_state=seed)[0])).n_parts == 1


@pytest.fixture
def few_groups(monkeypatch):
    """Groups from fewer points on, which costs less."""
    monkeypatch.setattr(coarse_points, "MOST_GROUPS", 120)


@pytest.mark.slow
def test_groups_stand_for_a_thousand_points():
    X, truth = datasets.moons(1000, noise=0.1, random_state=0)
    assert adjusted_rand_score(truth, choose(Gram.from_data(X)).labels) > 0.95


@pytest.mark.usefixtures("few_groups")
@pytest.mark.parametrize("form", ["data", "sparse", "kernel"])
def test_groups_stand_for_many_points(form):
    X, truth = datasets.two_rings(200)
    X = X + 5 * truth[:, None]
    gram = {"data": Gram.from_data, "sparse": lambda X: Gram.from_data(sp.csr_array(X))}.get(form)
    choice = choose(gram(X) if gram else Gram.from_kernel(X @ X.T))
    assert choice.labels.tolist() == truth.tolist()


@pytest.mark.usefixtures("few_groups")
def test_groups_of_duplicates():
    X, truth = blobs(3)
    choice = choose(Gram.from_data(np.tile(X, (12, 1))))
    assert choice.labels.tolist() == np.tile(truth, 12).tolist()


@pytest.mark.usefixtures("few_groups")
def test_copies_of_a_few_points_are_counted_as_often_as_they_occur():
    X, truth = datasets.blobs(200, noise=0.0)
    choice = choose(Gram.from_data(X))
    assert adjusted_rand_score(truth, choice.labels) == 1


@pytest.mark.parametrize("n", [100, 201, 250, 260, 400, 401, 450, 499])
def test_points_that_are_all_equal_are_one_part(n):
    """LAPACK's routine for the largest eigenvalues fails where they are exactly equal, at some n."""
    assert choose(Gram.from_data(np.ones((n, 3)))).n_parts == 1


def test_callback_stops_the_choice():
    calls = []
    choice = choose(Gram.from_data(datasets.ring(60)[0]), callback=lambda progress: calls.append(1) or len(calls) == 3)
    assert len(calls) == 3
    assert len(choice.K_values) == 1


def test_automatic_K_shows_the_manifolds():
    X, truth = datasets.two_rings(100)
    model = NOMAD().fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.K_ == choose(Gram.from_data(X)).K
    assert model.confidence_ == choose(Gram.from_data(X)).confidence
    assert np.isnan(NOMAD(K=8).fit(X).confidence_)


def looks_for(monkeypatch, X, **options):
    """Points per patch of the looks that a choice is made from."""
    made = []
    make = survey.make_look
    monkeypatch.setattr(survey, "make_look", lambda K, *rest: made.append(round(len(X) / K)) or make(K, *rest))
    choice = choose(Gram.from_data(X), **options)
    assert len(choice.K_values) == len(made)
    return sorted(made)


def test_clear_parts_need_no_fine_looks(monkeypatch):
    X, _ = datasets.moons(250, noise=0.05, random_state=0)
    assert looks_for(monkeypatch, X) == [7, 10, 15, 21, 30]


def test_a_clear_single_piece_needs_none_unless_it_must_be_divided(monkeypatch):
    X = np.random.default_rng(0).normal(size=(250, 5))
    assert looks_for(monkeypatch, X) == [7, 10, 15, 21, 30]
    assert looks_for(monkeypatch, X, allow_single=False) == list(POINTS_PER_PATCH)


def test_what_is_not_clear_and_a_number_told_need_all_looks(monkeypatch):
    assert looks_for(monkeypatch, datasets.moons(250, noise=0.15, random_state=0)[0]) == list(POINTS_PER_PATCH)
    assert looks_for(monkeypatch, datasets.moons(250, noise=0.05)[0], n_parts=2) == list(POINTS_PER_PATCH)


@pytest.mark.parametrize("name", ["rolls", "spirals"])
def test_the_first_looks_say_what_all_say_where_they_are_clear(name):
    X, _ = PARTS[name]()
    of_all = decide(look_around(Gram.from_data(X)))
    choice = choose(Gram.from_data(X))
    assert np.array_equal(choice.labels, of_all.labels)
    assert choice.K == of_all.K
