"""What line search and block steps, neither in the paper, do to its conditional gradient method.

    python benchmarks/options.py --out benchmarks/results/cpu_options.json

Outer steps and seconds to a certified gap of 1e-2, for both presets on four small problems. The paper's own studies of
its solvers are experiments: `sknomad reproduce convergence burer-monteiro cp-rank solvers timing`.
"""

import argparse
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
from machine import facts

from sknomad import Gram, KMeansSDP, datasets, solve
from sknomad.solvers import ConditionalGradient

TOL = 1e-2
VARIANTS = ({}, {"line_search": True}, {"block": 4}, {"block": 4, "line_search": True})


def data():
    return {
        "ring": (datasets.ring(80)[0], 8),
        "blobs": (datasets.blobs(60, random_state=0)[0], 6),
        "moons": (datasets.moons(100, random_state=0)[0], 8),
        "noise": (np.random.default_rng(0).standard_normal((60, 10)), 6),
    }


def measure(steps):
    for (name, (X, K)), preset, variant in itertools.product(data().items(), ("paper", "code"), VARIANTS):
        solver = ConditionalGradient(preset, **variant)
        solution = solve(KMeansSDP(Gram.from_data(X), K), solver, tol=TOL, max_iter=steps)
        yield {
            "data": name, "n": len(X), "K": K, "preset": preset, "options": variant, "steps": solution.n_iter,
            "seconds": round(solution.seconds, 3), "gap": solution.certificate.gap,
        }  # fmt: skip


def table(rows):
    """Header and lines: one for each preset and variant, a column for each problem."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    cases = list(dict.fromkeys((row["preset"], json.dumps(row["options"])) for row in rows))
    cells = {(row["data"], row["preset"], json.dumps(row["options"])): row for row in rows}
    lines = [
        [preset, " and ".join(json.loads(variant)) or "none", *(cell(cells[name, preset, variant]) for name in names)]
        for preset, variant in cases
    ]
    return ["preset", "options", *names], lines


def cell(row):
    if row["gap"] <= TOL:
        return f"{row['steps']} ({row['seconds']:.1f} s)"
    return f"gap {row['gap']:.1e} after {row['steps']} ({row['seconds']:.1f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600, help="outer steps, at most")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for row in measure(options.steps):
        rows.append(row)
        print(json.dumps(row), flush=True)
    if options.out:
        options.out.write_text(json.dumps({**facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
