"""scikit-learn's k-means: a hard clustering is a feasible point, and says nothing about the optimum."""

from benchopt import BaseSolver
from benchopt.stopping_criterion import SingleRunCriterion
from sklearn.cluster import KMeans

from sknomad import assignment_matrix


class Solver(BaseSolver):
    """Runs once; without a multiplier its upper bound, and with it the gap, is infinite."""

    name = "k-means"
    sampling_strategy = "run_once"
    stopping_criterion = SingleRunCriterion()
    parameters = {"n_init": [10]}
    requirements = ["scikit-learn"]

    def skip(self, problem):
        """Leave out fractions of a cluster, and data given by inner products alone."""
        possible = float(problem.K).is_integer() and problem.gram.is_factored
        return not possible, None if possible else "k-means needs points and a whole number of clusters"

    def set_objective(self, problem):
        """Keep the points and the clusterer."""
        self.X = problem.gram.factor
        self.clusterer = KMeans(int(problem.K), n_init=self.n_init, random_state=0)

    def run(self, _):
        """Cluster."""
        self.clusterer.fit(self.X)

    def get_result(self):
        """The assignment matrix."""
        return {"Q": assignment_matrix(self.clusterer.labels_), "N": None}
