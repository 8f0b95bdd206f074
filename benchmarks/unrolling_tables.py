"""Tables of docs/pictures.md: how flat known manifolds come out, and whether the map keeps neighbours."""

from part_tables import markdown

METHODS = ("isometric", "spectral", "Isomap, 8 neighbours", "Isomap, 5 neighbours", "UMAP")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def unrolling(rows):
    """Mean disparity by data and noise (rows) and method (columns); bold where it is least, to the digits shown."""
    head = ["data", "noise", *METHODS]
    body = []
    for data, noise in dict.fromkeys((row["data"], row["noise"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["noise"]) == (data, noise)]
        means = [mean(row["disparity"] for row in mine if row["method"] == method) for method in METHODS]
        shown = [f"{value:.4f}" for value in means]
        body.append([data, f"{noise:g}", *(f"**{text}**" if text == min(shown) else text for text in shown)])
    return markdown(head, body)


def map_quality(rows):
    """Trustworthiness and continuity of every method."""
    head = ["data", "n", "method", "trustworthiness", "continuity"]
    return markdown(
        head,
        [
            [row["data"], row["n"], row["method"], f"{row['trustworthiness']:.3f}", f"{row['continuity']:.3f}"]
            for row in rows
        ],
    )


def cells(rows):
    """Clusters of single cells by every method."""
    head = ["method", "told", "clusters", "cells in none", "adjusted Rand index"]
    return markdown(
        head,
        [
            [row["method"], row["told"], row["clusters"], f"{100 * row['in_none']:.0f} %", f"{row['ari']:.2f}"]
            for row in rows
        ],
    )
