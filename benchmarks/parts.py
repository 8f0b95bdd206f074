"""Which parts the automatic choice finds, against HDBSCAN and spectral clustering, on data whose parts are known.

    python benchmarks/parts.py measure --seeds 100 101 102 103 104 --out benchmarks/results/parts_reporting.json
    python benchmarks/parts.py defaults --out benchmarks/results/parts_defaults.json
    python benchmarks/parts.py agreement --seeds 100 --sizes 100 --out benchmarks/results/parts_agreement.json
    python benchmarks/parts.py table benchmarks/results/parts_reporting.json

``measure`` draws every kind of data of `part_data` and asks everybody: ``auto`` is what `NOMAD()` and
`MultiLayerNOMAD()` answer, ``several`` the same with ``allow_single_cluster=False``, ``told`` with the number of parts;
HDBSCAN has clusters of at least five points, and gives points that it takes for noise the label of the nearest other
point; spectral clustering on nearest neighbours is told the number. Of each answer the file has the number of parts and
the adjusted Rand index with the known parts, points of noise left out. Draws that are in the file are not made again.

Seeds below 100 are for development. Those from 100 on, and the ``unseen`` families, are for reporting: whoever changes
a constant of the choice after looking at them must take others.

``defaults`` runs the estimators themselves on well-known sets (needs the extras ``sc`` and ``peers``), ``agreement``
asks `NOMAD` and `MultiLayerNOMAD` for the parts of every draw, with one step of the solver, which parts do not depend
on; ``table`` prints tables of a file.
"""

import argparse
import json
import os
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from machine import facts
from part_data import draw, names
from part_tables import print_tables
from sklearn import datasets
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin
from sklearn.preprocessing import scale

from sknomad import NOMAD, Gram, MultiLayerNOMAD
from sknomad._manifolds.choice import decide, decide_when_clear
from sknomad._manifolds.survey import surveys

KINDS = ("sets", "families", "single", "unseen")
OF_IMAGES = ("images", "alone")
# Rows between two writings of the file.
ROWS_PER_WRITE = 50


def hdbscan(X, *, allow_single=False):
    """Labels of HDBSCAN; every point that it takes for noise has the label of the nearest other point."""
    labels = HDBSCAN(min_cluster_size=5, allow_single_cluster=allow_single, copy=True).fit_predict(X)
    is_noise = labels < 0
    if is_noise.all():
        return np.zeros(len(X), dtype=int)
    if is_noise.any():
        labels[is_noise] = labels[~is_noise][pairwise_distances_argmin(X[is_noise], X[~is_noise])]
    return labels


def spectral(X, count):
    return SpectralClustering(count, affinity="nearest_neighbors", random_state=0).fit_predict(X)


def judged(labels, truth):
    """Number of parts and agreement with the known ones."""
    counts = truth > 0
    return [len(np.unique(labels)), round(float(adjusted_rand_score(truth[counts], labels[counts])), 4)]


def measure(kind, name, n, seed):
    """One draw, everybody's answers."""
    warnings.simplefilter("ignore")
    X, truth = draw(kind, name, n, seed)
    count = len(np.unique(truth[truth > 0]))
    began = time.perf_counter()
    stages = list(surveys(Gram.from_data(X)))
    seconds = time.perf_counter() - began
    (_, auto), (_, several) = (decide_when_clear(stages, allow_single=allowed) for allowed in (True, False))
    row = {"kind": kind, "data": name, "n": n, "seed": seed, "points": len(X), "parts": count}
    row |= {"looks": len(auto.K_values), "all_looks": judged(decide(stages[-1]).labels, truth)}
    row |= {"auto": judged(auto.labels, truth), "several": judged(several.labels, truth)}
    row |= {"hdbscan": judged(hdbscan(X), truth), "hdbscan_single": judged(hdbscan(X, allow_single=True), truth)}
    if count > 1:
        told = decide(stages[-1], n_parts=count)
        row |= {"told": judged(told.labels, truth), "spectral": judged(spectral(X, count), truth)}
        row |= {"told_confidence": round(told.confidence, 4), "told_score": round(max(told.strength, -9.0), 3)}
    finite = {"confidence": auto.confidence, "strength": max(auto.strength, -99.0), "margin": auto.margin}
    return row | {name: round(value, 4) for name, value in finite.items()} | {"seconds": round(seconds, 2)}


def agreement(kind, name, n, seed):
    """Whether both estimators find the same parts in one draw."""
    warnings.simplefilter("ignore")
    X, _ = draw(kind, name, n, seed)
    one, other = NOMAD(max_iter=1).fit(X), MultiLayerNOMAD(max_iter=1).fit(X)
    row = {"kind": kind, "data": name, "n": n, "seed": seed, "parts": [one.n_manifolds_, other.n_clusters_]}
    row |= {"agreement": round(float(adjusted_rand_score(one.labels_, other.labels_)), 4)}
    return row | {"same_confidence": bool(one.confidence_ == other.confidence_)}


def key(row):
    return row["kind"], row["data"], row["n"], row["seed"]


def write(path, rows):
    """The machine, and one row a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(json.dumps(facts(), indent=1)[:-2] + f',\n "rows": [\n{lines}\n]}}\n')


def measure_all(options, measure):
    rows = json.loads(options.out.read_text())["rows"] if options.out.exists() else []
    done = {key(row) for row in rows}
    # The most expensive first, so that the last process does not wait for one of them.
    sizes, seeds = sorted(options.sizes, reverse=True), options.seeds
    cases = [(kind, name, n, seed) for n, seed, kind in product(sizes, seeds, options.kinds) for name in names(kind, n)]
    todo = [case for case in cases if case not in done]
    found = Parallel(options.jobs, return_as="generator_unordered")(delayed(measure)(*case) for case in todo)
    for count, row in enumerate(found, 1):
        rows.append(row)
        if count % ROWS_PER_WRITE == 0 or count == len(todo):
            write(options.out, sorted(rows, key=key))
            print(f"{count} of {len(todo)}", flush=True)


def blood_cells():
    """The fifty principal components of scanpy's 700 cells, and the cell types that they are most like."""
    from scanpy.datasets import pbmc68k_reduced

    cells = pbmc68k_reduced()
    return np.asarray(cells.obsm["X_pca"], dtype=float), cells.obs["bulk_labels"].cat.codes.to_numpy()


def well_known():
    """Sets that everybody tries first: points and parts, from 1."""
    wine, cancer = datasets.load_wine(), datasets.load_breast_cancer()
    digits, iris = datasets.load_digits(), datasets.load_iris()
    one = np.zeros(300, dtype=int)
    found = {
        "iris": (iris.data, iris.target),
        "wine": (wine.data, wine.target),
        "wine, standardised": (scale(wine.data), wine.target),
        "digits, first 500": (digits.data[:500], digits.target[:500]),
        "breast cancer": (cancer.data, cancer.target),
        "breast cancer, standardised": (scale(cancer.data), cancer.target),
        "pbmc68k_reduced, 700 cells": blood_cells(),
        "make_blobs(300, centers=3)": datasets.make_blobs(300, centers=3, random_state=0),
        "make_moons(300, noise=.05)": datasets.make_moons(300, noise=0.05, random_state=0),
        "make_circles(300, noise=.05, factor=.5)": datasets.make_circles(300, noise=0.05, factor=0.5, random_state=0),
        "make_swiss_roll(300)": (datasets.make_swiss_roll(300, random_state=0)[0], one),
        "make_s_curve(300)": (datasets.make_s_curve(300, random_state=0)[0], one),
        "uniform noise, 300 points": (np.random.RandomState(0).uniform(size=(300, 2)), one),
    }
    return {name: (X, np.asarray(parts) + 1) for name, (X, parts) in found.items()}


def with_defaults(name):
    """One well-known set, the estimators as they are."""
    from umap import UMAP

    warnings.simplefilter("ignore")
    X, truth = well_known()[name]
    count = len(np.unique(truth))
    layers = MultiLayerNOMAD().fit(X)
    row = {"data": name, "n": len(X), "parts": count, "confidence": round(layers.confidence_, 3)}
    row |= {"NOMAD()": judged(NOMAD().fit(X).labels_, truth), "MultiLayerNOMAD()": judged(layers.labels_, truth)}
    row |= {"HDBSCAN, filled": judged(hdbscan(X), truth)}
    row |= {"UMAP + HDBSCAN": judged(hdbscan(UMAP(random_state=0).fit_transform(X)), truth)}
    return row | {"k-means, told": judged(KMeans(count, random_state=0).fit_predict(X), truth)}


def run_defaults(options):
    rows = Parallel(options.jobs)(delayed(with_defaults)(name) for name in well_known())
    write(options.out, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="draw data and ask everybody")
    defaults = commands.add_parser("defaults", help="well-known sets, the estimators as they are")
    agreeing = commands.add_parser("agreement", help="whether both estimators find the same parts")
    for command in (measuring, agreeing):
        command.add_argument("--kinds", nargs="+", choices=KINDS + OF_IMAGES, default=list(KINDS))
        command.add_argument("--sizes", nargs="+", type=int, default=[100, 300, 1000])
        command.add_argument("--seeds", nargs="+", type=int, required=True)
    for command in (measuring, agreeing, defaults):
        command.add_argument("--jobs", type=int, default=1)
        command.add_argument("--out", type=Path, required=True)
    commands.add_parser("table", help="print the tables of a file").add_argument("file", type=Path)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # the processes inherit it: one core each
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if options.command == "table":
        print_tables(json.loads(options.file.read_text())["rows"])
    elif options.command == "defaults":
        run_defaults(options)
    else:
        measure_all(options, {"measure": measure, "agreement": agreement}[options.command])


if __name__ == "__main__":
    main()
