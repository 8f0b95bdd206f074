"""The paper's studies of its own solvers, with the results kept as files.

    python benchmarks/paper.py convergence      violation and objective of the conditional gradient method, step by step
    python benchmarks/paper.py low-rank         the low-rank solver's Q against the optimum, rank by rank
    python benchmarks/paper.py cp-rank          error of symmetric nonnegative factorisation against its rank
    python benchmarks/paper.py options          what line search and block steps do to the conditional gradient method

Each writes benchmarks/results/paper_*.json (low-rank also the pictures of Q, as npz); `paper_figures.py` draws them.
The teapots are read from $SKNOMAD_DATA/teapots.
"""

import argparse
import itertools
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts
from scipy.io import loadmat

from sknomad import Gram, KMeansSDP, certify, cp_rank_profile, datasets, solve
from sknomad.ring import best_completely_positive_value, ring_optimum
from sknomad.solvers import BurerMonteiro, ConditionalGradient

RESULTS = Path(__file__).parent / "results"
FIRST_FITTED_STEP = 10  # the paper's claim is about what follows the first ten steps


def teapots():
    path = Path(os.environ["SKNOMAD_DATA"]) / "teapots" / "teapots100.mat"
    return loadmat(path)["teapots"].T.astype(float) / 255


def optimum(X, K, tol, max_iter=20_000):
    """A certified solution to hold the others against."""
    solution = solve(KMeansSDP(Gram.from_data(X), K), "admm", tol=tol, max_iter=max_iter)
    return solution.Q, solution.certificate


def power_law(steps, values):
    """Slope on log-log axes, and R^2 there and on semi-log axes."""
    x, y = np.log(steps), np.log(values)

    def r_squared(x):
        fit = np.polyval(np.polyfit(x, y, 1), x)
        return 1 - np.sum((y - fit) ** 2) / np.sum((y - y.mean()) ** 2)

    return {"slope": np.polyfit(x, y, 1)[0], "r2_log_log": r_squared(x), "r2_semi_log": r_squared(steps)}


def convergence(options):
    data = {
        "circles": (datasets.two_rings(200)[0], 16),
        "moons": (datasets.moons(200, random_state=0)[0], 16),
        "trefoil": (datasets.trefoil(200)[0], 16),
    }
    for (name, (X, K)), preset in itertools.product(data.items(), ("paper", "code")):
        problem = KMeansSDP(Gram.from_data(X), K)
        _, proof = optimum(X, K, 1e-4)
        columns = {"violation": [], "rmse": [], "own_gap": [], "value": []}
        started = time.perf_counter()
        for iterate in itertools.islice(ConditionalGradient(preset).iterates(problem), options.steps):
            for key in ("violation", "rmse", "own_gap"):
                columns[key].append(iterate.residuals[key])
            columns["value"].append(iterate.point.value(problem.gram))
        seconds = time.perf_counter() - started
        steps = np.arange(FIRST_FITTED_STEP, options.steps + 1)
        value = np.array(columns["value"])
        off = np.abs(value - proof.upper) / proof.upper
        settled = 1 + int(np.max(np.nonzero(off > 0.01)[0], initial=-1)) + 1
        yield {
            "data": name, "n": problem.n, "K": K, "preset": preset, "seconds": seconds,
            "fit": power_law(steps, np.array(columns["rmse"])[steps - 1]),
            "within_1_percent_from_step": settled, "optimum": [proof.lower, proof.upper],
            "certified_gap_at_the_end": certify(problem, iterate).gap, **columns,
        }  # fmt: skip


def low_rank(options):
    ring = datasets.ring(100)[0]
    data = {
        "one ring": (ring, 8, ring_optimum(100, 8).Q),
        "two rings": (datasets.two_rings(200)[0], 8, None),
        "teapots": (teapots(), 20, None),
    }
    pictures = {}
    for name, (X, K, known) in data.items():
        problem = KMeansSDP(Gram.from_data(X), K)
        Q, proof = optimum(X, K, 1e-5)
        Q = Q if known is None else known
        pictures[name] = [as_picture(Q, Q)]
        for multiple in (1, 2, 4, 8):
            solver = BurerMonteiro(f"{multiple}K")
            started = time.perf_counter()
            *_, last = itertools.islice(solver.iterates(problem), 1000)
            seconds = time.perf_counter() - started
            Y = last.point.Y
            pictures[name].append(as_picture(Y @ Y.T, Q))
            lower = certify(problem, last).lower
            row = {
                "data": name, "n": problem.n, "K": K, "rank": Y.shape[1], "multiple": multiple, "seconds": seconds,
                "relative_error": float(np.linalg.norm(Y @ Y.T - Q) / np.linalg.norm(Q)),
                "shortfall": 1 - lower / proof.upper, "gap_of_the_optimum": proof.gap,
                "share_of_hard_points": float(np.mean(last.point.as_soft().V.max(axis=1) > 0.95)),
            }  # fmt: skip
            if name == "one ring":
                row["shortfall_of_the_best_completely_positive"] = (
                    1 - best_completely_positive_value(100, 8) / proof.upper
                )
            yield row
    np.savez_compressed(RESULTS / "paper_low_rank.npz", **{name: np.stack(q) for name, q in pictures.items()})


def as_picture(Q, reference):
    """Grey values 0 to 255, on the scale of the reference."""
    return np.clip(np.round(255 * Q / reference.max()), 0, 255).astype(np.uint8)


def cp_rank(options):
    data = {
        "circles": (datasets.two_rings(200)[0], 16, [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200, 300]),
        "double Swiss roll": (
            datasets.double_swiss_roll(200)[0], 64, [8, 16, 32, 48, 64, 80, 96, 128, 160, 200, 250, 300]
        ),
    }  # fmt: skip
    for name, (X, K, ranks) in data.items():
        Q, proof = optimum(X, K, 1e-4)
        for rank in ranks:
            started = time.perf_counter()
            profile = cp_rank_profile(Q, [rank], options.starts)
            yield {
                "data": name, "n": len(X), "K": K, "rank": rank, "starts": options.starts,
                "seconds_per_start": (time.perf_counter() - started) / options.starts,
                "mean": float(profile.mean[0]), "spread": float(profile.spread[0]), "best": float(profile.best[0]),
                "gap_of_the_optimum": proof.gap,
            }  # fmt: skip


def conditional_gradient_options(options):
    data = {
        "ring": (datasets.ring(80)[0], 8),
        "blobs": (datasets.blobs(60, random_state=0)[0], 6),
        "moons": (datasets.moons(100, random_state=0)[0], 8),
        "noise": (np.random.default_rng(0).standard_normal((60, 10)), 6),
    }
    variants = [{}, {"line_search": True}, {"block": 4}, {"block": 4, "line_search": True}]
    for (name, (X, K)), preset, variant in itertools.product(data.items(), ("paper", "code"), variants):
        solver = ConditionalGradient(preset, **variant)
        solution = solve(KMeansSDP(Gram.from_data(X), K), solver, tol=1e-2, max_iter=options.steps)
        yield {
            "data": name, "n": len(X), "K": K, "preset": preset, "options": variant, "steps": solution.n_iter,
            "seconds": solution.seconds, "gap": solution.certificate.gap,
        }  # fmt: skip


STUDIES = {
    "convergence": convergence,
    "low-rank": low_rank,
    "cp-rank": cp_rank,
    "options": conditional_gradient_options,
}


def rounded(value):
    """Six digits are enough for figures, and keep the files small."""
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--steps", type=int, default=600, help="outer steps, at most (convergence, options)")
    parser.add_argument("--starts", type=int, default=50, help="random starts of each rank (cp-rank)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for row in STUDIES[options.study](options):
        row = rounded({key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()})
        print(json.dumps({key: value for key, value in row.items() if not isinstance(value, list)}), flush=True)
        rows.append(row)
    path = RESULTS / f"paper_{options.study.replace('-', '_')}.json"
    path.write_text(json.dumps({**facts(), "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
