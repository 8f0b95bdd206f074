"""Which coordinates lay a known manifold flat? Ours, isometric and spectral, beside Isomap and UMAP.

    python benchmarks/coordinates.py --seeds 100 101 102 103 104 --out benchmarks/results/coordinates.json

Every row: the Procrustes disparity (0 the same up to rotation, scale and shift, 1 unrelated) between coordinates and
the truth, averaged over the manifolds of a data set, which every method is told. ``order``: the rank correlation of
`order_` with the truth on a Swiss roll of 500 points, settings as they are by default, nothing told.
"""

import argparse
import json
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from machine import facts
from scipy.spatial import procrustes
from scipy.stats import spearmanr
from sklearn.datasets import make_s_curve, make_swiss_roll
from sklearn.manifold import Isomap

from sknomad import NOMAD, datasets
from sknomad._manifolds.frames import make_frames

# Neighbours of Isomap: as many links as ours has at least; five is its default.
ISOMAP_NEIGHBOURS = (5, 8)


def arc_length(t):
    """Along the spiral (t cos t, t sin t)."""
    return (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2


def data_sets(n, seed):
    """Points, true coordinates and true manifolds, by name and noise; noise in units of the data."""
    rng = np.random.default_rng(seed)
    one = np.zeros(n, dtype=np.int64)
    for level in (0.0, 1.0):
        s = rng.uniform(arc_length(np.pi), arc_length(4 * np.pi), n)
        fine = np.linspace(np.pi, 4 * np.pi, 5000)
        t = np.interp(s, arc_length(fine), fine)
        spiral = np.column_stack([t * np.cos(t), t * np.sin(t)]) + 0.3 * level * rng.standard_normal((n, 2))
        yield "spiral", 0.3 * level, spiral, s[:, None], one
        X, t = make_swiss_roll(n, noise=0.4 * level, random_state=seed)
        yield "Swiss roll", 0.4 * level, X, np.column_stack([arc_length(t), X[:, 1]]), one
        X, t = make_s_curve(n, noise=0.05 * level, random_state=seed)
        yield "S-curve", 0.05 * level, X, np.column_stack([t, X[:, 1]]), one
        X, truth = datasets.double_swiss_roll(n, noise=0.3 * level, random_state=seed)
        along = np.concatenate([np.linspace(0, 1, k) for k in np.bincount(truth)])
        yield "double roll", 0.3 * level, X, along[:, None], truth
        angle = rng.uniform(0, 2 * np.pi, n)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        yield "ring", 0.05 * level, circle + 0.05 * level * rng.standard_normal((n, 2)), circle, one
        side = int(np.sqrt(n))
        X, position = datasets.square_grid(side * side, noise=0.5 * level, random_state=seed)
        yield "grid", 0.5 * level, X, position, np.zeros(side * side, dtype=np.int64)


def disparity(found, truth):
    """Of curves from the correlation with the one true coordinate, else by Procrustes."""
    if truth.shape[1] == 1:
        return 1 - np.corrcoef(found[:, 0], truth[:, 0])[0, 1] ** 2
    return procrustes(truth, found[:, :2])[2]


def ours(X, parts, K, tol):
    """Both kinds of coordinates, of one solution, for the parts told."""
    model = NOMAD(K=K, tol=tol, coordinates="spectral").fit(X)
    solution = model.solution_
    frames = make_frames(solution.point.unmixed, solution, parts, model)
    return {"isometric": frames.plane, "spectral": frames.spectral}


def others(X, parts, seed):
    """Peers, each manifold by itself."""
    methods = {f"Isomap, {k} neighbours": Isomap(n_neighbors=k) for k in ISOMAP_NEIGHBOURS}
    if find_spec("umap"):
        from umap import UMAP

        methods["UMAP"] = UMAP(random_state=seed)
    found = {name: np.zeros((len(X), 2)) for name in methods}
    for part in np.unique(parts):
        for name, method in methods.items():
            found[name][parts == part] = method.fit_transform(X[parts == part])
    return found


def measure(n, seed, points_per_patch, tol):
    rows = []
    for name, noise, X, truth, parts in data_sets(n, seed):
        for method, found in {**ours(X, parts, len(X) / points_per_patch, tol), **others(X, parts, seed)}.items():
            values = [disparity(found[parts == part], truth[parts == part]) for part in np.unique(parts)]
            row = {"data": name, "noise": noise, "n": len(X), "seed": seed, "method": method}
            rows.append({**row, "disparity": float(np.mean(values))})
    return rows


def order_of_roll(seed):
    """A Swiss roll in the plane, n = 500, at random; what `NOMAD()` says of the order along it."""
    rng = np.random.default_rng(seed)
    s, fine = rng.uniform(arc_length(np.pi), arc_length(4 * np.pi), 500), np.linspace(np.pi, 4 * np.pi, 5000)
    t = np.interp(s, arc_length(fine), fine)
    began = time.perf_counter()
    model = NOMAD().fit(np.column_stack([t * np.cos(t), t * np.sin(t)]))
    largest = model.labels_ == 0
    return {
        "seed": seed, "K": model.K_, "n_manifolds": model.n_manifolds_, "largest": int(largest.sum()),
        "correlation": abs(float(spearmanr(model.order_, s)[0])),
        "correlation_in_largest": abs(float(spearmanr(model.order_[largest], s[largest])[0])),
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--points-per-patch", type=float, default=12)
    parser.add_argument("--tol", type=float, default=1e-2)
    parser.add_argument("--order", action="store_true", help="also the order along the Swiss roll, n = 500")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for seed in options.seeds:
        rows += measure(options.samples, seed, options.points_per_patch, options.tol)
    order = [order_of_roll(seed) for seed in options.seeds] if options.order else []
    settings = {"points_per_patch": options.points_per_patch, "tol": options.tol}
    if options.out is not None:
        options.out.write_text(json.dumps({**facts(), "settings": settings, "rows": rows, "order": order}, indent=1))
    for name, noise in dict.fromkeys((row["data"], row["noise"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["noise"]) == (name, noise)]
        means = {m: np.mean([r["disparity"] for r in mine if r["method"] == m]) for m in {r["method"] for r in mine}}
        print(f"{name} {noise:g}: " + ", ".join(f"{method} {means[method]:.4f}" for method in sorted(means)))
    for row in order:
        print(row)


if __name__ == "__main__":
    main()
