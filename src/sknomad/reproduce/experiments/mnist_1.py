"""Handwritten ones, drawn at random from MNIST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..claims import Claim
from ..digits import compute_digit, draw_digit, feature_claims
from ..figure_parts import styled
from ..record import Arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Ones"
CAPTION = (
    "Images of the digit 1 drawn at random, 500 in full (K = 16). Slant runs along the embedding: neighbours share it."
)
DATA = ("mnist",)
SEED = 0
SECONDS = (10, 5)

SENTENCES = {
    "slant": "The embedding orders the ones by slant.",
}


def compute(quick: bool, device: str = "auto") -> Arrays:
    """Solve for images drawn without replacement."""
    return compute_digit(1, quick, device, SEED)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the embedding with images."""
    return draw_digit(arrays, "slant", "slant")


def claims(arrays: Arrays) -> list[Claim]:
    """Judge what neighbours have in common."""
    return feature_claims(arrays, SENTENCES)
