"""Models of a Dask collection say why they lack what rests on Q, and a later fit in memory has it."""

import copy

import numpy as np
import pytest

import sknomad
from sknomad import NOMAD
from sknomad.datasets import two_rings

da = pytest.importorskip("dask.array")
REASON = "must be asked of a model of rows in memory, since it rests on Q"


@pytest.fixture(scope="module")
def model():
    return NOMAD(12).fit(da.from_array(two_rings(300)[0], chunks=(100, 2)))


@pytest.mark.parametrize(
    "name",
    [
        "affinity_", "circular_coordinates_", "closedness_", "is_closed_", "map_", "memberships_", "order_",
        "outlier_scores_", "search_", "solution_",
    ],
)  # fmt: skip
def test_attributes_of_Q_name_the_reason(model, name):
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"{name} {REASON}"):
        getattr(model, name)


def test_methods_of_Q_name_the_reason(model):
    X = two_rings(300)[0]
    asked = [
        model.geodesic_distances,
        model.division_tree,
        lambda: model.transform_to_map(X[:3]),
        lambda: model.mean_affinity(np.zeros(300, dtype=int)),
        lambda: sknomad.report(model, X, "nowhere.html"),
    ]
    for ask in asked:
        with pytest.raises(AttributeError, match=REASON):
            ask()


def test_other_names_are_as_unknown_as_before(model):
    with pytest.raises(AttributeError, match="'NOMAD' object has no attribute 'mapp_'"):
        _ = model.mapp_
    with pytest.raises(AttributeError, match="'NOMAD' object has no attribute 'map_'"):
        _ = NOMAD().map_


def test_copies_and_files_say_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    for other in (copy.deepcopy(model), sknomad.load(tmp_path / "model")):
        with pytest.raises(AttributeError, match=REASON):
            _ = other.map_


def test_a_later_fit_in_memory_has_them_all():
    X = two_rings(120)[0]
    model = NOMAD(12).fit(da.from_array(X, chunks=(60, 2)))
    assert model.fit(X).map_.shape == (120, 2)
