"""``index.html``: figures, claims and certificates of all finished experiments in a folder."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from .claims import Verdict
from .figure_style import DPI
from .registry import EXPERIMENTS
from .store import Report, read_report, write_text

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html.jinja"
# Pixels of the screen per inch of a figure: type of 7 points is then easy to read.
SCREEN = 120


def write_page(folder: Path, not_run: Mapping[str, str] | None = None) -> None:
    """Write the page of all experiments whose files lie in `folder`.

    `not_run` says why others were not run; those whose files are there from an earlier run are shown all the same.
    """
    finished = [entry for name in EXPERIMENTS if (entry := _entry(folder, name)) is not None]
    names = {entry["name"] for entry in finished}
    verdicts = sum((entry["verdicts"] for entry in finished), Counter())
    gaps = [entry["worst_gap"] for entry in finished if entry["worst_gap"] is not None]
    template = _environment().from_string(files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8"))
    page = template.render(
        experiments=finished,
        not_run={name: reason for name, reason in (not_run or {}).items() if name not in names},
        verdicts=[(verdict.value, verdicts[verdict.value]) for verdict in Verdict],
        solves=sum(len(entry["certificates"]) for entry in finished),
        worst_gap=max(gaps, default=None),
        minutes=sum(entry["seconds"] for entry in finished) / 60,
        quick=any(entry["quick"] for entry in finished),
        versions=finished[-1]["versions"] if finished else {},
    )
    write_text(folder / "index.html", page)


def check_can_write() -> None:
    """Refuse to begin where the page could not be made in the end."""
    _environment()


class Entry(Report):
    """What the page says about one experiment."""

    worst_gap: float | None  # of its certificates
    width: int  # pixels of the figure
    height: int
    shown_width: int  # pixels on the screen
    verdicts: Counter[str]
    files: list[str]  # to be downloaded


def _entry(folder: Path, name: str) -> Entry | None:
    """What the page says about one experiment, or None if it is not finished."""
    report = read_report(folder / f"{name}.json")
    size = _png_size(folder / f"{name}.png")
    if report is None or size is None:
        return None
    gaps = [proof["gap"] for proof in report["certificates"] if proof["gap"] is not None]
    return {
        **report,
        "worst_gap": max(gaps, default=None),
        "width": size[0],
        "height": size[1],
        "shown_width": round(size[0] * SCREEN / DPI),
        "verdicts": Counter(claim["verdict"] for claim in report["claims"]),
        "files": [f"{name}.{kind}" for kind in ("svg", "png", "npz", "json") if (folder / f"{name}.{kind}").exists()],
    }


def _png_size(path: Path) -> tuple[int, int] | None:
    """Width and height in pixels, from the header of a PNG file."""
    try:
        with path.open("rb") as file:
            header = file.read(24)
    except OSError:
        return None
    return struct.unpack(">II", header[16:24]) if header[:8] == b"\x89PNG\r\n\x1a\n" and len(header) == 24 else None


def _environment() -> Environment:
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise ImportError("the page needs jinja2: pip install 'sknomad[report]'.") from error
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = lambda value: "unknown" if value is None else f"{value:.6g}"
    environment.filters["gap"] = _gap
    return environment


def _gap(value: float | None) -> str:
    return "no bound" if value is None else "0" if value == 0 else f"{value:.1e}"
