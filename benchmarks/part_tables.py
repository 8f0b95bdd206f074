"""Tables of what `parts` measured, as Markdown."""

from itertools import pairwise
from statistics import mean

import numpy as np

from sknomad._manifolds.survey import FINE_UP_TO

# Samples of the bootstrap, and the share of them between the ends of an interval.
SAMPLES, INTERVAL = 10_000, 0.95
AGREEMENT = {
    "mean ARI: `auto`": "auto",
    "`several`": "several",
    "HDBSCAN": "hdbscan",
    "HDBSCAN, one allowed": "hdbscan_single",
    "told: ours": "told",
    "told: spectral": "spectral",
}
NUMBER_RIGHT = {"number right: `auto`": "auto", "`several` ": "several", "HDBSCAN ": "hdbscan"}
DIFFERENCES = {
    "`auto` - HDBSCAN": ("auto", "hdbscan"),
    "`auto` - HDBSCAN, one allowed": ("auto", "hdbscan_single"),
    "`several` - HDBSCAN": ("several", "hdbscan"),
    "told: ours - spectral": ("told", "spectral"),
}
# Confidence was fitted on draws with seeds below the first; those from the second on were drawn after all constants.
CALIBRATED_BELOW, REPORTED_FROM = 203, 205
SAID = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
SHIFTS = (-np.inf, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def share(values):
    return f"{100 * mean(values):.0f} %" if values else "-"


def chosen(rows, **wanted):
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def interval(rows, first, second):
    """Mean difference and its interval, by a bootstrap over data sets: draws of one set are not independent."""
    differences = {}
    for row in rows:
        differences.setdefault(row["data"], []).append(row[first][1] - row[second][1])
    means = np.array([mean(values) for values in differences.values()])
    samples = np.random.default_rng(0).integers(0, len(means), (SAMPLES, len(means)))
    low, high = np.quantile(means[samples].mean(axis=1), [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    text = f"{means.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"**{text}**" if low > 0 else text


def summary(columns):
    """Agreement, number right and differences; `columns` are rows of measurements by title."""
    lines = [[title, *(f"{mean(row[name][1] for row in rows):.3f}" for rows in columns.values())]
             for title, name in AGREEMENT.items()]  # fmt: skip
    lines += [[title, *(share([row[name][0] == row["parts"] for row in rows]) for rows in columns.values())]
              for title, name in NUMBER_RIGHT.items()]  # fmt: skip
    lines += [[title, *(interval(rows, *pair) for rows in columns.values())] for title, pair in DIFFERENCES.items()]
    return markdown(["", *columns], lines)


def split(columns):
    """Share of single pieces that were divided, by number of points."""
    lines = []
    for title, rows in columns.items():
        for n in sorted({row["n"] for row in rows}):
            found = chosen(rows, n=n)
            parted = [f"{100 * mean(row[name][0] > 1 for row in found):.1f} %"
                      for name in ("auto", "hdbscan", "hdbscan_single")]  # fmt: skip
            lines.append([title, n, len(found), *parted])
    return markdown(["", "n", "pieces", "`auto`", "HDBSCAN", "HDBSCAN, one allowed"], lines)


def curve(columns):
    """What another threshold would give: share of single pieces divided, and agreement on the other kinds."""
    lines = []
    for shift in SHIFTS:
        cells = []
        for rows in columns.values():
            is_several = [(row["strength"] > shift, row) for row in rows]
            if rows[0]["kind"] == "single":
                cells.append(f"{100 * mean(several and row['several'][0] > 1 for several, row in is_several):.1f} %")
            else:
                cells.append(f"{mean(row['several'][1] if several else 0.0 for several, row in is_several):.3f}")
        title = "always several" if np.isinf(shift) else f"{shift:+.2f}" if shift else "**0**"
        lines.append([title, *cells])
    return markdown(["threshold moved by", *columns], lines)


def reliability(columns, *, told=False):
    """What confidence said, and how often it was right; kinds as they come."""
    lines = []
    for low, high in pairwise(SAID):
        cells = []
        for rows in columns.values():
            said = "told_confidence" if told else "confidence"
            found = [row for row in rows if said in row and low <= row[said] < high]
            right = [row["told"][1] >= 0.9 if told else row["auto"][0] == row["parts"] for row in found]
            cells.append(f"{mean(row[said] for row in found):.2f}, {mean(right):.2f} ({len(found)})" if found else "-")
        lines.append([f"{low:g} to {high:g}", *cells])
    return markdown(["says", *columns], lines)


def reported(rows):
    """The draws that no constant was chosen on."""
    return [row for row in rows if row["seed"] >= REPORTED_FROM]


def by_size(rows):
    """Rows below and from the number of points where patches change."""
    sides = {f"up to {FINE_UP_TO} points": True, f"above {FINE_UP_TO} points": False}
    found = {title: [row for row in rows if (row["points"] <= FINE_UP_TO) == side] for title, side in sides.items()}
    return {title: some for title, some in found.items() if some}


def defaults(rows):
    """Numbers of parts and agreement with plain defaults."""
    methods = ("NOMAD()", "MultiLayerNOMAD()", "HDBSCAN, filled", "UMAP + HDBSCAN", "k-means, told")
    lines = [
        [row["data"], row["parts"], *(cell(*row[method], row["parts"]) for method in methods), row["confidence"]]
        for row in rows
    ]
    return markdown(["data", "parts", *(f"`{m}`" if "()" in m else m for m in methods), "`confidence_`"], lines)


def cell(parts, ari, true_parts):
    """Number of parts, and agreement unless there is one part only, where that would say nothing."""
    return str(parts) if true_parts == 1 else f"{parts}, {ari:.2f}"


def side_by_side(rows_of, n):
    """Draws of the sets and families that shaped the rule, new draws of the same, and families it never saw."""
    development, reporting = rows_of("parts_development"), reported(rows_of("parts_reporting"))
    columns = {}
    for kind in ("sets", "families"):
        columns[f"{kind}, development"] = chosen(development, kind=kind, n=n)
        columns[f"{kind}, reporting"] = chosen(reporting, kind=kind, n=n)
    columns["families never seen"] = chosen(reporting, kind="unseen", n=n)
    return summary(columns)


def new_draws(rows_of, n):
    """What `side_by_side` shows, of draws for reporting alone."""
    rows = chosen(reported(rows_of("parts_reporting")), n=n)
    kinds = {"sets": "sets", "families": "families", "families never seen": "unseen"}
    return summary({title: chosen(rows, kind=kind) for title, kind in kinds.items()})


def sizes(rows_of):
    """Draws of the sets for reporting, by number of points."""
    rows = chosen(reported(rows_of("parts_reporting")), kind="sets")
    return summary({f"{n} points": chosen(rows, n=n) for n in sorted({row["n"] for row in rows})})


def headline(rows_of):
    """One table for the README: reporting seeds, 300 points."""
    rows = chosen(reported(rows_of("parts_reporting")), n=300)
    kinds = {
        "sets that shaped the rule": "sets",
        "its families, new draws": "families",
        "families never seen": "unseen",
    }
    wanted = {
        "`MultiLayerNOMAD()`": "auto",
        "`allow_single_cluster=False`": "several",
        "HDBSCAN": "hdbscan",
        "number told: `n_clusters=`": "told",
        "number told: spectral clustering": "spectral",
    }
    lines = [
        [title, *(f"{mean(row[name][1] for row in chosen(rows, kind=kind)):.2f}" for kind in kinds.values())]
        for title, name in wanted.items()
    ]
    return markdown(["mean adjusted Rand index", *kinds], lines)


def both_splits(rows_of):
    seeds = {"development": rows_of("parts_development"), "reporting": reported(rows_of("parts_reporting"))}
    return split({title: chosen(rows, kind="single") for title, rows in seeds.items()})


def both_curves(rows_of):
    development = chosen(rows_of("parts_development"), n=300)
    reporting = chosen(reported(rows_of("parts_reporting")), n=300)
    columns = {"single, development": chosen(development, kind="single")}
    columns["single, reporting"] = chosen(reporting, kind="single")
    columns["sets, development"] = chosen(development, kind="sets")
    columns |= {f"{kind}, reporting": chosen(reporting, kind=kind) for kind in ("sets", "families", "unseen")}
    return curve(columns)


def reported_reliability(rows_of, *, told=False):
    columns = by_size(reported(rows_of("parts_reporting")))
    columns |= {f"{title}: sets alone": chosen(found, kind="sets") for title, found in columns.items()}
    return reliability(columns, told=told)


def several_images(rows_of):
    """Several kinds of digit, by collection and number of images."""
    rows, columns = chosen(rows_of("parts_images"), kind="images"), {}
    for collection in ("small digits", "MNIST"):
        for n in sorted({row["n"] for row in rows}):
            found = [row for row in chosen(rows, n=n) if row["data"].startswith(collection)]
            columns[f"{collection}, {n}"] = found
    return summary(columns)


def images_alone(rows_of):
    rows = chosen(rows_of("parts_images"), kind="alone")
    whats = {"digits of MNIST": "MNIST", "recordings": "recording"}
    return split({title: [row for row in rows if row["data"].startswith(what)] for title, what in whats.items()})


# By name: functions of one that gives the rows of a result file.
TABLES = {
    "images": several_images,
    "alone": images_alone,
    "headline": headline,
    "few": lambda rows_of: side_by_side(rows_of, 100),
    "between": lambda rows_of: side_by_side(rows_of, 150),
    "middle": lambda rows_of: side_by_side(rows_of, 300),
    "reporting": lambda rows_of: new_draws(rows_of, 300),
    "sizes": sizes,
    "split": both_splits,
    "curve": both_curves,
    "confidence": reported_reliability,
    "told": lambda rows_of: reported_reliability(rows_of, told=True),
    "defaults": lambda rows_of: defaults(rows_of("parts_defaults")),
}


def print_tables(rows):
    """All tables of one file of `parts`."""
    if "kind" not in rows[0]:
        print(defaults(rows))
        return
    several = [kind for kind in ("sets", "families", "unseen") if chosen(rows, kind=kind)]
    for n in sorted({row["n"] for row in rows}):
        columns = {kind: chosen(rows, kind=kind, n=n) for kind in several}
        single = chosen(rows, kind="single", n=n)
        columns = {kind: found for kind, found in columns.items() if found}
        if columns:
            print(f"\nn = {n}\n\n{summary(columns)}")
            print(f"\n{reliability(columns | {'single': single, 'all': chosen(rows, n=n)})}")
            print(f"\n{reliability(columns, told=True)}")
        if single:
            print(f"\nn = {n}\n\n{curve({'single': single} | columns)}")
    if chosen(rows, kind="single"):
        print("\n" + split({"single": chosen(rows, kind="single")}))
    print("\n" + reliability(by_size(rows)))
