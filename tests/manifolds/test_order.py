"""Order along manifolds, whether they close, geodesics: against known curves."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from sknomad import NOMAD, datasets
from sknomad._manifolds.geodesics import geodesics, support
from sknomad._manifolds.order import find_order
from sknomad._points.forms import DensePoint, SoftPoint
from sknomad.metrics import circular_rank_correlation


def arc(n, share, noise=0.0, seed=0):
    """Part of the unit circle, evenly sampled."""
    angle = np.linspace(0, 2 * np.pi * share, n)
    return circle(angle) + noise * np.random.default_rng(seed).standard_normal((n, 2))


def circle(angle):
    return np.column_stack([np.cos(angle), np.sin(angle)])


def cloud(n, d=2):
    return np.random.default_rng(0).standard_normal((n, d))


def square(n):
    return np.random.default_rng(0).uniform(size=(n, 2))


def sphere(n):
    X = cloud(n, 3)
    return X / np.linalg.norm(X, axis=1)[:, None]


CLOSED = {
    "ring 60": (lambda: datasets.ring(60)[0], 4),
    "ring 100": (lambda: datasets.ring(100)[0], 8),
    "ring 100, fine": (lambda: datasets.ring(100)[0], 25),
    "ring, noise 0.05": (lambda: datasets.ring(150, noise=0.05, random_state=0)[0], 12),
    "ring, noise 0.1": (lambda: datasets.ring(150, noise=0.1, random_state=0)[0], 10),
    "ring, random": (lambda: circle(np.random.default_rng(0).uniform(0, 2 * np.pi, 150)), 8),
    "trefoil": (lambda: datasets.trefoil(150)[0], 16),
    "trefoil, noise 0.1": (lambda: datasets.trefoil(150, noise=0.1, random_state=0)[0], 16),
}
OPEN = {
    "half ring": (lambda: arc(100, 0.5), 8),
    "half ring, noise 0.1": (lambda: arc(100, 0.5, 0.1), 8),
    "nine tenths of a ring": (lambda: arc(150, 0.9, 0.02), 12),
    "line": (lambda: np.column_stack([np.linspace(0, 1, 80), np.zeros(80)]), 8),
    "roll": (lambda: datasets.swiss_roll(150)[0], 32),
    "cloud": (lambda: cloud(100), 8),
    "cloud, coarse": (lambda: cloud(150), 3),
    "cloud in 5-D": (lambda: cloud(100, 5), 8),
    "square": (lambda: square(150), 14),
    "sphere": (lambda: sphere(120), 12),
}


NEARLY_CLOSED = ("nine tenths of a ring",)


@pytest.mark.parametrize("name", [*CLOSED, *OPEN])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_whether_it_closes(name):
    sample, K = {**CLOSED, **OPEN}[name]
    model = NOMAD(K=K, tol=2e-3, max_iter=500).fit(sample())
    assert model.is_closed_.tolist() == [name in CLOSED] * model.n_manifolds_
    assert np.isnan(model.circular_coordinates_).all() == (name in OPEN and name not in NEARLY_CLOSED)
    assert np.all((model.closedness_ == 1) == model.is_closed_)


@pytest.mark.parametrize(("name", "K"), [("moons", 16), ("blobs", 6), ("blobs", 16), ("two_rings", 16)])
def test_every_manifold_is_judged_by_itself(name, K):
    X, _ = getattr(datasets, name)(160, **({} if name == "two_rings" else {"random_state": 0}))
    model = NOMAD(K=K, tol=2e-3).fit(X)
    assert model.n_manifolds_ == {"moons": 2, "blobs": 6, "two_rings": 2}[name]
    assert model.is_closed_.tolist() == [name == "two_rings"] * model.n_manifolds_


def test_circular_coordinates_are_the_angle():
    X, angle = datasets.ring(90)
    model = NOMAD(K=9).fit(X)
    found = model.circular_coordinates_
    assert np.all((found >= 0) & (found < 2 * np.pi))
    assert circular_rank_correlation(found, angle) == pytest.approx(1)
    steps = np.diff(np.unwrap(found))
    assert np.allclose(np.abs(steps), 2 * np.pi / 90, rtol=1e-3)
    assert np.allclose(np.sort(model.order_), np.arange(90) / 90)
    assert np.array_equal(np.argsort(model.order_), np.argsort(found))


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_order_follows_an_open_curve(noise, rng):
    X, t = datasets.swiss_roll(150, noise=noise, random_state=0)
    shuffle = rng.permutation(150)
    model = NOMAD(K=24, tol=2e-3).fit(X[shuffle])
    assert abs(spearmanr(model.order_, t[shuffle])[0]) >= (0.9999 if noise == 0 else 0.999)
    assert model.order_.min() == 0
    assert model.order_.max() == 1


def test_outliers_have_no_position():
    X = np.vstack([datasets.ring(60)[0], [[30.0, 0.0], [0.0, 30.0]]])
    model = NOMAD(K=10, min_component_size=3).fit(X)
    assert model.labels_.tolist() == [0] * 60 + [-1, -1]
    assert np.isnan(model.order_[60:]).all()
    assert np.isnan(model.circular_coordinates_[60:]).all()
    assert np.isfinite(model.order_[:60]).all()
    assert model.is_closed_.tolist() == [True]
    assert model.predict([[29.0, 1.0], [1.0, 0.1]]).tolist() == [-1, 0]
    assert model.memberships_.shape == (62, 1)
    assert np.allclose(model.memberships_[:60, 0], 1, atol=1e-2)
    assert np.allclose(model.memberships_[60:, 0], 0, atol=1e-2)


def test_a_curve_that_winds_twice_is_not_called_closed():
    """Frequency two instead of one: no gap, a clear hole, but neighbours in angle lie on opposite sides."""
    t = 2 * np.pi * np.arange(80) / 80
    distance = np.minimum(np.arange(80), 80 - np.arange(80))
    Q = np.maximum(1 - distance[(np.arange(80)[:, None] - np.arange(80)) % 80] / 8, 0) / 8
    labels = np.zeros(80, dtype=int)
    assert find_order(DensePoint(Q), circle(t), labels, 1e-2).is_closed.tolist() == [True]
    assert find_order(DensePoint(Q), circle(2 * t), labels, 1e-2).is_closed.tolist() == [False]


def cuts(Q, threshold):
    """What each entry is above where the similarity is above the threshold."""
    norms = np.sqrt(np.diag(Q))
    return threshold * np.outer(norms, norms)


def brute_force(Q, cut):
    """Shortest paths by Floyd and Warshall, from the definition."""
    diagonal = np.diag(Q)
    lengths = np.where(cut < Q, np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * Q, 0)), np.inf)
    np.fill_diagonal(lengths, 0)
    for k in range(len(Q)):
        lengths = np.minimum(lengths, lengths[:, [k]] + lengths[[k]])
    return lengths


@pytest.mark.parametrize("solver", ["admm", "soft"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_geodesics_are_shortest_paths(solver):
    X, _ = datasets.moons(60, noise=0.03, random_state=0)
    model = NOMAD(K=10, solver=solver).fit(X)
    Q = model.solution_.point.unmixed.dense()
    found = model.geodesic_distances()
    # Roots of rounding errors between equal rows: 1e-8.
    assert np.allclose(found, brute_force((Q + Q.T) / 2, cuts(Q, model.threshold)), atol=1e-7)
    assert np.allclose(model.geodesic_distances([3, 5]), found[[3, 5]])
    apart = model.labels_[:, None] != model.labels_
    assert model.n_manifolds_ == 2
    assert np.isinf(found[apart]).all()
    assert np.isfinite(found[~apart]).all()


def test_geodesics_on_a_ring_grow_with_arc_length():
    n = 60
    found = NOMAD(K=8).fit(datasets.ring(n)[0]).geodesic_distances()
    steps = np.abs(np.arange(n)[:, None] - np.arange(n))
    steps = np.minimum(steps, n - steps)
    by_steps = np.array([found[steps == s].mean() for s in range(n // 2 + 1)])
    assert np.allclose(found, by_steps[steps], rtol=2e-2)
    assert np.all(np.diff(by_steps) > 0)


def test_lengths_add_along_a_line():
    """Rows of a root of the chain's Q lie on a line at 0, 1, 2 and 4 thirds: roots of squared distances add."""
    B = np.array([[0.0], [1.0], [2.0], [4.0]]) / 3
    Q = B @ B.T + 1.0
    found = geodesics(sp.csr_matrix(Q))
    assert np.allclose(found, np.abs(B - B.T), atol=1e-7)


def test_sparse_affinity_is_the_support():
    X, _ = datasets.two_rings(80)
    model = NOMAD(K=16, affinity="sparse").fit(X)
    Q = model.solution_.point.unmixed.dense()
    expected = np.where(cuts(Q, model.threshold) < Q, Q, 0)
    assert np.allclose(model.affinity_.toarray(), expected, atol=1e-12)
    assert model.affinity_.format == "csr"
    assert isinstance(model.set_params(affinity="dense").affinity_, np.ndarray)


def test_support_of_soft_assignments_needs_no_dense_rows(rng):
    V = np.where(rng.uniform(size=(40, 9)) < 0.3, rng.uniform(size=(40, 9)), 0)
    V[:, 0] += 1e-3
    V /= V.sum(axis=1, keepdims=True)
    Q = SoftPoint(V).dense()
    assert np.allclose(support(SoftPoint(V), 0.05).toarray(), np.where(cuts(Q, 0.05) < Q, Q, 0))
    assert np.allclose(geodesics(support(SoftPoint(V), 0.05)), brute_force(Q, cuts(Q, 0.05)), atol=1e-7)


def test_memberships_are_shares_of_rows():
    X, _ = datasets.moons(80, noise=0.15, random_state=1)
    model = NOMAD(K=8).fit(X)
    shares = model.memberships_
    expected = np.stack([model.affinity_[:, model.labels_ == k].sum(axis=1) for k in range(model.n_manifolds_)], axis=1)
    assert np.allclose(shares, expected, atol=1e-12)
    assert np.allclose(shares.sum(axis=1), 1)
