"""Whether all threads pay: seconds of one solve with one BLAS thread and with all, alone and beside a busy process.

    python benchmarks/threads.py --out benchmarks/results/cpu_threads.json

Half-rings with twelve points per patch, tol 1e-3. The busy process multiplies matrices in as many threads as it likes.
`sizes.ONE_THREAD` is the number of points up to which one thread is as fast alone, and faster beside the other.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from machine import facts
from threadpoolctl import threadpool_limits

from sknomad import Gram, KMeansSDP
from sknomad._solving.loop import Limits
from sknomad._solving.run_state import Run
from sknomad._solving.solve import run_solver
from sknomad.datasets import moons
from sknomad.solvers import Auto

TOL = 1e-3
BUSY = "import numpy as np\nA = np.ones((1500, 1500))\nwhile True: A @ A"


def seconds(problem, n_threads):
    """One solve under the loop itself, which leaves the number of threads alone."""
    with threadpool_limits(n_threads):
        began = time.perf_counter()
        run_solver(Run(problem, TOL, "eigen"), Auto.for_tolerance(TOL, "cpu"), Limits(5000, 120.0))
        return round(time.perf_counter() - began, 3)


def measure(sizes, repeats):
    rows = []
    for n in sizes:
        problem = KMeansSDP(Gram.from_data(moons(n, noise=0.05, random_state=0)[0]), n / 12)
        row = {"n": n}
        for name, n_threads in (("one", 1), ("all", None)):
            row[name] = sorted(seconds(problem, n_threads) for _ in range(repeats))[repeats // 2]
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 200, 400, 600, 1000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    alone = measure(options.sizes, options.repeats)
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        beside = measure(options.sizes, options.repeats)
    finally:
        busy.kill()
    found = facts() | {"alone": alone, "beside a busy process": beside}
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
