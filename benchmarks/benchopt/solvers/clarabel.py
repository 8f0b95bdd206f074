"""Clarabel through CVXPY: a generic interior point method."""

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SingleRunCriterion

from sknomad import Gram, KMeansSDP
from sknomad.solvers import Reference

LARGEST = 120


class Solver(BaseSolver):
    """Runs once, to its own tolerances; its answer is judged like any other."""

    name = "clarabel"
    sampling_strategy = "run_once"
    stopping_criterion = SingleRunCriterion()
    parameters = {"seconds": [60]}
    requirements = ["pip::sknomad[reference]"]

    def skip(self, problem):
        """Leave out what does not fit into memory, which grows with the fourth power of the points."""
        return (True, f"n = {problem.n} is more than {LARGEST}") if problem.n > LARGEST else (False, None)

    def set_objective(self, problem):
        """Keep the problem and the settings."""
        self.problem = problem
        # CVXPY's default is to start from its last answer of this size, and parameters cost it memory of the order n^4.
        self.solver = Reference("CLARABEL", time_limit=self.seconds)

    def warm_up(self):
        """Import what CVXPY imports on first use."""
        next(self.solver.iterates(KMeansSDP(Gram.from_data(np.eye(4)), 2)))

    def run(self, _):
        """Translate the program and solve it."""
        self.iterate = next(self.solver.iterates(self.problem))

    def get_result(self):
        """Its point and its multiplier of Q >= 0."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
