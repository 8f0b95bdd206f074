"""A teapot turned once around: the viewing angle comes out as a closed curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import datasets
from ...metrics import circular_rank_correlation
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import curve, matrix, mosaic, scatter, styled, thumbnails
from ..measure import circulance_error, principal_plane, recovered_angle, winding_number
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Teapots",
    caption="""One hundred pictures of a teapot, turned once around (K = 20). Two principal components fold the
    circle; the learned matrix has a band that closes, and its eigenvectors order the pictures by viewing angle.""",
    data=("teapots",),
    seconds=(8, 5),
)


def compute(record: Record, quick: bool) -> None:
    """Solve for the pictures."""
    pots = datasets.fetch_teapots()
    solution = record.solve("teapots", pots.data, 20, 1e-3 if quick else 1e-4)
    record["images"], record["angle"], record["Q"] = pots.images, pots.angle, solution.Q
    record["plane"], record["embedding"] = principal_plane(pots.data), solution.embedding()


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw principal components, matrix, and embedding with pictures."""
    drawn, axes = mosaic(["accc", "bccc"], [2.3, 2.3])
    colours = point_colours(None, arrays["angle"], cyclic=True)
    curve(axes["a"], arrays["plane"])
    scatter(axes["a"], arrays["plane"], colours)
    axes["a"].set_title("Principal components")
    matrix(axes["b"], arrays["Q"], title="Learned matrix $Q$")
    points = arrays["embedding"]
    curve(axes["c"], points)
    scatter(axes["c"], points, colours, size=10)
    thumbnails(axes["c"], points, arrays["images"], height=0.13, outwards=0.13, colours=colours)
    axes["c"].set_title("Leading eigenvectors of $Q$")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge order, closedness and circulance."""
    points, angle = arrays["embedding"], arrays["angle"]
    order = circular_rank_correlation(recovered_angle(points), angle)
    before = circular_rank_correlation(recovered_angle(arrays["plane"]), angle)
    turns, error = winding_number(points), circulance_error(arrays["Q"])
    next_ones = (np.arange(len(angle)) + 1)[:, None] % len(angle)
    band = np.take_along_axis(arrays["Q"], next_ones, axis=1).min() / arrays["Q"].max()
    return [
        judge(
            "The embedding orders the pictures by viewing angle.",
            "circular rank correlation {order:.4f} (two principal components: {before:.4f})",
            order >= 0.99,
            "Pictures are out of order: correlation {order:.4f}.",
            source=paper("Figure 6a", "The manifold uncovers the change in orientation"),
            mend="a correlation of 0.99",
            order=order,
            before=before,
        ),
        judge(
            "The embedding is a closed curve.",
            "winding number {turns:g}; every picture shares weight with the next, at least {band:.1e} of the largest",
            turns == 1 and band > 1e-3,
            "The curve winds {turns:g} times, and a neighbour's weight is {band:.1e} of the largest.",
            source=paper("Section 3", "NOMAD respectively uncovers the camera rotation"),
            mend="a winding number of 1 and weights above 1e-3",
            turns=turns,
            band=band,
        ),
        judge(
            "The matrix of the teapots is far from circulant: its band is wider where turning the pot changes less.",
            "relative distance from the nearest circulant matrix {error:.2f}",
            error >= 0.1,
            "It is within {error:.2f} of circulant.",
            mend="a distance of 0.1",
            error=error,
        ),
    ]
