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
from ..claims import Claim, judge
from ..cone import draw_cone
from ..experiment import Experiment
from ..figure_parts import DIVERGING, FAINT, PALETTE, colour_map, figure, matrix, scatter, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Two rings",
    caption="""Two concentric circles of 100 points (K = 16). The two eigenvectors of the Gram matrix run over both;
    those of Q (eigenvalue at least 0.01) belong to one ring or the other, and their columns lie on two cones at
    right angles.""",
    seconds=(6, 2),
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
    drawn, axes = figure(3, 2, row_height=2.35)
    truth = arrays["truth"]
    half = int(np.count_nonzero(truth == 0))
    scatter(axes[0, 0], arrays["X"], point_colours(truth))
    axes[0, 0].set_title("Data")
    matrix(axes[0, 1], arrays["D"], signed=True, title="Gram matrix $D$", blocks=[half])
    _waves(axes[0, 2], arrays["D/vectors"], half)
    matrix(axes[1, 0], arrays["Q"], title="Learned matrix $Q$", blocks=[half])
    _eigenvectors(axes[1, 1], arrays["Q/vectors"], half)
    _cones(axes[1, 2], arrays["Q"], truth)
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
    cones = _cone_angles(Q, truth)
    half_angles = " and ".join(f"{np.median(angles):.1f}" for angles, _ in cones)
    errors = [float(np.abs(angles - np.degrees(np.arccos(1 / np.sqrt(K)))).max()) for angles, K in cones]
    return [
        judge(
            "The Gram matrix has rank two and does not separate the rings.",
            f"third eigenvalue {D[2] / D[0]:.0e} of the first; 2-means on its eigenvectors has adjusted Rand index "
            f"{before:.2f}",
            D[2] < 1e-9 * D[0] and before < 0.5,
            "They separate.",
        ),
        judge(
            "The learned matrix is block diagonal, one block per ring.",
            f"adjusted Rand index {ari:.2f}, largest entry between blocks {between.max() / Q.max():.0e} of the largest",
            ari == 1.0,
            "The rings are joined or broken.",
        ),
        judge(
            "Its eigenvectors of eigenvalue at least 0.01 have disjoint support.",
            f"{len(values)} of them; eigenvectors of single blocks, extended by zeros, are its own to {residual:.0e}",
            residual < 1e-2,
            "The blocks are coupled.",
        ),
        judge(
            "Each ring lies on a cone of its own, and the cones are orthogonal.",
            f"least angle between vectors of different rings {right:.2f} degrees; half-angles {half_angles}, "
            f"arccos(1/sqrt(trace of the block)) to {max(errors):.0e} degrees",
            right > 89 and max(errors) < 1,
            "The cones lean towards each other.",
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
