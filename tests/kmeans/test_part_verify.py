"""Certificates by parts as files: proven again from the rows, never believed."""

import numpy as np
import pytest

from divided_data import clustered
from sknomad import FormatError, certify_kmeans, verify_certificate
from sknomad._files.archive import read_archive, write_archive
from sknomad._kmeans import parts as parts_module
from sknomad._kmeans.part_proof import pack_small, pack_whole
from sknomad._solving.certificate_file import CERTIFICATE


@pytest.fixture(scope="module")
def data():
    return clustered(160, 3, 3, seed=21)


@pytest.fixture
def path(data, tmp_path):
    certify_kmeans(*data, parts=2, max_iter=40).save(tmp_path / "proof.cert")
    return tmp_path / "proof.cert"


def edited(path, change):
    """The file with its header and arrays changed, and a right digest."""
    _, header, arrays = read_archive(path, CERTIFICATE)
    header, arrays = dict(header), dict(arrays)
    change(header, arrays)
    write_archive(path, CERTIFICATE, header, arrays)
    return path


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_a_file_proves_what_it_claims(data, path, grade):
    found = verify_certificate(path, data[0], grade=grade)
    assert found.holds
    assert found.same_data
    assert (found.claim, found.K, found.n, found.grade) == ("kmeans", 3.0, 160, grade)
    assert found.proven["lower_bound"] == pytest.approx(found.claimed["lower_bound"], rel=1e-9)


def test_parts_without_multipliers_are_solved_again(data, tmp_path, monkeypatch):
    monkeypatch.setattr(parts_module, "KEPT_SMALL", 0)
    proof = certify_kmeans(*data, parts=2, max_iter=40)
    assert proof.parts.triangles == (None, None)
    proof.save(tmp_path / "small.cert")
    assert (tmp_path / "small.cert").stat().st_size < 10_000
    found = verify_certificate(tmp_path / "small.cert", data[0])
    assert found.holds
    assert found.proven["lower_bound"] >= proof.lower_bound * (1 - 1e-9)


def test_half_precision_loses_little_and_is_what_is_claimed(data, tmp_path, monkeypatch):
    whole = certify_kmeans(*data, parts=2)
    monkeypatch.setattr(parts_module, "KEPT_WHOLE", 0)
    small = certify_kmeans(*data, parts=2)
    assert {kept.dtype for kept in small.parts.triangles} == {np.dtype(np.float16)}
    assert small.lower_bound == pytest.approx(whole.lower_bound, rel=1e-3)
    small.save(tmp_path / "half.cert")
    assert verify_certificate(tmp_path / "half.cert", data[0]).holds


def test_shares_can_be_saved_too(data, tmp_path):
    shares = np.random.default_rng(0).dirichlet([1.0, 1.0], 160)
    proof = certify_kmeans(*data, parts=shares, max_iter=40)
    proof.save(tmp_path / "shares.cert")
    assert verify_certificate(tmp_path / "shares.cert", data[0]).holds


def test_other_data_and_lies_do_not_hold(data, path):
    X = data[0]
    moved = verify_certificate(path, X * 0.9)
    assert not moved.holds
    assert not moved.same_data
    assert not verify_certificate(path, X[:-1]).holds

    def claim_more(header, arrays):
        header["claimed"] = {**header["claimed"], "lower_bound": header["claimed"]["inertia"]}
        arrays["bounds"] = arrays["bounds"] * 2

    found = verify_certificate(edited(path, claim_more), X)
    assert not found.holds
    assert found.proven["lower_bound"] < found.claimed["lower_bound"]


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: arrays.pop("numbers"),
        lambda header, arrays: arrays.update(numbers=arrays["numbers"] + 7),
        lambda header, arrays: arrays.update(numbers=-arrays["numbers"]),
        lambda header, arrays: arrays.update(bounds=-arrays["bounds"]),
        lambda header, arrays: arrays.update(bounds=arrays["bounds"] * np.nan),
        lambda header, arrays: arrays.update(scales=arrays["scales"][:1]),
        lambda header, arrays: arrays.update(labels=arrays["labels"] * 0.5),
        lambda header, arrays: header.update(K="three"),
        lambda header, arrays: header.update(grade="certain"),
        lambda header, arrays: header.update(claimed={"inertia": None, "lower_bound": 1.0}),
    ],
)
def test_contents_that_are_none_are_refused(data, path, change):
    with pytest.raises(FormatError, match="one that can be checked"):
        verify_certificate(edited(path, change), data[0])


def test_every_number_of_a_multiplier_may_be_wrong(data, path):
    """Whatever stands there, what is proven is below the inertia of the labels."""
    for wrong in (lambda N: N * 0 + 1e4, lambda N: -N, lambda N: N * np.nan, lambda N: N[:5], lambda N: N[::-1]):
        found = verify_certificate(
            edited(path, lambda header, arrays, wrong=wrong: arrays.update(N0=wrong(arrays["N0"]))), data[0]
        )
        assert 0 <= found.proven["lower_bound"] <= found.proven["inertia"]


@pytest.mark.parametrize("size", [1e-300, 1e-20, 1.0, 1e30, 1e200])
def test_packing_has_room_for_every_size(size):
    N = size * np.array([[0.0, 2.0], [2.0, 1.0]])
    for pack, error in ((pack_small, 1e-3), (pack_whole, 0)):
        assert pack(N).unpacked(2) == pytest.approx(N, rel=error, abs=0)
