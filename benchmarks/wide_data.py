"""Kinds of data as people bring them, none of which a setting was first chosen on: the suite's second set.

Lattices, words, one-hot rows, counts, cells, spheres, heavy tails, walks, attractors. Development seeds are below 100,
as in `suite_data`.
"""

import numpy as np
from sklearn.datasets import make_blobs, make_moons

PATCHES = (2, 3, 5, 16, 50, 150, 300)  # K


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def lattice(random, n):
    side = int(np.ceil(np.sqrt(n)))
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)[:n].astype(float)


def one_hot(random, n):
    return np.hstack([np.eye(5)[random.integers(0, 5, n)] for _ in range(10)])


def words(random, n):
    """Weighted counts of 2,000 words in texts on eight subjects."""
    frequency = 50 / np.arange(1, 2001)
    subjects = np.stack([random.dirichlet(frequency * random.gamma(0.3, size=2000) + 1e-3) for _ in range(8)])
    shares = random.dirichlet(np.full(8, 0.2), n)
    counts = np.stack([random.multinomial(100, share @ subjects) for share in shares]).astype(float)
    return _unit(counts * (np.log((1 + n) / (1 + (counts > 0).sum(axis=0))) + 1))


def torus(random, n):
    a, b = random.uniform(0, 2 * np.pi, (2, n))
    return np.column_stack([(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)])


def klein_bottle(random, n):
    a, b = random.uniform(0, 2 * np.pi, (2, n))
    ring = (2 + np.cos(b))[:, None] * np.column_stack([np.cos(a), np.sin(a)])
    return np.hstack([ring, np.sin(b)[:, None] * np.column_stack([np.cos(a / 2), np.sin(a / 2)])])


def attractor(random, n):
    """Lorenz's, every twentieth of many short steps, after a start."""
    x, path = 1 + 0.1 * random.standard_normal(3), []
    for _ in range(1000 + 20 * n):
        x = x + 0.005 * np.array([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])
        path.append(x)
    return np.array(path[1000::20][:n])


def tree(random, n):
    """Six branches from two places, in fifty dimensions."""
    ends, branch = 3 * random.standard_normal((6, 50)), random.integers(0, 6, n)
    roots = np.stack([np.zeros(50), 0.7 * ends[5]])[(branch >= 3).astype(int)]
    return roots + random.uniform(size=(n, 1)) * ends[branch] + 0.3 * random.standard_normal((n, 50))


def cells(random, n):
    """Fifty principal components of counts of 500 genes, eight types of uneven size."""
    kinds = random.choice(8, n, p=np.array([40, 20, 15, 10, 6, 4, 3, 2]) / 100)
    rates = random.gamma(0.3, 2.0, (8, 500))[kinds] * random.lognormal(0, 0.4, (n, 1)) * random.gamma(2, 0.5, (n, 500))
    counts = random.poisson(rates).astype(float)
    logs = np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True))
    U, s, _ = np.linalg.svd(logs - logs.mean(axis=0), full_matrices=False)
    return U[:, :50] * s[:50]


def two_tones(random, n):
    """Eight delays of the sum of two sines whose periods never meet."""
    time = np.arange(n) + random.uniform(0, 100)
    signal = np.sin(0.1 * time) + 0.5 * np.sin(0.1 * np.sqrt(2) * time)
    return np.stack([np.roll(signal, -5 * k) for k in range(8)], axis=1)


def spiral(random, n):
    angle = 4 * np.pi * np.sqrt(random.uniform(size=n))
    return angle[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * random.standard_normal((n, 2))


KINDS = {
    "lattice": lattice,
    "line": lambda random, n: random.uniform(size=(n, 1)),
    "normal 1-D": lambda random, n: random.standard_normal((n, 1)),
    "one-hot": one_hot,
    "binary": lambda random, n: random.integers(0, 2, (n, 20)).astype(float),
    "words": words,
    "heavy tails 10-D": lambda random, n: random.standard_t(3, (n, 10)),
    "sphere 3-D": lambda random, n: _unit(random.standard_normal((n, 3))),
    "sphere 10-D": lambda random, n: _unit(random.standard_normal((n, 10))),
    "sphere 50-D": lambda random, n: _unit(random.standard_normal((n, 50))),
    "torus": torus,
    "Klein bottle": klein_bottle,
    "attractor": attractor,
    "walk 50-D": lambda random, n: np.cumsum(random.standard_normal((n, 50)), axis=0),
    "tree 50-D": tree,
    "cells": cells,
    "Dirichlet": lambda random, n: random.dirichlet(np.full(5, 0.5), n),
    "decaying spectrum": lambda random, n: random.standard_normal((n, 200)) / np.arange(1, 201),
    "equal rows": lambda random, n: random.integers(0, 12, (n, 2)).astype(float),
    "two tones": two_tones,
    "spiral": spiral,
    "exponential 5-D": lambda random, n: random.exponential(size=(n, 5)),
    "counts 30-D": lambda random, n: random.poisson(2.0, (n, 30)).astype(float),
    "moons .15": lambda random, n: make_moons(n, noise=0.15, random_state=int(random.integers(2**31)))[0],
    "fifty blobs": lambda random, n: make_blobs(
        n, 10, centers=50, cluster_std=2, random_state=int(random.integers(2**31))
    )[0],
}
DATA = {name: lambda n, seed, draw=draw: draw(np.random.default_rng(seed), n) for name, draw in KINDS.items()}
