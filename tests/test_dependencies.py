"""What pyproject.toml declares is what the code imports, and what `sknomad doctor` looks for."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from sknomad._command import doctor

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Distributions whose module has another name.
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "umap-learn": "umap"}
# Declared though nothing here imports them: CVXPY loads two by name; scanpy draws what `sknomad.sc` writes.
LOADED_BY_OTHERS = {"clarabel", "scs", "scanpy"}
# Names that type checkers alone import; mypy brings them.
FOR_TYPE_CHECKERS = {"typing_extensions"}
# Modules that are themselves imported inside functions alone: what they import is not imported at once.
ON_DEMAND = {"fused_kernels"}
# Extras for those who work on this library; nothing in it may need them.
FOR_DEVELOPERS = {"bench", "test", "docs", "dev"}


def modules_of(requirements):
    """Names to import, of requirements that are not extras of this library."""
    names = [re.match(r"[\w.-]+", requirement).group() for requirement in requirements]
    return {MODULES.get(name, name.replace("-", "_")) for name in names if name != PROJECT["name"]}


def imports_of(node):
    """Modules that one statement or expression imports, by full name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.level == 0 else []
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [constant.value for constant in node.args if isinstance(constant, ast.Constant)]
    return []


def imported(nodes):
    """Packages of others among what is imported."""
    names = {name.partition(".")[0] for node in nodes for name in imports_of(node)}
    return names - sys.stdlib_module_names - {"sknomad"} - FOR_TYPE_CHECKERS


def trees(without=()):
    return [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES if path.stem not in without]


NEEDED = modules_of(PROJECT["dependencies"])
EXTRAS = {
    name: modules_of(requirements)
    for name, requirements in PROJECT["optional-dependencies"].items()
    if name not in FOR_DEVELOPERS
}


def test_what_is_imported_is_declared():
    everything = imported(node for tree in trees() for node in ast.walk(tree))
    assert everything <= NEEDED.union(*EXTRAS.values())


def test_what_is_imported_at_once_is_no_extra():
    assert imported(node for tree in trees(ON_DEMAND) for node in tree.body) <= NEEDED
    statements = [node for tree in trees() for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not any(name in ast.unparse(node) for node in statements for name in ON_DEMAND)


def test_what_is_declared_is_imported():
    everything = imported(node for tree in trees() for node in ast.walk(tree))
    assert NEEDED.union(*EXTRAS.values()) - everything <= LOADED_BY_OTHERS


def test_doctor_looks_for_what_is_declared():
    assert modules_of(doctor.NEEDED) == NEEDED
    for package, (extra, _) in doctor.EXTRAS.items():
        assert modules_of([package]) <= EXTRAS[extra]


def test_hooks_use_the_ruff_of_the_constraints():
    pinned = re.search(r"^ruff==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    hooks = re.findall(r'"ruff==([^"]+)"', (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert set(hooks) == {pinned}


@pytest.mark.parametrize(("code", "names"), [
    ("import numpy as np", {"numpy"}), ("from scipy.linalg import eigh", {"scipy"}), ("from . import sibling", set()),
    ("import os", set()), ("import_module('umap')", {"umap"}), ("def f():\n    import torch", {"torch"}),
])  # fmt: skip
def test_imports_are_seen(code, names):
    assert imported(ast.walk(ast.parse(code))) == names
