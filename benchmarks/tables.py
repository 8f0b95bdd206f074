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
from statistics import mean

from clustering import CHOOSERS, HELD_OUT, METHODS, ONES, SETS, TUNED_ON
from options import table as options_table
from timing import table as timing_table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("performance", "paper_solvers", "certified_kmeans", "automatic_choice")
    ),
]
MARKED = re.compile(r"(<!-- table: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rows_of(name, data=None):
    """The rows of a result file; of those about clustering, only those of `data`, or of several manifolds."""
    rows = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return [row for row in rows if row["data"] in (data or SETS)] if name == "clustering" else rows


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


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


def clustering():
    """Mean agreement by data set and noise, over sizes and seeds; the best of each row in bold."""
    return agreement(SETS)


def clustering_held_out():
    """The same on data that came after the rule."""
    return agreement(HELD_OUT)


def agreement(data):
    table = clustering_means("data", "noise", data=data)
    methods = list(METHODS)
    cases = sorted({group[1:] for group in table}, key=lambda case: (list(data).index(case[0]), case[1]))
    rows = [[f"{name}, noise {noise:g}", *in_bold(table, (name, noise), methods)] for name, noise in cases]
    return markdown(["data", *methods], rows)


def clustering_summary():
    """The same over all data, over those without noise, and over those that the rule was not made on."""
    methods = list(METHODS)
    kinds = {
        "all": lambda row: True,
        "without noise": lambda row: row["noise"] == 0,
        "noise 0.05": lambda row: row["noise"] == 0.05,
        "noise 0.1": lambda row: row["noise"] == 0.1,
        "not used to make the rule": lambda row: row["data"] not in TUNED_ON,
    }
    means = {name: clustering_means(belongs=belongs) for name, belongs in kinds.items()}
    if rows_of("clustering", HELD_OUT):
        means["held out, see below"] = clustering_means(data=HELD_OUT)
    rows = [[name, *in_bold(found, (), methods)] for name, found in means.items()]
    return markdown(["mean over", *methods], rows)


def clustering_confidence():
    """How often the automatic number of clusters is right, by confidence."""
    true_number = {"three spirals": 3, "blobs": 6}
    found = [row for row in rows_of("clustering") if row["method"] == "MultiLayerNOMAD"]
    rows = []
    for low, high in ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 1.01)):
        inside = [row for row in found if low <= row["confidence"] < high]
        right = sum(row["clusters"] == true_number.get(row["data"], 2) for row in inside)
        rows.append([f"{low:g} to {min(high, 1):g}", len(inside), f"{right / len(inside):.0%}" if inside else "-"])
    return markdown(["confidence", "runs", "number of clusters right"], rows)


def clustering_one():
    """How often single manifolds and clouds are left in one piece."""
    found = rows_of("clustering", ONES)
    rows = []
    for name in dict.fromkeys(row["data"] for row in found):
        mine = {
            method: [r["clusters"] <= 1 for r in found if (r["data"], r["method"]) == (name, method)]
            for method in CHOOSERS
        }
        rows.append([name, *(f"{sum(answers)} of {len(answers)}" for answers in mine.values())])
    return markdown(["data", *CHOOSERS], rows)


def clustering_means(*names, belongs=lambda row: True, data=SETS):
    """Mean index of each method for each combination of `names`.

    Means are over seeds first, so that runs without noise, the same for all seeds, weigh as much as the others.
    """
    cells = {}
    for row in filter(belongs, rows_of("clustering", data)):
        cell = (row["method"], *(row[name] for name in names)), (row["data"], row["noise"], row["n"])
        cells.setdefault(cell, []).append(row["ari"])
    groups = {}
    for (group, _), values in cells.items():
        groups.setdefault(group, []).append(mean(values))
    return {group: mean(values) for group, values in groups.items()}


def in_bold(table, case, methods):
    values = [table.get((method, *case)) for method in methods]
    best = max(value for value in values if value is not None)
    texts = ["-" if value is None else f"{value:.2f}" for value in values]
    return [f"**{text}**" if text == f"{best:.2f}" else text for text in texts]


TABLES = {
    "cpu": cpu,
    "h200": h200,
    "exponents": exponents,
    "kmeans": kmeans,
    "profile": profile,
    "memory": memory,
    "accuracy": accuracy,
    "timing": lambda: timing_table(rows_of("cpu_timing")),
    "comparison": lambda: timing_table(rows_of("cpu_comparison"), compare=True),
    "options": lambda: markdown(*options_table(rows_of("cpu_options"))),
    "headline": headline,
    "stability": stability,
    "certified-kmeans": certified_kmeans,
    "clustering": clustering,
    "clustering-summary": clustering_summary,
    "clustering-held-out": clustering_held_out,
    "clustering-one": clustering_one,
    "clustering-confidence": clustering_confidence,
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
