"""Images of one digit: the study behind ``mnist-1`` and ``mnist-2``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import datasets
from ..plot import point_colours
from .claims import Claim, Source, Verdict, judge
from .figure_parts import matrix, mosaic, scatter, styled, thumbnails
from .measure import explained, nearest, principal_plane, purity, strongest
from .record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K = 16
LEAST_EXPLAINED = 0.3  # of the variance, by neighbours, for a feature to be seen
SIZES = (500, 250)  # images, in full and quick


@dataclass(frozen=True)
class DigitStudy:
    """The experiment with images of one digit."""

    digit: int
    sentences: Mapping[str, tuple[str, Source]]  # what is claimed of each feature, and where
    feature: str = "slant"  # that colours the points and sorts the rows of Q

    def compute(self, record: Record, quick: bool) -> None:
        """Solve for images drawn at random without replacement, and measure what is in them."""
        digits = datasets.fetch_mnist(self.digit, SIZES[quick], random_state=record.seed)
        solution = record.solve(f"digit {self.digit}", digits.data, K, 1e-3)
        record["images"], record["Q"], record["embedding"] = digits.images, solution.Q, solution.embedding()
        record["plane"] = principal_plane(digits.data)
        for name, values in features(digits.images).items():
            record[f"feature/{name}"] = values

    @styled
    def draw(self, arrays: Arrays) -> Figure:
        """Draw principal components, matrix, and embedding with the images."""
        drawn, axes = mosaic(["accc", "bccc"], [2.3, 2.3])
        values, points = arrays[f"feature/{self.feature}"], arrays["embedding"]
        colours = point_colours(None, _ranks(values))
        scatter(axes["a"], arrays["plane"], colours)
        axes["a"].set_title("Principal components")
        rows, clip = np.argsort(values), float(np.quantile(arrays["Q"].diagonal(), 0.75))
        matrix(axes["b"], arrays["Q"][np.ix_(rows, rows)], title=f"$Q$, sorted by {self.feature}", largest=clip)
        scatter(axes["c"], points, colours, size=8)
        thumbnails(axes["c"], points, 255 - arrays["images"], height=0.062, colours=colours, apart=1.12)
        axes["c"].set_title(f"Leading eigenvectors of $Q$; colour is {self.feature}")
        return drawn

    def claims(self, arrays: Arrays) -> list[Claim]:
        """Judge whether neighbours in the embedding agree on each feature, beside those in ``Q`` and in the plane."""
        count = round(len(arrays["Q"]) / K)
        ours, theirs = (nearest(arrays[name], count) for name in ("embedding", "plane"))
        in_Q = strongest(arrays["Q"], count)
        rows = []
        for feature, (sentence, source) in self.sentences.items():
            values = arrays[f"feature/{feature}"]
            here, there, kernel = (explained(neighbours, values) for neighbours in (ours, theirs, in_Q))
            third = purity(ours, _ranks(values) * 3 // len(values))
            rows.append(
                judge(
                    sentence,
                    "the {count} strongest neighbours in Q explain {kernel:.0%} of the variance of {feature}, those "
                    "in the "
                    "plane of two eigenvectors {here:.0%}, in that of two principal components {there:.0%}; "
                    "{third:.0%} of "
                    "neighbours in the plane lie in the same third",
                    max(here, kernel) >= LEAST_EXPLAINED,
                    "Q's neighbours explain {kernel:.0%} of {feature}, those in the plane {here:.0%}.",
                    Verdict.PAPER,
                    source=source,
                    count=count,
                    here=here,
                    there=there,
                    kernel=kernel,
                    third=third,
                    feature=feature,
                )
            )
        return rows


def features(images: NDArray[np.uint8]) -> dict[str, NDArray[np.float64]]:
    """Slant, width and thickness of the strokes of each image, from its moments and its outline.

    Slant is in columns per row, positive to the right; width is the horizontal spread of the ink about slanted lines;
    thickness is twice the area of the ink over its outline; both in pixels.

    Examples
    --------
    >>> bar = np.zeros((1, 28, 28), dtype=np.uint8)
    >>> bar[0, 4:24, 12:16] = 255
    >>> {name: round(float(value[0]), 2) for name, value in features(bar).items()}
    {'slant': 0.0, 'width': 1.12, 'thickness': 3.33}
    """
    ink = images / 255.0
    weight = ink.sum(axis=(1, 2))
    rows, columns = np.indices(images.shape[1:])
    x, y = ((ink * grid).sum(axis=(1, 2)) / weight for grid in (columns, rows))
    across, up = columns - x[:, None, None], y[:, None, None] - rows
    slant = (ink * across * up).sum(axis=(1, 2)) / (ink * up**2).sum(axis=(1, 2))
    upright = across - slant[:, None, None] * up
    width = np.sqrt((ink * upright**2).sum(axis=(1, 2)) / weight)
    black = np.pad(images > 127, ((0, 0), (1, 1), (1, 1)))
    outline = sum(np.count_nonzero(np.diff(black, axis=axis), axis=(1, 2)) for axis in (1, 2))
    return {"slant": slant, "width": width, "thickness": 2 * black.sum(axis=(1, 2)) / np.maximum(outline, 1)}


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.argsort(np.argsort(values)).astype(np.float64)
