"""The experiments use the library as its readers would: nothing private but how files are written,
versions read and processes counted.
"""

import ast
from pathlib import Path

import pytest

from sknomad import reproduce

FOLDER = Path(reproduce.__file__).parent
ALLOWED = {"store.py": {"_files.atomic", "_version"}, "runner.py": {"_numerics.threads"}}


def private_modules(source):
    """Modules of the library with an underscore that a source text imports from, lazily or not."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level]
    names = [f"{node.module or ''}.{alias.name}".strip(".") for node in imports for alias in node.names]
    return {name.rpartition(".")[0] for name in names if any(part.startswith("_") for part in name.split(".")[:-1])}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.stem)
def test_reproduce_imports_public_names_only(path):
    assert private_modules(path.read_text(encoding="utf-8")) <= ALLOWED.get(path.name, set())


def test_a_private_import_is_found():
    assert private_modules("def f():\n    from ..._points.forms import Point") == {"_points.forms"}
