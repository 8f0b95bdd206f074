"""How large a report is, and how soon it can be read: the table of docs/report.md.

    python benchmarks/report_sizes.py

Rings of 200, 2,000 and 20,000 points with further columns of noise, fitted roughly: neither size nor time depends on
how good the fit is. Times are of headless Chromium, until the page has drawn everything; they need chromium,
chromedriver and selenium.
"""

import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from selenium import webdriver

from sknomad import NOMAD, report
from sknomad.solvers import SoftAssignment

# Points, columns, and whether each point has a picture of noise, which no format makes smaller.
CASES = [(200, 2, False), (2_000, 12, False), (2_000, 12, True), (20_000, 8, False)]


def written(n, width, with_images, folder):
    """The report of a case, with a name and a label for every point."""
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle), *0.1 * random.standard_normal((width - 2, n))])
    model = NOMAD(K=12, solver=SoftAssignment(rank=36), max_iter=3, tol=1.0).fit(X)
    images = random.integers(0, 256, (n, 32, 32), dtype=np.uint8) if with_images else None
    path = Path(folder) / "report.html"
    report(model, X, path, images, [f"point {i:05d}" for i in range(n)], labels=(angle > np.pi).astype(int))
    return path


def seconds_to_open(path):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        browser.get("data:text/html,")
        began = time.perf_counter()
        browser.get(path.as_uri())
        assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
        return time.perf_counter() - began
    finally:
        browser.quit()


def main():
    warnings.simplefilter("ignore")
    for n, width, with_images in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = written(n, width, with_images, folder)
            size, seconds = path.stat().st_size, seconds_to_open(path)
        print(f"{n} points, {width} columns, pictures: {with_images}: {size / 1e6:.2f} MB, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
