"""How well distances along the manifold survive: NOMAD's learned graph against embeddings, by the bullseye score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.preprocessing import StandardScaler

from ... import Solution, datasets
from ...metrics import bullseye_score, graph_geodesics
from ..claims import Claim
from ..coordinates import in_few_dimensions
from ..experiment import Experiment
from ..figure_parts import INK, MUTED, PALETTE, figure, styled
from ..geodesic_claims import DATA_LENGTHS, NO_EMBEDDING, NOMAD, OF_THE_PAPER, SQUARED, geodesic_claims, with_five
from ..peers import OPTIONAL, PEERS, available, plane
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Geodesics",
    caption="""Share of each point's true nearest points, along the manifold, that a method finds (bullseye
    score), against the size of the neighbourhood; noise fills five times as many further dimensions as the data
    has, or (last column) is added to the data; shades are two standard errors over the draws. Embeddings have N
    neighbours, those of the paper also the 5 of its code (Isomap's are drawn). With its N = 3 the truth of the
    teapots is in parts, with N = 5 in one; UMAP and PaCMAP take part where they are installed, and not in the quick
    run.""",
    data=("teapots",),
    seconds=(210, 32),
)

# Kind and standard deviation of the noise: in further dimensions, or added to the data (isotropic).
NOISES = (("appended", 0.0), ("appended", 0.02), ("appended", 0.05), ("appended", 0.10), ("isotropic", 0.05))
PERCENTILES = np.array([1, 2, 3, 4, 5, *range(10, 51, 5)])
AUTHORS_NEIGHBOURS = 5  # of every embedding in their code, whatever N
# Entries of Q above this share of the largest are edges; the mixing that remains at a gap of 1e-3 stays below it.
THRESHOLD, TOL = 1e-2, 1e-3

Matrix = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Scores of every method on every data set, noise level and draw; without noise there is one draw."""
    wanted = [name for name in PEERS if name in OF_THE_PAPER or not quick]
    peers, draws = available(wanted), 2 if quick else 6
    methods = [NOMAD, SQUARED, DATA_LENGTHS, *peers, *map(with_five, OF_THE_PAPER), NO_EMBEDDING]
    manifolds = clean_data(quick)
    scores = np.full((len(manifolds), len(NOISES), len(methods), draws, len(PERCENTILES)), np.nan)
    parts = np.zeros((len(manifolds), len(NOISES), draws), dtype=int)
    truth_parts = []
    for i, (name, (X, N)) in enumerate(manifolds.items()):
        truth = graph_geodesics(X, N)
        truth_parts.append(count_parts(truth))
        for j, (kind, noise) in enumerate(NOISES):
            for draw in range(draws if noise else 1):
                noisy = with_noise(X, noise, np.random.default_rng([record.seed, i, draw]), kind)
                title = f"{name}, {kind} {noise}, draw {draw}"
                solution = record.solve(title, noisy, len(X) / N, tol=TOL, smooth=True)  # as `NOMAD` does
                parts[i, j, draw] = count_parts(nomad_geodesics(solution.unmixed_Q))
                for m, method in enumerate(methods):
                    distances = _distances(method, solution, noisy, N, draw)
                    scores[i, j, m, draw] = bullseye_score(truth, distances, PERCENTILES)
    record["scores"], record["percentiles"] = scores, PERCENTILES
    record["noise"], record["kind"] = [noise for _, noise in NOISES], [kind for kind, _ in NOISES]
    record["methods"], record["data"], record["parts"] = methods, list(manifolds), parts
    record["truth_parts"], record["N"] = truth_parts, [N for _, N in manifolds.values()]
    record["n"] = len(manifolds["one ring"][0])
    record["left_out"] = np.array([name for name in OPTIONAL if name not in peers], dtype=str)


def _distances(method: str, solution: Solution, noisy: Matrix, N: int, draw: int) -> Matrix:
    """Geodesics by one method; an embedding's graph has N neighbours, as the truth."""
    if method in (NOMAD, SQUARED):
        return nomad_geodesics(solution.unmixed_Q, root=method == NOMAD)
    if method == DATA_LENGTHS:
        return data_geodesics(solution.unmixed_Q, noisy)
    if method == NO_EMBEDDING:
        return graph_geodesics(noisy, N)
    peer, _, five = method.partition(",")
    return graph_geodesics(plane(peer, noisy, AUTHORS_NEIGHBOURS if five else N, draw), N)


def clean_data(quick: bool) -> dict[str, tuple[Matrix, int]]:
    """The paper's five data sets, standardised, and N, the neighbours of a point, itself among them."""
    n, N = (100, 5) if quick else (200, 10)
    data = {
        "one ring": (datasets.two_rings(2 * n)[0][:n], N),
        "one half-ring": (datasets.moons(2 * n, noise=0.0)[0][:n], N),
        "teapots": (datasets.fetch_teapots().data, 3),
        "teapots, N = 5": (datasets.fetch_teapots().data, 5),
        "two rings": (datasets.two_rings(n)[0], N),
        "two half-rings": (datasets.moons(n, noise=0.0)[0], N),
    }
    return {name: (StandardScaler().fit_transform(X), N) for name, (X, N) in data.items()}


def with_noise(X: Matrix, noise: float, rng: np.random.Generator, kind: str = "appended") -> Matrix:
    """The points with ``5 d`` further coordinates of noise, or noise on their own, in at most n dimensions.

    Examples
    --------
    >>> with_noise(np.eye(3), 0.1, np.random.default_rng(0)).shape
    (3, 3)
    """
    n, d = X.shape
    if kind == "isotropic":
        return in_few_dimensions(X + noise * rng.standard_normal((n, d)))
    return in_few_dimensions(np.hstack([X, noise * rng.standard_normal((n, 5 * d))]))


def nomad_geodesics(Q: Matrix, threshold: float = THRESHOLD, *, root: bool = True) -> Matrix:
    """Shortest paths along the entries of ``Q`` that count, of length ``sqrt(Q_ii + Q_jj - 2 Q_ij)`` each.

    That is a distance, as in the authors' code; the paper prints its square, which does not add along a path.

    Examples
    --------
    >>> chain = np.array([[0.7, 0.3, 0.0], [0.3, 0.4, 0.3], [0.0, 0.3, 0.7]])
    >>> nomad_geodesics(chain).round(3)[0].tolist(), nomad_geodesics(chain, root=False).round(3)[0].tolist()
    ([0.0, 0.707, 1.414], [0.0, 0.5, 1.0])
    """
    i, j = _edges(Q, threshold)
    diagonal = np.diag(Q)
    squares = np.maximum(diagonal[i] + diagonal[j] - 2 * Q[i, j], 0.0)
    return _shortest(np.sqrt(squares) if root else squares, i, j, len(Q))


def data_geodesics(Q: Matrix, points: Matrix, threshold: float = THRESHOLD) -> Matrix:
    """Shortest paths along the same edges, each as long as it is between the points.

    Examples
    --------
    >>> chain = np.array([[0.7, 0.3, 0.0], [0.3, 0.4, 0.3], [0.0, 0.3, 0.7]])
    >>> data_geodesics(chain, np.array([[0.0], [1.0], [5.0]]))[0].tolist()
    [0.0, 1.0, 5.0]
    """
    i, j = _edges(Q, threshold)
    return _shortest(np.linalg.norm(points[i] - points[j], axis=1), i, j, len(Q))


def _edges(Q: Matrix, threshold: float) -> tuple[NDArray[np.intp], ...]:
    return np.nonzero(np.greater_equal(Q, threshold * Q.max()))


def _shortest(lengths: Matrix, i: NDArray[np.intp], j: NDArray[np.intp], n: int) -> Matrix:
    """Shortest paths in a sparse graph: only there is an edge of length zero, between equal rows, still an edge."""
    return np.asarray(dijkstra(csr_matrix((lengths, (i, j)), shape=(n, n)), directed=False))


def count_parts(distances: Matrix) -> int:
    """Number of parts between which no path leads.

    Examples
    --------
    >>> count_parts(np.array([[0.0, 1.0, np.inf], [1.0, 0.0, np.inf], [np.inf, np.inf, 0.0]]))
    2
    """
    return len(np.unique(np.isfinite(distances), axis=0))


LINES: dict[str, dict[str, Any]] = {
    NOMAD: {"color": PALETTE[0], "linewidth": 2.2, "zorder": 5},
    NO_EMBEDDING: {"color": INK, "linestyle": (0, (1, 1.2)), "linewidth": 1.5, "zorder": 6},
    "Isomap": {"color": PALETTE[1]},
    with_five("Isomap"): {"color": PALETTE[1], "linestyle": (0, (4, 1.5))},
    "LLE": {"color": PALETTE[2]},
    "modified LLE": {"color": PALETTE[2], "linestyle": (0, (4, 1.5))},
    "LTSA": {"color": PALETTE[2], "linestyle": (0, (1.2, 1.2))},
    "spectral": {"color": PALETTE[3]},
    "t-SNE": {"color": PALETTE[4]},
    "UMAP": {"color": PALETTE[5]},
    "PaCMAP": {"color": MUTED, "linestyle": (0, (4, 1.5))},
}


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw one panel for each data set and level of noise."""
    data, noises, kinds = arrays["data"], arrays["noise"], arrays["kind"]
    drawn, axes = figure(len(noises), len(data), row_height=1.3, letters=False)
    for i, name in enumerate(data):
        for j, (noise, kind) in enumerate(zip(noises, kinds, strict=True)):
            _curves(axes[i, j], arrays, i, j)
            axes[i, j].tick_params(labelbottom=i == len(data) - 1, labelleft=j == 0)
            if i == 0:
                axes[i, j].set_title(
                    "no noise" if noise == 0 else f"{'isotropic ' * (kind == 'isotropic')}noise {noise:.2f}"
                )
        axes[i, 0].set_ylabel(name, color=INK)
    drawn.supylabel("bullseye score", size=7.5, color=MUTED)
    drawn.supxlabel("percentile: share of points that count as near (%)", size=7.5, color=MUTED)
    handles, names = axes[0, 0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside upper center", ncols=5, handlelength=2.2)
    return drawn


def _curves(ax: Axes, arrays: Arrays, i: int, j: int) -> None:
    percentiles = arrays["percentiles"]
    for m, method in enumerate(arrays["methods"]):
        if str(method) not in LINES:
            continue
        draws = arrays["scores"][i, j, m]
        draws = draws[np.isfinite(draws[:, 0])]
        mean, line = draws.mean(axis=0), LINES[str(method)]
        if len(draws) > 1:
            error = 2 * draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
            low, high = np.maximum(mean - error, 0), np.minimum(mean + error, 1)
            ax.fill_between(percentiles, low, high, color=line["color"], alpha=0.18, linewidth=0)
        ax.plot(percentiles, mean, label=str(method), **{"linewidth": 1.0, **line})
    ax.set(xlim=(0, 51), ylim=(0.2, 1.03), xticks=(1, 10, 25, 50), yticks=(0.25, 0.5, 0.75, 1.0))


def claims(arrays: Arrays) -> list[Claim]:
    """Judge NOMAD against the paper's embeddings on one and on two manifolds, against newer ones, and the data."""
    return geodesic_claims(arrays)
