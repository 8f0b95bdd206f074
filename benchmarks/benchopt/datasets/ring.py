"""Points at even steps on the unit circle: the optimum is known from a linear program."""

from benchopt import BaseDataset

from sknomad.datasets import ring


class Dataset(BaseDataset):
    """A regular polygon."""

    name = "ring"
    parameters = {"n": [80], "K": [8]}
    requirements = ["pip::sknomad"]

    def get_data(self):
        """Points and K."""
        return {"X": ring(self.n)[0], "K": self.K}
