"""Two concentric rings: the Gram matrix mixes them, the learned one gives each a cone of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.extmath import svd_flip

from ... import datasets
from ...plot import point_colours
from ..claims import Claim, judge, paper
from ..cone import draw_cone
from ..experiment import Experiment
from ..figure_parts import DIVERGING, FAINT, PALETTE, colour_map, figure, matrix, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Two rings",
    caption="""Two concentric circles of 100 points (K = 16). The two eigenvectors of the Gram matrix run over
    both; those of Q (eigenvalue at least 0.01) belong to one ring or the other, and the columns of its root lie on
    two cones at right angles. Below, the first three eigenvectors of either ring.""",
    seconds=(12, 2),
)

LEAST_EIGENVALUE = 1e-2


def compute(record: Record, quick: bool) -> None:
    """Solve, and take both matrices apart."""
    X, truth = datasets.two_rings(200)
    solution = record.solve("rings", X, 16, 1e-3 if quick else 1e-5)
    record["X"], record["truth"], record["Q"] = X, truth, solution.Q
    record["labels"] = solution.manifolds()
    centred = X - X.mean(axis=0)
    record["D"] = centred @ centred.T
    values, vectors = np.linalg.eigh(record["D"])
    record["D/values"], record["D/vectors"] = values[::-1], svd_flip(vectors[:, ::-1][:, :2], None)[0]
    values, vectors = _block_eigenvectors(solution.Q, truth)
    record["Q/values"], record["Q/vectors"] = values, vectors
    record["kmeans"] = KMeans(2, n_init=20, random_state=record.seed).fit_predict(record["D/vectors"])


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw data, both matrices, their eigenvectors and the cones."""
    drawn, axes = figure(3, 3, row_height=(2.35, 2.35, 1.6))
    truth = arrays["truth"]
    half = int(np.count_nonzero(truth == 0))
    scatter(axes[0, 0], arrays["X"], point_colours(truth))
    axes[0, 0].set_title("Data")
    matrix(axes[0, 1], arrays["D"], signed=True, title="Gram matrix $D$", blocks=[half])
    _waves(axes[0, 2], arrays["D/vectors"], half)
    matrix(axes[1, 0], arrays["Q"], title="Learned matrix $Q$", blocks=[half])
    _eigenvectors(axes[1, 1], arrays["Q/vectors"], half)
    _cones(axes[1, 2], arrays["Q"], truth)
    for column in range(3):
        for ring, first in enumerate(_first_of_each(arrays["Q/vectors"], truth)):
            axes[2, column].plot(first[:, column], color=PALETTE[ring])
        axes[2, column].set(
            xlabel="point of its ring", yticks=[], ylim=(-0.16, 0.16), title=f"Eigenvector {column + 1} of each ring"
        )
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge rank, disjoint supports and the angles between the cones."""
    Q, D, truth = arrays["Q"], arrays["D/values"], arrays["truth"]
    before = adjusted_rand_score(truth, arrays["kmeans"])
    ari = adjusted_rand_score(truth, arrays["labels"])
    values, vectors = arrays["Q/values"], arrays["Q/vectors"]
    residual = float(np.linalg.norm(Q @ vectors - vectors * values, axis=0).max())
    between = Q[np.ix_(truth == 0, truth == 1)]
    right = np.degrees(np.arccos(np.clip((between / Q.diagonal().max()).max(), 0, 1)))
    cones, share = _cone_angles(Q, truth), _share_in_fourier_modes(vectors, truth)
    half_angles = " and ".join(f"{np.median(angles):.1f}" for angles, _ in cones)
    errors = [float(np.abs(angles - np.degrees(np.arccos(1 / np.sqrt(K)))).max()) for angles, K in cones]
    return [
        judge(
            "The Gram matrix has rank two and does not separate the rings.",
            "third eigenvalue {third:.0e} of the first; 2-means on its eigenvectors has adjusted Rand index "
            "{before:.2f}",
            D[2] < 1e-9 * D[0] and before < 0.5,
            "The third eigenvalue is {third:.0e} of the first, and 2-means has the index {before:.2f}.",
            source=paper("Figure 4b", "do not segregate the rings"),
            mend="an eigenvalue below 1e-9 and an index below 0.5",
            third=abs(D[2] / D[0]),
            before=before,
        ),
        judge(
            "The learned matrix is block diagonal, one block per ring.",
            "adjusted Rand index {ari:.2f}, largest entry between blocks {cross:.0e} of the largest",
            ari == 1.0,
            "The rings are joined or broken: adjusted Rand index {ari:.2f}.",
            source=paper("Figure 4a", "Two-ring dataset"),
            mend="an index of 1",
            ari=ari,
            cross=between.max() / Q.max(),
        ),
        judge(
            "Its eigenvectors of eigenvalue at least 0.01 have disjoint support.",
            "{count} of them; eigenvectors of single blocks, extended by zeros, are its own to {residual:.0e}",
            residual < 1e-2,
            "The blocks are coupled by {residual:.0e}.",
            source=paper("Figure 4c", "contains two sets of eigenvectors with disjoint support"),
            mend="a residual below 1e-2",
            count=len(values),
            residual=residual,
        ),
        judge(
            "The first eigenvectors of each ring are its first Fourier modes: the constant, one sine and one cosine.",
            "share of their squares in these modes {share:.4f} at least, over the first three of either ring",
            share > 0.99,
            "Only {share:.4f} of them is in the modes.",
            source=paper("Section 3", "two sets of Fourier modes with disjoint support"),
            mend="a share of 0.99",
            share=share,
        ),
        judge(
            "Each ring lies on a cone of its own, and the cones are orthogonal.",
            "least angle between vectors of different rings {right:.2f} degrees; half-angles {half_angles}, "
            "arccos(1/sqrt(trace of the block)) to {error:.0e} degrees",
            right > 89 and max(errors) < 1,
            "The cones are {right:.2f} degrees apart, and their half-angles off by {error:.0e}.",
            source=paper("Figure 4d", "form two orthogonal high-dimensional cones: one cone for each ring"),
            mend="89 degrees, and half-angles to 1 degree",
            right=right,
            half_angles=half_angles,
            error=max(errors),
        ),
    ]


def _block_eigenvectors(Q: NDArray[np.float64], truth: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
    """Eigenvalues and eigenvectors of the two blocks, extended by zeros, the first ring's before the second's."""
    values, vectors = [], []
    for ring in (0, 1):
        mine = np.flatnonzero(truth == ring)
        found, basis = np.linalg.eigh(Q[np.ix_(mine, mine)])
        keep = np.flatnonzero(found >= LEAST_EIGENVALUE)[::-1]
        full = np.zeros((len(Q), len(keep)))
        full[mine] = svd_flip(basis[:, keep], None)[0]
        values.append(found[keep])
        vectors.append(full)
    return np.concatenate(values), np.hstack(vectors)


def _first_of_each(vectors: NDArray[np.float64], truth: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """The first three eigenvectors of each ring, on its own points."""
    return [vectors[np.ix_(truth == ring, vectors[truth == ring].any(axis=0))][:, :3] for ring in (0, 1)]


def _share_in_fourier_modes(vectors: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """Least share of the square of a ring's first three eigenvectors in the span of 1, cos and sin of the angle."""
    shares = []
    for first in _first_of_each(vectors, truth):
        angle = 2 * np.pi * np.arange(len(first)) / len(first)
        modes = np.linalg.qr(np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=1))[0]
        shares.append(np.sum((modes.T @ first) ** 2, axis=0) / np.sum(first**2, axis=0))
    return float(np.min(shares))


def _cone_angles(Q: NDArray[np.float64], truth: NDArray[np.int64]) -> list[tuple[NDArray[np.float64], float]]:
    """Angle of each vector to the axis of its ring's cone, in degrees, and the trace of the ring's block."""
    angles = []
    for ring in (0, 1):
        block = Q[np.ix_(truth == ring, truth == ring)]
        # The axis is the mean vector; entries of Q are inner products.
        to_mean, mean = block.mean(axis=1), block.mean()
        cosine = to_mean / np.sqrt(mean * block.diagonal())
        angles.append((np.degrees(np.arccos(np.clip(cosine, -1, 1))), float(np.trace(block))))
    return angles


def _waves(ax: Axes, vectors: NDArray[np.float64], half: int) -> None:
    for column, colour in zip(vectors.T, PALETTE[2:4], strict=True):
        for part in (slice(0, half), slice(half, None)):
            ax.plot(np.arange(len(column))[part], column[part], color=colour)
    ax.axvline(half, color=FAINT, zorder=0)
    ax.set(xticks=[0, half, len(vectors)], xlabel="point", yticks=[], title="Both eigenvectors of $D$")


def _eigenvectors(ax: Axes, vectors: NDArray[np.float64], half: int) -> None:
    high = float(np.abs(vectors).max()) * 0.8
    ax.imshow(vectors, cmap=colour_map(DIVERGING), vmin=-high, vmax=high, aspect="auto")
    ax.axhline(half - 0.5, color=FAINT, linewidth=0.8)
    ax.spines[:].set(visible=True, color=FAINT)
    ax.set(
        yticks=[0, half, len(vectors)], ylabel="point", xticks=[0, vectors.shape[1] - 1], title="Eigenvectors of $Q$"
    )
    ax.set_xticklabels(["1", str(vectors.shape[1])])


def _cones(ax: Axes, Q: NDArray[np.float64], truth: NDArray[np.int64]) -> None:
    for ring, (angles, _) in enumerate(_cone_angles(Q, truth)):
        half_angle = float(np.median(angles))
        turn, side = ((90.0, -0.6), (0.0, 0.7))[ring]
        draw_cone(ax, half_angle, PALETTE[ring], turn=turn, text=f"{half_angle:.1f}°", text_side=side)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", title="Cones, half-angles to scale")
    ax.axis("off")
