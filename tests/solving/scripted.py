"""A small ring with a known optimum, solvers that yield what they are told, and what every solution must be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import infeasibility, ring_value
from sknomad.solvers import ADMM, Solver

N_POINTS, TRACE = 24, 3

VALUE = ring_value(N_POINTS, TRACE)

limits = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Scripted(Solver):
    """A solver that yields what it is given."""

    def __init__(self, iterates):
        self.script = iterates

    def iterates(self, problem, start=None):
        self.start = start
        yield from self.script(problem) if callable(self.script) else self.script


def admm_steps(count, change=lambda index, step: step):
    """A script: the first steps of ADMM, each changed on the way out, none kept beyond its time."""
    return lambda problem: (change(*pair) for pair in enumerate(itertools.islice(ADMM().iterates(problem), count)))


def assert_valid(solution, value=VALUE):
    certificate = solution.certificate
    assert certificate.lower <= value * (1 + 1e-8)
    assert certificate.upper >= value * (1 - 1e-8)
    wrong = infeasibility(solution.Q, solution.problem.K)
    assert max(wrong.values()) <= 1e-11
    assert solution.point.value(solution.problem.gram) == pytest.approx(certificate.lower, rel=1e-9)
    columns = solution.trace
    assert {"iteration", "seconds", "lower", "upper"} <= set(columns)
    assert len({len(column) for column in columns.values()}) == 1
    assert np.all(np.diff(columns["iteration"]) >= 0)
    assert np.all(np.diff(columns["seconds"]) >= 0)
    assert np.all(columns["lower"][1:] >= columns["lower"][:-1])
    assert np.all(columns["upper"][1:] <= columns["upper"][:-1])
