"""Images of digits and recordings of neurons: several kinds together, and one kind alone, which must stay one.

Handwritten digits of 8 x 8 pixels come with scikit-learn; those of MNIST, 28 x 28, are used where
``$SKNOMAD_DATA/mnist`` has them. In recordings forty neurons fire at random along a ring.
"""

import gzip
import os
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

NEURONS, MOMENTS = 40, 300
KINDS_TOGETHER = (2, 3, 5, 10)
# Fewest images of a kind among the small ones.
FEWEST_OF_A_KIND = 170


def several_names(n):
    """Names of draws of several kinds of digit, where there are so many images."""
    small = [f"small digits, {kinds} kinds" for kinds in KINDS_TOGETHER if n <= FEWEST_OF_A_KIND * kinds]
    return small + [f"MNIST, {kinds} kinds" for kinds in KINDS_TOGETHER if mnist_folder().exists()]


def alone_names(n):
    """Names of draws of one kind: a digit of MNIST, recordings of a mean count."""
    digits = [f"MNIST, {digit} alone" for digit in range(10)] if mnist_folder().exists() else []
    return digits + [f"recording, counts {counts}" for counts in (2, 4) if n == MOMENTS]


def draw_images(name, n, seed):
    """Images (n, pixels) or moments (n, neurons), and kinds (n,) from 1."""
    if name.startswith("recording"):
        return recording(float(name.split()[-1]), seed)[0], np.ones(n, dtype=int)
    random = np.random.default_rng([zlib.crc32(name.encode()), seed, n])
    X, digits = small_images() if name.startswith("small") else mnist_images()
    what = name.split(", ")[1]
    kinds = [int(what[0])] if what.endswith("alone") else random.choice(10, int(what.split()[0]), replace=False)
    shares = np.array_split(np.arange(n), len(kinds))
    places = [random.choice(np.flatnonzero(digits == kind), len(share), replace=False)
              for kind, share in zip(kinds, shares, strict=True)]  # fmt: skip
    chosen = random.permutation(np.concatenate(places))
    scale = 1.0 if name.startswith("small") else 255.0
    return X[chosen] / scale, np.unique(digits[chosen], return_inverse=True)[1] + 1


def small_images():
    return load_digits(return_X_y=True)


@cache
def mnist_images():
    """The 60,000 for training in bytes, and their digits."""
    images, labels = (
        idx(f"train-{what}-ubyte.gz", header) for what, header in (("images-idx3", 16), ("labels-idx1", 8))
    )
    return images.reshape(len(labels), -1), labels.astype(int)


def idx(name, header):
    with gzip.open(mnist_folder() / name) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def mnist_folder():
    return Path(os.environ.get("SKNOMAD_DATA", "data")) / "mnist"


def recording(counts, seed):
    """Roots of counts, (moments, neurons), and the true angles."""
    rng = np.random.default_rng([17, seed])
    preferred, sharpness = rng.uniform(0, 2 * np.pi, NEURONS), rng.uniform(1, 6, NEURONS)
    height = counts * rng.gamma(2, 0.5, NEURONS)
    places = rng.uniform(0, 2 * np.pi, 2)
    where = rng.integers(0, 3, MOMENTS)
    near_places = places[np.maximum(where, 1) - 1] + 0.8 * rng.standard_normal(MOMENTS)
    angle = np.where(where == 0, rng.uniform(0, 2 * np.pi, MOMENTS), near_places) % (2 * np.pi)
    rate = 0.1 + height * np.exp(sharpness * (np.cos(angle[:, None] - preferred) - 1))
    return np.sqrt(rng.poisson(rate)), angle
