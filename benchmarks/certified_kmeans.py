"""Certified K-means on scikit-learn's own data in raw units: inertia, proven bound and gap, with and without cuts.

    python benchmarks/certified_kmeans.py --out benchmarks/results/certified_kmeans.json
    python benchmarks/certified_kmeans.py --cases digits --K 2 5 --cuts --limit 600 --out ...

Rows are added to the file, or replace those of the same case, so that it can be made in pieces. Every row has the
inertia of scikit-learn's KMeans(n_init=10) with the same seed, to compare with.
"""

import argparse
import json
import os
import time
from pathlib import Path

from machine import facts
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from sknomad import CertifiedKMeans

DATA = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
SEED = 0


def measure(case, K, cuts, limit):
    X = DATA[case]().data
    theirs = KMeans(K, n_init=10, random_state=SEED).fit(X).inertia_
    began = time.perf_counter()
    model = CertifiedKMeans(K, cuts=cuts, random_state=SEED, max_seconds=limit).fit(X)
    proof = model.certificate_
    return {
        "case": case,
        "n": X.shape[0],
        "d": X.shape[1],
        "K": K,
        "cuts": cuts,
        "inertia": model.inertia_,
        "kmeans_inertia": theirs,
        "bound": model.lower_bound_,
        "gap": model.gap_,
        "n_cuts": 0 if proof.multipliers is None else len(proof.multipliers.weights),
        "steps": model.n_iter_,
        "seconds": round(time.perf_counter() - began, 2),
        "limit": limit,
        "status": proof.status.name,
        "threads": os.environ.get("OMP_NUM_THREADS"),
    }


def key(row):
    return list(DATA).index(row["case"]), row["K"], row["cuts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--K", nargs="+", type=int, default=list(range(2, 11)))
    parser.add_argument("--cuts", action="store_true", help="with cuts instead of without")
    parser.add_argument("--limit", type=float, default=600, help="most seconds for one proof")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    old = json.loads(options.out.read_text())["rows"] if options.out and options.out.exists() else []
    rows = {key(row): row for row in old}
    for case in options.cases:
        for K in options.K:
            row = measure(case, K, options.cuts, options.limit)
            rows[key(row)] = row
            print(json.dumps(row), flush=True)
            if options.out:
                ordered = [rows[place] for place in sorted(rows)]
                options.out.write_text(json.dumps({**facts(), "rows": ordered}, indent=1) + "\n")


if __name__ == "__main__":
    main()
