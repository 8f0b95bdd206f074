"""The paper's low-rank method: a tighter, non-convex problem, without an upper bound."""

from benchopt import BaseSolver

from sknomad.solvers import BurerMonteiro


class Solver(BaseSolver):
    """One iterate is one step of the multipliers, after a minimisation by L-BFGS-B."""

    name = "burer-monteiro"
    sampling_strategy = "callback"
    parameters = {"rank": ["8K"]}
    requirements = ["pip::sknomad"]

    def set_objective(self, problem):
        """Keep the problem."""
        self.problem, self.solver = problem, BurerMonteiro(rank=self.rank)

    def run(self, callback):
        """Show every iterate; it is judged before the next step, which may reuse its memory."""
        for iterate in self.solver.iterates(self.problem):
            self.iterate = iterate
            if not callback():
                break

    def get_result(self):
        """The last iterate."""
        return {"Q": self.iterate.Q, "N": self.iterate.N}
