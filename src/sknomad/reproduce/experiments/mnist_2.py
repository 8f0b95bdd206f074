"""Handwritten twos, drawn at random from MNIST."""

from ..claims import paper
from ..digits import DigitStudy
from ..experiment import Experiment

EXPERIMENT = Experiment(
    title="Twos",
    caption="""Images of the digit 2 drawn at random, 500 in full (K = 16). Slant and width change across the
    embedding; thickness is known to Q, but hardly shows in its first two eigenvectors.""",
    data=("mnist",),
    seconds=(10, 5),
)

FEATURES = paper("Figure 6c", "the manifold of 2s parameterizes features like size, slant, and line thickness")
TWOS = DigitStudy(
    2,
    {
        "slant": ("Slant changes along the manifold of the twos.", FEATURES),
        "width": ("Size changes along the manifold of the twos.", FEATURES),
        "thickness": ("Thickness of strokes changes along the manifold of the twos.", FEATURES),
    },
)
compute, draw, claims = TWOS.compute, TWOS.draw, TWOS.claims
