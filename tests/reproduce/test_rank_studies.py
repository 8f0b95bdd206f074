"""The studies of rank: nonnegative factors, and the low-rank solver."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from made_up import computed, verdicts
from sknomad import Gram, KMeansSDP, assignment_matrix, datasets
from sknomad._algorithms.completely_positive import CPRankProfile, cp_rank_profile
from sknomad.reproduce import Verdict
from sknomad.reproduce.experiments import burer_monteiro, cp_rank
from sknomad.reproduce.record import Record
from sknomad.ring import best_completely_positive_value, ring_optimum

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'sknomad[plot]'")


def test_ranks_of_a_hard_clustering_need_exactly_its_clusters():
    profile = cp_rank_profile(assignment_matrix(np.arange(24) // 6), (2, 4, 12), cp_rank.QUICK_STARTS)
    assert profile.best[0] == pytest.approx(np.sqrt(0.5), abs=1e-3)
    assert profile.best[1] < 1e-3
    assert (profile.mean >= profile.best).all()


def test_every_rank_gets_fifty_starts(monkeypatch):
    asked = []

    def profile(Q, ranks, n_starts, random_state, n_jobs):
        asked.append(n_starts)
        return CPRankProfile(np.array(ranks), np.zeros((len(ranks), n_starts)))

    monkeypatch.setattr(cp_rank, "cp_rank_profile", profile)
    monkeypatch.setattr(Record, "solve", lambda *args, **kwargs: SimpleNamespace(Q=np.eye(3)))
    arrays = computed(cp_rank, quick=False)
    assert asked == [50, 50, 50]
    assert arrays["two rings/starts"] == arrays["double Swiss roll/starts"] == 50


def made_up_ranks(last):
    arrays = {"data": np.array(["two rings"]), "ring/optimum": np.array(10.0)}
    arrays["ring/completely_positive"] = np.array(9.9)
    for key, value in {"K": 8, "n": 100, "rank": [4, 8, 64], "mean": [0.6, 0.4, last], "spread": [0.01] * 3}.items():
        arrays[f"two rings/{key}"] = np.array(value)
    return arrays


def test_claims_and_figure_on_ranks():
    assert verdicts(cp_rank.claims(made_up_ranks(0.01))) == [Verdict.HOLDS, Verdict.HOLDS]
    assert verdicts(cp_rank.claims(made_up_ranks(0.3)))[1] is Verdict.OURS
    assert cp_rank.draw(made_up_ranks(0.01)).axes[0].get_yscale() == "log"


def test_low_rank_solver_stays_below_the_best_completely_positive_value():
    n, K = 30, 4
    problem, exact = KMeansSDP(Gram.from_data(datasets.ring(n)[0]), K), ring_optimum(n, K)
    few, many = (burer_monteiro.low_rank(problem, rank, exact.Q) for rank in ("K", "6K"))
    assert few["rank"] == 4
    assert few["hard"] == 1.0
    assert few["error"] > 0.5 > 5 * many["error"]
    limit = best_completely_positive_value(n, K)
    assert few["lower"] < many["lower"] <= limit * (1 + 1e-9) < exact.value
    assert many["lower"] == pytest.approx(limit, rel=1e-3)


def made_up_low_rank(errors):
    arrays = {"data": np.array(["one ring"]), "floor": np.array(2e-4)}
    fields = {
        "K": 4.0, "rank": [4, 8, 16], "error": errors, "hard": [1.0, 0.5, 0.0], "seconds": [0.1, 0.5, 1.0],
        "shortfall": [1e-2, 1e-3, 3e-4], "pictures": np.full((4, 20, 20), 200, dtype=np.uint8), "steps": [3, 4, 5],
        "cells": np.eye(100)[:, :20],
    }  # fmt: skip
    return arrays | {f"one ring/{key}": np.asarray(value) for key, value in fields.items()}


def test_claims_and_figure_on_the_low_rank_solver():
    good = burer_monteiro.claims(made_up_low_rank([0.7, 0.3, 0.1]))
    assert verdicts(good) == [Verdict.HOLDS] * 3 + [Verdict.BEYOND] + [Verdict.HOLDS] * 2
    assert verdicts(burer_monteiro.claims(made_up_low_rank([0.7, 0.3, 0.4])))[1] is Verdict.OURS
    assert [ax.get_title(loc="left") for ax in burer_monteiro.draw(made_up_low_rank([0.7, 0.3, 0.1])).axes][1:3] == [
        "r = 4: 0.70",
        "r = 8: 0.30",
    ]
