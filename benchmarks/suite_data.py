"""The problems of the suite: fourteen kinds of data, from the easiest to pure noise, in any number of points.

Development seeds are 0 to 9; seeds from 100 on are kept for what is reported, and no setting is chosen on them.
"""

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_circles

from sknomad import datasets

PATCHES = (8, 32, 100, 250)  # K
REPORTING_FROM = 100


def _cloud(d):
    return lambda n, seed: np.random.default_rng(seed).standard_normal((n, d))


def _digits(n, seed):
    X = load_digits().data
    return X[np.random.default_rng(seed).choice(len(X), n, replace=n > len(X))]


def _images(digit):
    return lambda n, seed: datasets.fetch_mnist(digit, n, random_state=seed).data


DATA = {
    "double Swiss roll": lambda n, seed: datasets.double_swiss_roll(n, noise=0.02, random_state=seed)[0],
    "Swiss roll 3-D": lambda n, seed: datasets.swiss_roll_3d(n, random_state=seed)[0],
    "moons .05": lambda n, seed: datasets.moons(n, noise=0.05, random_state=seed)[0],
    "moons .1": lambda n, seed: datasets.moons(n, noise=0.1, random_state=seed)[0],
    "circles .05": lambda n, seed: make_circles(n, noise=0.05, factor=0.5, random_state=seed)[0],
    "Gaussian 2-D": _cloud(2),
    "Gaussian 10-D": _cloud(10),
    "Gaussian 100-D": _cloud(100),
    "uniform 2-D": lambda n, seed: np.random.default_rng(seed).random((n, 2)),
    "blobs 10": lambda n, seed: make_blobs(n, 10, centers=10, random_state=seed)[0],
    "blobs 10, overlapping": lambda n, seed: make_blobs(n, 2, centers=10, cluster_std=2.0, random_state=seed)[0],
    "digits": _digits,
    "ones": _images(1),
    "MNIST": _images(None),
}
