"""Claims and records: a number and a reason, and the certificate of every solve."""

import numpy as np
import pytest

from sknomad import Gram, certify
from sknomad.reproduce import Record
from sknomad.reproduce.record import certificates
from sknomad.ring import ring_optimum, ring_points

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def test_record_keeps_the_certificate_of_every_solve():
    record = Record(seed=0)
    X = ring_points(12)
    solution = record.solve("ring", X, 3, tol=1e-6)
    again = record.solve("gram", Gram.from_data(X), 3)
    proofs = certificates(record.arrays())
    assert [proof["name"] for proof in proofs] == ["ring", "gram"]
    assert proofs[0]["lower"] == solution.certificate.lower
    assert proofs[0]["upper"] >= ring_optimum(12, 3).value >= proofs[0]["lower"]
    assert proofs[0]["gap"] <= 1e-6
    assert proofs[1]["iterations"] == again.n_iter
    assert proofs[1]["grade"] == "eigen"


def test_record_of_wide_data_solves_the_same_problem(rng):
    X = rng.normal(size=(12, 40))
    solution = Record().solve("wide", X, 3)
    gram = Gram.from_data(X)
    assert np.allclose(solution.problem.gram.dense(), gram.dense(), atol=1e-10)
    assert solution.problem.gram.factor.shape[1] <= 12


def test_record_passes_an_interrupt_on(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sknomad._solving.judging.ProgramJudge.judge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Record().solve("rings", ring_points(12), 3)


def test_record_refuses_what_no_file_can_keep():
    with pytest.raises(TypeError, match="objects"):
        Record()["x"] = np.array([{}, None])


def test_certificates_from_elsewhere_can_be_kept():
    record = Record()
    solution = record.solve("here", ring_points(8), 2)
    record.certificate("there", solution.problem, certify(solution.problem, solution.iterate), 1.5, 7)
    assert certificates(record.arrays())[1]["seconds"] == 1.5
