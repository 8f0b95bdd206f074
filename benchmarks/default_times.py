"""What the automatic choice costs: estimators with no settings against one solve with a given K.

    python benchmarks/default_times.py --out benchmarks/results/default_times.json

Every row: median seconds of `NOMAD(K=16)`, `NOMAD()` and `MultiLayerNOMAD()` on the same points, one after another in
one process, and the parts found. The points were not looked at when anything was chosen.
"""

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path

from machine import facts
from sklearn.datasets import load_digits, make_blobs, make_moons, make_swiss_roll

from sknomad import NOMAD, MultiLayerNOMAD

SEED = 100
DATA = {
    "digits": lambda n: load_digits().data[:n],
    "half-rings": lambda n: make_moons(n, noise=0.05, random_state=SEED)[0],
    "eight blobs in 5-D": lambda n: make_blobs(n, centers=8, n_features=5, random_state=SEED)[0],
    "Swiss roll": lambda n: make_swiss_roll(n, random_state=SEED)[0],
}
ESTIMATORS = {"given": lambda: NOMAD(K=16), "nomad": NOMAD, "multilayer": MultiLayerNOMAD}


def timed(make, X, repeats):
    """Median seconds of a fit, and the model."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        model = make().fit(X)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), model


def measure(name, n, repeats):
    X = DATA[name](n)
    row = {"data": name, "n": n}
    for key, make in ESTIMATORS.items():
        row[key], model = timed(make, X, repeats)
    return row | {"parts": model.n_clusters_, "looks": len(model.search_.K_values)}


def table_rows(rows):
    """Header and cells of the table in the docs."""
    header = ["data", "n", "`NOMAD(K=16)`", "`NOMAD()`", "`MultiLayerNOMAD()`", "parts", "looks"]
    cells = []
    for row in rows:
        times = [f"{row[key]:.2g} ({row[key] / row['given']:.1f}x)" for key in ("nomad", "multilayer")]
        cells.append([row["data"], row["n"], f"{row['given']:.2g}", *times, row["parts"], row["looks"]])
    return header, cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    NOMAD(K=4).fit(DATA["digits"](100))  # the first call loads libraries
    rows = []
    for n in options.sizes:
        for name in DATA:
            rows.append(measure(name, n, options.repeats))
            print(rows[-1], flush=True)
    options.out.write_text(json.dumps({**facts("cpu"), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
