"""Certified solves of MNIST on a CPU or a GPU, with the results kept as a file.

    python benchmarks/mnist.py ones --sizes 500 1000 2000 --repeats 3      CPU
    python benchmarks/mnist.py zeros fine all million growth --device cuda      one large GPU

Every row: seconds to the certified gap (the run of median time, and all times; the data already in memory), the
bounds, their grade and the peak memory on the device. `--out FILE` keeps rows, machine and versions.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts

from sknomad import Gram, KMeansSDP, certify, solve
from sknomad.datasets import fetch_mnist
from sknomad.solvers import Auto, SoftAssignment


def load_mnist():
    digits = fetch_mnist()
    return digits.data, digits.target


class Meter:
    """Seconds and peak device memory of one call."""

    def __init__(self, device):
        self.device = device
        if device == "cuda":
            import torch

            self.torch = torch

    def run(self, function):
        """Call `function`; return its result, the seconds and the peak."""
        if self.device == "cuda":
            self.torch.cuda.reset_peak_memory_stats()
            self.torch.cuda.synchronize()
        started = time.perf_counter()
        result = function()
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        peak = self.torch.cuda.max_memory_allocated() / 1e9 if self.device == "cuda" else None
        return result, seconds, peak


def certified(name, X, K, options, *, tol=1e-3, grade="eigen"):
    """The solve of median time, of several, to a certified gap."""
    problem = KMeansSDP(Gram.from_data(X), K)
    solver = Auto.for_tolerance(tol, "cuda") if options.device == "cuda" else "auto"
    meter = Meter(options.device)
    runs = [
        meter.run(lambda: solve(problem, solver, tol=tol, grade=grade, max_seconds=options.limit))
        for _ in range(options.repeats)
    ]
    runs.sort(key=lambda run: run[1])
    solution, seconds, peak = runs[len(runs) // 2]
    proof = solution.certificate
    return {
        "case": name, "n": problem.n, "K": K, "tol": tol, "seconds": round(seconds, 3),
        "all_seconds": [round(run[1], 3) for run in runs], "status": solution.status.name,
        "lower": proof.lower, "upper": proof.upper, "gap": proof.gap,
        "grade": proof.grade, "iterations": solution.n_iter, "peak_gb": peak, "trace": problem.gram.trace,
    }  # fmt: skip


def soft_only(name, X, K, options, **settings):
    """Soft assignments alone: time to the end and the feasible value."""
    problem = KMeansSDP(Gram.from_data(X), K)
    solver = SoftAssignment(device=options.device, **settings)
    meter, best = Meter(options.device), None
    for _ in range(options.repeats):
        last, seconds, peak = meter.run(lambda: list(solver.iterates(problem))[-1])
        if best is None or seconds < best["seconds"]:
            lower = certify(problem, last).lower
            best = {"case": name, "n": problem.n, "K": K, "seconds": round(seconds, 3), "lower": lower, "peak_gb": peak}
            best["rank"] = last.residuals["rank"]
    return best


def kmeans_consequence(X, K, row):
    """Best inertia found by scikit-learn, and the bound that no clustering into K groups can pass."""
    from sklearn.cluster import KMeans

    inertia = float(KMeans(K, n_init=3, random_state=0).fit(X).inertia_)
    bound = row["trace"] - row["upper"]
    return {"case": f"k-means {row['case']}", "n": row["n"], "K": K, "inertia": inertia, "bound": bound,
            "gap": (inertia - bound) / inertia}  # fmt: skip


def cases(options):
    X, y = load_mnist()
    ones, zeros = X[y == 1], X[y == 0]
    if "ones" in options.what:
        for n in options.sizes:
            yield certified("digit 1", ones[:n], 16, options)
    if "zeros" in options.what:
        tol = 1e-3 if options.device == "cuda" else 5e-3
        yield certified("all zeros", zeros, 128, options, tol=tol, grade="verified")
    if "fine" in options.what:
        yield certified("all zeros, small gap", zeros, 16, options, tol=1e-4)
    if "all" in options.what:
        row = certified("all digits", X, 10, options, grade="verified")
        yield row
        yield kmeans_consequence(X, 10, row)
    if "million" in options.what:
        yield soft_only("a million blobs", blobs(1_000_000), 100, options, rank=256)
    if "growth" in options.what:
        order = np.random.default_rng(0).permutation(len(X))
        for n in (4000, 8000, 16_000, 32_000):
            yield certified("growth, auto", X[order[:n]], 10, options)
        points = blobs(1_000_000)
        for n in (125_000, 250_000, 500_000, 1_000_000):
            yield soft_only("growth, soft", points[:n], 100, options, rank=256)


def blobs(n):
    """Points in 50 dimensions around 100 centres."""
    generator = np.random.default_rng(0)
    centres = 3 * generator.standard_normal((100, 50))
    return centres[generator.integers(0, 100, n)] + generator.standard_normal((n, 50))


def fitted_exponents(rows):
    """Slope of log seconds against log n for each growth series."""
    for name in ("growth, auto", "growth, soft"):
        series = [(row["n"], row["seconds"]) for row in rows if row["case"] == name]
        if len(series) > 1:
            yield name, float(np.polyfit(*np.log(np.array(series)).T, 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["ones", "zeros", "fine", "all", "million", "growth"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1800, help="most seconds for one solve")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for row in cases(options):
        rows.append(row)
        print(json.dumps(row), flush=True)
    exponents = dict(fitted_exponents(rows))
    if exponents:
        print(json.dumps(exponents))
    if options.out:
        report = {**facts(options.device), "repeats": options.repeats, "rows": rows, "exponents": exponents}
        options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
