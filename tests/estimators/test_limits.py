"""`max_seconds` bounds all of a fit, and Ctrl-C keeps the best answer and is heard."""

import itertools
import math
import time

import numpy as np
import pytest

from sknomad import NOMAD, CertifiedKMeans, MultiLayerNOMAD, Status, certify_kmeans, datasets, nomad_path
from sknomad._solving import loop
from sknomad._solving.budget import Budget
from sknomad._solving.loop import Pace

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.random.default_rng(0).standard_normal((120, 4))
LABELS = np.arange(120) % 5

WORK = {
    "nomad": lambda **limit: NOMAD(8, tol=0.0, **limit).fit(X),
    "auto": lambda **limit: NOMAD(tol=0.0, **limit).fit(X),
    "soft": lambda **limit: NOMAD(8, solver="soft", tol=0.0, **limit).fit(X),
    "layers": lambda **limit: MultiLayerNOMAD([16, 8, 4, 2], tol=0.0, **limit).fit(X),
    "auto layers": lambda **limit: MultiLayerNOMAD(tol=0.0, **limit).fit(X),
    "k-means": lambda **limit: CertifiedKMeans(5, tol=0.0, random_state=0, **limit).fit(X),
    "k-means with cuts": lambda **limit: CertifiedKMeans(5, tol=0.0, cuts=True, random_state=0, **limit).fit(X),
    "certificate": lambda **limit: certify_kmeans(X, LABELS, tol=0.0, **limit),
    "certificate with cuts": lambda **limit: certify_kmeans(X, LABELS, tol=0.0, cuts=True, **limit),
}


def at_every_step(monkeypatch, act):
    """Have something happen at the end of every step of every solver."""
    enter = Pace.enter

    def enter_and_act(self, now):
        act()
        enter(self, now)

    monkeypatch.setattr(loop.Pace, "enter", enter_and_act)


class Clock:
    """A clock that only tests move: what is measured is the same on every machine."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


STEP = 0.05


@pytest.mark.parametrize("name", WORK)
def test_limit_bounds_everything(monkeypatch, clock, name):
    at_every_step(monkeypatch, lambda: clock.wait(STEP))
    began = clock.now
    WORK[name](max_seconds=1.0)
    assert 0 < clock.now - began <= 1.0 + 2 * STEP


@pytest.mark.parametrize("name", ["certificate", "k-means"])
def test_limit_bounds_the_search_for_a_start(monkeypatch, clock, name):
    from sknomad._kmeans import clustering

    upper_bound = clustering.upper_bound

    def slow(*arguments, **options):
        clock.wait(0.1)
        return upper_bound(*arguments, **options)

    monkeypatch.setattr(clustering, "upper_bound", slow)
    began = clock.now
    WORK[name](max_seconds=0.8)
    assert clock.now - began <= 1.0  # 22 looks would take 2.2


@pytest.mark.parametrize("name", WORK)
def test_no_time_at_all_still_gives_an_answer(name):
    found = WORK[name](max_seconds=0.0)
    if name.startswith("certificate"):
        assert 0 <= found.lower_bound <= found.inertia
    else:
        assert len(found.labels_) == len(X)


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("value", [-1.0, math.nan, "soon"])
def test_limits_that_are_none_are_refused(name, value):
    with pytest.raises((TypeError, ValueError), match="max_seconds must be"):
        WORK[name](max_seconds=value)


def test_layers_share_the_time(monkeypatch, clock):
    at_every_step(monkeypatch, lambda: clock.wait(0.02))
    model = MultiLayerNOMAD([16, 8, 4, 2], tol=0.0, max_seconds=2.0).fit(X)
    assert len(model.layers_) >= 3


def test_no_step_is_begun_that_would_take_too_long():
    pace = Pace()
    for now, expected in [(3.0, 0.0), (4.0, 0.0), (5.5, 1.0), (5.6, 0.1), (9.0, 0.1), (12.0, 3.0)]:
        pace.enter(now)
        assert pace.next_step == pytest.approx(expected)


def test_budget_counts_from_its_beginning(clock):
    budget = Budget.of(0.2)
    clock.wait(0.1)
    assert budget.left == pytest.approx(0.1)
    assert budget.share(0.5).seconds == pytest.approx(0.05)
    clock.wait(0.25)
    assert (budget.left, budget.max_seconds, budget.is_spent) == (0.0, 0.0, True)
    endless = Budget.of(None)
    assert (endless.left, endless.max_seconds, endless.share(0.5).left) == (math.inf, None, math.inf)


# Interrupts.


def interrupt_at(monkeypatch, step):
    """Ctrl-C at the end of a step, counted over all solvers."""
    count = itertools.count(1)

    def interrupt():
        if next(count) == step:
            raise KeyboardInterrupt

    at_every_step(monkeypatch, interrupt)


@pytest.mark.parametrize("step", [1, 2, 25])
def test_interrupted_model_keeps_its_best_answer(monkeypatch, step):
    interrupt_at(monkeypatch, step)
    model = NOMAD(8, tol=0.0)
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(X)
    assert model.solution_.status is Status.INTERRUPTED
    assert model.n_iter_ == step
    assert -math.inf < model.certificate_.lower <= model.certificate_.upper
    assert np.allclose(model.affinity_.sum(axis=1), 1)
    assert np.array_equal(model.predict(X), model.labels_)


def test_interrupt_that_comes_with_the_proof_is_heard(monkeypatch):
    from sknomad._solving.judging import ProgramJudge

    judge = ProgramJudge.judge

    def judge_and_interrupt(self, run, *, thorough):
        judge(self, run, thorough=thorough)
        if run.is_done:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgramJudge, "judge", judge_and_interrupt)
    model = NOMAD(8)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.certificate_.gap <= 1e-3


@pytest.mark.parametrize("make", [NOMAD, MultiLayerNOMAD])
def test_interrupted_search_leaves_the_model_as_it_was(monkeypatch, make):
    fresh, fitted = make(), make().fit(X)
    before = {name: value for name, value in vars(fitted).items() if name != "n_features_in_"}
    interrupt_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X)
    assert "labels_" not in vars(fresh)
    monkeypatch.undo()
    interrupt_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:100])
    assert all(vars(fitted)[name] is value for name, value in before.items())


def test_interrupt_while_reading_leaves_the_model_as_it_was(monkeypatch):
    model = NOMAD(8).fit(X)
    before = {name: value for name, value in vars(model).items() if name != "n_features_in_"}

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sknomad._estimators.reading.find_order", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:100])
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize("step", [3, 40])
def test_interrupted_layers_are_kept(monkeypatch, step):
    interrupt_at(monkeypatch, step)
    model = MultiLayerNOMAD([16, 8, 4, 2], max_iter=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(model.layers_) == 1 + step // 30
    assert len(model.labels_) == len(X)
    assert np.array_equal(model.transform(X).shape, (len(X), 2))


@pytest.mark.parametrize("step", [1, 4, 30, 80])
def test_interrupted_clustering_is_kept_with_what_is_proven(monkeypatch, step):
    expected = CertifiedKMeans(5, random_state=0).fit(X)
    interrupt_at(monkeypatch, step)
    model = CertifiedKMeans(5, tol=0.0, cuts=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert 0 <= model.lower_bound_ <= expected.inertia_
    assert model.certificate_.status is Status.INTERRUPTED
    assert len(np.unique(model.labels_)) == 5
    assert model.predict(X).shape == (len(X),)


@pytest.mark.parametrize("step", [1, 30])
def test_interrupted_certificate_is_returned_as_solve_does(monkeypatch, step):
    interrupt_at(monkeypatch, step)
    proof = certify_kmeans(X, LABELS, tol=0.0, cuts=True)
    assert proof.status is Status.INTERRUPTED
    assert 0 <= proof.lower_bound <= proof.inertia


def test_interrupted_path_is_no_path(monkeypatch):
    interrupt_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        nomad_path(datasets.two_rings(60)[0], [4, 16])
