"""When a run looks at its bounds, and what one that is cut short still owes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, SpectralPoint, Status, datasets, solve
from sknomad._certificate.iterate import NegativePart
from sknomad._certificate.lower import make_feasible
from sknomad._solving import judging
from sknomad._solving.judging import FORECAST_MARGIN, LARGE_PROBLEM, REPAIR_GROWTH, REPAIR_GROWTH_FAR, ProgramJudge
from sknomad._solving.run_state import Run


def judged(n, multiplier_from, steps):
    """Iterations that a run of `n` points judges, the multiplier being known from one of them on."""
    run = Run(KMeansSDP(Gram.from_data(np.arange(n, dtype=float)[:, None]), 2), 1e-3, "eigen")
    judge, looks = ProgramJudge(), []
    judge.judge = lambda run, *, thorough: None
    for iteration in range(1, steps + 1):
        run.iteration = iteration
        run.iterate = Iterate(SoftPoint(np.ones((n, 1))), N=object() if iteration >= multiplier_from else None)
        if judge.after_step(run):
            looks.append(iteration)
    return looks


def test_looks_are_counted_from_the_first_multiplier():
    assert judged(50, 1, 50) == [10, 20, 30, 40, 50]
    assert judged(50, 35, 60) == [10, 20, 30, 44, 54]
    late = judged(50, 1, 400)
    assert max(b - a for a, b in itertools.pairwise(late)) >= 40


def test_large_problems_are_judged_less_often_once_that_is_dear():
    n = LARGE_PROBLEM + 1
    assert judged(n, 35, 120) == [10, 20, 30, 59, 84, 109]


def forecast_looks(gap_at, steps, monkeypatch, tol=1e-3, on_gpu=True):
    """Iterations at which a run is judged whose gap is known in advance."""
    monkeypatch.setattr(judging, "is_on_gpu", lambda state: on_gpu)
    run = Run(KMeansSDP(Gram.from_data(np.arange(30.0)[:, None]), 2), tol, "verified")
    run.lower, judge, looks = 1.0, ProgramJudge(), []
    judge.judge = lambda run, *, thorough: setattr(judge, "screen", 1 / (1 - gap_at(run.iteration)))
    for run.iteration in range(1, steps + 1):
        run.iterate = Iterate(SoftPoint(np.ones((30, 1))), N=NegativePart(np.zeros((30, 30)), 1.0))
        if judge.after_step(run):
            looks.append(run.iteration)
    return looks


def test_on_a_gpu_looks_come_when_the_gap_is_expected_to_close(monkeypatch):
    # A tenth in 20 steps: 9e-4 after 61, and a fifth more of what is left for safety.
    assert forecast_looks(lambda step: 0.1 ** (step / 20), 70, monkeypatch) == [10, 20, 40, 60, 64]
    # A gap that does not fall says nothing, and one far away does not put looks off for long.
    assert forecast_looks(lambda step: 0.5, 50, monkeypatch) == [10, 20, 30, 40, 50]
    assert forecast_looks(lambda step: 0.1 ** (step / 20), 50, monkeypatch, tol=0.0) == [10, 20, 30, 40, 50]
    assert forecast_looks(lambda step: -math.inf, 50, monkeypatch) == [10, 20, 30, 40, 50]
    far = forecast_looks(lambda step: 1 / (2 + step), 400, monkeypatch)
    assert far[:4] == [10, 20, 40, 60]
    assert all(b - a <= max(20, 0.15 * a + 1) for a, b in itertools.pairwise(far))


def test_after_a_proof_that_fell_short_as_much_is_expected_of_the_next(monkeypatch):
    # What is proven is a tenth worse than what was estimated, so that the next look comes when that has closed.
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    run = Run(problem, 1e-3, "verified")
    run.lower, run.iteration, judge = 1.0, 1000, ProgramJudge(last_look=900, last_gap=2e-3, first_multiplier=1)
    judge.screen, proven = 1 / (1 - 0.9999e-3), 1 / (1 - 1.1e-3)
    run.iterate = Iterate(SoftPoint(np.ones((60, 1))), N=NegativePart(np.zeros((60, 60)), 1.0))
    monkeypatch.setattr(judge, "_improve_upper", lambda run, iterate, *, thorough: None)
    monkeypatch.setattr(judge, "_improve_lower", lambda run, point, *, thorough, is_last: None)
    monkeypatch.setattr(judge, "_prove", lambda run, iterate: setattr(run, "upper", proven))
    judge.judge(run, thorough=False)
    assert judge.optimism == pytest.approx(proven - judge.screen)
    expected = math.ceil(FORECAST_MARGIN * 100 * math.log(1.1) / math.log(2.0002))
    assert judge._forecast(run, 150, 150) == expected

    # The same estimate again is no reason for another proof.
    def refuse(run, iterate):
        raise AssertionError("a proof that is expected to fall short")

    monkeypatch.setattr(judge, "_prove", refuse)
    judge.judge(run, thorough=False)


def test_on_a_cpu_a_forecast_only_brings_looks_forward(monkeypatch):
    assert forecast_looks(lambda step: 0.1 ** (step / 20), 70, monkeypatch, on_gpu=False) == [
        10,
        20,
        30,
        40,
        50,
        60,
        64,
    ]
    assert forecast_looks(lambda step: 0.5, 50, monkeypatch, on_gpu=False) == [10, 20, 30, 40, 50]


def test_run_cut_short_proves_what_it_has_seen(monkeypatch):
    monkeypatch.setattr(judging, "LARGEST_FOR_INTERIM_PROOFS", 10)
    monkeypatch.setattr(Run, "seconds", property(lambda self: float(self.iteration)))
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        solution = solve(problem, "admm", tol=1e-8, max_seconds=25, grade="verified")
    assert solution.status is Status.MAX_SECONDS
    assert math.isfinite(solution.certificate.upper)
    assert solution.certificate.grade == "verified"


def test_far_from_the_end_repairs_are_rare(monkeypatch):
    """On noise the point comes with the bound: of all looks few are worth projections, each as dear as a step."""
    repaired = []

    def counted(problem, point, *, steps, **enough):
        if steps > 0 and isinstance(point, SpectralPoint):
            repaired.append(steps)
        return make_feasible(problem, point, steps=steps, **enough)

    monkeypatch.setattr(judging, "make_feasible", counted)
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((150, 10))), 8)
    looks = set()
    solution = solve(problem, tol=1e-4, callback=lambda progress: looks.add((progress.lower, progress.upper)))
    assert solution.is_certified
    assert 1 <= len(repaired) <= len(looks) / 3


def test_repairs_wait_longer_where_the_gap_would_stay_open():
    run = Run(KMeansSDP(Gram.from_data(np.arange(30.0)[:, None]), 2), 1e-3, "eigen")
    judge = ProgramJudge(first_multiplier=10, last_repair=30)
    waits = {
        growth: next(run.iteration for run.iteration in range(30, 200) if judge._waited(run, growth))
        for growth in (REPAIR_GROWTH, REPAIR_GROWTH_FAR)
    }
    assert waits == {REPAIR_GROWTH: 32, REPAIR_GROWTH_FAR: 70}
