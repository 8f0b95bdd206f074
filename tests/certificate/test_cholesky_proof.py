"""The verified grade, audited in rational arithmetic: no rounding of ours between the claim and the check."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import centred_gram, clarabel_bounds, complement_of_ones, dual_bound, planted, ring_points, ring_value
from sknomad import Gram, Iterate, KMeansSDP, certify, solve, upper_bound
from sknomad._certificate import cholesky_proof as verify
from sknomad._certificate import proof_terms as terms_of_proofs
from sknomad._certificate.iterate import NegativePart
from sknomad._certificate.upper import nonnegative_part
from sknomad._numerics.arrays import to_numpy
from sknomad._numerics.sizes import UpTo

seeds = st.integers(0, 2**32 - 1)


def exact(A):
    """The floats of `A` as rational numbers."""
    A = np.asarray(A, dtype=np.float64)
    return np.array([Fraction(float(x)) for x in A.ravel()], dtype=object).reshape(A.shape)


def is_positive_semidefinite(A):
    """Whether the rational matrix `A` is psd, decided by elimination without any rounding."""
    A = A.copy()
    for k in range(len(A)):
        pivot = A[k, k]
        if pivot < 0 or (pivot == 0 and any(A[k, k + 1 :])):
            return False
        if pivot > 0:
            A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :]) / pivot
    return True


class Proof(NamedTuple):
    """All that a verified bound rests on."""

    t: Fraction
    F: np.ndarray
    a: np.ndarray
    delta: Fraction
    bound: float

    def matrix(self, D, N):
        """``t I + F F' + 1a' + a1' - D - N``, without rounding."""
        return self.t * exact(np.eye(len(D))) + self.F.dot(self.F.T) + self.a[None, :] + self.a[:, None] - D - N


def proof_of(problem, N):
    """The proof that the verified grade settles on."""
    shifts = []
    with pytest.MonkeyPatch.context() as patch:
        original = verify._bound
        patch.setattr(verify, "_bound", lambda *args: shifts.append(args[-2:]) or original(*args))
        bound = upper_bound(problem, N, grade="verified")
    ((shift, delta),) = shifts
    return Proof(Fraction(shift.t), exact(shift.F), exact(shift.a), Fraction(delta), bound)


def attempt(problem, N, margin):
    """The shift of a given margin and what its factorisation proves, infinite if that broke down."""
    terms = verify.Terms(problem.gram, N, np.empty(0))
    size = verify.multiplier_size(terms)
    spectrum, U = verify.suggest_eigenpairs(terms, problem.K, None)
    shift = verify.make_shift(terms, spectrum, U, margin, size)
    return shift, verify.negative_curvature(terms, shift, size)


def exact_gram(gram):
    """``D`` on the complement of the ones vector from the floats that `gram` keeps."""
    if gram.is_factored:
        X = exact(gram.factor)
        return X.dot(X.T)
    if gram._factor is not None:
        X = exact(gram._factor.toarray())
        return X.dot(X.T)
    return exact(gram._kernel)


def test_elimination_knows_psd_matrices():
    assert is_positive_semidefinite(exact([[2, 1], [1, 2]]))
    assert is_positive_semidefinite(exact([[1, 1], [1, 1]]))
    assert is_positive_semidefinite(exact([[0, 0], [0, 1]]))
    assert not is_positive_semidefinite(exact([[0, 1], [1, 1]]))
    assert not is_positive_semidefinite(exact([[1, 1 + 2.0**-52], [1 + 2.0**-52, 1]]))


CASES = {
    "plane": lambda rng, n: Gram.from_data(rng.standard_normal((n, 2))),
    "many features": lambda rng, n: Gram.from_data(rng.standard_normal((n, 40)) + 3),
    "rank one": lambda rng, n: Gram.from_data(np.arange(n)[:, None] / 3),
    "ring": lambda rng, n: Gram.from_data(ring_points(n, 1.7)),
    "simplex": lambda rng, n: Gram.from_data(np.eye(n) * math.pi),
    "far mean": lambda rng, n: Gram.from_data(rng.standard_normal((n, 2)) + 1e7),
    "outlier": lambda rng, n: Gram.from_data(np.vstack([rng.standard_normal((n - 1, 2)), [[1e6, -1e5]]])),
    "kernel": lambda rng, n: Gram.from_kernel(planted(rng, n, 2).D),
    "indefinite": lambda rng, n: Gram.from_kernel(_symmetric(rng, n), allow_indefinite=True),
    "negative": lambda rng, n: Gram.from_kernel(-centred_gram(rng.standard_normal((n, 3))), allow_indefinite=True),
    "distances": lambda rng, n: Gram.from_distances(np.abs(_symmetric(rng, n)) * (1 - np.eye(n))),
    "sparse": lambda rng, n: Gram.from_data(_sparse(rng, n)),
}


def _symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return A + A.T


def _sparse(rng, n):
    import scipy.sparse as sp

    return sp.csr_matrix(rng.standard_normal((n, 5)) * (rng.random((n, 5)) < 0.5) + np.eye(n, 5))


@pytest.fixture(params=["whole", "in blocks"])
def path(request, monkeypatch):
    """The factorisation and its check in one piece, or row block by row block as for many points."""
    if request.param == "in blocks":
        monkeypatch.setattr(terms_of_proofs, "BLOCK_ROWS", 2)
    return request.param


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [3, 5, 7])
def test_proof_holds_in_rational_arithmetic(case, n, path, rng):
    gram = CASES[case](rng, n)
    D, size = exact_gram(gram), gram.norm / n
    for K in (1.3, 2.0, n - 0.4):
        problem = KMeansSDP(gram, K)
        for N in (np.zeros((n, n)), size * rng.random((n, n)), 30 * size * rng.standard_normal((n, n))):
            N = nonnegative_part(problem, N)
            proof = proof_of(problem, N)
            assert is_positive_semidefinite(proof.matrix(D, exact(N)) + proof.delta * exact(np.eye(n)))
            claim = exact(N).sum() / n + (Fraction(K) - 1) * (proof.t + proof.delta) + (proof.F**2).sum()
            assert Fraction(proof.bound) >= claim + Fraction(gram.centring_error)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_proof_covers_the_squaring_of_distances(n, path, rng):
    distances = np.abs(_symmetric(rng, n)) * (1 - np.eye(n)) / 3
    proof = proof_of(KMeansSDP(Gram.from_distances(distances), 2.0), np.zeros((n, n)))
    A = proof.matrix(-(exact(distances) ** 2) / 2, 0 * exact(distances))
    assert is_positive_semidefinite(A + proof.delta * exact(np.eye(n)))


def test_curvature_is_covered_where_the_factorisation_just_succeeds(rng):
    # With hardly any margin A is often not psd though its factorisation goes through: delta must make up for it.
    needed = proven = 0
    for trial in range(300):
        n = 4 + trial % 4
        gram = Gram.from_data(rng.standard_normal((n, 3)) * 10.0 ** rng.integers(-3, 4))
        problem = KMeansSDP(gram, 2.0)
        N = np.zeros((n, n))
        shift, delta = attempt(problem, N, 10.0 ** rng.uniform(-18, -14) * gram.norm)
        if math.isfinite(delta):
            proof = Proof(Fraction(shift.t), exact(shift.F), exact(shift.a), Fraction(delta), math.inf)
            A = proof.matrix(exact_gram(gram), exact(N))
            assert is_positive_semidefinite(A + proof.delta * exact(np.eye(n)))
            needed += not is_positive_semidefinite(A)
            proven += 1
    assert proven > needed > 0


@pytest.mark.parametrize("rows", [1, 2, 5, 2048])
def test_sums_of_the_multiplier_are_those_of_its_lower_triangle(rows, rng, monkeypatch):
    monkeypatch.setattr(terms_of_proofs, "BLOCK_ROWS", rows)
    N = rng.standard_normal((7, 7))
    gram = Gram.from_data(rng.standard_normal((7, 2)))
    size = verify.multiplier_size(verify.Terms(gram, N, np.empty(0)))
    lower = np.tril(np.maximum(N, 0))
    symmetric = lower + np.tril(lower, -1).T
    assert np.allclose(size.row_sums, symmetric.sum(axis=1), rtol=1e-14)
    assert size.total == pytest.approx(symmetric.sum(), rel=1e-14)


@pytest.mark.parametrize("mean", [0.0, 0.3, 7.0, 1e3, 1e6, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("n", [4, 7, 40])
def test_centring_pad_covers_the_data_as_given(mean, n, rng):
    X = rng.standard_normal((n, 3)) * np.array([1.0, 1e-3, 1e3]) + mean
    gram = Gram.from_data(X)
    basis = complement_of_ones(n)
    given = exact(X) - exact(X).sum(axis=0) / n
    kept = exact(gram.factor)
    error = (given.dot(given.T) - kept.dot(kept.T)).astype(float)
    shifts = np.linalg.eigvalsh(basis.T @ error @ basis)
    # 0 <= W <= I and W 1 = 0: no feasible value moves by more than the eigenvalues of one sign add up to.
    assert shifts[shifts > 0].sum() <= gram.centring_error
    assert -shifts[shifts < 0].sum() <= gram.centring_error


@settings(max_examples=60)
@given(seeds, st.integers(3, 30), st.floats(0.001, 0.999), st.sampled_from(sorted(CASES)), st.floats(-3, 2))
def test_verified_is_above_the_eigenvalue_sum_but_not_by_much(seed, n, share, case, log_size):
    rng = np.random.default_rng(seed)
    gram = CASES[case](rng, n)
    problem = KMeansSDP(gram, 1 + share * (n - 1))
    N = 10**log_size * gram.norm / n * rng.random((n, n))
    N = N + N.T
    plain = dual_bound(gram.dense(), N, problem.K)
    verified = upper_bound(problem, N, grade="verified")
    size = problem.K * (np.linalg.norm(gram.formed(), 2) + np.linalg.norm(N, 2))
    assert verified >= plain - 1e-14 * n * size
    assert verified <= plain + 1e-8 * size


@pytest.mark.parametrize("n", [10, 100, 300])
def test_excess_over_the_eigenvalue_bound_is_small(n, rng):
    gram = Gram.from_data(rng.standard_normal((n, 4)))
    N = np.maximum(-gram.dense(), 0) / 10
    for K in (1.5, 3, n / 2):
        problem = KMeansSDP(gram, K)
        eigen, verified = (upper_bound(problem, N, grade=grade) for grade in ("eigen", "verified"))
        plain = dual_bound(gram.dense(), N, K)
        assert plain < verified <= plain * (1 + 1e-8)
        assert plain < eigen <= plain * (1 + 1e-10)


LARGE = {
    "round": lambda rng, n: Gram.from_data(rng.standard_normal((n, 10))),
    "one long axis": lambda rng, n: Gram.from_data(rng.standard_normal((n, 10)) * np.array([100.0] + [1.0] * 9)),
    "far outlier": lambda rng, n: Gram.from_data(np.vstack([rng.standard_normal((n - 1, 10)), np.full((1, 10), 1e4)])),
    "ring": lambda rng, n: Gram.from_data(ring_points(n)),
    "negative": lambda rng, n: Gram.from_kernel(
        -centred_gram(rng.standard_normal((n, 10))) - 5 * np.eye(n), allow_indefinite=True
    ),
}


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("K", [2, 8])
def test_shift_from_block_iteration_proves_nearly_as_much(case, K, rng, monkeypatch):
    # What many points go through, at a size where all eigenvalues can be had for comparison.
    n = 250
    monkeypatch.setattr(verify, "FULL_FOR_A_PROOF", UpTo(cpu=100, gpu=100))
    monkeypatch.setattr(terms_of_proofs, "BLOCK_ROWS", 64)
    gram = LARGE[case](rng, n)
    for N in (np.zeros((n, n)), np.maximum(-gram.dense(), 0) / 20):
        plain, mean = dual_bound(gram.dense(), N, K), float(N.sum()) / n
        bound = upper_bound(KMeansSDP(gram, K), N, grade="verified")
        assert plain < bound <= plain + 2e-4 * (mean + abs(plain - mean))


@pytest.mark.parametrize("K", [1 + 1e-12, 1.0001, 2, 3.5, 11.999, 12 - 1e-12])
@pytest.mark.parametrize("make", [lambda: ring_points(12), lambda: np.arange(12.0)[:, None], lambda: np.eye(12)])
def test_degenerate_spectra_and_extreme_traces_are_proven(K, make):
    X = make()
    problem = KMeansSDP(Gram.from_data(X), K)
    bound = upper_bound(problem, np.zeros((12, 12)), grade="verified")
    plain = dual_bound(centred_gram(X), np.zeros((12, 12)), K)
    assert plain * (1 - 1e-13) <= bound <= plain + 1e-9 * problem.gram.trace
    if X.shape == (12, 2):
        assert bound >= ring_value(12, K) * (1 - 1e-9)


def test_verified_bracket_contains_the_optimum(rng):
    for n in (6, 9, 12):
        X = rng.standard_normal((n, 2)) + 10
        reference = clarabel_bounds(centred_gram(X), n / 2.5)
        problem = KMeansSDP(Gram.from_data(X), n / 2.5)
        solution = solve(problem, "admm", tol=1e-5, grade="verified")
        assert solution.certificate.grade == "verified"
        assert solution.certificate.lower <= reference.high
        assert solution.certificate.upper >= reference.low
        again = certify(problem, solution.iterate, grade="verified")
        assert again.upper >= reference.low


def test_impossible_proof_is_infinite(monkeypatch):
    # If the factorisation always breaks down there is no bound; it must not be made up.
    attempts = []
    monkeypatch.setattr(verify, "_factor_in_place", lambda *args: attempts.append(1))
    problem = KMeansSDP(Gram.from_data(ring_points(6)), 2)
    assert upper_bound(problem, np.zeros((6, 6)), grade="verified") == math.inf
    assert len(attempts) == verify.N_ATTEMPTS
    assert certify(problem, Iterate(np.eye(6), N=np.zeros((6, 6))), grade="verified").upper == math.inf


def test_failed_factorisations_widen_the_margin(monkeypatch):
    honest, failures = verify._factor_in_place, iter([True, True, False])
    monkeypatch.setattr(verify, "_factor_in_place", lambda *args: not next(failures) and honest(*args))
    problem = KMeansSDP(Gram.from_data(ring_points(9)), 3)
    third = upper_bound(problem, np.zeros((9, 9)), grade="verified")
    monkeypatch.undo()
    first = upper_bound(problem, np.zeros((9, 9)), grade="verified")
    assert first < third <= first * (1 + 1e-10)


def test_wrong_factor_is_no_proof(monkeypatch):
    # The proof is that L reproduces A, not that some routine said so.
    def pretend(L, blocks):
        L[:] = np.eye(len(L))
        return True

    monkeypatch.setattr(verify, "_factor_in_place", pretend)
    X = 10 * ring_points(9)
    bound = upper_bound(KMeansSDP(Gram.from_data(X), 3), np.zeros((9, 9)), grade="verified")
    assert bound >= 100 * ring_value(9, 3)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_factorisation_in_blocks(rows, rng):
    A = rng.standard_normal((5, 5))
    A = A @ A.T + np.eye(5)
    blocks = [slice(start, min(start + rows, 5)) for start in range(0, 5, rows)]
    L = np.tril(A)
    assert verify._factor_in_place(L, blocks)
    assert np.allclose(L, np.linalg.cholesky(A), atol=1e-13)
    assert not verify._factor_in_place(np.tril(A - 50 * np.eye(5)), blocks)
    A[4, 0] = math.nan
    assert not verify._factor_in_place(np.tril(A), blocks)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_multiplier_read_off_a_state_is_the_same(grade, rng):
    X = rng.standard_normal((12, 3))
    problem = KMeansSDP(Gram.from_data(X), 3.5)
    T = rng.standard_normal((12, 12))
    T = T + T.T
    part = upper_bound(problem, NegativePart(T, 0.3), grade=grade)
    assert part == pytest.approx(upper_bound(problem, 0.3 * np.maximum(-T, 0), grade=grade), rel=1e-12)
    assert part >= clarabel_bounds(centred_gram(X), 3.5).low


@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_state_that_is_not_finite_proves_nothing(grade, bad, rng):
    problem = KMeansSDP(Gram.from_data(rng.standard_normal((8, 2))), 3)
    T = rng.standard_normal((8, 8))
    T[5, 2] = T[2, 5] = bad
    assert upper_bound(problem, NegativePart(T, 1.0), grade=grade) == math.inf
    assert upper_bound(problem, NegativePart(np.ones((8, 8)), math.nan), grade=grade) == math.inf


def test_array_libraries_agree(xp, rng):
    example = planted(rng, 11, 3)
    problem = KMeansSDP(Gram.from_kernel(example.D), example.K)
    bound = upper_bound(problem, xp.asarray(example.N), grade="verified")
    assert example.value * (1 - 1e-12) <= bound <= example.value * (1 + 1e-9)
    assert not verify._factor_in_place(xp.asarray([[1.0, 0.0], [2.0, 1.0]]), [slice(0, 2)])


def test_product_with_a_negative_part_is_that_with_its_formed_self(xp, rng):
    T, V = (xp.asarray(rng.standard_normal(shape)) for shape in ((30, 30), (30, 4)))
    N = NegativePart(T, 2.5)
    part = N.rows_times(slice(5, 21), V)
    np.testing.assert_allclose(to_numpy(part), to_numpy(N.formed() @ V)[5:21], rtol=0, atol=1e-12)
