"""`CertifiedKMeans`: scikit-learn's manners, no worse than its KMeans, and a bound below every clustering."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils.estimator_checks import check_estimator

from sknomad import CertifiedKMeans, SoftPoint, kmeans_objective
from sknomad._kmeans.inertia import memberships
from sknomad._kmeans.labels import exchange, labels_of_point

# Many of these stop short of the tolerance, and say so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS = {2: 152.347952, 3: 78.851441, 4: 57.228473}


def test_check_estimator():
    results = check_estimator(CertifiedKMeans(max_iter=20, n_init=2), on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert not any(result["expected_to_fail"] for result in results)
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("K", IRIS)
def test_iris_is_clustered_as_well_as_is_known(K):
    model = CertifiedKMeans(K, random_state=0).fit(load_iris().data)
    assert model.inertia_ == pytest.approx(IRIS[K], rel=1e-7)
    assert 0.94 * model.inertia_ < model.lower_bound_ < IRIS[K]
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.inertia_)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("K", [2, 7])
def test_no_worse_than_scikit_learn(load, K):
    X = load().data[:600]
    theirs = KMeans(K, n_init=10, random_state=1).fit(X).inertia_
    ours = CertifiedKMeans(K, random_state=1, max_iter=10, tol=0.5).fit(X).inertia_
    assert ours <= theirs * (1 + 1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.integers(1, 4))
@settings(max_examples=25)
def test_small_problems_lie_between_the_bound_and_scikit_learn(seed, n, K):
    rng = np.random.default_rng(seed)
    K = min(K, n)
    X = rng.standard_normal((n, 2))
    model = CertifiedKMeans(K, random_state=0, max_iter=100).fit(X)
    best = min(kmeans_objective(X, [0, *rest]) for rest in itertools.product(range(K), repeat=n - 1))
    assert model.lower_bound_ <= best * (1 + 1e-9) + 1e-12
    assert model.inertia_ >= best * (1 - 1e-9) - 1e-12
    assert model.inertia_ <= KMeans(K, n_init=10, random_state=0).fit(X).inertia_ * (1 + 1e-9) + 1e-12


def test_the_program_alone_finds_what_poor_starts_miss(rng):
    """Labels are read off a soft answer in four ways; each must find separated blobs by itself."""
    truth = np.repeat(np.arange(12), 15)
    X = rng.uniform(-30, 30, (12, 3))[truth] + 0.1 * rng.standard_normal((180, 3))
    soft = memberships(truth) + 0.2 / 12
    point = SoftPoint(soft / soft.sum(axis=1, keepdims=True))
    readings = list(labels_of_point(point, X, 12, np.random.RandomState(0)))
    assert len(readings) == 4
    for labels in readings:
        assert kmeans_objective(X, labels) == pytest.approx(kmeans_objective(X, truth))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_exchange_ends_where_no_single_move_pays(rng, convert):
    X = rng.standard_normal((40, 2))
    labels = exchange(convert(X), rng.integers(0, 4, 40))
    inertia = kmeans_objective(X, labels)
    for point, cluster in itertools.product(range(40), range(4)):
        moved = labels.copy()
        moved[point] = cluster
        assert kmeans_objective(X, moved) >= inertia - 1e-9


def test_dense_sparse_and_frames_agree(rng):
    pd = pytest.importorskip("pandas")
    X = np.repeat(9 * np.eye(3, 4), 12, axis=0) + rng.standard_normal((36, 4)) * (rng.random((36, 4)) < 0.5)
    dense = CertifiedKMeans(3, random_state=0).fit(X)
    sparse = CertifiedKMeans(3, random_state=0).fit(sp.csr_matrix(X))
    frame = CertifiedKMeans(3, random_state=0).fit(pd.DataFrame(X, columns=list("abcd")))
    for other in (sparse, frame):
        assert np.array_equal(other.labels_, dense.labels_)
        assert other.inertia_ == pytest.approx(dense.inertia_)
        assert other.lower_bound_ == pytest.approx(dense.lower_bound_, rel=2e-3)
    assert list(frame.feature_names_in_) == list("abcd")
    assert np.allclose(sparse.transform(sp.csr_matrix(X)), dense.transform(X))


def test_new_points_go_to_the_nearest_centre(rng):
    X = np.repeat(20 * np.eye(3), 10, axis=0) + rng.standard_normal((30, 3))
    model = CertifiedKMeans(3, random_state=0).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.labels_[0] == 0
    distances = model.transform(X)
    assert distances.shape == (30, 3)
    assert np.allclose(distances, np.linalg.norm(X[:, None] - model.cluster_centers_, axis=-1))
    assert model.score(X) == pytest.approx(-model.inertia_)
    assert list(model.get_feature_names_out()) == [f"certifiedkmeans{j}" for j in range(3)]
    assert np.array_equal(clone(model).fit_predict(X), model.labels_)


def test_the_certificate_belongs_to_the_labels_and_its_multiplier_proves_it():
    from sknomad import Gram, KMeansSDP, inertia_bound, upper_bound

    X = load_iris().data
    model = CertifiedKMeans(4, random_state=0).fit(X)
    proof, gram = model.certificate_, Gram.from_data(X)
    assert kmeans_objective(X, proof.labels) == pytest.approx(proof.inertia, rel=1e-12)
    again = inertia_bound(gram, upper_bound(KMeansSDP(gram, 4), proof.multipliers.N))
    assert again == pytest.approx(proof.lower_bound, rel=1e-9)


def test_fewer_distinct_points_than_clusters():
    model = CertifiedKMeans(3, random_state=0).fit([[1.0], [1.0], [2.0], [2.0]])
    assert model.inertia_ == 0
    assert model.gap_ == 0
    assert len(model.cluster_centers_) == 2
    assert CertifiedKMeans(4).fit([[1.0], [1.0], [2.0], [2.0]]).gap_ == 0


BAD = {
    "n_clusters must be at most n_samples=3, got 8": {},
    "n_clusters must be an integer >= 1, got 0": {"n_clusters": 0},
    "n_init must be an integer >= 1": {"n_init": 0},
    r"tol must be a real number in \[0, 1\]": {"tol": -1.0},
    "grade must be one of": {"grade": "guess"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_parameters_get_a_sentence(message):
    with pytest.raises(ValueError, match=message):
        CertifiedKMeans(**BAD[message]).fit([[0.0], [1.0], [5.0]])
