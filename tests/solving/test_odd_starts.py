"""Starts that no solver made: soft assignments with empty cells, and points of any size."""

import warnings

import numpy as np
import pytest

from oracles import planted
from sknomad import FactorPoint, Gram, Iterate, KMeansSDP, MixedPoint, SoftPoint, SpectralPoint, solve
from sknomad.solvers import ADMM, Auto, BurerMonteiro, SoftAssignment
from sknomad.solvers._soft_updates import SoftState

N_POINTS = 12
PLANTED = planted(np.random.default_rng(0), N_POINTS, 4)
PROBLEM = KMeansSDP(Gram.from_kernel(PLANTED.D), PLANTED.K)
SOLVERS = [
    ADMM(),
    ADMM(device="cpu32"),
    ADMM(exact_below=2),
    SoftAssignment(),
    Auto(points_below=5),
    BurerMonteiro("K"),
]
STARTS = {
    "an empty cell": SoftPoint(np.hstack([PLANTED.V, np.zeros((N_POINTS, 1))])),
    "a cell of next to nothing": SoftPoint(np.hstack([PLANTED.V, np.full((N_POINTS, 1), 1e-200)])),
    "no cell": SoftPoint(np.zeros((N_POINTS, 3))),
    "negative shares": SoftPoint(-PLANTED.V),
    "mixed shares": SoftPoint(np.random.default_rng(1).standard_normal((N_POINTS, 3))),
    "a point in no cell": SoftPoint(PLANTED.V * (np.arange(N_POINTS) > 0)[:, None]),
    "no cell, mixed": MixedPoint(SoftPoint(np.zeros((N_POINTS, 3))), identity=0.5),
    "large shares of I": MixedPoint(SoftPoint(PLANTED.V), identity=1e100),
    "large vectors": SpectralPoint(1e40 * PLANTED.V, np.ones(PLANTED.V.shape[1])),
    "a large factor": FactorPoint(1e40 * PLANTED.V),
}


@pytest.mark.parametrize("state", [None, SoftState(1.0)], ids=["bare", "with a multiplier"])
@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_bounds_from_any_start_are_true(solver, name, state):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve(PROBLEM, solver, tol=1e-3, max_iter=30, start=Iterate(STARTS[name], state=state)).certificate
    assert found.lower <= PLANTED.value * (1 + 1e-9)
    assert found.upper >= PLANTED.value * (1 - 1e-9)


def test_sound_soft_assignments_are_taken_as_they_are():
    seen = []

    class Listener:
        takes_weights, matrix_free, device = True, True, "cpu"

        def memory(self, problem):
            return 0

        def iterates(self, problem, start=None):
            seen.append(start)
            yield start

    start = Iterate(SoftPoint(PLANTED.V))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve(PROBLEM, Listener(), start=start, tol=0.0, max_iter=1)
    assert seen[0].point is start.point
