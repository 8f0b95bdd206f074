"""Does the picture change with the order of the rows, or with the seed? NOMAD and UMAP on scikit-learn's digits.

    python benchmarks/stability.py --out benchmarks/results/stability.json

Every row: the Procrustes disparity (0 the same up to rotation, scale and shift, 1 unrelated) between the embedding of
the digits and that of the same digits with shuffled rows, or with another seed. UMAP with its defaults.
"""

import argparse
import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from machine import facts
from scipy.spatial import procrustes
from sklearn.datasets import load_digits

from sknomad import NOMAD


def nomad(X, seed, K):
    return NOMAD(K=K, coordinates="spectral", random_state=seed).fit_transform(X)


def umap(X, seed, K):
    from umap import UMAP

    return UMAP(random_state=seed).fit_transform(X)


def disparities(embed, X, K, repeats):
    """Disparities from the first embedding: after shuffling rows, and with other seeds."""
    first = embed(X, 0, K)
    shuffled, reseeded = [], []
    for repeat in range(1, repeats + 1):
        rows = np.random.default_rng(repeat).permutation(len(X))
        other = np.empty_like(first)
        other[rows] = embed(X[rows], 0, K)
        shuffled.append(float(procrustes(first, other)[2]))
        reseeded.append(float(procrustes(first, embed(X, repeat, K))[2]))
    return {"shuffled": shuffled, "reseeded": reseeded}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 1000, 1797])
    parser.add_argument("--K", type=float, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, about = [], facts()
    about["versions"]["umap-learn"] = version("umap-learn")
    for n in options.samples:
        X = load_digits().data[:n]
        for name, embed in (("NOMAD", nomad), ("UMAP", umap)):
            row = {"method": name, "n": n, "K": options.K if embed is nomad else None}
            rows.append({**row, **disparities(embed, X, options.K, options.repeats)})
            print(json.dumps(rows[-1]), flush=True)
            if options.out:
                options.out.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
