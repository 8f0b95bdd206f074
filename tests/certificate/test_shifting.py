"""Eigenvalues raised: feasible up to rounding, whatever the entries were, and far cheaper than mixing on noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import infeasibility
from planted_problems import seeds
from sknomad import Gram, KMeansSDP, SpectralPoint
from sknomad._certificate.lower import feasible_value, make_feasible
from sknomad._certificate.shifting import negative_share, raise_eigenvalues
from sknomad._certificate.upper import upper_bound
from sknomad.solvers import ADMM


def noise_problem(n=80, K=20, d=20, seed=0, weights=None):
    return KMeansSDP(Gram.from_data(np.random.default_rng(seed).standard_normal((n, d)), weights=weights), K)


def iterate_after(problem, steps):
    return next(itertools.islice(ADMM().iterates(problem), steps - 1, None))


@given(seed=seeds, n=st.integers(3, 14), size=st.floats(1e-6, 10), share=st.floats(0.01, 0.99))
def test_any_symmetric_matrix_becomes_feasible(seed, n, size, share):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, n))
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((n, 2))), 1 + share * (n - 1))
    # No point without a positive entry in every row comes here: all are psd and keep the vector of ones.
    Q = np.eye(n) + size * (noise + noise.T)
    np.fill_diagonal(Q, np.abs(np.diagonal(Q)) + 0.1)
    point = raise_eigenvalues(problem, Q, problem.fixed)
    assert point.trace() > problem.K - 1e-12 * n
    assert max(infeasibility(point.dense(), point.trace()).values()) < 1e-12 * n


def test_with_weights_too(rng):
    weights = rng.uniform(0.2, 5, 40)
    problem = noise_problem(40, 8, 5, weights=weights)
    Q = raise_eigenvalues(problem, iterate_after(problem, 30).point.dense(), problem.fixed).dense()
    u = np.sqrt(weights / weights.sum())
    assert Q.min() > -1e-13
    assert np.linalg.eigvalsh(Q)[0] > -1e-13
    assert np.allclose(Q @ u, u, atol=1e-12)
    assert np.trace(Q) >= 8 * (1 - 1e-12)


@pytest.mark.parametrize("K", [5, 20])
def test_on_noise_it_costs_a_fraction_of_mixing(K):
    problem = noise_problem(K=K)
    iterate = iterate_after(problem, 40)
    value, upper = iterate.point.value(problem.gram), upper_bound(problem, iterate.N)
    mixed, repaired = (feasible_value(problem, make_feasible(problem, iterate.point, steps=s)) for s in (0, 4))
    assert mixed < repaired <= upper
    assert value - repaired < (value - mixed) / 4


def test_a_feasible_point_stays_where_it_is():
    problem = noise_problem()
    Q = make_feasible(problem, iterate_after(problem, 40).point, steps=4).dense()
    assert np.allclose(raise_eigenvalues(problem, Q, problem.fixed).dense(), Q, atol=1e-9)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 3.0, 2.0])])
def test_negative_share_is_the_sum_of_what_entries_lack(weights):
    u = np.sqrt(np.ones(3) / 3 if weights is None else weights / weights.sum())
    U = np.linalg.qr(np.column_stack([u, [1.0, 0.0, 0.0]]))[0][:, 1:]
    point = SpectralPoint(U, np.array([2.0]), u)
    E = np.maximum(-point.dense(), 0)
    assert E.max() > 0
    assert negative_share(noise_problem(3, 2, 2, weights=weights), point) == pytest.approx(3 * (u @ E @ u) / 2)
