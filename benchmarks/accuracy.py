"""Certified gaps of a millionth: the rings and tori whose optimum is known, and MNIST digit 1.

    SKNOMAD_DATA=... python benchmarks/accuracy.py --out benchmarks/results/cpu_accuracy.json

Every row: seconds and steps until the gap of 1e-6 is proven, and how far both bounds are from the known optimum.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

from machine import facts
from mnist import load_mnist

from sknomad import Gram, KMeansSDP, solve
from sknomad.ring import ring_optimum, ring_points, torus_optimum, torus_points

RINGS = [(40, 4), (80, 8), (160, 16), (320, 32), (640, 16)]
TORI = [(6, 5), (20, 16)]


def cases(names):
    """Name, points, K and the optimum where it is known."""
    for n, K in RINGS:
        if f"ring {n}" in names:
            yield f"ring {n}", ring_points(n), K, ring_optimum(n, K).value
    for side, K in TORI:
        if f"torus {side}" in names:
            yield f"torus {side}", torus_points(side, side), K, torus_optimum(side, side, K).value
    if "MNIST 1000" in names:
        images, labels = load_mnist()
        yield "MNIST 1000", images[labels == 1][:1000], 16, None


NAMES = [*(f"ring {n}" for n, _ in RINGS), *(f"torus {side}" for side, _ in TORI), "MNIST 1000"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--limit", type=float, default=3600, help="most seconds for one solve")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X, K, optimum in cases(options.cases):
        solution = solve(KMeansSDP(Gram.from_data(X), K), tol=options.tol, max_iter=10**6, max_seconds=options.limit)
        proof = solution.certificate
        row = {"case": name, "n": len(X), "K": K, "seconds": round(solution.seconds, 2), "steps": solution.n_iter,
               "gap": proof.gap, "lower": proof.lower, "upper": proof.upper, "optimum": optimum,
               "status": solution.status.name, "threads": os.environ.get("OMP_NUM_THREADS")}  # fmt: skip
        rows.append(row)
        print(json.dumps(row), flush=True)
        if options.out:
            options.out.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
