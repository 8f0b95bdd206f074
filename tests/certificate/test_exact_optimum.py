"""Bounds against optima known as fractions, for K between n - 1 and n: whatever is false is false to the last bit."""

from functools import partial

import numpy as np
import pytest

from extreme_problems import direct_bounds, fitted_bounds, is_true

GRADES = ["eigen", "verified"]
# Cases for each grade in one test: of single iterates, and of whole fits.
DIRECT, FITS = 400, 100
MANY_DIRECT, MANY_FITS, PARTS = 16_000, 4_000, 10


def check(bounds, grade, seeds):
    """No bound is false, and nothing is refused but kernels that are not positive semidefinite."""
    false, refused = [], 0
    for seed in seeds:
        try:
            case, answer, certificate = bounds(np.random.default_rng([seed, len(grade)]), grade)
        except ValueError as error:
            if "kernel must be positive semidefinite" not in str(error):
                raise
            refused += 1
            continue
        if not is_true(answer, certificate):
            false.append((seed, case, float(answer.value), certificate))
    assert false == []
    assert refused < 0.05 * len(seeds)


@pytest.mark.parametrize("grade", GRADES)
def test_no_bound_of_an_iterate_is_false(grade):
    check(direct_bounds, grade, range(DIRECT))


@pytest.mark.parametrize("grade", GRADES)
def test_no_bound_of_a_fit_is_false(grade):
    check(fitted_bounds, grade, range(FITS))


# Of so many points, in which roundings add up.
of_more_points = partial(direct_bounds, sizes=(10, 45))


@pytest.mark.parametrize("grade", GRADES)
def test_no_bound_of_more_points_is_false(grade):
    check(of_more_points, grade, range(50))


@pytest.mark.slow
@pytest.mark.parametrize("grade", GRADES)
def test_none_of_many_bounds_of_more_points_is_false(grade):
    check(of_more_points, grade, range(1000, 3000))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("grade", GRADES)
def test_none_of_many_bounds_is_false(grade, part):
    for bounds, count in ((direct_bounds, MANY_DIRECT // PARTS), (fitted_bounds, MANY_FITS // PARTS)):
        check(bounds, grade, range(1000 + part * count, 1000 + (part + 1) * count))
