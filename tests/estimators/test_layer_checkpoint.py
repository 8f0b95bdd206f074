"""A run of several layers that is stopped goes on from its files: no finished step is taken again."""

import numpy as np
import pytest

from sknomad import MultiLayerNOMAD
from sknomad._estimators.layer_files import LayerFiles
from sknomad._solving import checkpoint as _checkpoint
from sknomad._solving.checkpoint import CheckpointError
from sknomad.datasets import two_rings

SCHEDULE = [12, 6, 3]


class KilledError(BaseException):
    """As if the process had ended here."""


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(_checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "WRITING_RATIO", 0)


def fitted(kept, after=None):
    """The model and the numbers of the steps it took; it ends after so many."""
    steps = []

    def hear(progress):
        steps.append(progress.iteration)
        if len(steps) == after:
            raise KilledError

    model = MultiLayerNOMAD(SCHEDULE, checkpoint=kept, callback=hear, tol=1e-4)
    try:
        return model.fit(two_rings(60)[0]), steps
    except KilledError:
        return model, steps


def test_a_killed_run_goes_on_in_the_layer_where_it_was(tmp_path, often):
    whole, all_steps = fitted(None)
    second = all_steps.index(1, 1)  # the first step of the second layer
    fitted(tmp_path / "run", second + 30)
    model, rest = fitted(tmp_path / "run")
    assert len(all_steps) > second + 30
    assert len(rest) < len(all_steps) - second - 10  # neither the first layer nor the steps before the last look
    assert model.labels_.tolist() == whole.labels_.tolist()
    for layer, expected in zip(model.layers_, whole.layers_, strict=True):
        assert layer.certificate.upper == pytest.approx(expected.certificate.upper, rel=1e-3)
        assert layer.certificate.gap <= 1e-4
    assert sorted(path.name for path in tmp_path.iterdir())[:3] == [
        "run-layer1", "run-layer2", "run-layer2-affinity.npy"
    ]  # fmt: skip


def test_a_finished_run_is_read_back_without_steps(tmp_path):
    model, _ = fitted(tmp_path / "run")
    again, steps = fitted(tmp_path / "run")
    assert len(steps) <= len(SCHEDULE)
    assert again.labels_.tolist() == model.labels_.tolist()


def test_files_of_other_points_are_refused(tmp_path):
    fitted(tmp_path / "run")
    with pytest.raises(CheckpointError, match="checkpoint must belong to this problem"):
        MultiLayerNOMAD(SCHEDULE, checkpoint=tmp_path / "run").fit(two_rings(62)[0])


@pytest.mark.parametrize("content", [b"", b"no array", "other"])
def test_a_layer_with_another_affinity_begins_anew(tmp_path, content):
    Q, other = np.eye(3), np.ones((3, 3)) / 3
    files = LayerFiles(tmp_path / "run")
    assert files.affinity(1, other) is other
    files.checkpoint(1).write_bytes(b"of another run")
    if content != "other":
        (tmp_path / "run-layer2-affinity.npy").write_bytes(content)
    assert files.affinity(1, Q) is Q
    assert not files.checkpoint(1).exists()
    kept = files.affinity(1, Q + 1e-12)
    assert np.array_equal(kept, Q)
    assert LayerFiles(None).affinity(1, Q) is Q
