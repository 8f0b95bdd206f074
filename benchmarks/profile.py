"""Where the time of a certified solve goes, and how far it is from what the machine could do.

    python benchmarks/profile.py zeros all --device cuda --out benchmarks/results/h200_profile.json
    python benchmarks/profile.py ones --out benchmarks/results/cpu_profile.json

Every part is timed with the device idle before and after, which costs a little. The two floors of the iteration are
what its dense products need at the measured rate of such products, and what reading and writing its n x n state needs
at the measured bandwidth; small decompositions count for neither.
"""

import argparse
import collections
import json
import time
import warnings
from pathlib import Path

from machine import facts
from mnist import load_mnist

from sknomad import Gram, KMeansSDP, solve
from sknomad._numerics.arrays import choose_device, itemsize, namespace
from sknomad._solving.judging import ProgramJudge
from sknomad.solvers import Auto, _admm_course
from sknomad.solvers import _warm_eigenspace as _subspace

# What is timed: (owner, name, label). Parts do not contain each other, except that a look contains the proof.
PARTS = [
    (_subspace, "chebyshev_filter", "filter"),
    (_subspace, "orthonormal", "orthonormalise"),
    (_subspace.LeadingProjector, "_rotate", "Rayleigh-Ritz"),
    (_subspace.LeadingProjector, "_exact", "full decomposition"),
    (_admm_course, "advance", "update"),
    (_admm_course, "advance_and_measure", "update"),
    (ProgramJudge, "judge", "look"),
    (ProgramJudge, "_prove", "proof"),
]


class Profile:
    """Seconds, calls, operations and bytes of each part of one solve."""

    def __init__(self, device):
        self.device = device
        self.seconds, self.calls = collections.Counter(), collections.Counter()
        self.operations = self.bytes = 0.0

    def synchronize(self):
        """Wait for the device."""
        if self.device == "cuda":
            import torch

            torch.cuda.synchronize()

    def timed(self, function, label):
        """`function` with its calls recorded under `label`."""

        def wrapped(*arguments, **options):
            self.synchronize()
            started = time.perf_counter()
            result = function(*arguments, **options)
            self.synchronize()
            self.seconds[label] += time.perf_counter() - started
            self.calls[label] += 1
            self.count(label, arguments)
            return result

        return wrapped

    def count(self, label, arguments):
        """Operations of products with blocks of vectors, and passes over the state."""
        if label == "filter":
            V, degree = arguments[1], arguments[4]
            self.add(degree * 2 * V.shape[0] ** 2 * V.shape[1], degree, V)
        elif label == "Rayleigh-Ritz":
            n, width = arguments[2].shape
            self.add(2 * n**2 * width + 3 * 2 * n * width**2, 1, arguments[2])
        elif label == "orthonormalise":
            n, width = arguments[0].shape
            self.add(2 * 4 * n * width**2, 0, arguments[0])
        elif label == "update":
            U = arguments[1].U
            self.add(2 * U.shape[0] ** 2 * U.shape[1], 2, U)

    def add(self, operations, passes, block):
        """Note work that involves `block` and so many passes over the state."""
        self.operations += operations
        self.bytes += passes * block.shape[0] ** 2 * itemsize(block)


def rates(model, synchronize):
    """Operations a second in a large product, and bytes a second in a large copy, best of five."""
    xp = namespace(model)
    size = 2000 if "cuda" not in str(getattr(model, "device", "")) else 12_000
    A = xp.ones((size, size), dtype=model.dtype, device=getattr(model, "device", None)) * 0.37
    best = {"product": float("inf"), "copy": float("inf")}
    for _ in range(5):
        for name, work in (("product", lambda: A @ A), ("copy", lambda: A + 0.0)):
            synchronize()
            started = time.perf_counter()
            work()
            synchronize()
            best[name] = min(best[name], time.perf_counter() - started)
    return 2 * size**3 / best["product"], 2 * size**2 * itemsize(model) / best["copy"]


def profile(name, problem, device):
    """Solve once with every part timed; one row."""
    record = Profile(device)
    originals = [(owner, key, getattr(owner, key)) for owner, key, _ in PARTS]
    for owner, key, label in PARTS:
        setattr(owner, key, record.timed(getattr(owner, key), label))
    started = time.perf_counter()
    solver = Auto.for_tolerance(1e-3, "cuda") if device == "cuda" else "auto"
    solution = solve(problem, solver, tol=1e-3, grade="verified" if device == "cuda" else "eigen")
    total = time.perf_counter() - started
    for owner, key, function in originals:
        setattr(owner, key, function)
    model = choose_device("cuda" if device == "cuda" else "cpu32", problem.n)
    rate, bandwidth = rates(model, record.synchronize)
    look = record.seconds["look"] - record.seconds["proof"]
    iterating = sum(s for label, s in record.seconds.items() if label not in ("look", "proof"))
    floor = max(record.operations / rate, record.bytes / bandwidth)
    return {
        "case": name, "n": problem.n, "K": problem.K, "total": total, "gap": solution.certificate.gap,
        "parts": {**{k: v for k, v in record.seconds.items() if k != "look"}, "looks without the proof": look,
                  "soft assignments and the rest": total - iterating - record.seconds["look"]},
        "calls": dict(record.calls), "iterating": iterating,
        "product_rate": rate, "bandwidth": bandwidth,
        "floor_operations": record.operations / rate, "floor_bytes": record.bytes / bandwidth,
        "iterating_over_floor": iterating / floor,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["ones", "zeros", "all"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = load_mnist()
    data = {"ones": (X[y == 1][:2000], 16), "zeros": (X[y == 0], 128), "all": (X, 10)}
    rows = []
    for name in options.what:
        points, K = data[name]
        profile("warm-up", KMeansSDP(Gram.from_data(points[:1500]), 10), options.device)
        rows.append(profile(name, KMeansSDP(Gram.from_data(points), K), options.device))
        print(json.dumps(rows[-1]), flush=True)
    if options.out:
        options.out.write_text(json.dumps({**facts(options.device), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
