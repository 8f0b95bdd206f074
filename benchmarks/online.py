"""OnlineNOMAD after one and five passes against the batch solution: value, certificate, labels, cells drawn.

    SKNOMAD_DATA=... python benchmarks/online.py --out benchmarks/results/online.json --picture docs/images/online.png

Rings (noise 0.02), moons (noise 0.05) and MNIST's zeros and ones, 3,000 points each, K = 16, shuffled by the seed
(those below 10 were used in development). `shortfall` is how far the value of the online assignments of all points is
below that of soft assignments solved for all of them at once; gap and grade are those of a window of 1,000 points.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts
from matplotlib.figure import Figure
from mnist import load_mnist
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, OnlineNOMAD, plot
from sknomad.datasets import moons, two_rings

N, K, WINDOW, BATCH = 3000, 16, 1000, 200
# Cells of which the points are drawn.
FIELDS = 14


def cases(seed):
    """Name, shuffled points, and their manifolds."""
    rng = np.random.default_rng(seed)
    images, digits = load_mnist()
    chosen = rng.permutation(np.flatnonzero(digits <= 1))[:N]
    yield "rings", *shuffled(*two_rings(N, noise=0.02, random_state=seed), rng)
    yield "moons", *shuffled(*moons(N, noise=0.05, random_state=seed), rng)
    yield "zeros and ones", images[chosen], digits[chosen]


def shuffled(X, truth, rng):
    order = rng.permutation(len(X))
    return X[order], truth[order]


def compare(name, X, truth):
    """Rows of the table, and the model after five passes."""
    started = time.perf_counter()
    batch = NOMAD(K=K, solver="soft").fit(X)
    seconds, best = time.perf_counter() - started, batch.certificate_.lower
    row = {"case": name, "passes": "batch", "value": best, "ari": adjusted_rand_score(truth, batch.labels_)}
    rows = [{**row, "seconds": round(seconds, 1)}]
    model, spent = OnlineNOMAD(K=K), 0.0
    rng = np.random.default_rng(0)
    for passes in range(1, 6):
        started = time.perf_counter()
        order = np.arange(N) if passes == 1 else rng.permutation(N)
        for start in range(0, N, BATCH):
            model.partial_fit(X[order[start : start + BATCH]])
        spent += time.perf_counter() - started
        if passes in (1, 5):
            value = model.certify(X, tol=1.0, max_iter=1).lower
            proof = model.certify(X[:WINDOW], tol=2e-3, max_iter=300)
            ari = adjusted_rand_score(truth, model.predict(X))
            rows.append({
                "case": name, "passes": passes, "value": value, "shortfall": 1 - value / best, "ari": ari,
                "window_gap": proof.gap, "grade": proof.grade, "cells": len(model.cells_),
                "manifolds": model.n_manifolds_, "seconds": round(spent, 2),
            })  # fmt: skip
    return rows, model


def draw_fields(ax, model, X):
    """All cells as dots, and of some of them, far apart, the points they take a share of."""
    V, chosen = model.assign(X), [0]
    distances = np.linalg.norm(model.cells_[:, None] - model.cells_[None], axis=2)
    while len(chosen) < FIELDS:
        chosen.append(int(distances[chosen].min(axis=0).argmax()))
    ax.scatter(*X.T, s=2, color=plot.FAINT, linewidths=0)
    for place, cell in enumerate(chosen):
        share = V[:, cell] / V[:, cell].max()
        inside = share > 0.02
        colour = plot.PALETTE[place % len(plot.PALETTE)]
        ax.scatter(*X[inside].T, s=5, color=colour, alpha=share[inside], linewidths=0)
    ax.scatter(*model.cells_.T, s=7, color=plot.INK, linewidths=0)
    ax.set_axis_off()


def draw_images(ax, model):
    """Means of the cells as images, those of one manifold after the other."""
    order = np.lexsort([-model.cell_sizes_, model.cell_labels_])[:64]
    tiles = np.zeros((8 * 28, 8 * 28))
    for place, cell in enumerate(order):
        i, j = divmod(place, 8)
        tiles[28 * i : 28 * i + 28, 28 * j : 28 * j + 28] = model.cells_[cell].reshape(28, 28)
    ax.imshow(tiles, cmap="gray_r")
    ax.set_axis_off()


def draw(models, path):
    with plot.style():
        figure = Figure(figsize=(11, 3.9), layout="constrained")
        axes = figure.subplots(1, 3)
        for ax, (name, model, X) in zip(axes, models, strict=True):
            if X.shape[1] == 2:
                draw_fields(ax, model, X)
                ax.set_aspect("equal")
            else:
                draw_images(ax, model)
            ax.set_title(f"{name}: {len(model.cells_)} cells", loc="left")
    figure.savefig(path, dpi=110, bbox_inches="tight", pad_inches=0.1)


def table(rows):
    """Header and rows of the table in docs/online.md."""
    header = ["points", "passes", "value below the batch's", "gap on 1,000 points", "manifolds: ARI", "seconds"]
    return header, [
        [row["case"], row["passes"], f"{100 * row['shortfall']:.2f} %" if "shortfall" in row else "-",
         f"{row['window_gap']:.1e}" if "window_gap" in row else "-", f"{row['ari']:.3f}", f"{row['seconds']:.1f}"]
        for row in rows
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, models = [], []
    for name, X, truth in cases(options.seed):
        found, model = compare(name, X, truth)
        models.append((name, model, X))
        rows += found
        for row in found:
            print(json.dumps(row), flush=True)
    if options.out:
        options.out.write_text(json.dumps({**facts(), "seed": options.seed, "rows": rows}, indent=1) + "\n")
    if options.picture:
        draw(models, options.picture)


if __name__ == "__main__":
    main()
