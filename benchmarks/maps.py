"""Does the map keep neighbours? `map_` beside UMAP, t-SNE and PCA, on images and single cells.

    python benchmarks/maps.py --out benchmarks/results/maps.json

Every row: trustworthiness (neighbours on the map are neighbours in the data) and continuity (the other way round), ten
neighbours. COIL-20 is read from $SKNOMAD_DATA and left out without it; UMAP and the cells, which come with scanpy, are
left out where these are not installed.
"""

import argparse
import json
import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from machine import facts
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from sknomad import NOMAD
from sknomad.datasets import fetch_coil20
from sknomad.metrics import continuity, trustworthiness

NEIGHBOURS = 10


def data_sets(n):
    """Data by name, at most `n` points of each, evenly chosen."""
    yield "digits", load_digits().data[:n]
    if "SKNOMAD_DATA" in os.environ:
        X = np.asarray(fetch_coil20().data, dtype=np.float64)
        yield "COIL-20", X[np.linspace(0, len(X) - 1, n).astype(int)]
    if find_spec("scanpy"):
        from scanpy.datasets import pbmc68k_reduced

        yield "blood cells", np.asarray(pbmc68k_reduced().obsm["X_pca"], dtype=np.float64)


def methods(n):
    """Functions from data to points in the plane, by name."""
    yield "NOMAD(), map_", lambda X: NOMAD(tol=1e-2).fit(X).map_
    yield "NOMAD(K=n/12), map_", lambda X: NOMAD(K=n / 12, tol=1e-2).fit(X).map_
    if find_spec("umap"):
        from umap import UMAP

        yield "UMAP", lambda X: UMAP(random_state=0).fit_transform(X)
    yield "t-SNE", lambda X: TSNE(random_state=0).fit_transform(X)
    yield "PCA", lambda X: PCA(2).fit_transform(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X in data_sets(options.samples):
        for method, place in methods(len(X)):
            began = time.perf_counter()
            points = place(X)
            row = {"data": name, "n": len(X), "method": method, "seconds": round(time.perf_counter() - began, 2)}
            row["trustworthiness"] = trustworthiness(X, points, NEIGHBOURS)
            row["continuity"] = continuity(X, points, NEIGHBOURS)
            rows.append(row)
            print(row, flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
