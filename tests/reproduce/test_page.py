"""The page: a map without a forgotten place, an address for every claim, gaps of our own solver alone."""

import json

import pytest

from sknomad import reproduce
from sknomad.reproduce import Claim, Verdict
from sknomad.reproduce.claims import paper
from sknomad.reproduce.coverage import PLACES
from small_experiments import Page

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture
def page(tmp_path, experiments):
    moons = paper("Figure 5", "two <submatrices>")
    experiments.first.claims = lambda arrays: [
        Claim("It is so.", "1", Verdict.HOLDS, source=moons),
        Claim("It is so.", "2", Verdict.PAPER, "Because of 2.", moons),
        Claim("It is short.", "3", Verdict.OURS, "By 1.", paper("Figure 7", "closed"), "4 of them"),
    ]
    reproduce.run_experiments(["first", "second"], tmp_path)
    return Page(tmp_path / "index.html")


def test_every_place_of_the_paper_is_in_the_map(page):
    for place, about in PLACES.items():
        assert f"{place} {about.about}" in page.text
    assert "not run here: ring" in page.text


def test_every_claim_has_an_address_and_all_addresses_lead_somewhere(page):
    assert {"first-it-is-so", "first-it-is-so-2", "first-it-is-short"} <= page.ids
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert page.links.count("#first-it-is-so-2") == 2  # in the map and beside the claim


def test_source_reason_and_what_would_mend_it_are_shown(page):
    assert "Figure 5: \u201ctwo <submatrices>\u201d" in page.text
    assert "Because of 2." in page.text
    assert "It would hold with 4 of them." in page.text
    assert all(verdict.meaning in page.text for verdict in Verdict)


def test_the_header_speaks_of_our_gaps_alone(tmp_path, experiments):
    reproduce.run_experiments(["first"], tmp_path)
    path = tmp_path / "first.json"
    report = json.loads(path.read_text())
    other = {**report["certificates"][0], "name": "other", "by": "SCS", "gap": 0.77}
    path.write_text(json.dumps(report | {"certificates": [*report["certificates"], other]}))
    reproduce.run_experiments(["second"], tmp_path)
    text = Page(tmp_path / "index.html").text
    assert "7.7e-01 eigen" in text  # in the table of certificates
    assert "2 certified solves of ours" in text
    assert "7.7e-01 largest" not in text


def test_machine_date_and_code_are_named(tmp_path):
    reproduce.run_experiments(["moons"], tmp_path, quick=True)
    report = json.loads((tmp_path / "moons.json").read_text())
    page = Page(tmp_path / "index.html")
    assert report["machine"] in page.text
    assert report["date"] in page.text
    assert "moons.py" in page.links
    assert "def compute" in (tmp_path / "moons.py").read_text()
