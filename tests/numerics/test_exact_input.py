"""What float64 cannot hold: taken relative to the first row, in whole numbers, or refused with a sentence."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from oracles import exact_squares, nearly_all
from sknomad import (
    NOMAD,
    CertifiedKMeans,
    Gram,
    KMeansSDP,
    certify_kmeans,
    cli,
    kmeans_objective,
    load,
    solve,
    verify_certificate,
)
from sknomad._numerics.exact_input import exact_table

START = 1_700_000_000_000_000_000  # nanoseconds
STAMPS = START + np.array([[0], [100], [300]])
REFUSED = r"must hold numbers that float64 can represent, got another one at (row|index) \d.* Subtract what"


@pytest.mark.parametrize("kind", [np.int64, np.uint64, list, pd.DataFrame], ids=["int64", "uint64", "list", "frame"])
@pytest.mark.parametrize("grade", ["eigen", "verified"])
@pytest.mark.parametrize("K", [2, 2.5])
def test_time_stamps_lose_nothing(kind, grade, K):
    """For K = 2 the optimum is 41666.67; rounded to float64 the stamps gave 43690.67."""
    given = {list: STAMPS.tolist(), pd.DataFrame: pd.DataFrame(STAMPS)}.get(kind)
    given = STAMPS.astype(kind) if given is None else given
    value = nearly_all(exact_squares(STAMPS, "data"), K).value
    fitted = NOMAD(K, grade=grade).fit(given).certificate_
    direct = solve(KMeansSDP(Gram.from_data(given), K), grade=grade).certificate
    for proof in (fitted, direct):
        assert Fraction(proof.lower) <= value <= Fraction(proof.upper)
        assert proof.gap <= 1e-3
    assert Gram.from_data(given).trace == pytest.approx(140000 / 3, rel=1e-14)


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[ns]"])
@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame])
def test_times_are_whole_numbers_of_their_unit(kind, convert):
    """As float64 they gave a trace of 43690.67 for 46666.67."""
    times = convert(STAMPS.astype(kind))
    assert Gram.from_data(times).trace == pytest.approx(140000 / 3, rel=1e-14)
    model = NOMAD(2).fit(times)
    assert np.array_equal(model.predict(times), model.labels_)
    assert model.certificate_.upper == pytest.approx(125000 / 3, rel=1e-3)
    with pytest.raises(ValueError, match="must have no missing times, got NaT"):
        Gram.from_data(convert(np.array([["NaT"], [0], [1]], dtype=kind)))


def test_new_points_are_taken_relative_to_the_same_row(tmp_path):
    stamps = START + np.array([[0], [100], [200], [10_000], [10_100], [10_200]])
    model = NOMAD(2).fit(stamps)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    model.save(tmp_path / "model")
    for again in (model, load(tmp_path / "model")):
        assert np.array_equal(again.predict(stamps), model.labels_)
        assert np.array_equal(again.predict(stamps[:, [0]].astype(np.uint64)), model.labels_)
        assert again.predict(stamps.astype(float))[-1] == model.labels_[-1]
    model.fit([[0.0], [1.0], [10.0], [11.0]])
    assert model.predict([[0.5]])[0] == model.labels_[0]


def test_kmeans_of_time_stamps(tmp_path):
    stamps = START + np.array([[0], [100], [10_000], [10_100]])
    assert kmeans_objective(stamps, [0, 0, 1, 1]) == 10_000
    proof = certify_kmeans(stamps, [0, 0, 1, 1], grade="verified")
    assert proof.lower_bound == pytest.approx(10_000, rel=1e-3)
    proof.save(tmp_path / "cert")
    assert verify_certificate(tmp_path / "cert", stamps).holds
    with pytest.raises(ValueError, match=REFUSED):
        CertifiedKMeans(2).fit(stamps)


ODD = 2**53 + 1


class Third:
    """A number of somebody else's, which float64 does not hold."""

    def __float__(self):
        return 1 / 3


class Frame:
    """A table of another library, by columns; all of it as an array is in float64."""

    columns = ("a", "b")

    def __init__(self, first):
        self.parts = {"a": np.array([first, 0, 1]), "b": np.array([0.5, 1, 2])}
        self.shape = (3, 2)

    def __len__(self):
        return 3

    def __getitem__(self, name):
        return self.parts[name]

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([self.parts[name] for name in self.columns]).astype(float)


NOT_HELD = {
    "text": [[str(ODD)], ["1"], ["2"]],
    "array of text": np.array([[str(ODD)], ["1"], ["2"]]),
    "other numbers": np.array([[Third()], [1], [2]], dtype=object),
    "other frame": Frame(ODD),
    "frame of long": pd.DataFrame(np.array([[1], [2], [3]], dtype=np.longdouble) / 3),
    "sum of entries": sp.csr_matrix((np.array([ODD - 1, 1, 1, 2]), np.zeros(4, dtype=int), np.array([0, 2, 3, 4]))),
    "mixed list": [[ODD, 0.5], [1, 2], [3, 4]],
    "far apart": np.array([[ODD], [-ODD], [0]]),
    "sparse": sp.csr_matrix(np.array([[ODD, 0], [0, 1], [1, 1]])),
    "decimal": [[Decimal("0.1")], [Decimal(1)], [Decimal(2)]],
    "fraction": [[Fraction(1, 3)], [Fraction(1)], [Fraction(2)]],
    "object": np.array([[ODD], [0], [2]], dtype=object),
    "long": np.array([[1], [2], [3]], dtype=np.longdouble) / 3,
    "frame": pd.DataFrame({"a": [ODD, 0, 1], "b": [0.5, 1, 2]}),
}


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-17, reason="longdouble is float64 here")
@pytest.mark.parametrize("name", NOT_HELD)
@pytest.mark.parametrize(
    "read", [Gram.from_data, NOMAD(2).fit, CertifiedKMeans(2).fit], ids=["gram", "nomad", "kmeans"]
)
def test_what_cannot_be_held_is_refused(name, read):
    with pytest.raises(ValueError, match=REFUSED):
        read(NOT_HELD[name])


@pytest.mark.parametrize("make", [Gram.from_kernel, Gram.from_distances])
def test_matrices_are_not_moved(make):
    with pytest.raises(ValueError, match="(kernel|distances) " + REFUSED):
        make(np.array([[0, ODD], [ODD, 0]]))


def test_weights_count_exactly():
    X = [[0.0], [1.0], [3.0]]
    for call in (lambda: Gram.from_data(X, weights=[ODD, 1, 1]), lambda: NOMAD(2).fit(X, sample_weight=[ODD, 1, 1])):
        with pytest.raises(ValueError, match=r"weights? " + REFUSED):
            call()


HELD = {
    "text": np.array([["0.1"], ["2"], ["3e5"]]),
    "other frame": Frame(7),
    "float32": np.array([[0.1], [2], [3]], dtype=np.float32),
    "float16": np.array([[0.1], [2], [3]], dtype=np.float16),
    "long": np.array([[0.5], [2], [3]], dtype=np.longdouble),
    "even": np.array([[2**60], [2**61], [0]]),
    "decimal": [[Decimal("0.5")], [Decimal(1)], [Decimal(2)]],
    "object": np.array([[1], [0.1], [2]], dtype=object),
    "bool": np.array([[True], [False], [True]]),
    "uint8": np.array([[255], [0], [1]], dtype=np.uint8),
}


@pytest.mark.parametrize("name", HELD)
def test_what_can_be_held_is_taken_as_it_is(name):
    table = np.asarray(HELD[name]).astype(float)
    assert np.array_equal(exact_table(HELD[name], table, "X")[0], table)
    Gram.from_data(HELD[name])


@pytest.mark.parametrize("K", [Fraction(7, 3), np.longdouble(2) + np.longdouble(2) ** -60, np.longdouble(7) / 3])
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-17, reason="longdouble is float64 here")
def test_K_is_not_rounded_either(K):
    X = [[0.0], [1.0], [3.0]]
    for call in (lambda: KMeansSDP(Gram.from_data(X), K), lambda: NOMAD(K).fit(X)):
        with pytest.raises(ValueError, match=r"K must be a number that float64 can represent, got .* Pass float"):
            call()
    for same in (Fraction(5, 2), np.longdouble(2.5), np.float32(2.5), np.float16(2.5)):
        assert KMeansSDP(Gram.from_data(X), same).K == 2.5


def test_masked_entries_are_refused():
    with pytest.raises(ValueError, match="must have no masked entries"):
        Gram.from_data(np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]]))


def test_whole_numbers_in_a_file(tmp_path, capsys):
    np.save(tmp_path / "stamps.npy", STAMPS)
    np.savetxt(tmp_path / "stamps.csv", STAMPS, fmt="%d")
    assert cli.main(["fit", str(tmp_path / "stamps.npy"), "-K", "2"]) == 0
    capsys.readouterr()
    assert cli.main(["fit", str(tmp_path / "stamps.csv"), "-K", "2"]) == 1
    assert "FILE must hold whole numbers that float64 can represent" in capsys.readouterr().err
