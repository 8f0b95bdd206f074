"""What a full eigendecomposition costs beside what could be done instead: the measurements behind `_numerics/sizes`.

    OMP_NUM_THREADS=2 python benchmarks/sizes.py --repeats 1 --out benchmarks/results/cpu_sizes.json
    python benchmarks/sizes.py --device cuda --sizes 2000 4000 8000 10000 --out benchmarks/results/h200_sizes.json

Points are a Gaussian cloud in ten dimensions, K is 32, and the multiplier is that of ADMM after ten steps from soft
assignments: nothing is special about its spectrum. Best of the repeats, in seconds:

    look        all eigenvalues of D + N          against  Ritz values and the Cholesky proof
    suggestion  a full decomposition              against  block iteration for the leading eigenvectors
    restart     a full decomposition              against  one step with the warm block
    step        a step with a full decomposition  against  one with the warm block
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np
from machine import facts

from sknomad import Gram, KMeansSDP
from sknomad._certificate.cholesky_proof import SETTLED
from sknomad._certificate.proof_terms import Terms
from sknomad._certificate.upper import estimate_upper_bound, upper_bound
from sknomad._numerics.arrays import choose_device, float64_template, namespace
from sknomad._numerics.block_eigen import leading_eigenpairs
from sknomad.solvers import ADMM, SoftAssignment

K = 32


def seconds(function, repeats):
    """Best time of several calls; results are brought to the host, so that a GPU has finished."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = function()
        np.asarray(float(result))
        times.append(time.perf_counter() - started)
    return min(times)


class _Sum:
    """D + N as an operator."""

    def __init__(self, terms):
        self.terms, self.shape = terms, (terms.n, terms.n)

    def __matmul__(self, V):
        return self.terms.apply(V)


def measure(n, device, repeats):
    """One row: seconds of each alternative at `n` points."""
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((n, 10))), K)
    template = float64_template(choose_device(device, n))
    xp = namespace(template)
    *_, soft = SoftAssignment(device=template, max_growth=0).iterates(problem)
    warm = ADMM(device=template, exact_below=2).iterates(problem, soft)
    iterate = next(itertools.islice(warm, 9, None))
    N = iterate.multiplier
    M = problem.gram.formed_like(template) + N
    terms = Terms(problem.gram, iterate.N, template)
    exact = ADMM(device=template, exact_below=10**9).iterates(problem, iterate)
    return {
        "n": n,
        "look, all eigenvalues": seconds(lambda: upper_bound(problem, N), repeats),
        "look, Ritz values": seconds(lambda: estimate_upper_bound(problem, iterate.N)[0], repeats),
        "look, proof": seconds(lambda: upper_bound(problem, iterate.N, grade="verified"), repeats),
        "suggestion, full": seconds(lambda: xp.linalg.eigh(M)[0][0], repeats),
        "suggestion, block": seconds(
            lambda: leading_eigenpairs(_Sum(terms), K, template, problem.fixed, settled=SETTLED)[1][0], repeats
        ),
        "step, warm block": seconds(lambda: next(warm).residuals["penalty"], repeats),
        "step, full": seconds(lambda: next(exact).residuals["penalty"], repeats),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 400, 800, 1500, 3000, 4000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for n in options.sizes:
        rows.append(measure(n, options.device, options.repeats))
        print(json.dumps(rows[-1]), flush=True)
    if options.out:
        options.out.write_text(json.dumps({**facts(options.device), "K": K, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
