"""What a solution says of its points: manifolds and coordinates, with weights as with points repeated."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, Gram, KMeansSDP, datasets, solve


def test_a_solution_is_read_as_the_estimator_reads_it():
    X = datasets.two_rings(60)[0]
    solution = solve(KMeansSDP(Gram.from_data(X), 12), tol=1e-3, smooth=True)
    model = NOMAD(12, tol=1e-3, coordinates="spectral").fit(X)
    labels = solution.manifolds()
    assert adjusted_rand_score(labels, model.labels_) == 1
    # On a ring the largest entries come in pairs of opposite sign, and rounding chooses between them.
    np.testing.assert_allclose(np.abs(solution.embedding(labels=labels)), np.abs(model.embedding_), atol=1e-12)
    assert np.abs(solution.unmixed_Q - solution.Q).max() > 0


def test_weights_are_repeated_points_for_manifolds_and_coordinates():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    repeated = solve(KMeansSDP(Gram.from_data(np.repeat(X, [2, 1, 1, 1], axis=0)), 2), "admm", tol=1e-9)
    weighted = solve(KMeansSDP(Gram.from_data(X, weights=np.array([2.0, 1, 1, 1])), 2), "admm", tol=1e-9)
    assert weighted.manifolds().tolist() == repeated.manifolds()[1:].tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(weighted.embedding(1), repeated.embedding(1)[1:], atol=1e-6)
