"""The paper's opening figure: a knot unfolds into a circle, and two entangled spirals into two blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from ... import datasets
from ...metrics import circular_rank_correlation
from ...plot import point_colours
from ..claims import Claim, Verdict, judge, paper
from ..experiment import Experiment
from ..figure_parts import curve, figure, matrix, scatter, styled
from ..measure import circulance_error, recovered_angle, winding_number
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Opening: a knot and two spirals",
    caption="""Above, a trefoil knot (K = 16): the learned matrix is nearly circulant, and its leading
    eigenvectors unfold it into a closed curve. Below, two entangled spirals (K = 64): the matrix falls into two
    blocks, one per spiral.""",
    seconds=(15, 6),
)


def compute(record: Record, quick: bool) -> None:
    """Solve for both sets."""
    tol = 1e-3 if quick else 1e-4
    X, t = datasets.trefoil(200)
    solution = record.solve("trefoil", X, 16, tol)
    record["trefoil/X"], record["trefoil/t"], record["trefoil/Q"] = X, t, solution.Q
    record["trefoil/embedding"] = solution.embedding()
    even = even_knot(200)
    solution = record.solve("trefoil, even steps", even, 16, tol)
    record["even/Q"], record["even/embedding"] = solution.Q, solution.embedding()
    X, truth = datasets.double_swiss_roll(200)
    solution = record.solve("spirals", X, 64, tol)
    labels = solution.manifolds()
    record["spirals/X"], record["spirals/truth"], record["spirals/Q"] = X, truth, solution.Q
    record["spirals/labels"], record["spirals/embedding"] = labels, solution.embedding(labels=labels)


def even_knot(n: int, fine: int = 20_000) -> NDArray[np.float64]:
    """The trefoil knot at equal steps of its arc length.

    Examples
    --------
    >>> steps = np.linalg.norm(np.diff(even_knot(100), axis=0), axis=1)
    >>> bool(np.ptp(steps) < 2e-3 * steps.mean())
    True
    """
    X, t = datasets.trefoil(fine)
    steps = np.linalg.norm(np.diff(X, axis=0, append=X[:1]), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    places = np.interp(np.arange(n) * length[-1] / n, length, np.append(t, 2 * np.pi))
    closed = np.vstack([X, X[:1]])
    return np.stack([np.interp(places, np.append(t, 2 * np.pi), column) for column in closed.T], axis=1)


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw data, matrix and embedding of both."""
    drawn, axes = figure(3, 2, row_height=2.35)
    t = arrays["trefoil/t"]
    colours = point_colours(None, t, cyclic=True)
    _knot(axes[0, 0], arrays["trefoil/X"], colours)
    matrix(axes[0, 1], arrays["trefoil/Q"], title="$Q$, points in order")
    curve(axes[0, 2], arrays["trefoil/embedding"])
    scatter(axes[0, 2], arrays["trefoil/embedding"], colours)
    labels, points = arrays["spirals/labels"], arrays["spirals/embedding"]
    colours = point_colours(labels, _place(labels))
    scatter(axes[1, 0], arrays["spirals/X"], colours)
    matrix(axes[1, 1], arrays["spirals/Q"], title="$Q$, points in order", blocks=[100])
    shifted = points + np.outer(labels, [0.0, -2.2 * np.abs(points).max()])
    scatter(axes[1, 2], shifted, colours)
    for row, name in enumerate(("Trefoil knot", "Two spirals")):
        axes[row, 0].set_title(name)
    axes[0, 2].set_title("Leading eigenvectors")
    axes[1, 2].set_title("The same, of each block")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge circulance, the closed curve and the blocks."""
    error = circulance_error(arrays["trefoil/Q"])
    points = arrays["trefoil/embedding"]
    order = circular_rank_correlation(recovered_angle(points), arrays["trefoil/t"])
    turns = winding_number(points)
    ari = adjusted_rand_score(arrays["spirals/truth"], arrays["spirals/labels"])
    Q, truth = arrays["spirals/Q"], arrays["spirals/truth"]
    cross = Q[np.ix_(truth == 0, truth == 1)].max() / Q.max()
    even = circulance_error(arrays["even/Q"])
    return [
        judge(
            "The knot's matrix is circulant.",
            "relative distance from the nearest circulant matrix {error:.3f}; {even:.3f} with points even in arc "
            "length",
            min(error, even) < 0.01,
            "Nearly: the knot has a threefold symmetry only, so its curvature makes a difference of {even:.3f} even "
            "where steps along it are equal ({error:.3f} where steps of its parameter are).",
            Verdict.PAPER,
            source=paper("Figure 1a", "this is a closed manifold, yielding a circulant matrix"),
            error=error,
            even=even,
        ),
        judge(
            "Two eigenvectors unfold the knot into a closed curve in the plane.",
            "circular rank correlation {order:.4f}, winding number {turns:g}",
            order > 0.999 and turns == 1,
            "The curve winds {turns:g} times and has the order {order:.4f}.",
            source=paper("Figure 1a", 'which can be "unfolded" in 2D'),
            mend="an order above 0.999 and a winding number of 1",
            order=order,
            turns=turns,
        ),
        judge(
            "The matrix of the two spirals falls into two submatrices.",
            "adjusted Rand index {ari:.2f}, largest entry between them {cross:.0e} of the largest of all",
            ari == 1.0,
            "The spirals are joined or broken: adjusted Rand index {ari:.2f}.",
            source=paper("Figure 1b", "correctly finds two submatrices, one for each manifold"),
            mend="an adjusted Rand index of 1",
            ari=ari,
            cross=cross,
        ),
    ]


def _knot(ax: Axes, X: np.ndarray, colours: np.ndarray) -> None:
    """The knot seen from above, strands that pass below drawn first and thinner."""
    order = np.argsort(X[:, 2])
    depth = (X[order, 2] - X[:, 2].min()) / np.ptp(X[:, 2])
    curve(ax, X[:, :2])
    scatter(ax, X[order, :2], colours[order], size=4 + 12 * depth)


def _place(labels: np.ndarray) -> np.ndarray:
    """Place of each point within its component, from 0 on."""
    return np.array([np.count_nonzero(labels[:index] == label) for index, label in enumerate(labels)], dtype=float)
