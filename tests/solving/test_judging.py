"""When a run looks at its bounds, and what one that is cut short still owes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sknomad import Gram, Iterate, KMeansSDP, SoftPoint, Status, datasets, solve
from sknomad._solving import judging
from sknomad._solving.judging import LARGE_PROBLEM, ProgramJudge
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


def test_run_cut_short_proves_what_it_has_seen(monkeypatch):
    monkeypatch.setattr(judging, "LARGEST_FOR_INTERIM_PROOFS", 10)
    monkeypatch.setattr(Run, "seconds", property(lambda self: float(self.iteration)))
    problem = KMeansSDP(Gram.from_data(datasets.moons(60, random_state=0)[0]), 6)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        solution = solve(problem, "admm", tol=1e-8, max_seconds=25, grade="verified")
    assert solution.status is Status.MAX_SECONDS
    assert math.isfinite(solution.certificate.upper)
    assert solution.certificate.grade == "verified"
