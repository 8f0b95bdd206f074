"""sknomad's default: soft assignments, then ADMM for the proof; up to 400 points ADMM alone."""

from benchopt import BaseSolver

from sknomad.solvers import Auto


class Solver(BaseSolver):
    """Bounds at every step of its second phase."""

    name = "sknomad-auto"
    sampling_strategy = "callback"
    requirements = ["pip::sknomad"]

    def set_objective(self, problem):
        """Keep the problem."""
        self.problem, self.solver = problem, Auto()

    def run(self, callback):
        """Show every iterate; it is judged before the next step, which may reuse its memory."""
        for iterate in self.solver.iterates(self.problem):
            self.iterate = iterate
            if not callback():
                break

    def get_result(self):
        """The last iterate."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
