"""Averages over neighbouring K: feasible, certified one by one, read like any other Q."""

import math

import numpy as np
import pytest

from sknomad import NOMAD, Gram, KMeansSDP, datasets, load, solve
from sknomad._manifolds.consensus import mean_point, neighbouring_K


@pytest.mark.parametrize(("K", "n", "count"), [(8, 60, 3), (8, 60, 5), (1, 60, 3), (60, 60, 3), (1.5, 60, 7)])
def test_the_mean_of_the_neighbours_is_K(K, n, count):
    values = neighbouring_K(K, n, count)
    assert len(values) == count
    assert np.mean(values) == pytest.approx(K)
    assert min(values) >= 1
    assert max(values) <= n


@pytest.mark.parametrize("solver", ["admm", "soft"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_mean_is_feasible_and_the_mean_of_all(solver):
    gram = Gram.from_data(datasets.moons(60, random_state=0)[0])
    found = [solve(KMeansSDP(gram, K), solver, max_iter=200) for K in (6, 9, 12)]
    mean = mean_point(found)
    Q = mean.dense()
    assert np.allclose(Q, np.mean([solution.Q for solution in found], axis=0), atol=1e-10)
    assert np.trace(Q) == pytest.approx(9)
    assert np.allclose(Q.sum(axis=1), 1)
    assert Q.min() >= -1e-12
    assert np.linalg.eigvalsh(Q).min() >= -1e-10
    assert mean.value(gram) <= found[1].certificate.upper


def test_a_model_reads_the_mean(tmp_path):
    X, truth = datasets.moons(100, noise=0.05, random_state=0)
    model = NOMAD(K=12, consensus=3).fit(X)
    assert [proof.gap <= 1e-3 for proof in model.certificates_] == [True] * 3
    assert model.certificates_[1] == model.certificate_
    assert model.solution_.problem.K == 12
    expected = np.mean([NOMAD(K=K).fit(X).affinity_ for K in (8, 12, 16)], axis=0)
    assert np.allclose(model.affinity_, expected, atol=1e-6)
    assert len(set(zip(truth.tolist(), model.labels_.tolist(), strict=True))) == 2
    assert np.allclose(model.transform(X), model.embedding_, atol=1e-6)
    model.save(tmp_path / "mean.nomad")
    assert np.array_equal(load(tmp_path / "mean.nomad").affinity_, model.affinity_)


def test_weights_and_a_single_solution(rng):
    X, weights = rng.standard_normal((30, 2)), rng.integers(1, 3, 30)
    many = NOMAD(K=6, consensus=3).fit(np.repeat(X, weights, axis=0)).affinity_
    few = NOMAD(K=6, consensus=3).fit(X, sample_weight=weights).affinity_
    assert np.allclose(np.repeat(np.repeat(few, weights, axis=0), weights, axis=1), many, atol=0.02)
    assert len(NOMAD(K=6).fit(X).certificates_) == 1


def test_who_stops_gets_the_middle_alone():
    calls = []
    X = datasets.ring(80)[0]
    model = NOMAD(K=10, consensus=3, tol=1e-12, callback=lambda progress: calls.append(1) or len(calls) >= 5).fit(X)
    assert len(model.certificates_) == 1
    assert np.trace(model.affinity_) == pytest.approx(10)


@pytest.mark.parametrize("value", [0, 2, 1.5, "3"])
def test_consensus_is_an_odd_number(value):
    error = TypeError if isinstance(value, str | float) else ValueError
    with pytest.raises(error, match="consensus must be an"):
        NOMAD(consensus=value).fit(np.eye(4))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_of_them_share_the_time():
    model = NOMAD(K=20, consensus=3, tol=0, max_seconds=0.5).fit(datasets.ring(60)[0])
    assert len(model.certificates_) == 3
    assert math.isfinite(model.certificate_.lower)
