"""Write the tables of README and docs from the result files, between their markers.

    python benchmarks/tables.py            (rewrites the files)
    python benchmarks/tables.py --check    (fails if a table is not what its file says)

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from coordinates import table_rows as coordinates_table
from default_times import table_rows as default_times_table
from images import table_rows as images_table
from landmarks import table as landmarks_table
from online import table as online_table
from options import table as options_table
from part_tables import TABLES as PART_TABLES
from part_tables import markdown
from rings import table_rows as rings_table
from single_digits import table_rows as digits_table
from suite import table as suite_table
from suite import wide_table
from timing import table as timing_table
from unrolling_tables import cells, map_quality, unrolling

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "performance",
            "performance_notes",
            "paper_solvers",
            "certified_kmeans",
            "automatic_choice",
            "automatic_choice_notes",
            "consensus",
            "order",
            "pictures",
            "landmarks",
            "online",
            "single_cells",
        )
    ),
]
MARKED = re.compile(r"(<!-- table: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rows_of(name):
    """The rows of a result file."""
    return json.loads((RESULTS / f"{name}.json").read_text())["rows"]


def seconds(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def cpu():
    rows = [[row["n"], seconds(row["seconds"]), f"{row['gap']:.1e}"] for row in rows_of("cpu_ones")]
    return markdown(["n", "seconds", "gap"], rows)


def h200():
    rows = []
    for row in [*rows_of("h200_zeros"), rows_of("h200_all")[0], *growth_rows("auto")]:
        name = f"{row['case'].split(',')[0].replace('growth', 'digits')}, n = {row['n']:,}, K = {row['K']}"
        rows.append([name, f"{row['gap']:.1e}", row["grade"], seconds(row["seconds"]), f"{row['peak_gb']:.1f} GB"])
    for row in growth_rows("soft"):
        name = f"soft assignments alone, n = {row['n']:,}, d = 50, K = {row['K']}, r = {row['rank']:.0f}"
        rows.append([name, "-", "-", seconds(row["seconds"]), f"{row['peak_gb']:.1f} GB"])
    return markdown(["problem", "proven gap", "grade", "seconds", "peak memory"], rows)


def growth_rows(name):
    return [row for row in rows_of("h200_growth") if row["case"] == f"growth, {name}"]


def exponents():
    found = json.loads((RESULTS / "h200_growth.json").read_text())["exponents"]
    sizes = {name: [row["n"] for row in growth_rows(name)] for name in ("auto", "soft")}
    rows = [
        [f"`{name}`", f"{min(ns):,} to {max(ns):,}", f"n^{found[f'growth, {name}']:.2f}"] for name, ns in sizes.items()
    ]
    return markdown(["solver", "n", "time grows as"], rows)


def kmeans():
    row = rows_of("h200_all")[1]
    best, bound, gap = f"{row['inertia']:,.0f}", f"{row['bound']:,.0f}", f"{100 * row['gap']:.2f} %"
    return markdown(["best inertia found", "no clustering can have less than", "gap"], [[best, bound, gap]])


def profile():
    cases = [*rows_of("cpu_profile"), *rows_of("h200_profile")]
    names = list(dict.fromkeys(name for row in cases for name in row["parts"]))
    rows = [[name, *(seconds(row["parts"].get(name, 0.0)) for row in cases)] for name in names]
    rows.append(["**total**", *(seconds(row["total"]) for row in cases)])
    rows.append(["floor of the steps: operations", *(seconds(row["floor_operations"]) for row in cases)])
    rows.append(["floor of the steps: bytes", *(seconds(row["floor_bytes"]) for row in cases)])
    rows.append(["steps over the larger floor", *(f"{row['iterating_over_floor']:.1f}x" for row in cases)])
    return markdown(["seconds", *(f"{row['case']}, n = {row['n']:,}" for row in cases)], rows)


def memory():
    measured = rows_of("cpu_memory")
    rows = [[row["solver"], row["n"], f"{row['peak'] / 2**20:.0f} MiB", f"{row['ratio']:.2f}"] for row in measured]
    return markdown(["solver", "n", "measured peak", "forecast / peak"], rows)


def accuracy():
    rows = []
    for row in rows_of("cpu_accuracy"):
        off = "-" if row["optimum"] is None else f"{(row['upper'] - row['optimum']) / row['optimum']:.0e}"
        rows.append([f"{row['case']}, K = {row['K']}", row["steps"], seconds(row["seconds"]), f"{row['gap']:.1e}", off])
    return markdown(["problem", "steps", "seconds", "proven gap", "upper bound above the known optimum"], rows)


def certified_kmeans():
    measured = {(row["case"], row["K"], row["cuts"]): row for row in rows_of("certified_kmeans")}
    rows = []
    for case, K in dict.fromkeys(key[:2] for key in measured):
        plain, cut = measured.get((case, K, False)), measured.get((case, K, True))
        either = min((row for row in (plain, cut) if row), key=lambda row: row["inertia"])
        ahead = 1 - either["inertia"] / either["kmeans_inertia"]
        shown = [f"{100 * ahead:.2g} %" if ahead > 1e-9 else "-"]
        for row in (plain, cut):
            shown += [f"{row['bound']:,.8g}", percent(row["gap"]), seconds(row["seconds"])] if row else ["-", "-", "-"]
        rows.append([f"{case}, n = {either['n']}", K, f"{either['inertia']:,.8g}", *shown])
    header = ["data", "K", "inertia", "better by", "bound", "gap", "s", "bound with cuts", "gap", "s"]
    return markdown(header, rows)


def percent(value):
    return f"{100 * value:.2g} %"


def stability():
    rows = [
        [row["method"], row["n"], f"{max(row['shuffled']):.0e}", f"{max(row['reseeded']):.0e}"]
        for row in rows_of("stability")
    ]
    return markdown(["method", "n", "shuffled rows", "another seed"], rows)


def headline():
    cpu_rows = {row["n"]: row for row in rows_of("cpu_ones")}
    rows = [[f"digit 1, n = {n}, K = 16", "2 CPU cores", seconds(cpu_rows[n]["seconds"])] for n in (1000, 2000)]
    zeros, everything = rows_of("h200_zeros")[0], rows_of("h200_all")[0]
    rows.append(["all 6,903 zeros, K = 128, verified", "one H200", seconds(zeros["seconds"])])
    rows.append(["all 70,000 digits, K = 10, verified", "one H200", seconds(everything["seconds"])])
    return markdown(["problem", "machine", "seconds"], rows)


TABLES = {
    "cpu": cpu,
    "h200": h200,
    "digits": lambda: markdown(*digits_table(rows_of("h200_digits"))),
    "digits-fine": lambda: markdown(*digits_table(rows_of("h200_digits_fine"))),
    "exponents": exponents,
    "kmeans": kmeans,
    "profile": profile,
    "memory": memory,
    "accuracy": accuracy,
    "unrolling": lambda: unrolling(rows_of("unrolling")),
    "map-quality": lambda: map_quality(rows_of("maps")),
    "cells": lambda: cells(rows_of("cells")),
    "timing": lambda: timing_table(rows_of("cpu_timing")),
    "timing-roll": lambda: timing_table(rows_of("cpu_timing_roll")),
    "options": lambda: markdown(*options_table(rows_of("cpu_options"))),
    "headline": headline,
    "default-times": lambda: markdown(*default_times_table(rows_of("default_times"))),
    "coordinates": lambda: markdown(*coordinates_table(rows_of("coordinates_reporting"))),
    "images": lambda: markdown(*images_table(rows_of("images"))),
    "rings": lambda: markdown(*rings_table(rows_of("rings_reporting"))),
    "landmarks": lambda: markdown(*landmarks_table(rows_of("landmarks"), rows_of("h200_landmarks"))),
    "online": lambda: markdown(*online_table(rows_of("online"))),
    "stability": stability,
    "wide": lambda: markdown(*wide_table(rows_of("suite_wide_before"), rows_of("suite_wide"))),
    "suite": lambda: markdown(*suite_table(rows_of("suite_cpu_development"), rows_of("suite_cpu"))),
    "certified-kmeans": certified_kmeans,
    **{f"parts-{name}": lambda make=make: make(rows_of) for name, make in PART_TABLES.items()},
}


def filled(text):
    """`text` with every marked table made again."""
    return MARKED.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}\n{match[3]}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for page in PAGES:
        text = page.read_text()
        if options.check and filled(text) != text:
            sys.exit(f"{page.name} is not what the result files say: run python benchmarks/tables.py")
        if not options.check:
            page.write_text(filled(text))


if __name__ == "__main__":
    main()
