"""`Gram`: every way in gives the same centred matrix, and what cannot be meant is refused with a reason."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from oracles import centred_gram
from sknomad import Gram, KMeansSDP

X = np.random.default_rng(0).standard_normal((9, 4)) + np.array([5.0, -2.0, 0.0, 100.0])
D = centred_gram(X)
SIZE = float(np.trace(D))


def distances_between(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


GRAMS = {
    "data": lambda: Gram.from_data(X),
    "list": lambda: Gram.from_data(X.tolist()),
    "frame": lambda: Gram.from_data(pd.DataFrame(X, columns=list("abcd"))),
    "sparse": lambda: Gram.from_data(sp.csr_matrix(X)),
    "sparse array": lambda: Gram.from_data(sp.coo_array(X)),
    "fortran order": lambda: Gram.from_data(np.asfortranarray(X)),
    "kernel": lambda: Gram.from_kernel(X @ X.T),
    "centred kernel": lambda: Gram.from_kernel(D),
    "sparse kernel": lambda: Gram.from_kernel(sp.csr_matrix(X @ X.T)),
    "distances": lambda: Gram.from_distances(distances_between(X)),
}


@pytest.fixture(params=GRAMS)
def gram(request):
    return GRAMS[request.param]()


def test_every_way_in_gives_the_same_matrix(gram, rng):
    Q = rng.standard_normal((9, 9))
    Q = Q + Q.T
    V = rng.standard_normal((9, 3))
    close = {"rtol": 0, "atol": 1e-10 * SIZE}
    assert gram.n == 9
    assert gram.unit == 1
    assert np.allclose(gram.dense(), D, **close)
    assert np.allclose(gram @ V, D @ V, **close)
    assert np.allclose(gram @ V[:, 0], D @ V[:, 0], **close)
    assert gram.inner(Q) == pytest.approx(np.sum(D * Q), abs=1e-9 * SIZE)
    assert gram.trace == pytest.approx(np.trace(D), rel=1e-10)
    assert gram.norm == pytest.approx(np.linalg.norm(D), rel=1e-10)


def test_dense_is_centred_and_symmetric(gram):
    assert np.array_equal(gram.dense(), gram.dense().T)
    assert np.abs(gram.dense().sum(axis=0)).max() <= 1e-10 * SIZE
    assert np.abs(gram @ np.ones(9)).max() <= 1e-10 * SIZE


def test_formed_equals_the_matrix_off_the_ones_vector(gram, rng):
    V = rng.standard_normal((9, 3))
    V -= V.mean(axis=0)
    assert np.allclose(V.T @ gram.formed() @ V, V.T @ D @ V, rtol=0, atol=1e-9 * SIZE)
    assert gram.forming_error > 0


def test_formed_may_be_changed_freely(gram):
    before = gram.formed()
    changed = gram.formed()
    changed += 1
    assert np.array_equal(gram.formed(), before)


@pytest.mark.parametrize("way_in", ["data", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_forming_error_covers_what_forming_loses(way_in, offset, rng):
    # Whole numbers: the exact matrix is known, up to a division by n.
    whole = rng.integers(-50, 50, (12, 5)).astype(float)
    table = whole / 7 + offset
    gram = Gram.from_data(table if way_in == "data" else sp.csr_matrix(table))
    exact = np.array([[Fraction(x) for x in row] for row in table], dtype=object)
    exact = exact - exact.sum(axis=0) / 12
    formed = np.array([[Fraction(x) for x in row] for row in gram.formed()], dtype=object)
    difference = formed - exact.dot(exact.T)
    difference = difference - difference.sum(axis=0) / 12
    difference = difference - (difference.sum(axis=1) / 12)[:, None]
    error = float(np.linalg.norm(difference.astype(float), 2))
    assert error > 0
    assert error <= gram.forming_error + gram.centring_error


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint8, bool])
def test_other_number_types_are_taken_at_their_value(dtype):
    table = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]]).astype(dtype)
    gram = Gram.from_data(table)
    assert gram.dense().dtype == np.float64
    assert np.allclose(gram.dense(), centred_gram(table.astype(float)))


def test_unsigned_numbers_do_not_wrap_around():
    assert np.allclose(
        Gram.from_data(np.array([[0], [255]], dtype=np.uint8)).dense(), 127.5**2 * np.array([[1, -1], [-1, 1]])
    )


def test_input_is_not_changed():
    for make in (Gram.from_data, Gram.from_kernel):
        given = X.copy() if make is Gram.from_data else X @ X.T
        kept = given.copy()
        make(given).formed()
        assert np.array_equal(given, kept)


def test_translation_leaves_the_matrix_alone():
    moved = Gram.from_data(X + np.array([1e6, -1e6, 3.0, 0.0]))
    assert np.allclose(moved.dense(), D, rtol=0, atol=1e-8 * SIZE)


def test_large_mean_does_not_enter_trace_or_values():
    # Three units in the last place of spread about 1e8: summing loses more than that.
    steps = np.random.default_rng(3).integers(-3, 4, 300)
    unit = float(np.spacing(1e8))
    gram = Gram.from_data((1e8 + steps * unit)[:, None])
    exact = unit**2 * (float(np.sum(steps**2)) - float(np.sum(steps)) ** 2 / 300)
    assert gram.trace == pytest.approx(exact, rel=1e-9)
    assert gram.inner(np.full((300, 300), 1 / 300)) == pytest.approx(0, abs=1e-9 * exact)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 1e8 + 0.1, -7.3e-5])
@pytest.mark.parametrize("n", [2, 3, 10, 33])
def test_equal_points_are_nothing(value, n):
    gram = Gram.from_data(np.full((n, 3), value))
    assert gram.trace == gram.norm == 0
    assert KMeansSDP(gram, 1.5).is_trivial


def test_equal_points_by_distances_are_nothing():
    assert Gram.from_distances(np.zeros((4, 4))).norm == 0


def test_duplicates_give_equal_rows():
    D = Gram.from_data(np.repeat(X, 2, axis=0)).dense()
    assert np.array_equal(D[::2], D[1::2])


# Extreme scales.


@pytest.mark.parametrize("exponent", [-1000, -300, 300, 1000])
@pytest.mark.parametrize("form", ["data", "sparse", "kernel", "distances"])
def test_extreme_scales_are_divided_out_with_a_warning(exponent, form):
    make, plain, degree = {
        "data": (Gram.from_data, X, 2),
        "sparse": (lambda A: Gram.from_data(sp.csr_matrix(A)), X, 2),
        "kernel": (Gram.from_kernel, X @ X.T, 1),
        "distances": (Gram.from_distances, distances_between(X), 2),
    }[form]
    with pytest.warns(UserWarning, match=r"leaves float64.*divided by 2\*\*"):
        gram = make(np.ldexp(plain, exponent))
    reference = make(plain)
    assert np.isfinite(gram.dense()).all()
    assert 1e-20 < gram.trace < 1e20
    # The scale divided out is a power of two, so nothing else may change.
    shift = math.log2(gram.trace / reference.trace)
    assert shift == round(shift)
    assert np.array_equal(np.ldexp(gram.dense(), -round(shift)), reference.dense())
    total = degree * exponent - round(shift)
    expected = math.inf if total >= 1024 else math.ldexp(1.0, total)
    assert gram.unit == expected


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_extremes_named_in_the_manual(scale):
    with pytest.warns(UserWarning, match="Rescale X"):
        gram = Gram.from_data(scale * X)
    assert np.isfinite([gram.trace, gram.norm, gram.forming_error]).all()
    assert gram.norm > 0


def test_ordinary_scales_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-60, 1e-3, 1e60):
            gram = Gram.from_data(scale * X)
            assert gram.unit == 1
            assert gram.trace == pytest.approx(scale**2 * SIZE, rel=1e-9)


def test_tiny_spread_beside_a_constant_is_not_lost():
    # Not all equal: the optimum is 1e-200, not 0, and 0 would be a false bound.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        gram = Gram.from_data([[1.0, 1e-100], [1.0, -1e-100], [1.0, 3e-100]])
    assert gram.norm > 0
    assert not KMeansSDP(gram, 2).is_trivial


# What is refused.


def changed(A, index, value):
    A = np.array(A, dtype=object if isinstance(value, str) else type(value) if isinstance(value, complex) else float)
    A[index] = value
    return A


REFUSED = {
    "nan": (Gram.from_data, changed(X, (7, 3), math.nan), "X has 1 non-finite values .* row 7, column 3. Impute"),
    "inf": (Gram.from_data, changed(X, (0, 2), -math.inf), "X has 1 non-finite .* row 0, column 2"),
    "sparse nan": (Gram.from_data, sp.csr_matrix(changed(X, (4, 1), math.nan)), "row 4, column 1"),
    "strings": (Gram.from_data, [["a", "b"], ["c", "d"]], "X must be a table of real numbers"),
    "a string": (Gram.from_data, "iris", "X must be a table of real numbers"),
    "one string": (Gram.from_data, changed(X, (0, 0), "much"), "X must be a table of real numbers"),
    "complex": (Gram.from_data, changed(X.astype(complex), (0, 0), 1j), "[Cc]omplex.*X.real"),
    "one sample": (Gram.from_data, X[:1], "at least 2 rows"),
    "no sample": (Gram.from_data, X[:0], "at least 2 rows"),
    "no feature": (Gram.from_data, X[:, :0], "X must be a table of real numbers"),
    "one dimension": (Gram.from_data, X[:, 0], "X must be a table of real numbers .*1D"),
    "three dimensions": (Gram.from_data, X[None], "X must be a table of real numbers"),
    "none": (Gram.from_data, None, "X must be a table"),
    "not square": (Gram.from_kernel, X, r"kernel must be square, got shape \(9, 4\)"),
    "kernel nan": (Gram.from_kernel, changed(D, (1, 1), math.nan), "kernel has 1 non-finite .* row 1, column 1"),
    "asymmetric": (
        Gram.from_kernel,
        changed(D, (0, 1), 7.0),
        r"kernel must be symmetric: max \|D - D.T\| .*\(D \+ D.T\) / 2",
    ),
    "indefinite": (Gram.from_kernel, -D, "positive semidefinite after centring.*allow_indefinite=True"),
    "distances not square": (Gram.from_distances, X, "distances must be square"),
    "negative distances": (Gram.from_distances, -distances_between(X), "distances must be nonnegative, got -"),
    "asymmetric distances": (Gram.from_distances, np.triu(distances_between(X)), "distances must be symmetric"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_with_a_reason(case):
    make, bad, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        make(bad)


def test_indefinite_kernel_is_taken_on_request():
    gram = Gram.from_kernel(-D, allow_indefinite=True)
    assert np.allclose(gram.dense(), -D, rtol=0, atol=1e-12 * SIZE)
    assert gram.trace == pytest.approx(-SIZE)


def test_rounding_level_asymmetry_and_curvature_pass(rng):
    noise = 1e-12 * SIZE * rng.standard_normal((9, 9))
    gram = Gram.from_kernel(D + noise)
    assert np.array_equal(gram.formed(), gram.formed().T)


def test_kernel_indefinite_only_along_ones_passes():
    # Centring removes the ones vector, so curvature there means nothing.
    assert Gram.from_kernel(D - 5.0).trace == pytest.approx(SIZE)


def test_kernel_of_points_far_from_the_origin_passes(rng):
    # Whole numbers: this kernel is exact and has no negative eigenvalue, centring it in float64 makes some.
    whole = rng.integers(-9, 10, (12, 2)).astype(float)
    far = Gram.from_kernel((whole + 2.0**20) @ (whole + 2.0**20).T)
    assert far.trace == pytest.approx(np.trace(centred_gram(whole)), rel=1e-3)


@pytest.mark.parametrize("K", [0.999, 9.001, math.nan, math.inf, -1])
def test_trace_out_of_range_is_refused(K):
    with pytest.raises(ValueError, match=r"K must be a real number in \[1, n_samples=9\], got"):
        KMeansSDP(Gram.from_data(X), K)


@pytest.mark.parametrize("K", ["3", None, True, 2j, [2]])
def test_trace_that_is_no_number_is_refused(K):
    with pytest.raises(TypeError, match="K must be a real number"):
        KMeansSDP(Gram.from_data(X), K)


def test_problem_wants_a_gram():
    with pytest.raises(TypeError, match="gram must be a Gram, got ndarray"):
        KMeansSDP(X, 2)


def test_repr_names_size_and_form():
    assert repr(Gram.from_data([[0.0], [2.0]])) == "Gram(n=2, trace=2, factored)"
    assert "dense" in repr(Gram.from_kernel(np.eye(2)))


def test_the_name_that_the_fixed_vector_had_before_warns():
    points = [[0.0], [1.0], [3.0]]
    with pytest.warns(DeprecationWarning, match=r"KMeansSDP\.direction is now KMeansSDP\.fixed"):
        assert KMeansSDP(Gram.from_data(points), 2).direction is None
    weighted = KMeansSDP(Gram.from_data(points, weights=[1.0, 1.0, 2.0]), 2)
    with pytest.warns(DeprecationWarning, match="is now"):
        np.testing.assert_allclose(weighted.direction, np.sqrt([0.25, 0.25, 0.5]))
