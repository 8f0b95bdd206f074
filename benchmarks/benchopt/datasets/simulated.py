"""Clouds, where K-means is easy; moons, which are manifolds; and Gaussian noise, which has nothing to find."""

import numpy as np
from benchopt import BaseDataset

from sknomad.datasets import blobs, moons

MAKERS = {
    "blobs": lambda n: blobs(n, random_state=0)[0],
    "moons": lambda n: moons(n, random_state=0)[0],
    "noise": lambda n: np.random.default_rng(0).standard_normal((n, 10)),
}


class Dataset(BaseDataset):
    """Points made by a generator with a fixed seed."""

    name = "simulated"
    parameters = {"kind": ["blobs", "moons", "noise"], "n": [100], "K": [8]}
    requirements = ["pip::sknomad"]
    test_config = {"n": 30}

    def get_data(self):
        """Points and K."""
        return {"X": MAKERS[self.kind](self.n), "K": self.K}
