"""Bounds by landmarks for up to millions of points, verified, and where they do not pay.

    OMP_NUM_THREADS=2 python benchmarks/landmarks.py spirals --n 1000000 --landmarks 300 --tol 2e-3 --out ...
    OMP_NUM_THREADS=2 python benchmarks/landmarks.py roll --n 1000000 --landmarks 1000 --tol 3e-3 --out ...
    SKNOMAD_DATA=... python benchmarks/landmarks.py ones --landmarks 250 --max-iter 60 --out ...
    python benchmarks/landmarks.py roll --n 1000000 --landmarks 10000 --tol 2e-4 --max-iter 2000 --max-seconds 240
        --seed 30 --device cuda --out benchmarks/results/h200_landmarks.json

Points are `double_swiss_roll` (two spirals, even in arc length, whatever the seed) and `swiss_roll_3d` with a seed;
those below 10 were used in development. One row: the certified gap, the residual, steps, seconds of the whole call, and
how much memory it took beside the data. With `--tol 0` ADMM goes on until nothing more comes. Rows are added to those
that the file has.
"""

import argparse
import json
import resource
import warnings
from pathlib import Path

from machine import facts
from mnist import load_mnist

from sknomad import solve_by_landmarks
from sknomad.datasets import double_swiss_roll, swiss_roll_3d


def ones(_, random_state):
    images, labels = load_mnist()
    return images[labels == 1], None


NAMES = {"spirals": "two spirals", "roll": "Swiss roll", "ones": "MNIST, ones"}
CASES = {"spirals": double_swiss_roll, "roll": swiss_roll_3d, "ones": ones}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--K", type=float, default=16)
    parser.add_argument("--landmarks", type=int, help="by default the library chooses")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--max-iter", type=int, default=500)
    parser.add_argument("--max-seconds", type=float)
    parser.add_argument("--grade", default="verified")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, _ = CASES[options.case](options.n, random_state=options.seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    solution = solve_by_landmarks(
        X, options.K, n_landmarks=options.landmarks or "auto", tol=options.tol, grade=options.grade,
        max_iter=options.max_iter, max_seconds=options.max_seconds, device=options.device,
    )  # fmt: skip
    beside = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    proof = solution.certificate
    row = {
        "case": options.case, "seed": options.seed, "n": solution.n, "d": X.shape[1], "K": solution.K,
        "landmarks": len(solution.landmarks), "gap": proof.gap, "lower": proof.lower, "upper": proof.upper,
        "grade": proof.grade, "status": solution.status.name, "residual": solution.residual, "steps": solution.n_iter,
        "seconds": round(solution.seconds, 1), "MB_beside_data": round(beside / 1024),
    }  # fmt: skip
    print(json.dumps(row))
    if options.out:
        rows = json.loads(options.out.read_text())["rows"] if options.out.exists() else []
        options.out.write_text(json.dumps({**facts(options.device), "rows": [*rows, row]}, indent=1) + "\n")


def table(rows, rows_of_gpu):
    """Header and rows of the table in docs/landmarks.md."""
    header = ["points", "n", "d", "landmarks", "residual", "gap, verified", "steps", "on", "seconds",
              "MB beside the data"]  # fmt: skip
    placed = [(row, "two cores") for row in rows] + [(row, "H200") for row in rows_of_gpu]
    return header, [
        [NAMES[row["case"]], f"{row['n']:,}", row["d"], row["landmarks"], f"{row['residual']:.1e}", f"{row['gap']:.1e}",
         row["steps"], place, f"{row['seconds']:.0f}", row["MB_beside_data"] or "-"]
        for row, place in placed
    ]  # fmt: skip


if __name__ == "__main__":
    main()
