"""Four faces under 64 lights each: the embedding is of the light, not of the face."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from ... import datasets
from ...metrics import circular_rank_correlation
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..experiment import Experiment
from ..figure_parts import matrix, mosaic, scatter, styled, thumbnails
from ..measure import explained, nearest, principal_plane, purity, recovered_angle
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Yale faces",
    caption="""Subjects 1, 4, 5 and 27 of the Extended Yale Face Database B, 64 lights each (K = 16). The
    embedding goes round with the azimuth of the light, whoever is lit, and closes in the dark, where the light is
    behind.""",
    data=("yale",),
    seconds=(15, 8),
)

NEIGHBOURS = 16  # n/K
BANDS = (-100, -40, 40, 100)  # degrees: behind, left, front, right, behind


def compute(record: Record, quick: bool) -> None:
    """Solve for the faces."""
    faces = datasets.fetch_yale_faces()
    solution = record.solve("faces", faces.data, 16, 2e-3 if quick else 1e-4)
    record["images"], record["subject"] = _thirds(faces.images), faces.target
    record["azimuth"], record["elevation"] = faces.angle, faces.elevation
    record["brightness"] = faces.data.mean(axis=1)
    record["Q"], record["embedding"], record["plane"] = (
        solution.Q,
        solution.embedding(),
        principal_plane(faces.data),
    )


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw principal components, matrix, and embedding with faces."""
    drawn, axes = mosaic(["abd", "ccc"], [2.25, 4.2])
    azimuth, points = arrays["azimuth"], arrays["embedding"]
    colours = point_colours(None, azimuth, cyclic=True)
    scatter(axes["a"], arrays["plane"], colours)
    axes["a"].set_title("Principal components")
    rows = np.lexsort((arrays["elevation"], azimuth))
    matrix(
        axes["b"],
        arrays["Q"][np.ix_(rows, rows)],
        title="$Q$, sorted by azimuth",
        largest=np.quantile(arrays["Q"].diagonal(), 0.75),
    )
    scatter(axes["c"], points, colours, size=8)
    thumbnails(axes["c"], points, arrays["images"], height=0.085, colours=colours, apart=1.08)
    scatter(axes["d"], points, point_colours(np.unique(arrays["subject"], return_inverse=True)[1]), size=8)
    axes["d"].set_title("The same plane; colour is the subject")
    axes["c"].set_title("Leading eigenvectors of $Q$; colour is the azimuth of the light")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge how far the embedding is of the light."""
    azimuth, points, subject = arrays["azimuth"], arrays["embedding"], arrays["subject"]
    order = circular_rank_correlation(recovered_angle(points), azimuth)
    axis = max(abs(float(spearmanr(column, azimuth).statistic)) for column in points.T)
    neighbours = nearest(points, NEIGHBOURS)
    light = np.digitize(azimuth, BANDS)
    same_light, same_face = purity(neighbours, light), purity(neighbours, subject)
    light_chance, face_chance = (float(np.sum(np.bincount(kind) ** 2)) / len(kind) ** 2 for kind in (light, subject))
    brightness = explained(neighbours, arrays["brightness"])
    return [
        judge(
            "The embedding is ordered by the direction of the light.",
            "circular rank correlation of its angle with the azimuth {order:.2f}; rank correlation along one axis "
            "{axis:.2f}",
            order >= 0.7,
            "The angle goes with something else: its correlation is {order:.2f}.",
            source=paper("Figure 6b", "The manifold uncovers the change in illumination"),
            mend="a correlation of 0.7",
            order=order,
            axis=axis,
        ),
        judge(
            "It shows the light and not who is lit.",
            "of {count} neighbours {light:.0%} have the light from the same of five sides (by chance "
            "{light_chance:.0%}), {face:.0%} the same face (by chance {face_chance:.0%})",
            same_light - light_chance > 2 * (same_face - face_chance),
            "{face:.0%} of neighbours share the face and {light:.0%} the light.",
            source=paper("Section 3", "the orientation of the lighting source"),
            mend="a surplus over chance of the light 2 times that of the face",
            count=NEIGHBOURS,
            light=same_light,
            light_chance=light_chance,
            face=same_face,
            face_chance=face_chance,
        ),
        judge(
            "Frontal, half lit and dark faces lie apart.",
            "{count} neighbours explain {brightness:.0%} of the variance of brightness",
            brightness >= 0.5,
            "Dark and bright faces lie together: neighbours explain {brightness:.0%}.",
            source=paper("Figure 6b", "from frontal, to half-illuminated, to dark faces, and back"),
            mend="50 %",
            count=NEIGHBOURS,
            brightness=brightness,
        ),
    ]


def _thirds(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Images of a third of the size, each pixel the mean of nine."""
    n, height, width = images.shape
    return images.reshape(n, height // 3, 3, width // 3, 3).mean(axis=(2, 4)).astype(np.uint8)
