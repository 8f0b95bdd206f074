"""A proof about K-means that is stopped goes on from its file, to the same bound."""

import numpy as np
import pytest

from sknomad import CertifiedKMeans, certify_kmeans
from sknomad._solving import checkpoint as _checkpoint
from sknomad._solving.checkpoint import CheckpointError

STEPS = 25


class KilledError(BaseException):
    """As if the process had ended here."""


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(_checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "WRITING_RATIO", 0)


def points(n=150):
    """Clusters that overlap, so that a proof takes some steps."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)) + 2.2 * np.eye(3)[np.arange(n) % 3, :2]


def counted(steps, most=None):
    """A callback that notes the number of each step and may end it all."""

    def hear(progress):
        steps.append(progress.iteration)
        if len(steps) == most:
            raise KilledError

    return hear


@pytest.mark.parametrize("method", ["certify", "fit"])
def test_a_killed_proof_goes_on_from_its_file(tmp_path, often, method):
    X, labels, path = points(), np.arange(150) % 3, tmp_path / "proof.ckpt"

    def prove(callback, kept):
        options = {"tol": 1e-5, "max_iter": 80, "callback": callback, "checkpoint": kept}
        if method == "certify":
            return certify_kmeans(X, labels, **options)
        with pytest.warns(UserWarning, match="no clustering"):
            return CertifiedKMeans(3, random_state=0, **options).fit(X).certificate_

    whole_steps, first_steps, rest = [], [], []
    whole = prove(counted(whole_steps), None)
    with pytest.raises(KilledError):
        prove(counted(first_steps, STEPS), path)
    proof = prove(counted(rest), path)
    assert len(whole_steps) > STEPS
    assert min(rest) > STEPS / 2  # the steps before the last look are not taken again
    assert max(rest) == max(whole_steps)
    assert proof.lower_bound == pytest.approx(whole.lower_bound, rel=1e-9)
    assert proof.multipliers is not None


def test_cuts_follow_a_proof_that_was_kept(tmp_path, often):
    X, path = points(60), tmp_path / "proof.ckpt"
    labels = CertifiedKMeans(3, tol=0.5, random_state=0).fit_predict(X)
    plain = certify_kmeans(X, labels, checkpoint=path)
    better = certify_kmeans(X, labels, checkpoint=path, cuts=True, max_seconds=20)
    assert plain.gap > 1e-3
    assert better.gap < plain.gap


def test_a_file_of_other_points_is_refused(tmp_path):
    path = tmp_path / "proof.ckpt"
    certify_kmeans(points(30), np.arange(30) % 3, tol=0.5, max_iter=3, checkpoint=path)
    with pytest.raises(CheckpointError, match="checkpoint must belong to this problem"):
        certify_kmeans(points(31), np.arange(31) % 3, tol=0.5, max_iter=3, checkpoint=path)


def test_the_folder_of_parts_goes_with_the_estimator(tmp_path):
    folder = tmp_path / "parts"
    model = CertifiedKMeans(3, tol=0.9, parts=2, random_state=0, checkpoint=folder).fit(points(300))
    assert len(list(folder.iterdir())) >= 2
    again = CertifiedKMeans(3, tol=0.9, parts=2, random_state=0, checkpoint=folder).fit(points(300))
    assert again.lower_bound_ == pytest.approx(model.lower_bound_, rel=1e-9)
