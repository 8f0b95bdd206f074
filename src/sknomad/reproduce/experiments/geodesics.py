"""How well distances along the manifold survive: NOMAD's learned graph against embeddings, by the bullseye score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.preprocessing import StandardScaler

from ... import datasets
from ...metrics import bullseye_score, graph_geodesics
from ..claims import Claim, Verdict, judge
from ..coordinates import in_few_dimensions
from ..experiment import Experiment
from ..figure_parts import INK, MUTED, PALETTE, figure, styled
from ..peers import OPTIONAL, PEERS, available, plane
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Geodesics",
    caption="""Share of each point's true nearest points, along the manifold, that a method finds (bullseye score),
    against the size of the neighbourhood. Gaussian noise fills five times as many further dimensions as the data
    has; shades are two standard errors over the noise draws. UMAP and PaCMAP take part where they are installed;
    the quick run leaves them and t-SNE out.""",
    data=("teapots",),
    seconds=(290, 18),
)

NOISES = (0.0, 0.05, 0.10)
PERCENTILES = np.array([1, 2, 3, 4, 5, *range(10, 51, 5)])
NOMAD, NO_EMBEDDING = "NOMAD", "noisy data"
OF_THE_PAPER = ("Isomap", "LLE", "modified LLE", "LTSA", "spectral")
TWO_MANIFOLDS = ("two rings", "two half-rings")
# Entries of Q above this share of the largest are edges; the mixing that remains at a gap of 1e-3 stays below it.
THRESHOLD, TOL = 1e-2, 1e-3
# Mean scores that differ by less than this count as equal.
EQUAL_SCORE_DIFFERENCE = 0.02

Matrix = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Scores of every method on every data set, noise level and draw; without noise there is one draw."""
    wanted = [name for name in PEERS if name in OF_THE_PAPER or not quick]
    peers, draws = available(wanted), 2 if quick else 10
    methods = [NOMAD, *peers, NO_EMBEDDING]
    manifolds = clean_data(quick)
    scores = np.full((len(manifolds), len(NOISES), len(methods), draws, len(PERCENTILES)), np.nan)
    parts = np.zeros((len(manifolds), len(NOISES)), dtype=int)
    for i, (name, (X, n_neighbors)) in enumerate(manifolds.items()):
        truth = graph_geodesics(X, n_neighbors)
        for j, noise in enumerate(NOISES):
            for draw in range(draws if noise else 1):
                noisy = with_noise(X, noise, np.random.default_rng([record.seed, i, draw]))
                solution = record.solve(f"{name}, noise {noise}, draw {draw}", noisy, len(X) / n_neighbors, tol=TOL)
                for m, method in enumerate(methods):
                    if method == NOMAD:
                        distances = nomad_geodesics(solution.unmixed_Q)
                        parts[i, j] = count_parts(distances)
                    else:
                        points = noisy if method == NO_EMBEDDING else plane(method, noisy, n_neighbors, draw)
                        distances = graph_geodesics(points, n_neighbors)
                    scores[i, j, m, draw] = bullseye_score(truth, distances, PERCENTILES)
    record["scores"], record["percentiles"], record["noises"] = scores, PERCENTILES, NOISES
    record["methods"], record["data"], record["parts"] = methods, list(manifolds), parts
    record["left_out"] = np.array([name for name in OPTIONAL if name not in peers], dtype=str)


def clean_data(quick: bool) -> dict[str, tuple[Matrix, int]]:
    """The paper's five data sets, standardised, and N, the neighbours of a point, itself among them."""
    n, N = (100, 5) if quick else (200, 10)
    data = {
        "one ring": (datasets.two_rings(2 * n)[0][:n], N),
        "one half-ring": (datasets.moons(2 * n, noise=0.0)[0][:n], N),
        "teapots": (datasets.fetch_teapots().data, 3),
        "two rings": (datasets.two_rings(n)[0], N),
        "two half-rings": (datasets.moons(n, noise=0.0)[0], N),
    }
    return {name: (StandardScaler().fit_transform(X), N) for name, (X, N) in data.items()}


def with_noise(X: Matrix, noise: float, rng: np.random.Generator) -> Matrix:
    """The points with ``5 d`` further coordinates of noise, in at most n dimensions: only distances matter.

    Examples
    --------
    >>> with_noise(np.eye(3), 0.1, np.random.default_rng(0)).shape
    (3, 3)
    """
    n, d = X.shape
    return in_few_dimensions(np.hstack([X, noise * rng.standard_normal((n, 5 * d))]))


def nomad_geodesics(Q: Matrix, threshold: float = THRESHOLD) -> Matrix:
    """Shortest paths along the entries of ``Q`` that count, of length ``Q_ii + Q_jj - 2 Q_ij`` each.

    Examples
    --------
    >>> chain = np.array([[0.7, 0.3, 0.0], [0.3, 0.4, 0.3], [0.0, 0.3, 0.7]])
    >>> nomad_geodesics(chain).round(3)[0].tolist()
    [0.0, 0.5, 1.0]
    """
    i, j = np.nonzero(np.greater_equal(Q, threshold * Q.max()))
    diagonal = np.diag(Q)
    lengths = np.maximum(diagonal[i] + diagonal[j] - 2 * Q[i, j], 0.0)
    # A sparse graph, because only there is an edge of length zero, between equal rows of Q, still an edge.
    return np.asarray(dijkstra(csr_matrix((lengths, (i, j)), shape=Q.shape), directed=False))


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
    data, noises = arrays["data"], arrays["noises"]
    drawn, axes = figure(len(noises), len(data), row_height=1.42, letters=False)
    for i, name in enumerate(data):
        for j, noise in enumerate(noises):
            _curves(axes[i, j], arrays, i, j)
            axes[i, j].tick_params(labelbottom=i == len(data) - 1, labelleft=j == 0)
            if i == 0:
                axes[i, j].set_title("no noise" if noise == 0 else f"noise {noise:.2f}")
        axes[i, 0].set_ylabel(name, color=INK)
    drawn.supylabel("bullseye score", size=7.5, color=MUTED)
    drawn.supxlabel("percentile: share of points that count as near (%)", size=7.5, color=MUTED)
    handles, names = axes[0, 0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside upper center", ncols=5, handlelength=2.2)
    return drawn


def _curves(ax: Axes, arrays: Arrays, i: int, j: int) -> None:
    percentiles = arrays["percentiles"]
    for m, method in enumerate(arrays["methods"]):
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
    rows = [_among_the_best(arrays, name) for name in arrays["data"] if name not in TWO_MANIFOLDS]
    rows += [_not_below(arrays, name) for name in TWO_MANIFOLDS]
    newer = [name for name in arrays["methods"] if name in PEERS and name not in OF_THE_PAPER]
    if newer:
        rows.append(_against_newer(arrays, newer))
    rows.append(_close_to_the_data(arrays))
    return rows


def _means(arrays: Arrays, name: str, method: str) -> Matrix:
    """Mean score over draws, (noises, percentiles)."""
    i, m = list(arrays["data"]).index(name), list(arrays["methods"]).index(method)
    return np.asarray(np.nanmean(arrays["scores"][i, :, m], axis=1))


def _margins(arrays: Arrays, name: str, others: list[str]) -> tuple[Matrix, str]:
    """By how much NOMAD is ahead of the best of `others`, and where it is farthest behind or least ahead."""
    scores = np.stack([_means(arrays, name, other) for other in others])
    margins = _means(arrays, name, NOMAD) - scores.max(axis=0)
    j, p = np.unravel_index(np.argmin(margins), margins.shape)
    rival = others[int(scores[:, j, p].argmax())]
    return margins, f"{rival} at percentile {arrays['percentiles'][p]}, noise {arrays['noises'][j]:g}"


def _among_the_best(arrays: Arrays, name: str) -> Claim:
    means = {other: _means(arrays, name, other).mean() for other in (NOMAD, *OF_THE_PAPER)}
    best = max(OF_THE_PAPER, key=means.__getitem__)
    behind = means[best] - means[NOMAD]
    rank = 1 + sum(means[other] > means[NOMAD] for other in OF_THE_PAPER)
    reason = f"{best} is ahead by {behind:.3f}."
    parts = arrays["parts"][list(arrays["data"]).index(name)]
    if parts.max() > 1:
        reason += f" NOMAD's graph falls into up to {parts.max()} parts, and distances between them are unknown."
    return judge(
        f"On one manifold NOMAD is among the best ({name}).",
        f"mean score {means[NOMAD]:.3f}, rank {rank} of {len(means)}; best embedding {best} {means[best]:.3f}",
        bool(behind <= EQUAL_SCORE_DIFFERENCE),
        reason,
        Verdict.DIFFERS,
    )


def _not_below(arrays: Arrays, name: str) -> Claim:
    margins, worst = _margins(arrays, name, list(OF_THE_PAPER))
    share, noisy = float(np.mean(margins >= 0)), float(margins[arrays["noises"] > 0].min())
    return judge(
        f"On {name} NOMAD is not below any embedding of the paper at any percentile up to 50.",
        f"smallest margin {margins.min():+.3f} ({worst}), {noisy:+.3f} with noise; not below at {share:.0%} of "
        "percentiles and noises",
        bool(margins.min() >= 0),
        f"Farthest ahead is {worst}. Where an embedding keeps the two curves apart and unrolls each, as happens most "
        "of all without noise, it orders the very nearest points better than a kernel that is shared by about N of "
        "them.",
        Verdict.DIFFERS,
    )


def _against_newer(arrays: Arrays, newer: list[str]) -> Claim:
    means = {m: float(np.mean([_means(arrays, name, m) for name in TWO_MANIFOLDS])) for m in (NOMAD, *newer)}
    best = max(newer, key=means.__getitem__)
    return judge(
        "Beyond the paper: on two manifolds NOMAD is ahead of t-SNE, UMAP and PaCMAP as well.",
        f"mean score {means[NOMAD]:.3f} against " + ", ".join(f"{name} {means[name]:.3f}" for name in newer),
        means[NOMAD] >= means[best],
        f"{best} keeps the manifolds apart too, and is {means[best] - means[NOMAD]:.3f} better in the mean.",
        Verdict.DIFFERS,
    )


def _close_to_the_data(arrays: Arrays) -> Claim:
    behind = np.stack([_means(arrays, name, NO_EMBEDDING) - _means(arrays, name, NOMAD) for name in TWO_MANIFOLDS])
    noisy = behind[:, arrays["noises"] > 0]
    return judge(
        "On two manifolds NOMAD is close to the noisy data itself, or better.",
        f"score minus that of the data: {-noisy.mean():+.3f} in the mean, {-noisy.max():+.3f} at worst with noise "
        f"({-behind[:, 0].mean():+.3f}, {-behind[:, 0].max():+.3f} without)",
        bool(noisy.mean() <= EQUAL_SCORE_DIFFERENCE),
        "A kernel of about N neighbours blurs the order of the very nearest points.",
        Verdict.DIFFERS,
    )
