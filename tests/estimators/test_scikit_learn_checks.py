"""scikit-learn's own checks of every estimator, with parameters that are not the default ones too."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sknomad import NOMAD, CertifiedKMeans, MultiLayerNOMAD, OnlineNOMAD
from sknomad.solvers import ADMM, SoftAssignment

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    CertifiedKMeans(2, n_init=1, max_iter=100),
    NOMAD(3, max_iter=50),
    NOMAD(2.5, affinity="sparse", threshold=0.1, max_iter=50),
    MultiLayerNOMAD([4, 2], max_iter=50),
    OnlineNOMAD(3, n_passes=2, warm_up=20),
]
# Not among them: given kernels and distances, which these checks mistake for each other because of their names, and
# K = 1, of which they demand to find clusters.
MORE_ESTIMATORS = [
    CertifiedKMeans(3, n_init=1, max_iter=20, cuts=True, random_state=0),
    CertifiedKMeans(2, n_init=2, max_iter=5, grade="verified", solver="admm"),
    CertifiedKMeans(1, n_init=1),
    CertifiedKMeans(2, n_init=1, max_iter=20, max_seconds=0.0, tol=0.1),
    NOMAD(4, solver="soft", random_state=3, max_iter=10),
    NOMAD(2, min_component_size=3, n_components=1, max_iter=50),
    NOMAD(3, warm_start=True, n_threads=1, max_iter=50),
    NOMAD(3, grade="verified", tol=1e-2, solver=ADMM()),
    NOMAD(3, max_seconds=60.0),
    OnlineNOMAD(2.5, decay=1.0, batch_size=7),
    MultiLayerNOMAD([4, 2], n_clusters=2, n_components=3, solver=SoftAssignment(rank=8), max_iter=10),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE_ESTIMATORS)
def test_more_scikit_learn_checks(estimator, check):
    check(estimator)
