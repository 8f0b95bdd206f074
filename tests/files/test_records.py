"""Points and Gram matrices in files: the fixed vector is written as itself, under the names of the first release."""

from dataclasses import dataclass

import numpy as np
import pytest

from sknomad import Gram, MixedPoint, SoftPoint, SpectralPoint
from sknomad._files.records import Decoder, Encoder, saved
from sknomad._numerics.fixed_vector import Ones, Weighted

N = 5
ROOTS = np.sqrt(np.arange(1.0, N + 1))
Q = ROOTS / np.linalg.norm(ROOTS)
V = np.full((N, 2), 0.5)
MAKERS = {
    "soft": lambda u: SoftPoint(V, u),
    "spectral": lambda u: SpectralPoint(np.eye(N)[:, :2], np.ones(2), u),
    "mixed": lambda u: MixedPoint(SoftPoint(V, u), 0.2, 0.3, u),
}


def written(value):
    encoder = Encoder()
    return encoder.encode(value, "value"), encoder.arrays


@pytest.mark.parametrize("u", [None, Q], ids=["ones", "weighted"])
@pytest.mark.parametrize("form", MAKERS)
def test_points_come_back_with_their_fixed_vector(form, u):
    point = MAKERS[form](u)
    node, arrays = written(point)
    assert node["fields"]["u"] is None if u is None else node["fields"]["u"]["type"] == "array"
    back = Decoder(arrays).decode(node)
    assert back.fixed == Ones(N) if u is None else np.array_equal(back.fixed.q, u)
    assert np.array_equal(back.rows(0, N), point.rows(0, N))


@pytest.mark.parametrize("fields", [{}, {"u": None}, {"u": {"type": "array", "name": "u"}}])
def test_points_of_the_first_release_are_read(fields):
    node = {"type": "record", "class": "SoftPoint", "fields": {"V": {"type": "array", "name": "V"}, **fields}}
    point = Decoder({"V": V, "u": Q}).decode(node)
    expected = Weighted(Q) if fields.get("u") else Ones(N)
    assert type(point.fixed) is type(expected)
    assert np.array_equal(point.rows(0, N), SoftPoint(V, expected).rows(0, N))


@pytest.mark.parametrize("weights", [None, ROOTS**2])
def test_a_gram_comes_back_with_its_fixed_vector(weights, rng):
    gram = Gram.from_kernel(np.eye(N), weights=weights)
    node, arrays = written(gram)
    assert "direction" in node["fields"]
    back = Decoder(arrays).decode(node)
    assert type(back.fixed) is type(gram.fixed)
    assert np.array_equal(back.dense(), gram.dense())


def test_two_classes_of_one_name_are_refused():
    @dataclass(frozen=True)
    class Certificate:
        lower: float

    with pytest.raises(TypeError, match="different names, got two Certificate"):
        saved(Certificate)
