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
n, key, steps = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
X = np.random.default_rng(0).standard_normal((n, 20)).cumsum(axis=0)
problem = KMeansSDP(Gram.from_data(X), 16)
np.linalg.eigh(np.eye(50))
solver = resolve(key, problem)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
warnings.simplefilter("ignore")
solve(problem, solver, tol=1e-9, max_iter=steps)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"forecast": forecast(problem, solver), "peak": (peak - before) * 1024}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 4000])
    parser.add_argument("--solvers", nargs="+", default=["auto", "admm", "soft"])
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    for solver in options.solvers:
        for n in options.sizes:
            command = [sys.executable, "-c", CHILD, str(n), solver, str(options.steps)]
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            ratio = (result["forecast"] or 0) / result["peak"]
            print(
                f"{solver:<6} n={n:<6} peak {result['peak'] / 2**20:8.0f} MiB  forecast / peak {ratio:.2f}  "
                f"per n^2 float64: {result['peak'] / 8 / n**2:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
