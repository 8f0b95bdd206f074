"""The paper's conditional gradient method, with the constants of its authors' code."""

from benchopt import BaseSolver

from sknomad.solvers import ConditionalGradient


class Solver(BaseSolver):
    """One iterate is one outer step."""

    name = "conditional-gradient"
    sampling_strategy = "callback"
    parameters = {"preset": ["code"]}  # "paper" has those of the text
    requirements = ["pip::sknomad"]

    def set_objective(self, problem):
        """Keep the problem."""
        self.problem, self.solver = problem, ConditionalGradient(self.preset)

    def run(self, callback):
        """Show every iterate; it is judged before the next step, which may reuse its memory."""
        for iterate in self.solver.iterates(self.problem):
            self.iterate = iterate
            if not callback():
                break

    def get_result(self):
        """The last iterate."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
