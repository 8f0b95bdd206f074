"""Small data with clusters, and divisions of them that nobody would make."""

import itertools

import numpy as np
from sklearn.cluster import KMeans


def clustered(n, d, K, seed, noise=1.0):
    """Points about K places, and the labels that k-means finds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((K, d))[rng.integers(0, K, n)] * 4 + noise * rng.standard_normal((n, d))
    return X, KMeans(K, n_init=3, random_state=0).fit_predict(X)


def hostile_division(X, labels, K, rng):
    """Part numbers or shares of every bad kind: sorted, by cluster, lopsided, fractional; at least K points each."""
    n = len(X)
    count = int(rng.integers(1, max(2, n // max(K, 2)) + 1))
    kind = rng.choice(["random", "sorted", "clusters", "lopsided", "shares", "overfull"])
    if kind in ("shares", "overfull"):
        shares = rng.dirichlet(np.full(count, rng.choice([0.1, 1.0, 10.0])), n)
        shares[shares < 1e-6] = 0
        shares[:K] = 1 / count  # so that no part is too small
        return shares * (rng.uniform(1, 1.5) if kind == "overfull" else 1)
    order = {
        "random": rng.permutation(n),
        "sorted": np.argsort(X[:, 0]),
        "clusters": np.argsort(labels, kind="stable"),
        "lopsided": np.arange(n),
    }[kind]
    cuts = np.linspace(0, n, count + 1).astype(int)
    if kind == "lopsided":
        cuts = np.array([0, K, n]) if n >= 2 * K else np.array([0, n])
    numbers = np.empty(n, dtype=int)
    for part, (start, stop) in enumerate(itertools.pairwise(cuts)):
        numbers[order[start:stop]] = part
    return numbers if np.bincount(numbers).min() >= K else np.zeros(n, dtype=int)
