"""What smooth points are worth, and how time grows with the number of points.

    python benchmarks/smooth_points.py pieces --out benchmarks/results/smooth_points.json
    python benchmarks/smooth_points.py growth --out benchmarks/results/cpu_growth.json     (two cores, three minutes)
    python benchmarks/smooth_points.py --table benchmarks/results/smooth_points.json benchmarks/results/cpu_growth.json

``pieces``: for half-rings, circles, rolls, S-curves, arcs and blobs with few points per patch, ``K`` given: how many
components the best point and the smoothest one within the tolerance have, how well they agree with the truth, how well
the leading eigenvector of each true part orders its points, and the steps. Seeds below 100 are for development.
``growth``: seconds of `solve` at a fixed ``K``, medians of three up to 600 points, one run each above.
"""

import argparse
import json
import multiprocessing
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts
from scipy.stats import spearmanr
from sklearn.datasets import make_blobs, make_circles, make_moons, make_s_curve, make_swiss_roll
from sklearn.metrics import adjusted_rand_score

from sknomad import Gram, KMeansSDP, solve
from sknomad.solvers import Auto

SEEDS = (0, 1, 100, 101, 102)
SIZES, PER_PATCH = (120, 300, 600), (8, 12)
GROWTH_SIZES = (50, 100, 200, 300, 400, 450, 600, 1000, 2000, 3000)
GROWTH_K = 16
# Components of fewer than this share of the points do not count.
SMALLEST = 0.02


def half_rings(n, seed):
    X, side = make_moons(n, noise=0.05, random_state=seed, shuffle=False)
    return X, side, np.tile(np.linspace(0, np.pi, n // 2), 2)


def circles(n, seed):
    X, side = make_circles(n, noise=0.05, factor=0.5, random_state=seed)
    return X, side, None


def roll(n, seed):
    X, along = make_swiss_roll(n, random_state=seed)
    return X, np.zeros(n, dtype=int), along


def s_curve(n, seed):
    X, along = make_s_curve(n, random_state=seed)
    return X, np.zeros(n, dtype=int), along


def arc(n, seed):
    random = np.random.default_rng(seed)
    along = random.uniform(0, 4, n)
    X = np.column_stack([np.cos(along), np.sin(along)]) + 0.1 * random.standard_normal((n, 2))
    return X, np.zeros(n, dtype=int), along


def blobs(n, seed):
    X, parts = make_blobs(n, centers=6, n_features=5, random_state=seed)
    return X, parts, None


KINDS = {"half-rings": half_rings, "circles": circles, "roll": roll, "S-curve": s_curve, "arc": arc, "blobs": blobs}


def order_along(Q, parts, along):
    """Mean rank correlation of the leading eigenvector of each part's block with the truth."""
    found = []
    for part in np.unique(parts):
        inside = np.flatnonzero(parts == part)
        block = Q[np.ix_(inside, inside)]
        roots = np.sqrt(block.sum(axis=0))
        vectors = np.linalg.eigh(block / np.outer(roots, roots))[1]
        found.append(abs(spearmanr(vectors[:, -2] / roots, along[inside])[0]))
    return float(np.mean(found))


def judged(solution, parts, along):
    labels = solution.manifolds()
    return {
        "components": int(np.sum(np.bincount(labels) >= SMALLEST * len(labels))),
        "agreement": float(adjusted_rand_score(parts, labels)),
        "order": None if along is None else order_along(solution.unmixed_Q, parts, along),
        "steps": solution.n_iter,
        "gap": solution.certificate.gap,
    }


def pieces(task):
    kind, n, per_patch, seed = task
    X, parts, along = KINDS[kind](n, seed)
    problem = KMeansSDP(Gram.from_data(X), n / per_patch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: judged(solve(problem, smooth=name == "smooth"), parts, along) for name in ("best", "smooth")}
    return {"kind": kind, "n": n, "per_patch": per_patch, "seed": seed, "parts": len(np.unique(parts)), **found}


def growth(kind, n):
    problem = KMeansSDP(Gram.from_data(KINDS[kind](n, 0)[0]), GROWTH_K)
    seconds = []
    for _ in range(3 if n <= 600 else 1):
        began = time.perf_counter()
        solution = solve(problem, Auto.for_tolerance(1e-3, "cpu"))
        seconds.append(time.perf_counter() - began)
    return {"kind": kind, "n": n, "seconds": float(np.median(seconds)), "steps": solution.n_iter}


def table_of_pieces(rows):
    print("| data, points per patch | parts | components | agreement | order | steps |\n|---|---|---|---|---|---|")
    for kind in KINDS:
        for per_patch in PER_PATCH:
            chosen = [
                row for row in rows if (row["kind"], row["per_patch"]) == (kind, per_patch) and row["seed"] >= 100
            ]
            means = {
                key: [np.mean([row[name][key] for row in chosen]) for name in ("best", "smooth")]
                for key in ("components", "agreement", "order", "steps")
                if chosen[0]["best"][key] is not None
            }
            cells = " | ".join(
                f"{means[key][0]:.3g} / {means[key][1]:.3g}" if key in means else ""
                for key in ("components", "agreement", "order", "steps")
            )
            print(f"| {kind}, {per_patch} | {chosen[0]['parts']} | {cells} |")


def table_of_growth(rows):
    print("| n | " + " | ".join(map(str, GROWTH_SIZES)) + " |\n|---|" + "---|" * len(GROWTH_SIZES))
    for kind in dict.fromkeys(row["kind"] for row in rows):
        print(f"| {kind} | " + " | ".join(f"{row['seconds']:.2g}" for row in rows if row["kind"] == kind) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["pieces", "growth"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, nargs="+", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.command == "pieces":
        tasks = [(kind, n, per, seed) for kind in KINDS for n in SIZES for per in PER_PATCH for seed in SEEDS]
        with multiprocessing.Pool(options.jobs) as pool:
            rows = pool.map(pieces, tasks, chunksize=1)
    elif options.command == "growth":
        rows = [growth(kind, n) for n in GROWTH_SIZES for kind in ("half-rings", "roll", "blobs", "arc")]
    if options.command is not None:
        options.out.write_text(json.dumps({"command": options.command, "machine": facts(), "rows": rows}, indent=1))
        options.table.append(options.out)
    for path in options.table:
        kept = json.loads(path.read_text())
        (table_of_pieces if kept["command"] == "pieces" else table_of_growth)(kept["rows"])


if __name__ == "__main__":
    main()
