"""Handwritten ones, drawn at random from MNIST."""

from ..claims import paper
from ..digits import DigitStudy
from ..experiment import Experiment

EXPERIMENT = Experiment(
    title="Ones",
    caption="""Images of the digit 1 drawn at random, 500 in full (K = 16). Slant runs along the embedding:
    neighbours share it.""",
    data=("mnist",),
    seconds=(10, 5),
)

ONES = DigitStudy(
    1,
    {
        "slant": (
            "The manifold of the ones is ordered by slant.",
            paper("Figure 6c", "The manifold of 1s uncovers their orientation"),
        ),
    },
)
compute, draw, claims = ONES.compute, ONES.draw, ONES.claims
