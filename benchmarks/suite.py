"""Fourteen kinds of data, four K each: no setting is chosen on fewer problems than these.

    python benchmarks/suite.py run --jobs 16 --out benchmarks/results/suite_cpu.json
    python benchmarks/suite.py run --device cuda --out benchmarks/results/suite_h200.json
    python benchmarks/suite.py run --set wide --sizes 600 --jobs 2 --out benchmarks/results/suite_wide.json
    python benchmarks/suite.py picture benchmarks/results/suite_cpu.json docs/images/suite.png

Every row: steps (ten sweeps of soft assignments count as one), seconds, the proven gap, and the seconds as a multiple
of one full eigendecomposition in float64 by the same process. `--label` names what was run, so that
several runs can be joined in one picture: the share of problems solved within t times the fewest steps of any.
`--set wide` takes the 25 kinds of `wide_data` and seven K, from two patches to patches of two points, instead.
`--images FILE` reads MNIST's images from a file made by `python benchmarks/suite.py images FILE` where the data sets
are not at hand.
"""

import argparse
import json
import math
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from machine import facts
from suite_data import DATA, PATCHES, REPORTING_FROM
from threadpoolctl import threadpool_limits
from wide_data import DATA as WIDE_DATA
from wide_data import PATCHES as WIDE_PATCHES

from sknomad import Gram, KMeansSDP, solve
from sknomad.solvers import ADMM, Auto

# Kinds of data, K, and the fewest points per patch that a problem is asked for, of each set.
SETS = {"suite": (DATA, PATCHES, 4), "wide": (WIDE_DATA, WIDE_PATCHES, 2)}


def problems(options):
    """Every problem of a run: data, n, K, seed, the costliest first."""
    kinds, patches, fewest = SETS[options.set]
    return [
        (name, n, K, seed)
        for n in sorted(options.sizes, reverse=True)
        for K in sorted(patches, reverse=True)
        for seed in options.seeds
        for name in options.data or kinds
        if n >= fewest * K
    ]


def points(name, n, seed, options):
    key = f"{name}, {n}, {seed}"
    stored = {} if options.images is None else _images(options.images)
    return stored[key] / 255 if key in stored else SETS[options.set][0][name](n, seed)


@cache
def _images(path):
    with np.load(path) as file:
        return dict(file)


@cache
def decomposition_seconds(n, device):
    """Seconds of one full decomposition, best of three."""
    A = np.random.default_rng(0).standard_normal((n, n))
    if device == "cuda":
        import torch

        A = torch.asarray(A, device=device)
        return min(_seconds(lambda: torch.linalg.eigh(A + A.T)[0][0].item()) for _ in range(3))
    return min(_seconds(lambda: np.linalg.eigh(A + A.T)) for _ in range(3))


def _seconds(function):
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def measure(problem, options):
    """One row."""
    name, n, K, seed = problem
    program = KMeansSDP(Gram.from_data(points(name, n, seed, options)), K)
    auto = Auto.for_tolerance(options.tol, options.device)
    solver = {
        "auto": auto,
        "admm": ADMM(device=options.device),
        "points": replace(auto, points_below=400, admm=replace(auto.admm, exact_below=400)),
    }[options.solver]
    unit = decomposition_seconds(n, options.device)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = solve(program, solver, tol=options.tol, max_iter=options.cap, max_seconds=options.seconds)
    seconds = time.perf_counter() - started
    return {
        "label": options.label, "data": name, "n": n, "K": K, "seed": seed, "tol": options.tol,
        "steps": solution.n_iter, "seconds": round(seconds, 3), "decompositions": round(seconds / unit, 1),
        "gap": solution.certificate.gap, "certified": solution.is_certified,
    }  # fmt: skip


def run(options):
    todo = problems(options)
    if options.jobs > 1:
        # Whoever imported NumPy has set the number of threads before any variable could.
        with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
            rows = list(pool.map(measure, todo, [options] * len(todo)))
    else:
        rows = [measure(problem, options) for problem in todo]
    return rows


def summary(rows):
    """What the rows say in a line, and every problem that was not certified."""
    steps = [row["steps"] for row in rows if row["certified"]]
    print(f"{len(steps)} of {len(rows)} certified, steps: median {np.median(steps):.0f}, most {max(steps)}")
    for row in rows:
        if not row["certified"]:
            print(f"  open: {row['data']}, n = {row['n']}, K = {row['K']}: gap {row['gap']:.1e} after {row['steps']}")


def table(development, reporting):
    """Header and lines: steps with development and with reporting seeds, a line for each kind of data."""
    patches = sorted({row["K"] for row in development})
    cells = {(side, row["data"], row["K"]): _cell(row) for side in (0, 1) for row in (development, reporting)[side]}
    names = dict.fromkeys(row["data"] for row in development)
    lines = [[name, *(f"{cells[0, name, K]} / {cells[1, name, K]}" for K in patches)] for name in names]
    return ["steps, seed 0 / seed 100", *(f"K = {K}" for K in patches)], lines


def wide_table(before, now):
    """Header and lines: steps by K, of an earlier release and now, and how many problems took more than 150."""
    lines = []
    for K in sorted({row["K"] for row in now}):
        sides = [[row for row in rows if row["K"] == K] for rows in (before, now)]
        steps = [np.array([row["steps"] for row in side]) for side in sides]
        figures = [
            (f"{np.median(s):.0f}" for s in steps),
            (str(s.max()) for s in steps),
            (str((s > 150).sum()) for s in steps),
            (f"{sum(row['seconds'] for row in side):.0f}" for side in sides),
            (f"{max(row['decompositions'] for row in side):.0f}" for side in sides),
        ]
        lines.append([K, *(" / ".join(pair) for pair in figures)])
    header = ["K", "steps, median", "most", "problems above 150", "seconds for all 25", "decompositions, most"]
    return header, lines


def _cell(row):
    return str(row["steps"]) if row["certified"] else f"open after {row['steps']}"


def shares(rows, label, grid):
    """Share of problems that `label` solved within each factor of the fewest steps of any."""
    fewest, mine = {}, {}
    for row in rows:
        steps = row["steps"] if row["certified"] else math.inf
        fewest[_key(row)] = min(steps, fewest.get(_key(row), math.inf))
        if row["label"] == label:
            mine[_key(row)] = steps
    solved = [mine.get(key, math.inf) / best if best < math.inf else math.inf for key, best in fewest.items()]
    ratios = np.array(solved)
    return [float(np.mean(ratios <= t)) for t in grid]


def _key(row):
    return row["data"], row["n"], row["K"], row["seed"], row["tol"]


def picture(files, out):
    """The performance profile of all labels in some result files."""
    from matplotlib.figure import Figure

    from sknomad.plot import PALETTE, style

    rows = [row for file in files for row in json.loads(Path(file).read_text())["rows"]]
    grid = np.geomspace(1, 30, 200)
    with style():
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for label, colour in zip(dict.fromkeys(row["label"] for row in rows), PALETTE, strict=False):
            axes.plot(grid, shares(rows, label, grid), color=colour, label=label)
        axes.set(
            xscale="log",
            xlabel="steps, as a multiple of the fewest of all",
            ylabel="share of problems solved",
            ylim=(0, 1.02),
        )
        axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        axes.legend(loc="lower right", frameon=False)
        figure.savefig(out, dpi=160)


def store_images(path):
    """Keep the images that the suite draws, for machines without the data sets."""
    drawn = {
        f"{name}, {n}, {seed}": np.rint(255 * DATA[name](n, seed)).astype(np.uint8)
        for name in ("ones", "MNIST")
        for n, seeds in ((1000, (0, 1, REPORTING_FROM, REPORTING_FROM + 1)), (3000, (REPORTING_FROM,)))
        for seed in seeds
    }
    np.savez_compressed(path, **drawn)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--sizes", type=int, nargs="+", default=[1000])
    runner.add_argument("--seeds", type=int, nargs="+", default=[REPORTING_FROM])
    runner.add_argument("--set", choices=SETS, default="suite")
    runner.add_argument("--data", nargs="+", choices=[*DATA, *WIDE_DATA])
    runner.add_argument("--tol", type=float, default=1e-3)
    runner.add_argument("--cap", type=int, default=1000, help="most steps")
    runner.add_argument("--seconds", type=float, default=120.0, help="most seconds for a problem")
    runner.add_argument("--solver", choices=["auto", "admm", "points"], default="auto")
    runner.add_argument("--label", default="default")
    runner.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    runner.add_argument("--jobs", type=int, default=1, help="processes; each takes one thread where there are several")
    runner.add_argument("--images", help="file made by `images`")
    runner.add_argument("--out", type=Path, required=True)
    drawer = commands.add_parser("picture")
    drawer.add_argument("files", nargs="+")
    drawer.add_argument("out")
    commands.add_parser("images").add_argument("path")
    options = parser.parse_args()
    if options.command == "picture":
        picture(options.files, options.out)
    elif options.command == "images":
        store_images(options.path)
    else:
        rows = run(options)
        settings = {key: value for key, value in vars(options).items() if key not in ("out", "images", "command")}
        options.out.write_text(
            json.dumps({**facts(options.device), "settings": settings, "rows": rows}, indent=1) + "\n"
        )
        summary(rows)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
