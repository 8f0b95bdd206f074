"""The first images of one digit of MNIST."""

from benchopt import BaseDataset

from sknomad.datasets import DataUnavailableError, fetch_mnist


class Dataset(BaseDataset):
    """Images as rows, grey levels between 0 and 1."""

    name = "mnist"
    parameters = {"n": [250], "K": [16], "digit": [1]}

    def get_data(self):
        """Points and K; no points where the files are not to be had, which the objective skips."""
        try:
            return {"X": fetch_mnist(self.digit, self.n, split="train").data, "K": self.K}
        except DataUnavailableError:
            return {"X": None, "K": self.K}
