"""Warnings of gaps that stayed open: what was reached, and what would help on this problem and this machine."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sknomad import NOMAD, Certificate, CertifiedKMeans, Gram, KMeansSDP, certify_kmeans, solve
from sknomad._solving import advice
from sknomad.solvers import Auto

NOISE = np.random.default_rng(0).standard_normal((60, 3))
MANY = np.random.default_rng(0).standard_normal((1200, 2))


def said(fit):
    """The one warning of a fit."""
    with pytest.warns(ConvergenceWarning) as caught:
        fit()
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "\n" not in text
    return text


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(advice, "cuda_is_available", lambda: False)


def test_small_problems_need_more_steps(no_gpu):
    text = said(lambda: NOMAD(8, tol=0.0, max_iter=3).fit(NOISE))
    assert text.endswith("Raise max_iter or tol.")
    assert "reached max_iter after 3 iterations with certified gap" in text
    text = said(lambda: NOMAD(8, tol=0.0, max_seconds=0).fit(NOISE))
    assert text.endswith("Raise max_seconds or tol.")


def test_without_a_bound_the_first_phase_needs_to_end(no_gpu):
    text = said(lambda: NOMAD(8, solver=Auto(points_below=40), tol=0.0, max_iter=3).fit(NOISE))
    assert "reached max_iter after 3 iterations without an upper bound" in text
    assert text.endswith("Raise max_iter: bounds come after the first phase.")


def test_large_problems_need_a_gpu_or_fewer_points(no_gpu):
    text = said(lambda: NOMAD(8, solver="admm", tol=0.0, max_iter=2).fit(MANY))
    assert text.endswith("Raise max_iter or tol; a GPU or fewer points than 1200 make steps cheaper.")


def test_where_there_is_a_gpu_it_is_not_recommended(monkeypatch):
    monkeypatch.setattr(advice, "cuda_is_available", lambda: True)
    text = said(lambda: NOMAD(8, solver="admm", device="cpu", tol=0.0, max_iter=2).fit(MANY))
    assert text.endswith("Raise max_iter or tol; fewer points than 1200 make steps cheaper.")


def test_a_missing_bound_is_a_matter_of_memory(no_gpu, monkeypatch):
    problem = KMeansSDP(Gram.from_data(MANY), 8)
    text = said(lambda: solve(problem, "soft", max_iter=2))
    assert 'One needs solver="admm" or "auto".' in text
    monkeypatch.setattr(advice, "free_memory_of", lambda template: 2**20)
    text = said(lambda: solve(problem, "soft", max_iter=2))
    assert "One needs dense 1200 x 1200 arrays" in text
    assert "0.2 GiB needed, 1 MiB free" in text
    assert "a GPU with that much memory" in text
    points = int(text.rpartition("at most ")[2].split()[0])
    assert 50 < points < 150


def test_open_relaxation_asks_for_cuts(no_gpu):
    text = said(lambda: CertifiedKMeans(4, random_state=0).fit(NOISE))
    assert "with gap" in text
    assert "no clustering into 4 groups has an inertia below" in text
    assert text.endswith("Pass cuts=True, which closes what the relaxation leaves open.")


def test_open_cuts_ask_for_what_is_left(no_gpu):
    text = said(lambda: CertifiedKMeans(6, cuts=True, max_iter=40, tol=1e-6, random_state=0).fit(NOISE))
    assert text.endswith("Raise max_iter or tol.")


def test_too_many_points_for_cuts_are_told_how_many(no_gpu, monkeypatch):
    from sknomad._kmeans import estimator

    monkeypatch.setattr(estimator, "LARGEST_FOR_CUTS", 50)
    text = said(lambda: CertifiedKMeans(4, random_state=0).fit(NOISE))
    assert text.endswith("cuts=True closes what the relaxation leaves open, for at most 50 points.")


def test_limited_proofs_name_their_limit(no_gpu):
    text = said(lambda: CertifiedKMeans(4, max_iter=2, random_state=0).fit(NOISE))
    assert text.startswith("reached max_iter with gap")
    assert text.endswith("Raise max_iter or tol.")


def test_a_clustering_without_a_bound_says_why(no_gpu, monkeypatch):
    monkeypatch.setattr("sknomad._kmeans.clustering.eigenvalues_are_cheap", lambda *_: False)
    monkeypatch.setattr(advice, "free_memory_of", lambda template: 2**10)
    text = said(lambda: CertifiedKMeans(4, solver="soft", random_state=0).fit(MANY))
    assert "arrays" in text
    assert "1 KiB free" in text


@pytest.mark.filterwarnings("error")
def test_proven_gaps_are_silent():
    model = CertifiedKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    assert model.gap_ <= 1e-3
    NOMAD(2).fit([[0.0], [1.0], [10.0], [11.0]])


def test_certificates_are_one_readable_line():
    proof = certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    text = str(proof)
    assert text.startswith("inertia 1, no clustering into 2 groups has one below 1 (gap ")
    assert text.endswith("grade eigen)")
    assert "\n" not in text
    assert "array" not in text
    assert str(Certificate(1.0, 2.0)) == "1 <= optimum <= 2 (gap 5.0e-01, grade eigen)"
