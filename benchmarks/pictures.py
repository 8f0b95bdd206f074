"""The pictures of README, docs/pictures.md and docs/report.md.

python benchmarks/pictures.py                # all but the report, which needs chromium
python benchmarks/pictures.py --report       # that of the report alone
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, make_s_curve

from sknomad import NOMAD, datasets, plot, report

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def overview():
    """The demo's picture."""
    X, _ = datasets.double_swiss_roll(200)
    plot.overview(NOMAD(K=64).fit(X), X).savefig(IMAGES / "overview.png", dpi=130)


def maps():
    """Data above, maps below: three spirals, thin lines, an S-curve, two rings."""
    curve, along = make_s_curve(300, random_state=0)
    cases = [
        ("Three spirals", datasets.three_spirals(240)[0], 60, None),
        ("Six noisy lines", datasets.thin_lines(240, random_state=0)[0], 30, None),
        ("S-curve, seen from the side", curve[:, [0, 2, 1]], 25, along),
        ("Two rings", datasets.two_rings(120)[0], 16, None),
    ]
    with plot.style():
        figure = Figure(figsize=(11, 5.6), layout="constrained")
        above, below = figure.subplots(2, 4)
    for k, (title, X, K, colour) in enumerate(cases):
        model = NOMAD(K=K, tol=1e-2).fit(X)
        shade = None if colour is not None else model.order_
        labels = None if colour is not None else model.labels_
        plot.embedding(X[:, :2], labels, shade if colour is None else colour, ax=above[k]).set_title(title, loc="left")
        plot.map(model, "order" if colour is None else colour, ax=below[k])
        for bar in figure.axes[8:]:
            bar.remove()
    figure.savefig(IMAGES / "maps.png", dpi=110)


def panels():
    """The other panels, of six clouds."""
    X, truth = datasets.blobs(300, random_state=0)
    model = NOMAD().fit(X)
    with plot.style():
        figure = Figure(figsize=(11, 6), layout="constrained")
        axes = figure.subplots(2, 3).ravel()
    given = np.array(["a", "b", "c", "d", "e", "f"])[truth]
    given[::40] = "odd"
    plot.map(model, given=given, ax=axes[0]).set_title("map(model, given=labels)", loc="left")
    plot.affinity(model, ax=axes[1]).set_title("affinity(model)", loc="left")
    plot.spectrum(model, ax=axes[2]).set_title("spectrum(model)", loc="left")
    plot.tree(model, ax=axes[3]).set_title("tree(model)", loc="left")
    plot.bounds(model, ax=axes[4]).set_title("bounds(model)", loc="left")
    plot.certificate(model, ax=axes[5]).set_title("certificate(model)", loc="left")
    figure.savefig(IMAGES / "panels.png", dpi=110)


def page():
    """The report on five hundred digits, with their pictures, as Chromium shows it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("the picture of the report needs chromium on the PATH.")
    digits = load_digits()
    X, images, truth = digits.data[:500], digits.images[:500], digits.target[:500]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report(NOMAD(tol=1e-2).fit(X), X, path, images, [f"image {i}" for i in range(500)], labels=truth)
        options = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1900"]
        target = f"--screenshot={IMAGES / 'report.png'}"
        subprocess.run([chromium, *options, target, path.as_uri()], check=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    if parser.parse_args().report:
        page()
    else:
        overview()
        maps()
        panels()


if __name__ == "__main__":
    main()
