"""The estimator: scikit-learn's contract, the manifolds it finds, and what it says of bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from sknomad import NOMAD, KMeansSDP, SpectralPoint, datasets
from sknomad._points.components import find_manifolds
from sknomad._points.embedding import embed, fix_signs
from sknomad._points.forms import DensePoint


@parametrize_with_checks([NOMAD()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


MANIFOLDS = {
    "two rings": (lambda: datasets.two_rings(200), 16),
    "moons": (lambda: datasets.moons(200, noise=0.05, random_state=0), 16),
    "double Swiss roll": (lambda: datasets.double_swiss_roll(200), 64),
}


@pytest.fixture(scope="module", params=MANIFOLDS, ids=str)
def fitted(request):
    sample, K = MANIFOLDS[request.param]
    X, truth = sample()
    return X, truth, NOMAD(K=K).fit(X)


def test_labels_are_the_manifolds(fitted):
    _, truth, model = fitted
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.certificate_.gap <= 1e-3


def test_labels_do_not_hang_on_the_threshold(fitted):
    _, truth, model = fitted
    for threshold in (3e-3, 3e-2):
        labels = find_manifolds(model.solution_.point.unmixed, threshold)
        assert adjusted_rand_score(truth, labels) == 1.0


def test_affinity_is_feasible(fitted):
    _, _, model = fitted
    Q = model.affinity_
    assert np.allclose(Q.sum(axis=1), 1, atol=1e-12)
    assert np.trace(Q) == pytest.approx(model.K_, rel=1e-12)
    assert Q.min() >= -1e-17
    assert np.linalg.eigvalsh(Q)[0] > -1e-12


def test_each_manifold_has_its_own_centred_coordinates(fitted):
    _, _, model = fitted
    for k in np.unique(model.labels_):
        block = model.embedding_[model.labels_ == k]
        assert np.allclose(block.mean(axis=0), 0, atol=1e-12)
        assert np.all(np.linalg.norm(block, axis=0) > 0.5)
        inner = block.T @ block
        assert abs(inner[0, 1]) < 1e-9 * inner[0, 0]


def test_ring_is_unrolled_in_order():
    X, _angle = datasets.ring(120)
    embedding = NOMAD(K=12).fit_transform(X)
    recovered = np.unwrap(np.arctan2(embedding[:, 1], embedding[:, 0]))
    # A rotation or reflection of the circle: steps all of one sign and of equal size.
    steps = np.diff(recovered)
    assert np.allclose(np.abs(steps), 2 * np.pi / 120, rtol=0.05)
    assert np.all(steps > 0) or np.all(steps < 0)


def test_embedding_decomposes_Q_minus_J_and_not_Q_without_its_first_vector():
    """With two equal blocks eigenvalue 1 repeats, and dropping 'the first' eigenvector may drop the wrong one."""
    Q = np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    coordinates = embed(DensePoint(Q), 1)[:, 0]
    assert np.allclose(np.abs(coordinates), 1 / np.sqrt(6))
    assert coordinates[:3].mean() == pytest.approx(-coordinates[3:].mean())


def test_embedding_agrees_between_forms_of_the_same_point():
    X, _ = datasets.moons(60, random_state=1)
    model = NOMAD(K=6, solver="admm").fit(X)
    base = model.solution_.point.base
    assert isinstance(base, SpectralPoint)
    dense = embed(DensePoint(base.rows(0, 60)), 3)
    assert np.allclose(embed(base, 3), dense, atol=1e-8)


def test_signs_are_fixed():
    columns = np.array([[1.0, -3.0], [-2.0, 1.0]])
    assert np.array_equal(fix_signs(columns), [[-1.0, 3.0], [2.0, -1.0]])


def test_tiny_components_get_zeros():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [50.0, 0.0], [50.1, 0.0], [0.0, 80.0]])
    model = NOMAD(K=3, n_components=2).fit(X)
    assert model.labels_.tolist() == [1, 1, 0, 0, 2]
    assert np.all(model.embedding_[:, 1] == 0)
    assert np.all(model.embedding_[4] == 0)


def test_kernel_and_distances_give_the_same_answer():
    X, _ = datasets.two_rings(60)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    plain = NOMAD(K=8).fit(X)
    kernel = NOMAD(K=8, metric="precomputed").fit(X @ X.T)
    spaced = NOMAD(K=8, metric="precomputed_distance").fit(distances)
    for other in (kernel, spaced):
        assert np.array_equal(other.labels_, plain.labels_)
        assert other.certificate_.lower <= plain.certificate_.upper
        assert plain.certificate_.lower <= other.certificate_.upper
        assert np.allclose(other.affinity_, plain.affinity_, atol=1e-6)


@pytest.mark.parametrize("convert", [np.float32, sp.csr_matrix, sp.coo_array, "frame", list])
def test_input_types(convert):
    X, truth = datasets.two_rings(60)
    if convert == "frame":
        import pandas as pd

        given = pd.DataFrame(X, columns=["x", "y"])
    elif convert is list:
        given = X.tolist()
    else:
        given = X.astype(convert) if convert is np.float32 else convert(X)
    model = NOMAD(K=16).fit(given)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    if convert == "frame":
        assert model.feature_names_in_.tolist() == ["x", "y"]
        assert NOMAD(K=16).set_output(transform="pandas").fit_transform(given).columns.tolist() == ["nomad0", "nomad1"]


def test_closed_forms():
    X, _ = datasets.moons(20, random_state=0)
    one, all_apart = NOMAD(K=1).fit(X), NOMAD(K=20).fit(X)
    assert np.allclose(one.affinity_, 1 / 20)
    assert one.certificate_.gap == 0
    assert np.array_equal(all_apart.affinity_, np.eye(20))
    assert sorted(all_apart.labels_) == list(range(20))


def test_labels_do_not_depend_on_the_order_of_the_points():
    X, _ = datasets.blobs(60, noise=0.3, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    plain, shuffled = NOMAD(K=6).fit(X), NOMAD(K=6).fit(X[order])
    assert len(set(plain.labels_)) > 1
    np.testing.assert_array_equal(shuffled.labels_, plain.labels_[order])


def test_equal_points_and_duplicates():
    equal = NOMAD(K=3).fit(np.ones((10, 2)))
    assert equal.certificate_.lower == equal.certificate_.upper == 0
    assert np.isfinite(equal.embedding_).all()
    X, truth = datasets.two_rings(60)
    doubled = NOMAD(K=16).fit(np.vstack([X, X]))
    assert adjusted_rand_score(np.r_[truth, truth], doubled.labels_) == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_scales_are_finite(scale):
    X, truth = datasets.two_rings(60)
    with pytest.warns(UserWarning, match="leaves float64"):
        model = NOMAD(K=16).fit(X * scale)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert np.isfinite([model.certificate_.lower, model.certificate_.upper]).all()
    assert model.certificate_.gap <= 1e-3


def test_parameters_are_left_alone():
    model = NOMAD(K="auto", tol=1e-2)
    before = clone(model).get_params()
    model.fit(datasets.two_rings(60)[0])
    assert model.get_params() == before


def test_verified_grade():
    model = NOMAD(K=8, grade="verified").fit(datasets.two_rings(60)[0])
    assert model.certificate_.grade == "verified"
    assert model.certificate_.gap <= 1e-3


GOOD = np.arange(12.0).reshape(6, 2) ** 2
BAD_INPUT = {
    "nan": ({}, np.where(GOOD == 4, np.nan, GOOD), r"X has 1 non-finite values .* row 1, column 0"),
    "inf": ({}, np.where(GOOD == 9, np.inf, GOOD), r"X has 1 non-finite values .* row 1, column 1"),
    "empty": ({}, np.empty((0, 2)), "X must be"),
    "no columns": ({}, np.empty((6, 0)), "X must be"),
    "one sample": ({}, GOOD[:1], "X must be"),
    "one row of numbers": ({}, GOOD[:, 0], "X must be"),
    "strings": ({}, [["a", "b"], ["c", "d"]], "X must be"),
    "complex": ({}, GOOD + 1j, "X must hold real numbers"),
    "a string": ({}, "data.csv", "X must be"),
    "K too large": ({"K": 7}, GOOD, r"K must be a real number in \[1, n_samples=6\], got 7"),
    "K too small": ({"K": 0.5}, GOOD, "K must be a real number"),
    "K nan": ({"K": np.nan}, GOOD, "K must be a real number"),
    "K text": ({"K": "many"}, GOOD, "K must be a real number"),
    "K true": ({"K": True}, GOOD, "K must be a real number"),
    "asymmetric kernel": ({"metric": "precomputed"}, np.arange(16.0).reshape(4, 4), "kernel must be symmetric"),
    "indefinite kernel": (
        {"metric": "precomputed"},
        np.diag([1.0, -1.0, 1.0]),
        "kernel must be positive semidefinite",
    ),
    "flat kernel": ({"metric": "precomputed"}, GOOD, "kernel must be square"),
    "negative distance": ({"metric": "precomputed_distance"}, -np.ones((3, 3)), "distances must be nonnegative"),
    "metric": ({"metric": "cosine"}, GOOD, "metric must be one of"),
    "solver": ({"solver": "magic"}, GOOD, "solver must be one of"),
    "tol": ({"tol": -1}, GOOD, "tol must be"),
    "threshold": ({"threshold": 2}, GOOD, "threshold must be"),
    "n_components": ({"n_components": 0}, GOOD, "n_components must be"),
    "max_iter": ({"max_iter": 0}, GOOD, "max_iter must be"),
    "max_seconds": ({"max_seconds": -1}, GOOD, "max_seconds must be"),
    "grade": ({"grade": "A"}, GOOD, "grade must be one of"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_named(case):
    parameters, X, message = BAD_INPUT[case]
    with pytest.raises((TypeError, ValueError), match=message):
        NOMAD(**{"K": 2, **parameters}).fit(X)


def bad_tables(generator):
    """An endless stream of (argument, parameters, X), each wrong in one random way."""
    junk = [None, "x", b"x", [], {}, object(), np.nan, np.inf, -1, 0, True, 1j, [1], "auto ", (1, 2), 1e400, -np.inf]
    breakers = [
        lambda X, i, j: X.__setitem__((i, j), generator.choice([np.nan, np.inf, -np.inf])),
        lambda X, i, j: X.__setitem__((slice(None), j), np.nan),
    ]
    while True:
        n, d = generator.integers(2, 9), generator.integers(1, 5)
        X = generator.normal(size=(n, d))
        kind = generator.integers(5)
        if kind == 0:
            breakers[generator.integers(2)](X, generator.integers(n), generator.integers(d))
            yield "X", {}, X
        elif kind == 1:
            yield "X", {}, junk[generator.integers(len(junk))]
        elif kind == 2:
            shape = [(0, d), (n, 0), (1, d), (n,), (n, d, 2)][generator.integers(5)]
            yield "X", {}, np.ones(shape)
        elif kind == 3:
            table = X.astype(object)
            table[generator.integers(n), generator.integers(d)] = ["a", "1,5", {}, [], 1j][generator.integers(5)]
            yield "X", {}, table
        else:
            name = ["K", "tol", "threshold", "n_components", "max_iter", "metric", "solver", "grade"][
                generator.integers(8)
            ]
            wrong = [value for value in junk if not is_valid(name, value, n)]
            yield name, {name: wrong[generator.integers(len(wrong))]}, X


def is_valid(name, value, n):
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    lowest = {"K": 1, "tol": 0, "threshold": 0, "n_components": 1, "max_iter": 1}.get(name)
    if lowest is None or not is_number:
        return False
    highest = {"K": n, "threshold": 1, "tol": np.inf}.get(name, 10**9)
    return lowest <= value <= highest and (name not in ("n_components", "max_iter") or isinstance(value, int))


def test_fuzzed_bad_input():
    """300 kinds of nonsense: one exception that names its argument, no warning, nothing else."""
    stream = bad_tables(np.random.default_rng(0))
    for _ in range(300):
        name, parameters, X = next(stream)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((TypeError, ValueError)) as caught:
                NOMAD(**{"K": 1.5, **parameters}).fit(X)
        assert type(caught.value) in (TypeError, ValueError)
        assert name in str(caught.value), f"{name}={parameters or X!r}: {caught.value}"


def test_problem_is_frozen():
    problem = NOMAD(K=4).fit(GOOD).solution_.problem
    assert isinstance(problem, KMeansSDP)
    with pytest.raises(AttributeError):
        problem.K = 3
