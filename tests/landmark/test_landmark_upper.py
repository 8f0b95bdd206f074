"""Landmarks against the dense judge: one multiplier proves both the same bound, in both grades, and none is false."""

import math

import numpy as np
import pytest

from landmark_cases import KINDS, MULTIPLIERS, make_case, multiplier
from sknomad import certify, upper_bound
from sknomad.solvers import SoftAssignment

# Columns are independent enough for equality with the dense judge where orthonormality is proven to this.
WELL_CONDITIONED = 1e-11


def feasible_value(problem):
    """Value of some feasible point."""
    *_, last = SoftAssignment(rank=min(12, problem.n), max_growth=0, sweeps=5).iterates(problem)
    return certify(problem, last).lower


def draw(seed):
    rng = np.random.default_rng(seed)
    kind, other = KINDS[seed % len(KINDS)], MULTIPLIERS[(seed // len(KINDS)) % len(MULTIPLIERS)]
    n = int(rng.integers(12, 120))
    K = float(rng.integers(2, 9)) + (rng.random() if seed % 2 else 0.0)
    case = make_case(kind, n, int(rng.integers(3, max(4, n // 2))), min(K, n - 1.5), rng)
    return case, multiplier(case, other, rng)


def check(seed):
    case, M = draw(seed)
    N = case.dense_multiplier(M)
    low = feasible_value(case.problem)
    for grade in ("eigen", "verified"):
        bound, dense = case.program.upper_bound(M, grade), upper_bound(case.problem, N, grade=grade)
        assert bound >= low
        if case.program.basis.defect <= WELL_CONDITIONED:
            assert bound == pytest.approx(dense, rel=1e-10)
        else:
            assert bound >= dense * (1 - 1e-10)
    return case.program.basis.defect <= WELL_CONDITIONED


@pytest.mark.parametrize("seed", range(28))
def test_landmarks_agree_with_the_dense_judge(seed):
    check(seed)


@pytest.mark.slow
def test_landmarks_agree_with_the_dense_judge_in_200_cases():
    compared = sum(check(seed) for seed in range(1000, 1200))
    assert compared >= 100


def test_a_multiplier_that_is_not_nonnegative_is_made_so():
    case, _ = draw(0)
    rng = np.random.default_rng(0)
    R = rng.standard_normal((case.program.sums.m,) * 2)
    M = np.maximum(np.maximum(R, 0) / 2 + np.maximum(R, 0).T / 2, 0)
    assert case.program.upper_bound(R) == case.program.upper_bound(M)


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_what_is_no_number_bounds_nothing(grade):
    case, M = draw(1)
    M[0, 0] = math.nan
    assert case.program.upper_bound(M, grade) == math.inf
    M[0, 0] = math.inf
    assert case.program.upper_bound(M, grade) == math.inf


def test_dependent_columns_loosen_the_bound_and_no_more():
    rng = np.random.default_rng(3)
    case = make_case("cloud", 14, 12, 3.0, rng)  # 16 columns in a space of 14
    M = multiplier(case, "random", rng)
    assert case.program.basis.defect > WELL_CONDITIONED
    for grade in ("eigen", "verified"):
        dense = upper_bound(case.problem, case.dense_multiplier(M), grade=grade)
        assert dense * (1 - 1e-10) <= case.program.upper_bound(M, grade) <= 1.01 * dense
