"""The judge of the benchmark: proven bounds on the K-means SDP from whatever ``Q`` and ``N`` a solver hands back."""

import math

import numpy as np
from benchopt import BaseObjective
from benchopt.stopping_criterion import StoppingCriterion
from sklearn.cluster import KMeans

from sknomad import Certificate, Gram, Iterate, KMeansSDP, certify

# Iterative solvers stop here; it is the certified gap, not what a solver thinks of itself.
TARGET = 1e-6


class CertifiedGap(StoppingCriterion):
    """Stop once the best bounds so far are within `TARGET`: every bound is proven, so the best of each kind count."""

    def check_convergence(self, objective_list):
        """Whether to stop, and how far on the logarithmic scale."""
        lower = max(row["objective_lower"] for row in objective_list)
        upper = min(row["objective_upper"] for row in objective_list)
        gap = Certificate(lower, upper).gap
        progress = 0.0 if gap >= 1 else min(math.log(max(gap, TARGET)) / math.log(TARGET), 1.0)
        return gap <= TARGET, progress


class Objective(BaseObjective):
    """Maximise <D, Q> over Q 1 = 1, tr Q = K, Q positive semidefinite, Q >= 0; D holds the inner products of X."""

    name = "K-means SDP"
    requirements = ["pip::sknomad"]
    min_benchopt_version = "1.10"
    sampling_strategy = "callback"
    # No key to monitor: benchopt takes a first gap of infinity, a solver without a bound, for divergence.
    stopping_criterion = CertifiedGap()
    test_dataset_name = "simulated"

    def skip(self, X, K):
        """Leave out a data set whose files are not there."""
        return (True, "its files are missing, see the README") if X is None else (False, None)

    def set_data(self, X, K):
        """Pose the problem; K-means is run once, as the clustering that the bounds are held against."""
        self.problem = KMeansSDP(Gram.from_data(X), K)
        is_clustering = float(K).is_integer()
        self.inertia = float(KMeans(int(K), n_init=10, random_state=0).fit(X).inertia_) if is_clustering else math.nan

    def get_objective(self):
        """What a solver is given."""
        return {"problem": self.problem}

    def evaluate_result(self, Q, N):
        """Bounds from scratch, by a judge that knows no solver; without a multiplier the upper one is infinite."""
        proof = certify(self.problem, Iterate(Q, N))
        no_clustering_below = max(self.problem.gram.trace - proof.upper, 0.0)
        return {
            "value": proof.gap,
            "lower": proof.lower,
            "upper": proof.upper,
            "kmeans_inertia": self.inertia,
            "kmeans_bound": no_clustering_below,
            "kmeans_gap": 1 - no_clustering_below / self.inertia if self.inertia else 0.0,
        }

    def get_one_result(self):
        """A point without a proof, to try the metrics on."""
        return {"Q": np.eye(self.problem.n), "N": None}
