"""Text files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

from .._files.atomic import written_whole


def write_whole(path: Path, text: str) -> None:
    """Write a text file, atomically, with the same line ends on every system."""
    with written_whole(path) as file:
        file.write(text.encode())
