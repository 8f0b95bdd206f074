"""Peak memory of a run against the forecast, at several sizes; each run in a process of its own.

    python benchmarks/memory.py [--sizes 1000 2000 4000]

The peak is the process's largest resident size minus what it had before the solve.
"""

import argparse
import json
import subprocess
import sys

CHILD = """
import json, resource, sys, warnings
import numpy as np
from sknomad import Gram, KMeansSDP, solve
from sknomad._memory import forecast
from sknomad.solvers import resolve
n, key = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).standard_normal((n, 20)).cumsum(axis=0)
problem = KMeansSDP(Gram.from_data(X), 16)
solver = resolve(key, problem, 1e-3)
warnings.simplefilter("ignore")
small = KMeansSDP(Gram.from_data(X[:450]), 16)
solve(small, "auto", tol=1e-2)  # everything is imported and every thread has its buffers
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
solve(problem, solver, tol=1e-9, max_seconds=float(sys.argv[3]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"forecast": forecast(problem, solver), "peak": (peak - before) * 1024}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 4000])
    parser.add_argument("--solvers", nargs="+", default=["auto", "admm", "soft"])
    parser.add_argument("--seconds", type=float, default=5, help="length of each run")
    options = parser.parse_args()
    for solver in options.solvers:
        for n in options.sizes:
            command = [sys.executable, "-c", CHILD, str(n), solver, str(options.seconds)]
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            ratio = (result["forecast"] or 0) / result["peak"]
            print(
                f"{solver:<6} n={n:<6} peak {result['peak'] / 2**20:8.0f} MiB  forecast / peak {ratio:.2f}  "
                f"per n^2 float64: {result['peak'] / 8 / n**2:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
