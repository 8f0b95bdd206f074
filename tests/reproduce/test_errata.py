"""Every erratum is shown by its check, and the page of the docs has it."""

from pathlib import Path

import pytest

from sknomad.datasets import DataUnavailableError
from sknomad.reproduce import Verdict
from sknomad.reproduce.claims import Source
from sknomad.reproduce.errata import ERRATA
from sknomad.reproduce.experiments import errata

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.check.__name__)
def test_the_check_fails_as_printed_and_passes_corrected(erratum):
    try:
        printed, corrected = erratum.check()
    except DataUnavailableError as error:
        pytest.skip(str(error))
    assert corrected < 1e-4 < 0.1 < printed
    assert Source(erratum.place, erratum.quotation).place == erratum.place


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.check.__name__)
def test_the_docs_have_every_erratum(erratum):
    line = next(line for line in PAGE.splitlines() if erratum.printed in line)
    assert erratum.place in line
    assert erratum.corrected in line


def test_without_its_data_an_erratum_is_not_tested(monkeypatch):
    def missing():
        raise DataUnavailableError("no files")

    lost = errata.Erratum("Figure 16", "all 9603", "There are 9603.", "There are 6903.", "distance", missing)
    monkeypatch.setattr(errata, "ERRATA", (ERRATA[0], lost))
    record = errata.Record()
    errata.compute(record, quick=True)
    first, second = errata.claims(record.arrays())
    assert first.verdict is Verdict.PAPER
    assert second.verdict is Verdict.UNTESTED
    assert len(errata.draw(record.arrays()).axes) == 1
