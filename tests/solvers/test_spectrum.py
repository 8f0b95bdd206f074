"""Leading parts of spectra: those that filters follow are those of full decompositions."""

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, solve
from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.fixed_vector import Ones, Weighted
from sknomad._numerics.projections import project_simplex, project_spectraplex
from sknomad._numerics.sizes import UpTo
from sknomad.solvers import ADMM, _spectrum
from sknomad.solvers._spectrum import LARGEST_SHARE, spectrum_of

N, TOTAL = 200, 6.0


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=["ones", "weighted"])
def fixed(request, rng):
    if request.param == "ones":
        return Ones(N)
    q = np.sqrt(rng.uniform(0.5, 2, N))
    return Weighted(q / np.linalg.norm(q))


@pytest.fixture
def follows(monkeypatch):
    """As if `N` were many points."""
    monkeypatch.setattr(_spectrum, "FULL_FOR_A_PLACE", UpTo(cpu=0, gpu=0))


def symmetric(rng, scale):
    A = rng.standard_normal((N, N)) * scale
    return (A + A.T) / 2


def projection(spectrum, total=TOTAL):
    return (spectrum.vectors * project_simplex(spectrum.values, total)) @ spectrum.vectors.T


def low_rank_and_noise(rng, rank=10):
    """Some eigenvalues near one above many small ones, as a point that is nearly feasible has."""
    V = np.linalg.qr(rng.standard_normal((N, rank)))[0]
    return V @ V.T + symmetric(rng, 1e-3)


@pytest.mark.usefixtures("follows")
def test_a_followed_spectrum_gives_the_projection_of_a_full_one(rng, fixed, monkeypatch):
    A = low_rank_and_noise(rng)
    near = spectrum_of(A, TOTAL, fixed)
    assert near.values.shape[0] <= LARGEST_SHARE * N
    monkeypatch.setattr(_spectrum, "_decomposed", None)  # a second full decomposition would raise
    B = A + symmetric(rng, 1e-4)
    followed = spectrum_of(B, TOTAL, fixed, near)
    U, weights = project_spectraplex(B, TOTAL, fixed)
    np.testing.assert_allclose(projection(followed), (U * weights) @ U.T, atol=1e-5)


@pytest.mark.usefixtures("follows")
def test_the_others_are_known_by_their_mean(rng, fixed):
    A = low_rank_and_noise(rng)
    near = spectrum_of(A, TOTAL, fixed)
    B = A + symmetric(rng, 1e-5)
    followed = spectrum_of(B, TOTAL, fixed, near)
    count = N - 1 - followed.values.shape[0]
    centred = fixed.centre_both(B)
    assert np.isclose(followed.values.sum() + count * followed.rest, np.trace(centred), atol=1e-9)


@pytest.mark.usefixtures("follows")
def test_where_the_rank_outgrows_what_is_known_there_is_a_full_decomposition(rng, fixed):
    near = spectrum_of(low_rank_and_noise(rng), TOTAL, fixed)
    A = low_rank_and_noise(rng, rank=40)
    U, weights = project_spectraplex(A, TOTAL, fixed)
    np.testing.assert_allclose(projection(spectrum_of(A, TOTAL, fixed, near)), (U * weights) @ U.T, atol=1e-9)


@pytest.mark.usefixtures("follows")
def test_every_array_library_follows_alike(rng, xp):
    A, fixed = low_rank_and_noise(rng), Ones(N)
    B = A + symmetric(rng, 1e-5)
    near = spectrum_of(xp.asarray(A), TOTAL, fixed)
    followed = spectrum_of(xp.asarray(B), TOTAL, fixed, near)
    expected = spectrum_of(B, TOTAL, fixed, spectrum_of(A, TOTAL, fixed))
    np.testing.assert_allclose(to_numpy(followed.values), expected.values, atol=1e-8)
    assert np.isclose(followed.rest, expected.rest, atol=1e-10)


def test_few_points_are_decomposed_in_full(rng, fixed):
    spectrum = spectrum_of(symmetric(rng, 1.0), TOTAL, fixed)
    assert spectrum.values.shape == (N - 1,)
    assert spectrum.rest == 0


@pytest.mark.usefixtures("follows")
def test_excursions_that_follow_spectra_close_the_gap(rng):
    """The bounds are the judge's, so they are true; that they meet shows that the directions are good."""
    centres = 4 * rng.standard_normal((5, 3))
    X = centres[rng.integers(0, 5, N)] + rng.standard_normal((N, 3))
    solution = solve(KMeansSDP(Gram.from_data(X), 8), ADMM(excursions_from=40, device="cpu"), tol=1e-6, max_iter=300)
    assert solution.is_certified
