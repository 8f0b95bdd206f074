"""New points: training points keep their place, each point is placed by itself, and between its neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, MultiLayerNOMAD, SoftPoint, datasets
from sknomad._manifolds.extend import extend
from sknomad._manifolds.multipliers import multipliers_of
from sknomad._manifolds.new_points import heaviest_parts, local_weights
from sknomad._numerics.weighted_simplex import weighted_rows
from sknomad.metrics import circular_rank_correlation
from sknomad.solvers import SoftAssignment

SETS = {
    "two rings": (lambda: datasets.two_rings(120)[0], 16),
    "moons": (lambda: datasets.moons(120, noise=0.05, random_state=0)[0], 12),
    "blobs": (lambda: datasets.blobs(120, random_state=0)[0], 8),
}


@pytest.fixture(scope="module", params=[(name, solver) for name in SETS for solver in ("auto", "soft")], ids=str)
def fitted(request):
    name, solver = request.param
    sample, K = SETS[name]
    X = sample()
    return X, NOMAD(K=K, solver=solver).fit(X)


@pytest.fixture
def new(fitted, rng):
    X, _ = fitted
    return X + 0.02 * X.std() * rng.standard_normal(X.shape)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestContract:
    def test_training_points_keep_their_place(self, fitted):
        X, model = fitted
        size = np.abs(model.embedding_).max()
        assert np.abs(model.transform(X) - model.embedding_).max() <= 1e-12 * max(size, 1)
        assert np.array_equal(model.predict(X), model.labels_)

    def test_points_are_placed_one_by_one(self, fitted, new):
        _, model = fitted
        together, labels = model.transform(new), model.predict(new)
        for i in range(0, len(new), 7):
            assert np.abs(model.transform(new[i : i + 1]) - together[i]).max() <= 1e-12
            assert model.predict(new[i : i + 1])[0] == labels[i]

    def test_near_points_are_placed_near(self, fitted, new):
        """Moving towards a training point, the place tends to its place; the manifold is the same all the way."""
        X, model = fitted
        size = max(np.abs(model.embedding_).max(), 1e-3)
        assert np.array_equal(model.predict(new), model.labels_)
        previous = np.inf
        for step in (1.0, 1e-2, 1e-4, 1e-6):
            moved = np.abs(model.transform(X + step * (new - X)) - model.embedding_).max() / size
            assert moved <= max(previous, 1e-9)
            previous = moved
        assert previous <= 1e-3

    def test_fitting_is_not_touched(self, fitted, new):
        _, model = fitted
        before = model.embedding_.copy()
        model.transform(new)
        assert np.array_equal(model.embedding_, before)


def align(found, true):
    """Sign and offset of the rotation or reflection that takes `true` to `found`."""
    sign = 1 if abs(np.mean(np.exp(1j * (found - true)))) >= abs(np.mean(np.exp(1j * (found + true)))) else -1
    return sign, np.angle(np.mean(np.exp(1j * (found - sign * true))))


@pytest.mark.parametrize(
    ("n", "K", "solver"), [(20, 4, "auto"), (60, 6, "admm"), (100, 25, "admm"), (150, 12, "auto"), (150, 16, "soft")]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ring_points_land_at_their_angle(n, K, solver, rng):
    X, angle = datasets.ring(n)
    model = NOMAD(K=K, solver=solver).fit(X)
    held_out = rng.uniform(0, 2 * np.pi, 500)
    placed = model.transform(np.column_stack([np.cos(held_out), np.sin(held_out)]))
    sign, offset = align(np.arctan2(model.embedding_[:, 1], model.embedding_[:, 0]), angle)
    error = np.angle(np.exp(1j * (np.arctan2(placed[:, 1], placed[:, 0]) - sign * held_out - offset)))
    assert np.abs(error).max() <= 2 * np.pi / n


@pytest.mark.data
def test_half_of_the_teapots_places_the_other_half():
    views = datasets_teapots()
    model = NOMAD(K=20).fit(views[::2])
    angle, placed = (np.arctan2(E[:, 1], E[:, 0]) for E in (model.embedding_, model.transform(views[1::2])))
    order = np.r_[np.arange(0, 100, 2), np.arange(1, 100, 2)]
    assert circular_rank_correlation(np.r_[angle, placed], order) >= 0.98
    step = np.angle(np.exp(1j * (np.roll(angle, -1) - angle)))
    share = np.angle(np.exp(1j * (placed - angle))) / step
    assert np.all((share > 0) & (share < 1)), "a view lies outside its two neighbours"
    assert model.is_closed_.tolist() == [True]


def datasets_teapots():
    import os
    from pathlib import Path

    from scipy.io import loadmat

    root = os.environ.get("SKNOMAD_DATA")
    path = Path(root or ".") / "teapots" / "teapots100.mat"
    if root is None or not path.exists():
        pytest.skip("needs the teapots in $SKNOMAD_DATA")
    return loadmat(path)["teapots"].T / 255.0


@pytest.mark.parametrize("solver", ["admm", "soft"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_distances_and_sparse_data_place_alike(solver):
    X, _ = datasets.two_rings(80)
    new = X[::5] * 1.03
    distances = [np.linalg.norm(A[:, None] - X[None], axis=-1) for A in (X, new)]
    plain = NOMAD(K=12, solver=solver).fit(X)
    radius = np.linalg.norm(plain.transform(new), axis=1)
    for metric, training, rows in (
        ("precomputed", X @ X.T, new @ X.T),
        ("precomputed_distance", *distances),
        ("euclidean", sp.csr_matrix(X), sp.csr_matrix(new)),
    ):
        model = NOMAD(K=12, solver=solver, metric=metric).fit(training)
        assert np.abs(model.transform(training) - model.embedding_).max() <= 1e-12
        assert np.array_equal(model.predict(rows), plain.predict(new))
        # Rings may be rotated; where on them the points lie inwards or outwards may not.
        rough = 1e-8 if solver == "admm" else 0.05 * radius.max()  # other cells
        assert np.allclose(np.linalg.norm(model.transform(rows), axis=1), radius, atol=rough)


def test_mixed_types_of_input():
    X, _ = datasets.two_rings(60)
    dense_model, sparse_model = NOMAD(K=12).fit(X), NOMAD(K=12).fit(sp.csr_matrix(X))
    assert np.allclose(dense_model.transform(sp.csr_matrix(X)), dense_model.embedding_, atol=1e-12)
    assert np.allclose(sparse_model.transform(X), sparse_model.embedding_, atol=1e-12)


def test_stationarity_gives_training_rows_back():
    """``(I - S/lam) Q = Q`` for the multipliers read off a well solved program: the identity behind the extension."""
    X, _ = datasets.moons(40, noise=0.05, random_state=0)
    solution = NOMAD(K=5, tol=1e-7, solver="admm").fit(X).solution_
    lam, y = multipliers_of(solution)
    D, N = solution.problem.gram.dense(), solution.iterate.multiplier
    projector = (D + N - (y[:, None] + y[None, :]) / 2) / lam
    assert np.abs(projector @ solution.Q - solution.Q).max() <= 1e-4
    assert np.abs(projector.sum(axis=1) - 1).max() <= 1e-9


def test_soft_assignments_are_a_fixed_point_of_their_extension():
    X, _ = datasets.moons(100, noise=0.05, random_state=0)
    with pytest.warns(Warning, match="without an upper bound"):
        solution = NOMAD(K=8, solver=SoftAssignment(improvement=1e-9), tol=0).fit(X).solution_
    base = solution.point.base
    assert isinstance(base, SoftPoint)
    _, extension = extend(solution, "euclidean", np.zeros(100, dtype=int), 2)
    assert np.abs(extension.anchors.shares(solution.problem.gram.factor) - base.V).max() <= 1e-3


@pytest.mark.parametrize("solver", ["conditional_gradient", "burer_monteiro", "reference"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_solver_can_be_extended(solver):
    X, _ = datasets.two_rings(40)
    model = NOMAD(K=8, solver=solver, tol=1e-2, max_iter=300).fit(X)
    assert np.abs(model.transform(X) - model.embedding_).max() <= 1e-12
    assert adjusted_rand_score(model.predict(X * 1.01), model.labels_) == 1.0


@pytest.mark.parametrize("K", [1, 12])
def test_trivial_programs_place_by_the_nearest_point(K):
    X, _ = datasets.ring(12)
    model = NOMAD(K=K).fit(X)
    assert np.array_equal(model.predict(X * 1.1), model.labels_)


def test_exceptional_training_points_are_remembered():
    """A component of its own among close neighbours: the weights say otherwise, the label stands."""
    X, _ = datasets.ring(40)
    solution = NOMAD(K=6).fit(X).solution_
    parts = np.zeros(40, dtype=int)
    parts[7] = 1
    _, extension = extend(solution, "euclidean", parts, 2)
    assert extension.exceptions is not None
    assert np.array_equal(extension.place(X)[0], parts)
    assert extension.place(X[7:8] * (1 + 1e-6))[0][0] == 0


@given(
    hnp.arrays(float, (4, 6), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(float, 6, elements=st.floats(1e-3, 1e3)),
)
def test_weighted_rows_maximise(scores, weights):
    """The maximiser of ``<v, scores> - sum v_j^2/(2 w_j)``: feasible, and no exchange of two entries improves it."""
    shares = weighted_rows(scores, weights)
    assert np.all(shares >= 0)
    assert np.allclose(shares.sum(axis=1), 1)
    gradient = scores - shares / weights
    size = 1e-9 * (1 + np.abs(scores).max() + 1 / weights.min())
    for row, slope in zip(shares, gradient, strict=True):
        assert slope.max() <= slope[row > 1e-12].min() + size


@given(hnp.arrays(float, (3, 5), elements=st.sampled_from([0.0, 1e-200, 1e-3, 0.5, 1.0, 7.0])))
def test_local_weights_interpolate(distances):
    weights = local_weights(distances)
    assert np.isfinite(weights).all()
    assert np.all(weights >= 0)
    assert np.all(weights.sum(axis=1) > 0)
    for row, at in zip(weights, distances, strict=True):
        if (at == 0).any():
            assert np.all(row[at > 1e-100] == 0)


def test_heaviest_parts():
    shares = np.array([[0.4, 0.35, 0.25], [0.5, 0.2, 0.3]])
    assert heaviest_parts(shares, np.array([0, 1, 1])).tolist() == [1, 0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["admm", "soft"])
def test_products_and_entries_agree_with_the_dense_matrix(solver, rng):
    X, _ = datasets.moons(50, random_state=0)
    point = NOMAD(K=5, solver=solver).fit(X).solution_.point
    i, j = rng.integers(50, size=(2, 30))
    columns = rng.standard_normal((50, 3))
    for form in (point, point.base):
        Q = form.dense()
        assert np.allclose(form.entries(i, j), Q[i, j], atol=1e-12)
        assert np.allclose(form.product(columns), Q @ columns, atol=1e-12)


def test_wrong_new_points_are_named():
    model = NOMAD(K=4).fit(datasets.ring(20)[0])
    with pytest.raises(ValueError, match="3 features, but NOMAD is expecting 2"):
        model.transform(np.ones((2, 3)))
    with pytest.raises(ValueError, match="distances must be nonnegative, got -1"):
        NOMAD(K=2, metric="precomputed_distance").fit(1 - np.eye(5)).transform(-np.ones((1, 5)))
    with pytest.raises(ValueError, match="X has 1 non-finite values"):
        model.predict([[np.nan, 0.0]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        NOMAD(K=16, tol=1e-1),
        NOMAD(K=16, solver=SoftAssignment(rank=40), tol=1.0, max_iter=40),
        MultiLayerNOMAD([16, 2], tol=1e-1),
    ],
    ids=["points", "cells", "layers"],
)
def test_points_far_from_everything_are_told(model):
    X, _ = datasets.two_rings(120, noise=0.03, random_state=0)
    model.fit(X)
    assert model.remoteness(X).max() == 0
    assert np.mean(model.remoteness(datasets.two_rings(400, noise=0.03, random_state=5)[0]) > 0.5) < 0.01
    middle, near, far, farther = model.remoteness([[0.0, 0.0], [1.02, 0.0], [9.0, 9.0], [1e6, 0.0]])
    assert near < 0.2 < 0.7 < middle < far < farther <= 1
    scaled = model.fit(1e50 * X).remoteness([[9e50, 9e50]])
    assert scaled[0] == pytest.approx(far, rel=1e-6)


def test_remoteness_needs_points():
    X, _ = datasets.two_rings(40)
    model = NOMAD(K=10, metric="precomputed", tol=1e-1).fit(X @ X.T)
    with pytest.raises(ValueError, match="remoteness must be given dense points of a model with metric="):
        model.remoteness(X @ X.T)
    with pytest.raises(ValueError, match="remoteness must be given dense points"):
        NOMAD(K=10, tol=1e-1).fit(sp.csr_matrix(X)).remoteness(sp.csr_matrix(X))
