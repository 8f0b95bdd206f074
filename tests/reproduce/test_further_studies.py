"""The studies beyond the paper's figures: density, accuracy, cost, Algorithm 1, further data, the sphere."""

from __future__ import annotations

import numpy as np
import pytest

from made_up import computed, verdicts
from sknomad import Gram, KMeansSDP
from sknomad.reproduce import Verdict
from sknomad.reproduce.experiments import cost, density, frank_wolfe, further, multilayer, opening, sphere, tolerance

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'sknomad[plot]'")


def made_up_density(power):
    rng = np.random.default_rng(0)
    arrays = {"dimensions": np.array([1, 2, 3])}
    for d in arrays["dimensions"]:
        local = rng.uniform(0.2, 1.8, size=(3, 200))
        diagonal = local**-power * np.exp(0.05 * rng.standard_normal((3, 200)))
        diagonal *= 20 / diagonal.sum(axis=1, keepdims=True)
        arrays |= {f"{d}/rows": np.stack([local, diagonal], axis=1), f"{d}/n": np.array(200), f"{d}/K": np.array(20)}
        rising = 2 / (d + 2) - np.array([[0.09, 0.1, 0.11], [0.02, 0.03, 0.01]])
        arrays |= {f"{d}/series": rising, f"{d}/cells": np.array([10, 20])}
    return arrays


def test_powers_of_density_are_fitted_with_their_interval():
    power, reach = density.interval(density.slopes(made_up_density(0.6), 2))
    assert power == pytest.approx(0.6, abs=0.02)
    assert 0 < reach < 0.05
    assert verdicts(density.claims(made_up_density(0.6))) == [Verdict.HOLDS, *[Verdict.BEYOND] * 2, Verdict.HOLDS]
    assert verdicts(density.claims(made_up_density(0.0)))[0] is Verdict.OURS
    assert len(density.draw(made_up_density(0.6)).axes) == 6
    falling = made_up_density(0.6)
    falling["3/series"] = falling["3/series"][::-1]
    assert verdicts(density.claims(falling))[2] is Verdict.OURS


def test_an_uneven_torus_is_as_dense_as_it_says():
    X, local = density.uneven_torus(4000, 2, np.random.default_rng(0))
    angle = np.arctan2(X[:, 2], X[:, 0])
    counts = np.histogram(angle, 20, (-np.pi, np.pi))[0]
    middle = (np.arange(20) + 0.5) * np.pi / 10 - np.pi
    assert counts == pytest.approx(200 * (1 + 0.8 * np.cos(middle)), abs=5)
    assert local == pytest.approx(1 + 0.8 * np.cos(angle))


def made_up_tolerance(parts):
    names = list(tolerance.data_sets(True, 0))
    shape = (len(names), 1, 4)
    counts = np.ones(shape, dtype=int)
    counts[[name.startswith("half") for name in names]] = 2
    counts[0] = parts
    hard = np.broadcast_to([0.5, 0.6, 0.7, 0.4], shape)
    return {
        "data": np.array(names), "tolerances": np.array(tolerance.QUICK_TOLERANCES), "parts": counts,
        "quality": np.broadcast_to([0.9, 0.85, 0.8, 0.92], shape), "hardness": hard,
    }  # fmt: skip


def test_artificial_clusters_and_averages_are_told():
    whole, *findings = tolerance.claims(made_up_tolerance(1))
    assert whole.verdict is Verdict.HOLDS
    assert verdicts(findings) == [Verdict.BEYOND] * 3
    assert "one ring: 0.500 to 0.700 (0.900 to 0.800)" in findings[0].number
    assert "one ring +0.120" in findings[1].number
    assert tolerance.claims(made_up_tolerance(3))[0].verdict is Verdict.PAPER
    assert len(tolerance.draw(made_up_tolerance(1)).axes) == 6


def made_up_cost(scs):
    n = np.array([100, 200, 400])
    powers = {"conditional gradient": 2.1, "ADMM": 3.0, "low rank": 1.0, "soft assignments": 1.0, "SCS": scs}
    seconds = np.array([1e-6 * n**power for power in powers.values()])
    return {"methods": np.array(list(powers)), "n": n, "seconds": seconds, "whole": 1e-6 * n**2.0}


def test_cost_is_read_off_as_a_power():
    gradient, generic, others, whole = cost.claims(made_up_cost(3.1))
    assert verdicts([gradient, generic, others, whole]) == [Verdict.HOLDS] * 2 + [Verdict.BEYOND, Verdict.HOLDS]
    assert "n^2.10" in gradient.number
    assert cost.claims(made_up_cost(1.5))[1].verdict is Verdict.UNTESTED
    assert cost.draw(made_up_cost(3.0)).axes[0].get_xscale() == "log"


@pytest.mark.parametrize("name", [cost.GRADIENT, cost.ADMM_, cost.LOW_RANK, cost.SOFT])
def test_a_step_of_every_algorithm_can_be_timed(name):
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert cost.seconds_per_step(name, KMeansSDP(Gram.from_data(X), 4)) > 0


def test_the_bound_of_algorithm_one_is_computed_drawn_and_judged(monkeypatch):
    monkeypatch.setattr(frank_wolfe, "QUICK_STEPS", 40)
    monkeypatch.setattr(frank_wolfe, "QUICK_RUNS", 1)
    arrays = computed(frank_wolfe, quick=True)
    assert verdicts(frank_wolfe.claims(arrays)) == [Verdict.HOLDS] * 3
    assert (arrays["error"] > -1e-9).all()  # the optimum is one
    assert len(frank_wolfe.draw(arrays).axes) == 2
    above = arrays | {"error": 100 * arrays["error"]}
    assert frank_wolfe.claims(above)[0].verdict is Verdict.OURS


def test_further_data_are_judged_and_drawn(rng):
    X = np.vstack([np.column_stack([np.linspace(0, 3, 20), np.full(20, 10.0 * line)]) for line in range(6)])
    truth = np.repeat(np.arange(6), 20)
    arrays = {
        "lines/X": X, "lines/truth": truth, "lines/labels": truth, "lines/order": X[:, 0], "roll/parts": np.array(1),
        "roll/X": rng.standard_normal((64, 3)), "roll/t": np.arange(64.0), "roll/embedding": rng.uniform(size=(64, 2)),
    }  # fmt: skip
    for digit in range(10):
        arrays |= {f"{digit}/{key}": rng.uniform(size=(40, 2)) for key in ("embedding", "plane")}
        arrays[f"{digit}/slant"] = arrays[f"{digit}/embedding"][:, 0]
    lines, roll, digits = further.claims(arrays)
    assert "6 parts, adjusted Rand index 1.00; rank correlation with the place along the line 1.00" in lines.number
    assert "for 10 of 10" in digits.number
    assert roll.verdict is Verdict.BEYOND
    assert len(further.draw(arrays).axes) == 14


def test_the_sphere_is_computed_drawn_and_judged(monkeypatch):
    monkeypatch.setattr(sphere, "QUICK_SIZES", (1.5, 2, 4, 8, 16))
    monkeypatch.setattr(sphere, "QUICK_DEGREE", 8)
    monkeypatch.setattr(sphere, "QUICK_ORBITS", (1,))
    monkeypatch.setattr(sphere, "DESIGN_K", (2,))
    arrays = computed(sphere, quick=True)
    assert verdicts(sphere.claims(arrays)) == [Verdict.BEYOND] * 4
    monkeypatch.setattr(sphere, "sphere_optimum", None)  # drawing never recomputes
    assert len(sphere.draw(arrays).axes) == 3
    arrays["designs"][:, 4] = 0.0  # upper bounds that cannot be
    assert sphere.claims(arrays)[1].verdict is Verdict.OURS


def test_a_line_separates_or_does_not():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert multilayer.separation(square, np.array([0, 1, 0, 1])) == pytest.approx(1.0)
    assert multilayer.separation(square, np.array([0, 1, 1, 0])) == 0.0
    assert multilayer.separation(1e-6 * square, np.array([0, 1, 0, 1])) == pytest.approx(1.0)


def test_a_knot_is_sampled_evenly_along_itself():
    steps = np.linalg.norm(np.diff(opening.even_knot(200), axis=0, append=opening.even_knot(200)[:1]), axis=1)
    assert np.ptp(steps) < 2e-3 * steps.mean()
