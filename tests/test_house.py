"""The tree in CONTRIBUTING is that of the folder, in the order that `lint-imports` holds."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREE = re.search(r"```\nsrc/sknomad/\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
# The front door, which imports all rooms, and the way through it by `python -m`.
FRONT = {"__init__", "__main__"}


def test_tree_is_in_the_order_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    levels = [set(level.split(" | ")) - FRONT for level in reversed(settings["contracts"][0]["layers"])]
    shown = [line.split()[0].rstrip("/").removesuffix(".py") for line in TREE.group(1).splitlines()]
    for level in filter(None, levels):
        assert set(shown[: len(level)]) == level
        shown = shown[len(level) :]
    assert not shown


def test_tree_leaves_nothing_out():
    shown = {line.split()[0] for line in TREE.group(1).splitlines()}
    package = ROOT / "src" / "sknomad"
    there = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    there |= {path.name for path in package.glob("*.py") if path.stem not in FRONT}
    assert shown == there
