"""Single cells: scanpy's bundled blood cells, the map of `sknomad.sc.nomad` beside UMAP, and clusters beside others.

    pip install 'sknomad[sc]' leidenalg igraph
    python benchmarks/cells.py --out benchmarks/results/cells.json --picture docs/images/cells.png

700 cells of pbmc68k_reduced by the fifty principal components that come with them. Known labels are `bulk_labels`, the
cell type whose bulk expression is most alike: themselves a guess. Every method as it comes; nothing was tuned.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from machine import facts
from matplotlib.figure import Figure
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score

from sknomad import plot, sc
from sknomad.plot.map_panel import round_length

MARKERS = ("o", "s", "^")


def rows(cells):
    """Clusters of every method, compared with the known labels."""
    truth = cells.obs["bulk_labels"].to_numpy()
    told = len(np.unique(truth))
    for method, what, find in methods(cells, told):
        began = time.perf_counter()
        labels = np.asarray(find()).astype(str)
        yield {
            "method": method,
            "told": what,
            "clusters": len(set(labels) - {"-1"}),
            "in_none": float(np.mean(labels == "-1")),
            "ari": float(adjusted_rand_score(truth, labels)),
            "seconds": round(time.perf_counter() - began, 1),
        }


def methods(cells, told):
    """Name, what it is told, and a function that finds labels."""
    import scanpy

    def leiden():
        scanpy.tl.leiden(cells, flavor="igraph", n_iterations=2, random_state=0)
        return cells.obs["leiden"]

    def layered(**options):
        sc.cluster(cells, **options)
        return cells.obs["nomad_cluster"]

    points, number = cells.obsm["X_pca"], f"that there are {told}"
    yield "sknomad.sc.cluster", "nothing", layered
    yield "HDBSCAN on the components", "nothing", lambda: HDBSCAN(copy=True).fit_predict(points)
    yield "HDBSCAN on UMAP's plane", "nothing", lambda: HDBSCAN(copy=True).fit_predict(cells.obsm["X_umap"])
    yield "Leiden, scanpy's settings", "resolution 1", leiden
    yield "sknomad.sc.cluster", number, lambda: layered(n_clusters=told)
    yield "k-means, best of ten", number, lambda: KMeans(told, n_init=10, random_state=0).fit_predict(points)


def picture(cells, path):
    """UMAP and the map, by known cell types."""
    sc.nomad(cells)
    proof, count = cells.uns["nomad"]["certificate"], cells.obs["nomad"].nunique()
    types = cells.obs["bulk_labels"].cat
    with plot.style():
        figure = Figure(figsize=(11, 4.4), layout="constrained")
        axes = figure.subplots(1, 2)
        for ax, key in zip(axes, ("X_umap", "X_nomad_map"), strict=True):
            for code, name in enumerate(types.categories):
                mine = cells.obsm[key][types.codes == code]
                colour, marker = plot.PALETTE[code % 7], MARKERS[code // 7]
                ax.scatter(*mine.T, s=11, color=colour, marker=marker, linewidths=0, label=name)
            ax.set(aspect="equal", adjustable="datalim", xticks=[], yticks=[], frame_on=False)
        axes[0].set_title("UMAP", loc="left")
        axes[1].set_title(f"NOMAD: {count} manifolds, each laid flat, gap {proof['gap']:.1e}", loc="left")
        width = np.ptp(cells.obsm["X_nomad_map"][:, 0])
        length = round_length(width / 4)
        left, bottom = cells.obsm["X_nomad_map"].min(axis=0)
        axes[1].plot([left, left + length], [bottom - 0.04 * width] * 2, color=plot.MUTED, linewidth=1.5)
        axes[1].annotate(f"{length:g}", (left + length, bottom - 0.04 * width), (4, 0), textcoords="offset points",
                         va="center", color=plot.MUTED)  # fmt: skip
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, markerscale=1.4)
    figure.savefig(path, dpi=110)


def main():
    import scanpy

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = scanpy.datasets.pbmc68k_reduced()
    if options.picture is not None:
        picture(cells, options.picture)
    if options.out is not None:
        found = []
        for row in rows(cells):
            print(row, flush=True)
            found.append(row)
        options.out.write_text(json.dumps({**facts(), "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
