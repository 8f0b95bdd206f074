"""``index.html``: figures, claims and certificates of all finished experiments in a folder."""

from __future__ import annotations

import itertools
import re
import struct
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from .claims import Verdict
from .coverage import PLACES
from .figure_style import DPI
from .record import OURS, Proof
from .registry import EXPERIMENTS
from .store import Report, read_report, write_text

if TYPE_CHECKING:
    from jinja2 import Environment

ANCHOR_WORDS = 8  # of a claim's sentence, in its address
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
    template = _environment().from_string(_file("page.html.jinja"))
    page = template.render(
        style=_file("page.css"),
        script=_file("page.js"),
        experiments=finished,
        coverage=_coverage(finished),
        not_run={name: reason for name, reason in (not_run or {}).items() if name not in names},
        verdicts=[(verdict, verdicts[verdict.name]) for verdict in Verdict],
        solves=sum(len(_ours(entry["certificates"])) for entry in finished),
        worst_gap=max(gaps, default=None),
        minutes=sum(entry["seconds"] for entry in finished) / 60,
        quick=any(entry["quick"] for entry in finished),
        machines=_machines(finished),
        versions=finished[-1]["versions"] if finished else {},
    )
    write_text(folder / "index.html", page)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def check_can_write() -> None:
    """Refuse to begin where the page could not be made in the end."""
    _environment()


class ShownClaim(TypedDict):
    """A claim as the page shows it: the fields of `Claim.to_json`, and where it stands."""

    sentence: str
    number: str
    verdict: str
    why: str
    place: str
    quotation: str
    mend: str
    key: str  # name of the verdict, for colours and filters
    anchor: str  # its address on the page


class Entry(Report):
    """What the page says about one experiment."""

    shown: list[ShownClaim]
    worst_gap: float | None  # of our own certificates
    width: int  # pixels of the figure
    height: int
    shown_width: int  # pixels on the screen
    verdicts: Counter[str]  # how many claims have each, by its name
    files: list[str]  # to be downloaded
    code: str  # file with its code, or empty


class Row(TypedDict):
    """A line of the map of what is covered."""

    place: str  # in the paper
    about: str
    experiments: tuple[str, ...]  # that speak of it
    claims: list[ShownClaim]


def _entry(folder: Path, name: str) -> Entry | None:
    """What the page says about one experiment, or None if it is not finished."""
    report = read_report(folder / f"{name}.json")
    size = _png_size(folder / f"{name}.png")
    if report is None or size is None:
        return None
    gaps = [proof["gap"] for proof in _ours(report["certificates"]) if proof["gap"] is not None]
    claims = _shown(name, report["claims"])
    return {
        **report,
        "shown": claims,
        "worst_gap": max(gaps, default=None),
        "width": size[0],
        "height": size[1],
        "shown_width": round(size[0] * SCREEN / DPI),
        "verdicts": Counter(claim["key"].upper() for claim in claims),
        "files": [f"{name}.{kind}" for kind in ("svg", "png", "npz", "json") if (folder / f"{name}.{kind}").exists()],
        "code": f"{name}.py" if (folder / f"{name}.py").exists() else "",
    }


def _ours(proofs: list[Proof]) -> list[Proof]:
    return [proof for proof in proofs if proof["by"] == OURS]


def _shown(name: str, claims: list[dict[str, str]]) -> list[ShownClaim]:
    """Claims with their anchors, made of the experiment's name and their first words, and unique."""
    shown: list[ShownClaim] = []
    taken: set[str] = set()
    for claim in claims:
        words = re.findall(r"[a-z0-9]+", claim["sentence"].lower())[:ANCHOR_WORDS]
        stem = "-".join([name, *words])
        numbered = (f"{stem}-{k}" for k in itertools.count(2))
        anchor = next(name for name in itertools.chain([stem], numbered) if name not in taken)
        taken.add(anchor)
        key = Verdict(claim["verdict"]).name.lower()
        shown.append(cast(ShownClaim, {**claim, "key": key, "anchor": anchor}))
    return shown


def _coverage(finished: list[Entry]) -> list[Row]:
    """Every place of the paper with the claims that speak of it."""
    found: dict[str, list[ShownClaim]] = {place: [] for place in PLACES}
    for entry in finished:
        for claim in entry["shown"]:
            if claim["place"]:
                found[claim["place"]].append(claim)
    return [
        {"place": place, "about": PLACES[place].about, "experiments": PLACES[place].experiments, "claims": claims}
        for place, claims in found.items()
    ]


def _machines(finished: list[Entry]) -> list[str]:
    """Each machine once, with the days on which it computed, and what it computed if there are several."""
    by_machine: dict[str, list[Entry]] = {}
    for entry in finished:
        by_machine.setdefault(entry["machine"], []).append(entry)
    lines = []
    for machine, entries in by_machine.items():
        days = sorted({entry["date"] for entry in entries})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        what = f" ({', '.join(entry['name'] for entry in entries)})" if len(by_machine) > 1 else ""
        lines.append(f"{machine}, {when}{what}")
    return lines


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
