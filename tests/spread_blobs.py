"""Clusters so far apart that every method finds them."""

import numpy as np


def blobs(count, size=15, seed=0):
    """Points around at most five centres, and their labels."""
    generator = np.random.default_rng(seed)
    centres = 20 * np.array([(0, 0), (1, 0), (0, 1), (1, 1.2), (2.1, 0.4)])[:count]
    return np.repeat(centres, size, axis=0) + generator.normal(size=(count * size, 2)), np.repeat(range(count), size)
