"""How long fits take that were asked to end after so many seconds.

    OMP_NUM_THREADS=1 python benchmarks/limits.py --out benchmarks/results/cpu_limits.json

Every estimator with a tolerance that it cannot reach, on two overlapping clouds per axis of ten. Beside the seconds
asked for and taken stands the longest step of a solver, its look at the bounds included: limits are kept to within one
of these or a tenth, where that is not less than reading the solution takes. `load` is what else the machine was doing,
in processes.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts

from sknomad import NOMAD, CertifiedKMeans, MultiLayerNOMAD, certify_kmeans
from sknomad._solving.loop import Pace

TOL = 1e-9
WORK = {
    'NOMAD(K="auto")': lambda X, s: NOMAD(tol=TOL, max_seconds=s).fit(X),
    "NOMAD(K=16)": lambda X, s: NOMAD(16, tol=TOL, max_seconds=s).fit(X),
    "MultiLayerNOMAD()": lambda X, s: MultiLayerNOMAD(tol=TOL, max_seconds=s).fit(X),
    "MultiLayerNOMAD([16, 8, 4, 2])": lambda X, s: MultiLayerNOMAD([16, 8, 4, 2], tol=TOL, max_seconds=s).fit(X),
    "CertifiedKMeans(8, cuts=True)": lambda X, s: CertifiedKMeans(
        8, cuts=True, tol=TOL, max_seconds=s, random_state=0
    ).fit(X),
    "certify_kmeans(cuts=True)": lambda X, s: certify_kmeans(
        X, np.arange(len(X)) % 8, cuts=True, tol=TOL, max_seconds=s
    ),
}
LARGE_WORK = {
    'NOMAD(K=16, solver="soft")': lambda X, s: NOMAD(16, solver="soft", tol=TOL, max_seconds=s).fit(X),
}


def clouds(n):
    random = np.random.default_rng(0)
    return random.standard_normal((n, 10)) + 3 * random.integers(0, 2, (n, 10))


class LongestStep:
    """Context that measures the longest step of all solvers run in it."""

    def __enter__(self):
        self.seconds, self.enter = 0.0, Pace.enter

        def enter(pace, now):
            self.seconds = max(self.seconds, now - pace.marks[-1] if pace.marks else now)
            self.enter(pace, now)

        Pace.enter = enter
        return self

    def __exit__(self, *_):
        Pace.enter = self.enter


def measure(work, sizes, asked):
    for n in sizes:
        X = clouds(n)
        for name, run in work.items():
            with LongestStep() as longest:
                began = time.perf_counter()
                run(X, asked)
                taken = time.perf_counter() - began
            yield {
                "estimator": name, "n": n, "asked": asked, "taken": round(taken, 2),
                "longest_step": round(longest.seconds, 3), "load": round(os.getloadavg()[0], 1),
            }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[2.0, 10.0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 2000])
    parser.add_argument("--large", type=int, default=100_000, help="points of soft assignments; 0 leaves them out")
    parser.add_argument("--large-seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for run in WORK.values():  # what is done once in a process
        run(clouds(50), 0.0)
    rows = []
    tasks = [(WORK, options.sizes, seconds) for seconds in options.seconds]
    tasks.append((LARGE_WORK, [options.large] if options.large else [], options.large_seconds))
    for task in tasks:
        for row in measure(*task):
            rows.append(row)
            print(json.dumps(row), flush=True)
    if options.out:
        options.out.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
