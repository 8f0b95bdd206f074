"""Order and geodesics with default settings on curves and surfaces whose truth is known.

    python benchmarks/coordinates.py --seeds 100 101 102 --out benchmarks/results/coordinates_reporting.json

Of each fit: the rank correlation of `order_` with the true position, mean over the true parts; the rank correlation of
`geodesic_distances()` with the true ones over all pairs of points of a part, with edges as they are (``roots``) and
with their squares, as they were in the first release; the share of these pairs that no path joins (``broken``). Each
with the solution at one K and with the mean over three (``consensus``).
Seeds below 100 are for development.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np
from parts import write
from scipy.sparse.csgraph import dijkstra
from scipy.stats import spearmanr
from sklearn.datasets import make_s_curve, make_swiss_roll

from sknomad import NOMAD
from sknomad._manifolds.geodesics import edge_lengths
from sknomad.datasets import moons


def half_rings(noise, seed):
    X, parts = moons(300, noise=noise, random_state=seed)
    position = np.concatenate([np.linspace(0, np.pi, np.sum(parts == part)) for part in (0, 1)])
    return X, parts, position[:, None]


def swiss_roll(n, seed):
    X, t = make_swiss_roll(n, random_state=seed)
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return X, np.zeros(n, dtype=int), np.column_stack([length, X[:, 1]])


def s_curve(n, seed):
    X, t = make_s_curve(n, random_state=seed)
    return X, np.zeros(n, dtype=int), np.column_stack([t, X[:, 1]])


# Points, parts and true coordinates, the first of them the position along the curve.
CASES = {
    "half-rings, noise .05": lambda seed: half_rings(0.05, seed),
    "half-rings, noise .1": lambda seed: half_rings(0.1, seed),
    "Swiss roll, n = 300": lambda seed: swiss_roll(300, seed),
    "Swiss roll, n = 500": lambda seed: swiss_roll(500, seed),
    "S-curve, n = 300": lambda seed: s_curve(300, seed),
}


def order_agreement(model, parts, position):
    found = [abs(spearmanr(model.order_[parts == k], position[parts == k])[0]) for k in np.unique(parts)]
    return float(np.mean(found))


def geodesic_agreement(lengths, truth, parts):
    """Rank correlation over pairs that a path joins, and the share of pairs that none does."""
    distances = dijkstra(lengths, directed=False)
    pairs = np.triu(parts[:, None] == parts, 1)
    joined = pairs & np.isfinite(distances)
    return float(spearmanr(distances[joined], truth[joined])[0]), float(1 - joined.sum() / pairs.sum())


def measure(name, seed, **settings):
    """One draw."""
    X, parts, coordinates = CASES[name](seed)
    truth = np.linalg.norm(coordinates[:, None] - coordinates, axis=2)
    model = NOMAD(**settings).fit(X)
    lengths = edge_lengths(model.set_params(affinity="sparse").affinity_)
    roots, broken = geodesic_agreement(lengths, truth, parts)
    squares, _ = geodesic_agreement(lengths.multiply(lengths).tocsr(), truth, parts)
    row = {"data": name, "seed": seed, "K": round(model.K_, 1), "parts": model.n_manifolds_, **settings}
    row |= {"order": order_agreement(model, parts, coordinates[:, 0])}
    row |= {"roots": roots, "squares": squares, "broken": broken}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def table_rows(rows):
    """For the table: order and geodesics, alone and averaged over three K, means over draws."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        cells = []
        for key in ("order", "roots", "squares", "broken"):
            for consensus in (1, 3) if key != "squares" else (1,):
                some = [row[key] for row in rows if row["data"] == name and row["consensus"] == consensus]
                cells.append(f"{mean(some):.3f}")
        lines.append([name, *cells])
    header = ["data", "order", "averaged", "geodesics", "averaged ", "squares", "broken pairs", "averaged  "]
    return header, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--data", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--consensus", nargs="+", type=int, default=[1, 3], help="how many K to average over")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, seed, consensus in product(options.data, options.seeds, options.consensus):
        rows.append(measure(name, seed, consensus=consensus))
        print(rows[-1], flush=True)
        write(options.out, rows)


if __name__ == "__main__":
    main()
