"""What the authors' code has beyond the paper: thin lines, a rolled sheet in space, and all ten digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

from ... import datasets
from ...metrics import graph_geodesics
from ...plot import point_colours
from ..claims import Claim, finding
from ..digits import features
from ..experiment import Experiment
from ..figure_parts import scatter, stacked, styled
from ..measure import explained, nearest, principal_plane
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="The authors' further experiments",
    caption="""From the authors' code, not in the paper: six thin lines (K = 32) with the first coordinate of
    each part; scikit-learn's rolled sheet in space (K = 32), in the plane of its leading eigenvectors, coloured
    along the roll; and all ten digits (K = 16), each in its own plane, coloured by slant.""",
    data=("mnist",),
    seconds=(45, 14),
)

K_SHAPES, K_DIGITS = 32, 16
IMAGES = (500, 120)  # of each digit, in full and quick


def compute(record: Record, quick: bool) -> None:
    """Solve for lines, sheet and digits."""
    tol = 1e-3 if quick else 1e-4
    X, truth = datasets.thin_lines(200, random_state=record.seed)
    solution = record.solve("thin lines", X, K_SHAPES, tol)
    labels = solution.manifolds()
    record["lines/X"], record["lines/truth"], record["lines/labels"] = X, truth, labels
    record["lines/order"] = solution.embedding(1, labels=labels)[:, 0]
    X, t = datasets.swiss_roll_3d(200, random_state=record.seed)
    solution = record.solve("rolled sheet", X, K_SHAPES, tol)
    record["roll/X"], record["roll/t"], record["roll/embedding"] = X, t, solution.embedding()
    record["roll/parts"] = solution.manifolds().max() + 1
    for digit in range(10):
        images = datasets.fetch_mnist(digit, IMAGES[quick], random_state=record.seed)
        solution = record.solve(f"digit {digit}", images.data, K_DIGITS, 1e-3)
        record[f"{digit}/embedding"], record[f"{digit}/plane"] = solution.embedding(), principal_plane(images.data)
        record[f"{digit}/slant"] = features(images.images)["slant"]


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw lines with their order, the sheet twice, and ten planes."""
    drawn, axes = stacked([4, 5, 5], [2.0, 1.5, 1.5], letters=False)
    panels = list(axes.values())
    X, labels, order = arrays["lines/X"], arrays["lines/labels"], arrays["lines/order"]
    scatter(panels[0], X, point_colours(labels))
    panels[0].set_title(f"Thin lines: {labels.max() + 1} parts")
    scatter(panels[1], X, order, cmap="viridis")
    panels[1].set_title("Coordinate of each part")
    t = arrays["roll/t"]
    scatter(panels[2], arrays["roll/X"][:, [0, 2]], t, cmap="viridis")
    panels[2].set_title("Rolled sheet, from its side")
    scatter(panels[3], arrays["roll/embedding"], t, cmap="viridis")
    panels[3].set_title("Its leading eigenvectors")
    for digit, ax in enumerate(panels[4:]):
        slant = arrays[f"{digit}/slant"]
        scatter(
            ax, arrays[f"{digit}/embedding"], point_colours(None, np.argsort(np.argsort(slant)).astype(float)), size=5
        )
        ax.set_title(f"digit {digit}")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Tell what comes out; the paper does not speak of these."""
    return [_lines(arrays), _roll(arrays), _digits(arrays)]


def _lines(arrays: Arrays) -> Claim:
    truth, labels, X = arrays["lines/truth"], arrays["lines/labels"], arrays["lines/X"]
    along = [
        abs(float(spearmanr(arrays["lines/order"][truth == line], _along(X[truth == line])).statistic))
        for line in np.unique(truth)
    ]
    return finding(
        "Six thin lines come apart, and each is put in order.",
        "{parts} parts, adjusted Rand index {rand:.2f}; rank correlation with the place along the line {low:.2f} to "
        "{high:.2f}",
        parts=labels.max() + 1,
        rand=adjusted_rand_score(truth, labels),
        low=min(along),
        high=max(along),
    )


def _along(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return principal_plane(X)[:, 0]


def _roll(arrays: Arrays) -> Claim:
    t, points = arrays["roll/t"], arrays["roll/embedding"]
    count = round(len(t) / K_SHAPES)
    reached = np.isfinite(graph_geodesics(arrays["roll/X"], count)).mean()
    return finding(
        "A rolled sheet in space: whether neighbours in the plane are neighbours along the roll.",
        "{count} neighbours in the plane explain {share:.0%} of the variance of the angle rolled (in two principal "
        "components {plain:.0%}); parts: {parts}; {reached:.0%} of pairs are joined by {count} nearest neighbours",
        count=count,
        share=explained(nearest(points, count), t),
        plain=explained(nearest(principal_plane(arrays["roll/X"]), count), t),
        parts=int(arrays["roll/parts"]),
        reached=reached,
    )


def _digits(arrays: Arrays) -> Claim:
    count = round(len(arrays["0/slant"]) / K_DIGITS)
    shares = {
        digit: [
            explained(nearest(arrays[f"{digit}/{plane}"], count), arrays[f"{digit}/slant"])
            for plane in ("embedding", "plane")
        ]
        for digit in range(10)
    }
    ahead = sum(ours > plain for ours, plain in shares.values())
    return finding(
        "How far slant orders the planes of all ten digits.",
        "share of its variance explained by {count} neighbours, digits 0 to 9: {words}; more than in two principal "
        "components for {ahead} of 10",
        count=count,
        words=", ".join(f"{ours:.0%}" for ours, _ in shares.values()),
        ahead=ahead,
    )
