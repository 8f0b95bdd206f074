"""Where results go: checked before the work, written whole or not at all."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from .command import RED, say_coloured, tell
from .file_bytes import STANDARD_INPUT


def check_out(out: Path, *, overwrite: bool) -> None:
    """Refuse a place that is a file or cannot be made, or a folder with something in it unless told to overwrite."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {str(out)!r}. Name another place.")
    if out.exists() and any(out.iterdir()) and not overwrite:
        raise ValueError(f"--out must be a new or empty folder, got {str(out)!r}. Pass --overwrite to write into it.")
    above = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
    if not above.is_dir() or not _may_write(out if out.exists() else above):
        raise ValueError(f"--out must be a folder that may be written to, got {str(out)!r}. Name another place.")


def check_out_file(out: Path | None, *, overwrite: bool) -> None:
    """Refuse a file that cannot be made, or that is there already unless told to overwrite."""
    if out is None:
        return
    check_file_place(out, "--out")
    if out.exists() and not overwrite:
        raise ValueError(f"--out must be a new file, got {str(out)!r}. Pass --overwrite to replace it.")


def check_file_place(path: Path, option: str) -> None:
    """Refuse a file that cannot be made, naming the option that asks for it."""
    if path.is_dir():
        raise ValueError(f"{option} must name a file, got the folder {str(path)!r}. Name a file in it.")
    folder = path.absolute().parent
    if not folder.is_dir() or not _may_write(folder):
        raise ValueError(
            f"{option} must name a file in an existing folder that may be written to, got {str(path)!r}. "
            f"Make the folder {str(folder)!r} first, or name another place."
        )


def check_places(options: argparse.Namespace) -> None:
    """Before the work, so that no result is lost to a place that cannot take it."""
    if options.out is not None:
        check_out(options.out, overwrite=options.overwrite)
    given = getattr(options, "file", None)
    taken = [] if given is None or str(given) == STANDARD_INPUT else [given.resolve()]
    for name in ("save", "certificate", "checkpoint", "report"):
        path: Path | None = getattr(options, name, None)
        if path is None:
            continue
        check_file_place(path, f"--{name}")
        if path.resolve() in taken:
            raise ValueError(f"--{name} must name a file of its own, got {str(path)!r}. Name another place.")
        taken.append(path.resolve())


def write_all(options: argparse.Namespace, writers: list[tuple[Path | None, Callable[[Path], object]]]) -> bool:
    """Write whatever was asked for; a place that fails is said and does not keep the others from being written."""
    all_written = True
    for path, write in writers:
        if path is None:
            continue
        try:
            write(path)
            tell(options, f"Wrote {path}.")
        except OSError as error:
            reason = f"{str(path)!r} could not be written: {error.strerror or error}."
            say_coloured("sknomad: error:", RED, reason)
            all_written = False
    return all_written


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
