"""sknomad's factored solver: feasible at every step, without an upper bound."""

from benchopt import BaseSolver

from sknomad.solvers import SoftAssignment


class Solver(BaseSolver):
    """Ends when neither sweeps nor a larger rank help."""

    name = "sknomad-soft"
    sampling_strategy = "callback"
    requirements = ["pip::sknomad"]

    def set_objective(self, problem):
        """Keep the problem."""
        self.problem, self.solver = problem, SoftAssignment()

    def run(self, callback):
        """Show every iterate; it is judged before the next step, which may reuse its memory."""
        for iterate in self.solver.iterates(self.problem):
            self.iterate = iterate
            if not callback():
                break

    def get_result(self):
        """The last iterate."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
