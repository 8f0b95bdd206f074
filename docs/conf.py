"""How the site is built: `make docs`, with warnings as errors, from files of this folder and of `examples` alone."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import sknomad

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# The gallery computes in the documentation's own process; one thread makes its pictures the same everywhere.
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "sknomad"
author = copyright = "The sknomad developers"
release = version = sknomad.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "gallery/*.json"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
default_role = "code"

myst_heading_anchors = 3
# Pages that are parts of others begin with a smaller heading, and records of the gallery cannot be pickled.
suppress_warnings = ["myst.header", "config.cache"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types that docstrings name
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 10**6,  # times depend on the machine
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = f"sknomad {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Have the first page read with all pages in it."""
    app.connect("source-read", _list_other_pages)


def _list_other_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Pages that the first page does not list come last, so that none is out of reach."""
    if page != "index":
        return
    listed = re.findall(r"^[\w/]+$", source[0], re.MULTILINE)
    others = sorted(path.stem for path in Path(app.srcdir).glob("*.md") if path.stem not in {*listed, "index"})
    source[0] = source[0].replace("\nchangelog\n", "\n" + "".join(f"{name}\n" for name in [*others, "changelog"]))
