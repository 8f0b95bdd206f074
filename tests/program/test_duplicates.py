"""Weights and equal rows in the estimator: the same answer as a fit to all rows, at the cost of the distinct ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from sknomad import NOMAD, Gram, KMeansSDP, datasets, load, solve, verify_certificate
from sknomad._estimators import nomad as _nomad
from sknomad._numerics.equal_rows import equal_rows
from sknomad._program.duplicates import read_groups
from sknomad.cli import main
from sknomad.solvers import Auto, SoftAssignment


@pytest.fixture
def weighted():
    X, _ = datasets.moons(36, noise=0.05, random_state=0)
    weights = np.random.default_rng(2).integers(0, 4, size=36)
    return X, weights, np.repeat(np.arange(36), weights)


@pytest.fixture
def unmerged(monkeypatch):
    """A fit in which equal rows are points of their own: the oracle."""

    def fit(model, X):
        with monkeypatch.context() as patch:
            patch.setattr(_nomad, "read_groups", lambda *args, **options: None)
            return model.fit(X)

    return fit


def pairwise(X):
    return np.linalg.norm(X[:, None] - X[None], axis=-1)


def forms(kind, X, copies):
    """Data of one kind, and the same with rows repeated."""
    square = np.ix_(copies, copies)
    return {
        "data": (X, X[copies], "euclidean"),
        "sparse": (sp.csr_matrix(X), sp.csr_matrix(X[copies]), "euclidean"),
        "kernel": (X @ X.T, (X @ X.T)[square], "precomputed"),
        "distances": (pairwise(X), pairwise(X)[square], "precomputed_distance"),
    }[kind]


@pytest.mark.parametrize("solver", ["auto", SoftAssignment(), Auto(points_below=4)], ids=["admm", "soft", "auto"])
@pytest.mark.parametrize("kind", ["data", "sparse", "kernel", "distances"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_repetitions(kind, solver, weighted):
    X, weights, copies = weighted
    given, repeated, metric = forms(kind, X, copies)
    one = NOMAD(K=6, metric=metric, solver=solver).fit(given, sample_weight=weights)
    many = NOMAD(K=6, metric=metric, solver=solver).fit(repeated)
    present = weights > 0
    assert one.certificate_ == many.certificate_
    assert np.array_equal(one.labels_[copies], many.labels_)
    assert np.allclose(one.embedding_[copies], many.embedding_, atol=1e-10)
    assert np.allclose(one.order_[copies], many.order_)
    assert np.isnan(one.order_[~present]).all()
    assert np.allclose(one.affinity_[np.ix_(copies, copies)], many.affinity_, atol=1e-12)
    assert np.allclose(one.memberships_[copies], many.memberships_, atol=1e-10)
    assert np.allclose(one.geodesic_distances()[np.ix_(copies, copies)], many.geodesic_distances(), atol=1e-10)
    for model, data in ((one, given), (many, repeated)):
        assert np.allclose(model.transform(data), model.embedding_, atol=1e-10)
        assert np.array_equal(model.predict(data), model.labels_)


def assert_same_order(one, other, apart):
    """Points whose coordinates differ by more than `apart` come in the same order; ties are broken by rounding."""
    x = other.embedding_[:, 0]
    before = (x[:, None] - x > apart) & (other.labels_[:, None] == other.labels_)
    assert before.any()
    direction = np.sign((one.order_[:, None] - one.order_)[before] * (other.order_[:, None] - other.order_)[before])
    assert np.all(direction > 0)


@pytest.mark.parametrize("kind", ["data", "sparse", "kernel", "distances"])
def test_merging_does_not_show(kind, weighted, unmerged):
    X, _, copies = weighted
    _, repeated, metric = forms(kind, X, copies)
    model = NOMAD(K=6, metric=metric, tol=1e-6).fit(repeated)
    plain = unmerged(NOMAD(K=6, metric=metric, tol=1e-6), repeated)
    assert model.solution_.problem.n == len(np.unique(copies))
    assert plain.solution_.problem.n == len(copies)
    assert model.certificate_.upper == pytest.approx(plain.certificate_.upper, rel=2e-6)
    assert model.certificate_.lower <= plain.certificate_.upper
    assert plain.certificate_.lower <= model.certificate_.upper
    assert np.array_equal(model.labels_, plain.labels_)
    size = np.abs(plain.embedding_).max()
    assert np.allclose(model.embedding_, plain.embedding_, atol=1e-3 * size)
    assert np.allclose(model.affinity_, plain.affinity_, atol=1e-3 * plain.affinity_.max())
    assert np.allclose(model.memberships_, plain.memberships_, atol=1e-3)
    assert np.array_equal(model.is_closed_, plain.is_closed_)
    assert_same_order(model, plain, apart=1e-3 * size)
    sparse = [fit.set_params(affinity="sparse").affinity_.toarray() for fit in (model, plain)]
    assert np.allclose(*sparse, atol=2e-2 * plain.affinity_.max() if metric else 0)
    new = (0.5 * X[:5] + 0.5 * X[5:10]) if metric == "euclidean" else repeated[:5]
    new = sp.csr_matrix(new) if kind == "sparse" else new
    assert np.array_equal(model.predict(new), plain.predict(new))
    assert np.allclose(model.transform(new), plain.transform(new), atol=2e-2 * size)


@pytest.mark.parametrize(("inner", "n"), [(0.49, 3), (0.51, 4)])
def test_kernels_with_negative_squared_distances_are_not_merged(inner, n):
    """There trace spent on copies may pay: merging would make the bound false."""
    kernel = np.array([[0.0, inner, 0.0], [inner, 1.0, 3.0], [0.0, 3.0, 9.0]])[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    groups = read_groups(None, kernel, "precomputed")
    assert (4 if groups is None else len(groups.first)) == n


@pytest.mark.parametrize("K", [2.5, 4])
def test_merging_is_exact_for_distances_that_no_points_have(K):
    """Only their squares must not be negative."""
    d = np.array([[0, 1, 9, 1], [1, 0, 1, 9], [9, 1, 0, 1], [1, 9, 1, 0.0]])
    copies = np.repeat(np.arange(4), [3, 1, 2, 4])
    one = solve(KMeansSDP(Gram.from_distances(d, weights=[3, 1, 2, 4]), K), "admm", tol=1e-4).certificate
    many = solve(KMeansSDP(Gram.from_distances(d[np.ix_(copies, copies)]), K), "admm", tol=1e-4).certificate
    assert one.lower <= many.upper
    assert many.lower <= one.upper
    assert NOMAD(K=K, metric="precomputed_distance").fit(d[np.ix_(copies, copies)]).solution_.problem.n == 4


def test_a_thousand_rows_of_fifty_points_are_fifty_points():
    X, _ = datasets.two_rings(50)
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(50), 20))
    model = NOMAD(K=10, tol=3e-4).fit(X[copies])
    assert model.solution_.problem.n == 50
    assert model.labels_.shape == (1000,)
    few = np.sort(np.random.default_rng(1).permutation(1000)[:120])
    plain = NOMAD(K=10, tol=3e-4).fit(X)
    assert model.certificate_.upper == pytest.approx(20 * plain.certificate_.upper, rel=6e-4)
    assert np.allclose(
        20 * model.affinity_[np.ix_(few, few)], plain.affinity_[np.ix_(copies[few], copies[few])], atol=1e-3
    )
    assert np.array_equal(model.labels_, plain.labels_[copies])
    assert np.allclose(model.affinity_.sum(axis=1), 1)
    assert np.trace(model.affinity_) == pytest.approx(10)


def test_rows_of_Q_sum_to_one_with_their_weights(weighted, rng):
    X, weights, _ = weighted
    weights = weights * rng.random(36)
    model = NOMAD(K=6).fit(X, sample_weight=weights)
    present = weights > 0
    assert np.allclose(model.affinity_[present] @ weights, 1)
    assert model.affinity_.min() >= -1e-15
    assert weights @ np.diag(model.affinity_) == pytest.approx(6)
    assert np.all(model.affinity_[~present] == 0)
    assert np.allclose(model.memberships_[present].sum(axis=1), 1)
    sparse = model.set_params(affinity="sparse").affinity_
    assert sparse.shape == (36, 36)
    assert np.allclose(sparse.toarray()[np.ix_(present, present)] @ weights[present], 1, atol=0.05)


@pytest.mark.parametrize("solver", ["auto", SoftAssignment()], ids=["admm", "soft"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_points_without_weight_are_placed_like_new_ones(weighted, solver, rng):
    X, weights, _ = weighted
    weights = weights * rng.random(36)
    absent = weights == 0
    model = NOMAD(K=6, solver=solver).fit(X, sample_weight=weights)
    without = NOMAD(K=6, solver=solver).fit(X[~absent], sample_weight=weights[~absent])
    assert absent.any()
    assert np.allclose(model.embedding_[absent], without.transform(X[absent]), atol=1e-12)
    assert np.array_equal(model.labels_[absent], without.predict(X[absent]))
    assert np.allclose(model.transform(X), model.embedding_, atol=1e-10)
    assert np.array_equal(model.predict(X), model.labels_)


def test_only_ratios_matter(rng):
    X, _ = datasets.moons(30, noise=0.05, random_state=0)
    weights = np.exp(rng.uniform(-1, 1, 30))
    one, other = (NOMAD(K=5, tol=1e-4, coordinates="spectral").fit(X, sample_weight=c * weights) for c in (1, 3.7))
    assert other.certificate_.upper == pytest.approx(3.7 * one.certificate_.upper, rel=1e-9)
    assert np.array_equal(one.labels_, other.labels_)
    assert np.allclose(3.7 * other.affinity_, one.affinity_, atol=1e-9)
    assert np.allclose(np.sqrt(3.7) * other.embedding_, one.embedding_, atol=1e-9)
    assert np.allclose(other.map_, one.map_, atol=1e-9)


def test_a_point_split_in_two_is_the_same_point(rng):
    X, _ = datasets.moons(40, noise=0.05, random_state=0)
    weights = np.exp(rng.uniform(-1, 1, 40))
    weights[7] = 2.5
    whole = NOMAD(K=5).fit(X, sample_weight=weights)
    weights[7] = 1.25
    split = NOMAD(K=5).fit(np.vstack([X, X[7]]), sample_weight=np.append(weights, 1.25))
    assert split.solution_.problem.n == 40
    assert split.certificate_ == whole.certificate_
    assert np.allclose(split.embedding_, whole.embedding_[np.append(np.arange(40), 7)], atol=1e-12)
    assert np.allclose(split.affinity_[:40, :40], whole.affinity_, atol=1e-14)


@pytest.mark.parametrize("tiny", [1e-3, 1e-6])
def test_a_tiny_weight_changes_little(tiny):
    X, truth = datasets.two_rings(60)
    weights = np.ones(60)
    weights[[5, 40]] = tiny
    model = NOMAD(K=16, tol=1e-2).fit(X, sample_weight=weights)
    without = NOMAD(K=16, tol=1e-2).fit(X, sample_weight=weights * (weights == 1))
    assert model.certificate_.upper == pytest.approx(without.certificate_.upper, rel=1.2e-2)
    assert np.array_equal(model.labels_, without.labels_)
    assert set(zip(model.labels_, truth, strict=True)) in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})


def test_ones_change_nothing():
    X, _ = datasets.ring(30)
    plain, weighted = NOMAD(K=4).fit(X), NOMAD(K=4).fit(X, sample_weight=np.ones(30))
    assert not weighted.solution_.problem.fixed.is_weighted
    assert np.array_equal(plain.embedding_, weighted.embedding_)
    assert np.array_equal(NOMAD(K=4).fit_predict(X, sample_weight=[2] * 30), plain.labels_)


def test_automatic_K_is_that_of_all_rows(unmerged):
    X, _ = datasets.two_rings(30)
    repeated = np.repeat(X, np.arange(30) % 3 + 1, axis=0)
    model = NOMAD().fit(repeated)
    assert model.K_ == unmerged(NOMAD(), repeated).K_
    assert NOMAD().fit(X, sample_weight=np.arange(30) % 3 + 1).K_ == model.K_


@pytest.mark.parametrize("K", [3, 4.5, 7])
def test_more_neighbourhoods_than_distinct_points(K):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], [2, 4, 1], axis=0)
    model = NOMAD(K=K).fit(X)
    assert model.K_ == K
    assert model.certificate_.lower == pytest.approx(np.sum((X - X.mean(axis=0)) ** 2))
    Q = model.affinity_
    assert np.allclose(Q.sum(axis=1), 1)
    assert np.trace(Q) == pytest.approx(K)
    assert np.linalg.eigvalsh(Q)[0] > -1e-12
    assert np.sum(X * (Q @ X)) == pytest.approx(np.sum(X * X))
    assert len(set(map(tuple, np.c_[model.labels_, X]))) == 3
    assert model.n_manifolds_ == 3
    with pytest.raises(ValueError, match=r"K must be a real number in \[1, n_samples=7\]"):
        NOMAD(K=7.5).fit(X)


def test_small_components_are_told_by_their_weight():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [50.0, 0.0]])
    assert NOMAD(K=2, min_component_size=2).fit(X).labels_.tolist() == [0, 0, -1]
    assert sorted(NOMAD(K=2, min_component_size=2).fit(X, sample_weight=[1, 1, 3]).labels_) == [0, 1, 1]
    assert sorted(NOMAD(K=2, min_component_size=2).fit(X[[0, 1, 2, 2, 2]]).labels_) == [0, 0, 0, 1, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers_without_weights_keep_equal_rows_apart():
    X = np.repeat([[0.0], [1.0], [9.0]], 2, axis=0)
    assert NOMAD(K=2, solver="burer_monteiro", tol=1.0).fit(X).solution_.problem.n == 6
    with pytest.raises(ValueError, match="sample_weight must be None for a solver that knows no weights"):
        NOMAD(K=2, solver="burer_monteiro").fit(X, sample_weight=[1, 2, 3, 1, 1, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1.5, 2], r"sample_weight must hold finite numbers >= 0, got -1\.5 at index 1"),
        ([1, np.nan, 2], "sample_weight"),
        ([1, np.inf, 2], "sample_weight"),
        ([1, 0, 0], "sample_weight must leave at least 2 points, got 1"),
        ([1, 2], "sample_weight"),
    ],
)
def test_other_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        NOMAD(K=1).fit([[0.0], [1.0], [2.0]], sample_weight=weights)


@pytest.mark.parametrize("kind", ["data", "sparse", "kernel", "distances"])
def test_a_saved_model_is_the_same(tmp_path, kind, weighted, rng):
    X, weights, copies = weighted
    given, _, metric = forms(kind, X, copies)
    model = NOMAD(K=6, metric=metric).fit(given, sample_weight=weights * rng.random(36))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.affinity_, model.affinity_)
    assert np.array_equal(again.transform(given), model.transform(given))
    assert np.array_equal(again.memberships_, model.memberships_)
    problem = again.solution_.problem
    assert np.array_equal(problem.gram.dense(), model.solution_.problem.gram.dense())


@pytest.mark.parametrize("kind", ["data", "kernel", "distances"])
def test_certificates_with_weights(tmp_path, kind, weighted, rng):
    X, weights, copies = weighted
    given, repeated, metric = forms(kind, X, copies)
    path = tmp_path / "cert"
    NOMAD(K=6, metric=metric).fit(repeated).solution_.save_certificate(path)
    result = verify_certificate(path, repeated, metric=metric)
    assert result.holds
    assert result.same_data
    assert result.n == len(np.unique(copies))
    assert verify_certificate(path, given, metric=metric, sample_weight=weights).holds
    real = weights * rng.random(36)
    NOMAD(K=6, metric=metric).fit(given, sample_weight=real).solution_.save_certificate(path)
    assert verify_certificate(path, given, metric=metric, sample_weight=real).holds
    with pytest.raises(ValueError, match="sample_weight must be what the certificate was made with"):
        verify_certificate(path, given, metric=metric, sample_weight=weights)
    without = verify_certificate(path, given, metric=metric)
    assert not without.holds
    assert "sample_weight" in without.reason


def test_the_command_checks_a_certificate_of_repeated_rows(tmp_path, weighted, capsys):
    X, _, copies = weighted
    np.save(tmp_path / "data.npy", X[copies])
    NOMAD(K=6).fit(X[copies]).solution_.save_certificate(tmp_path / "cert")
    assert main(["verify", str(tmp_path / "cert"), str(tmp_path / "data.npy")]) == 0
    shown = capsys.readouterr().out
    assert f"{len(copies)} rows, {len(np.unique(copies))} of them distinct" in shown
    np.save(tmp_path / "other.npy", X[copies][:-9])
    assert main(["verify", str(tmp_path / "cert"), str(tmp_path / "other.npy")]) != 0


# Which rows are equal.


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_equal_rows_are_found_whatever_their_order(make, rng):
    X = rng.integers(-2, 3, size=(300, 3)) * 1.0
    X[X == 0] *= rng.choice([-1, 1], np.count_nonzero(X == 0))  # zeros of both signs
    of, first = equal_rows(make(X))
    expected = np.unique(X + 0.0, axis=0)
    assert len(first) == len(expected)
    assert np.array_equal(X[first][of], X)
    order = rng.permutation(300)
    of2, first2 = equal_rows(make(X[order]))
    assert np.array_equal(X[order][first2], X[first])
    assert np.array_equal(of2, of[order])


def test_rows_of_equal_numbers_that_differ_stay_apart(monkeypatch):
    monkeypatch.setattr("sknomad._numerics.equal_rows._contents", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    of, first = equal_rows(X)
    assert np.array_equal(X[first][of], X)
    assert len(first) == 3


def test_nearly_equal_rows_are_not_equal():
    X = np.array([[1.0, 2.0], [1.0, np.nextafter(2, 3)]])
    assert len(equal_rows(X)[1]) == 2
