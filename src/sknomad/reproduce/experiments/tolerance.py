"""What accuracy does to the picture: the more exact optimum is the clumpier one, beside an average over several K."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import procrustes
from sklearn.preprocessing import StandardScaler

from ... import datasets
from ...metrics import bullseye_score, graph_geodesics, hardness
from ..claims import Claim, Verdict, finding, judge, paper
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record
from .geodesics import PERCENTILES, count_parts, nomad_geodesics, with_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Accuracy and clumps",
    caption="""Quality (above: bullseye score of geodesics; for the square one minus the Procrustes disparity)
    and hardness |Q|^2/K (below: 1 for hard clusters) against the proven gap at which the solver stops. Noise is in
    five times as many further dimensions. Crosses: the mean of the solutions for K and a third more and less, each
    at a gap of 1e-3.""",
    seconds=(500, 15),
    seed=100,
)

TOLERANCES, QUICK_TOLERANCES = (1e-2, 3e-3, 1e-3, 1e-4, 1e-5), (1e-2, 1e-3, 1e-4)
CONSENSUS_TOL, SPREAD = 1e-3, 1 / 3
REGULAR = ("one ring", "trefoil", "half-rings, noise 0", "square, noise 0")  # evenly sampled, without noise
NOISES = (0.0, 0.05, 0.10)
DRAWS, QUICK_DRAWS = 3, 1

Matrix = NDArray[np.float64]


def compute(record: Record, quick: bool) -> None:
    """Solve every data set and draw at every tolerance, and for three K; keep quality, hardness and parts."""
    tolerances, draws = (QUICK_TOLERANCES, QUICK_DRAWS) if quick else (TOLERANCES, DRAWS)
    names = list(data_sets(quick, 0))
    shape = (len(names), draws, len(tolerances) + 1)
    quality, hard, parts = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=int)
    for draw in range(draws):
        for row, (name, (clean, X, K)) in enumerate(data_sets(quick, record.seed + draw).items()):
            if name in REGULAR and draw > 0:  # the same points in every draw
                quality[row, draw], hard[row, draw], parts[row, draw] = quality[row, 0], hard[row, 0], parts[row, 0]
                continue
            for column, Q in enumerate(_matrices(record, f"{name}, draw {draw}", X, K, tolerances)):
                quality[row, draw, column] = _quality(name, clean, Q, len(X) / K)
                hard[row, draw, column] = hardness(Q)
                parts[row, draw, column] = count_parts(nomad_geodesics(Q))
    record["data"], record["tolerances"] = names, tolerances
    record["quality"], record["hardness"], record["parts"] = quality, hard, parts


def _matrices(record: Record, name: str, X: Matrix, K: float, tolerances: tuple[float, ...]) -> list[Matrix]:
    """The matrix at every tolerance, and the mean of those for ``K`` and a third more and less."""
    solved = {tol: record.solve(f"{name}, {tol:g}", X, K, tol=tol, max_iter=20_000) for tol in tolerances}
    beside = [
        record.solve(f"{name}, K = {share * K:.3g}", X, share * K, tol=CONSENSUS_TOL).Q
        for share in (1 - SPREAD, 1 + SPREAD)
    ]
    return [*(one.unmixed_Q for one in solved.values()), np.mean([solved[CONSENSUS_TOL].Q, *beside], axis=0)]


def data_sets(quick: bool, seed: int) -> dict[str, tuple[Matrix, Matrix, float]]:
    """Clean points, what is solved for, and K."""
    n, N = (100, 10) if quick else (200, 10)
    side = 10 if quick else 16
    moons = StandardScaler().fit_transform(datasets.moons(n, noise=0.0)[0])
    knot, ring = datasets.trefoil(n)[0], datasets.ring(n)[0]
    data = {"one ring": (ring, ring, n / N), "trefoil": (knot, knot, n / N)}
    for noise in NOISES:
        rng = np.random.default_rng([seed, round(100 * noise)])
        data[f"half-rings, noise {noise:g}"] = (moons, with_noise(moons, noise, rng), n / N)
    for noise in (0.0, 0.5):
        X, position = datasets.square_grid(side * side, noise=noise, random_state=seed)
        data[f"square, noise {noise:g}"] = (position, X, side * side / 8)
    return data


def _quality(name: str, clean: Matrix, Q: Matrix, N: float) -> float:
    if name.startswith("square"):
        values, vectors = np.linalg.eigh(Q - 1 / len(Q))
        return 1 - float(procrustes(clean, vectors[:, -2:] * np.sqrt(values[-2:]))[2])
    return float(bullseye_score(graph_geodesics(clean, round(N)), nomad_geodesics(Q), PERCENTILES).mean())


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw quality and hardness against the tolerance."""
    groups = {
        "curves": [n for n in arrays["data"] if n in ("one ring", "trefoil")],
        "half-rings": [n for n in arrays["data"] if n.startswith("half")],
        "square": [n for n in arrays["data"] if n.startswith("square")],
    }
    drawn, axes = figure(len(groups), 2, row_height=(1.9, 1.9))
    x = arrays["tolerances"]
    for column, (title, names) in enumerate(groups.items()):
        for colour, name in zip(PALETTE, names, strict=False):
            row = list(arrays["data"]).index(name)
            for line, key in enumerate(("quality", "hardness")):
                mean = arrays[key][row].mean(axis=0)
                ax = axes[line, column]
                ax.semilogx(x, mean[:-1], "o-", color=colour, label=str(name), markersize=3)
                ax.semilogx([CONSENSUS_TOL], mean[-1:], "x", color=colour, markersize=6, markeredgewidth=1.4)
                ax.set_xlim(2 * x[0], x[-1] / 2)  # more exact to the right
        axes[0, column].set_title(title)
        axes[0, column].legend(loc="best")
        axes[1, column].set_xlabel("proven gap at which it stops")
    axes[0, 0].set_ylabel("quality", color=MUTED)
    axes[1, 0].set_ylabel("hardness", color=MUTED)
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge that regular manifolds stay whole, and tell what accuracy and averaging do."""
    return [_no_artificial_clusters(arrays), _exact_is_clumpy(arrays), _consensus(arrays), _noise(arrays)]


def _mean(arrays: Arrays, key: str, name: str) -> Matrix:
    return np.asarray(arrays[key][list(arrays["data"]).index(name)].mean(axis=0))


def _no_artificial_clusters(arrays: Arrays) -> Claim:
    whole = {name: 2 if name.startswith("half") else 1 for name in REGULAR}
    parts = {name: int(arrays["parts"][list(arrays["data"]).index(name)][:, :-1].max()) for name in REGULAR}
    hard = {name: float(_mean(arrays, "hardness", name)[-2]) for name in REGULAR}
    return judge(
        "On regular manifolds the solution does not break the data into artificial clusters.",
        "parts at any accuracy, at most: {parts} (manifolds: {whole}); hardness of the most exact: {hard}",
        all(parts[name] <= whole[name] for name in REGULAR) and max(hard.values()) < 0.95,
        "Parts {parts} instead of {whole}, hardness {hard}.",
        Verdict.PAPER,
        source=paper("Section 2", "does not break down the dataset into artificial clusters"),
        parts=", ".join(f"{name} {count}" for name, count in parts.items()),
        whole=", ".join(str(count) for count in whole.values()),
        hard=", ".join(f"{value:.2f}" for value in hard.values()),
    )


def _exact_is_clumpy(arrays: Arrays) -> Claim:
    words = []
    for name in map(str, arrays["data"]):
        hard, quality = _mean(arrays, "hardness", name), _mean(arrays, "quality", name)
        words.append(f"{name}: {hard[0]:.3f} to {hard[-2]:.3f} ({quality[0]:.3f} to {quality[-2]:.3f})")
    return finding(
        "The more exact the solution, the clumpier.",
        "hardness (quality) from a gap of {loose:g} to {tight:g}: {words}",
        loose=arrays["tolerances"][0],
        tight=arrays["tolerances"][-1],
        words="; ".join(words),
    )


def _consensus(arrays: Arrays) -> Claim:
    gains = {
        str(name): float(_mean(arrays, "quality", name)[-1] - _mean(arrays, "quality", name)[-2])
        for name in arrays["data"]
    }
    softer = sum(_mean(arrays, "hardness", name)[-1] < _mean(arrays, "hardness", name)[-2] for name in gains)
    return finding(
        "What averaging over three K does.",
        "quality minus that of the most exact solution at one K: {words}; softer on {softer} of {count}",
        words=", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items()),
        softer=softer,
        count=len(gains),
    )


def _noise(arrays: Arrays) -> Claim:
    parts = {n: arrays["parts"][list(arrays["data"]).index(n)][:, -2] for n in arrays["data"] if n not in REGULAR}
    return finding(
        "Into how many parts the exact optimum falls when there is noise.",
        "parts of the most exact solution, each draw: {words}",
        words="; ".join(f"{name} {', '.join(map(str, counts))}" for name, counts in parts.items()),
    )
