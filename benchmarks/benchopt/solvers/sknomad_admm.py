"""sknomad's convex solver: one dense n x n state, a multiplier at every step."""

from benchopt import BaseSolver

from sknomad.solvers import ADMM


class Solver(BaseSolver):
    """Bounds at every step."""

    name = "sknomad-admm"
    sampling_strategy = "callback"
    requirements = ["pip::sknomad"]

    def set_objective(self, problem):
        """Keep the problem."""
        self.problem, self.solver = problem, ADMM()

    def run(self, callback):
        """Show every iterate; it is judged before the next step, which may reuse its memory."""
        for iterate in self.solver.iterates(self.problem):
            self.iterate = iterate
            if not callback():
                break

    def get_result(self):
        """The last iterate."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
