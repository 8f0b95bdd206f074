"""Angles of noisy rings of neurons with default settings, against t-SNE, Isomap and, where it is installed, UMAP.

    python benchmarks/rings.py --seeds 100 101 ... 119 --out benchmarks/results/rings_reporting.json

Forty neurons fire at random, each most at an angle of its own and with a width and rate of its own; the angle is near
two places more often than elsewhere. Rows are the roots of the counts at 300 moments. An embedding's angle is that
around its mean, both coordinates scaled to unit variance; for `NOMAD()` the same is taken where it gives no circular
coordinate, and ``given`` says whether it did. The first number is the mean absolute difference from the true angle in
degrees after the best rotation and reflection, the second the circular rank correlation. Seeds below 100 are for
development.
"""

import argparse
import warnings
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median

import numpy as np
from image_data import recording
from parts import write
from sklearn.manifold import TSNE, Isomap

from sknomad import NOMAD
from sknomad.metrics import circular_rank_correlation

# Mean counts of a neuron at its own angle.
COUNTS = (2.0, 4.0)


def around_mean(embedding):
    """Angle around the mean of an embedding."""
    scaled = (embedding - embedding.mean(axis=0)) / embedding.std(axis=0)
    return np.arctan2(scaled[:, 1], scaled[:, 0]) % (2 * np.pi)


def error(found, truth):
    """Mean absolute error in degrees, after the best rotation and reflection."""
    turns = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    differences = [np.angle(np.exp(1j * (truth - sign * found)))[:, None] - turns for sign in (1, -1)]
    means = [np.abs(np.angle(np.exp(1j * difference))).mean(axis=0).min() for difference in differences]
    return float(np.degrees(min(means)))


def umap(X):
    from umap import UMAP

    return UMAP(random_state=0).fit_transform(X)


PEERS = {
    "t-SNE": lambda X: TSNE(random_state=0).fit_transform(X),
    "Isomap": lambda X: Isomap(n_neighbors=10).fit_transform(X),
}
if find_spec("umap"):
    PEERS["UMAP"] = umap


def judged(found, truth):
    return [round(error(found, truth), 2), round(circular_rank_correlation(found, truth), 4)]


def measure(counts, seed):
    """One recording, everybody's angles: mean error in degrees and rank correlation."""
    X, truth = recording(counts, seed)
    model = NOMAD().fit(X)
    found, is_given = model.circular_coordinates_, bool(np.isfinite(model.circular_coordinates_).all())
    is_given = is_given and model.n_manifolds_ == 1
    row = {"counts": counts, "seed": seed, "K": round(model.K_, 1), "parts": model.n_manifolds_, "given": is_given}
    row |= {"closedness": round(float(model.closedness_[0]), 3)}
    row["NOMAD()"] = judged(found if is_given else around_mean(model.embedding_), truth)
    return row | {name: judged(around_mean(embed(X)), truth) for name, embed in PEERS.items()}


def table_rows(rows):
    """For the table: error and order of each method, by mean counts."""
    methods = [name for name in ("NOMAD()", "t-SNE", "Isomap", "UMAP") if name in rows[0]]
    lines = []
    for counts in sorted({row["counts"] for row in rows}):
        some = [row for row in rows if row["counts"] == counts]
        cells = [
            f"{mean(r[m][0] for r in some):.1f}, {median(r[m][0] for r in some):.1f}; {mean(r[m][1] for r in some):.3f}"
            for m in methods
        ]
        lines.append([f"{counts:g}", len(some), *cells, f"{sum(r['given'] for r in some)} of {len(some)}"])
    return ["mean counts", "draws", *methods, "circular coordinate given"], lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for counts in COUNTS:
        for seed in options.seeds:
            rows.append(measure(counts, seed))
            print(rows[-1], flush=True)
            write(options.out, rows)


if __name__ == "__main__":
    main()
