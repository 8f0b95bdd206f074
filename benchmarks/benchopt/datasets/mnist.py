"""The first images of one digit of MNIST, from the idx files under ``$SKNOMAD_DATA/mnist``."""

import gzip
import os
from pathlib import Path

import numpy as np
from benchopt import BaseDataset


def read(name, offset):
    """The bytes of an idx file after its header."""
    with gzip.open(Path(os.environ["SKNOMAD_DATA"]) / "mnist" / name) as file:
        return np.frombuffer(file.read(), np.uint8, offset=offset)


class Dataset(BaseDataset):
    """Images as rows, grey levels between 0 and 1."""

    name = "mnist"
    parameters = {"n": [250], "K": [16], "digit": [1]}

    def get_data(self):
        """Points and K; no points where the files are not there, which the objective skips."""
        try:
            images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)
            labels = read("train-labels-idx1-ubyte.gz", 8)
        except (KeyError, FileNotFoundError):
            return {"X": None, "K": self.K}
        return {"X": images[labels == self.digit][: self.n] / 255.0, "K": self.K}
