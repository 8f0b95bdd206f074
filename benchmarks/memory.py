"""Peak memory of a run against the forecast, at several sizes; each run in a process of its own.

    python benchmarks/memory.py --out benchmarks/results/cpu_memory.json

The peak is the process's largest resident size minus what it held just before the solve. A run goes as far as its
first looks at both bounds, the last of them thorough, where it needs the most.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from machine import facts

CHILD = """
import gc, json, resource, sys, warnings
import numpy as np
from sknomad import Gram, KMeansSDP, solve
from sknomad._solving.memory_check import forecast
from sknomad.solvers import resolve
n, key = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).standard_normal((n, 20)).cumsum(axis=0)
problem = KMeansSDP(Gram.from_data(X), 16)
solver = resolve(key, problem, 1e-3)
warnings.simplefilter("ignore")
small = KMeansSDP(Gram.from_data(X[:450]), 16)
solve(small, "auto", tol=1e-2)  # everything is imported and every thread has its buffers
gc.collect()
held = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
solution = solve(problem, solver, tol=1e-9, max_iter=int(sys.argv[3]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
row = {"forecast": forecast(problem, solver), "peak": peak - held, "bounded": solution.certificate.upper < 1e300}
print(json.dumps(row))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 4000])
    parser.add_argument("--solvers", nargs="+", default=["auto", "admm", "soft"])
    parser.add_argument("--steps", type=int, default=60, help="length of each run")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for solver in options.solvers:
        for n in options.sizes:
            command = [sys.executable, "-c", CHILD, str(n), solver, str(options.steps)]
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            rows.append({"solver": solver, "n": n, **result, "ratio": result["forecast"] / result["peak"]})
            peak, ratio = result["peak"], rows[-1]["ratio"]
            print(
                f"{solver:<6} n={n:<6} peak {peak / 2**20:8.0f} MiB  forecast / peak {ratio:.2f}  "
                f"per n^2 float64: {peak / 8 / n**2:.2f}  upper bound {result['bounded']}",
                flush=True,
            )
    if options.out:
        options.out.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
