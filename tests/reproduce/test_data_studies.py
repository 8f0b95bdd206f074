"""The studies on data: K-means, and MNIST at full size."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from made_up import certificate, computed, verdicts
from sknomad import NOMAD, Gram, KMeansSDP, SoftPoint, kmeans_objective, solve
from sknomad.reproduce import Verdict
from sknomad.reproduce.experiments import kmeans, mnist_all, mnist_zeros

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'sknomad[plot]'")


# K-means


def test_lloyd_fails_on_most_starts_where_ours_is_proven():
    X, truth = kmeans.grid_of_blobs(75)
    labels = NOMAD(K=25, tol=1e-4).fit(X).labels_
    inertia, typical = kmeans.lloyd(X, 25, 20)
    best = kmeans_objective(X, truth)
    assert kmeans_objective(X, labels) == pytest.approx(best)
    assert np.mean(inertia[0] > best * kmeans.BEST) > 0.5
    assert kmeans_objective(X, typical) == pytest.approx(np.sort(inertia[0])[10])
    proof = kmeans.certify_kmeans(X, labels, tol=1e-4)
    assert proof.gap <= 1e-4
    assert (inertia >= proof.lower_bound * (1 - 1e-9)).all()


def test_kmeans_is_computed_drawn_and_judged(monkeypatch):
    monkeypatch.setattr(kmeans, "QUICK_STARTS", 10)
    arrays = computed(kmeans, quick=True)
    assert verdicts(kmeans.claims(arrays)) == [Verdict.HOLDS] * 3 + [Verdict.BEYOND, Verdict.HOLDS]
    for name in arrays["data"]:
        assert arrays[f"{name}/bound"] <= arrays[f"{name}/inertia"] <= arrays[f"{name}/lloyd"].min() * (1 + 1e-9)
    monkeypatch.setattr(kmeans, "KMeans", None)  # drawing never recomputes
    assert len(kmeans.draw(arrays).axes) == 6


# MNIST at full size


def test_width_and_slant_follow_shears_and_stretches():
    y, x = np.mgrid[-14:14, -14:14] + 0.5
    y = -y  # upwards

    def ellipse(width, height, lean):
        return (((x - lean * y) / width) ** 2 + (y / height) ** 2 < 1).astype(float)

    upright, wide, right, left = mnist_zeros.shape_of_ink(
        np.stack([ellipse(5, 5, 0), ellipse(8, 4, 0), ellipse(4, 8, 0.4), ellipse(4, 8, -0.4)])
    )
    assert upright == pytest.approx([0, 0], abs=1e-12)
    assert wide[0] == pytest.approx((64 - 16) / (64 + 16), abs=0.05)
    assert right[1] > 0.3
    assert left[1] == pytest.approx(-right[1])


def test_neighbours_explain_position_and_not_noise(rng):
    points = rng.uniform(size=(500, 2))
    explained = mnist_zeros.explained_by_neighbours(points, np.stack([points[:, 0], rng.uniform(size=500)], axis=1))
    assert explained[0] > 0.95
    assert explained[1] < 0.1


def test_zeros_are_drawn_and_judged(rng):
    points = rng.uniform(size=(60, 2))
    images = (255 * rng.uniform(size=(60, 8, 8))).astype(np.uint8)
    arrays = {"embedding": points, "images": images, "shape": points, "tol": np.array(1e-3), "rank": np.array(9)}
    small, large = (arrays | certificate("zeros", n=n, gap=9e-4) for n in (60, 6903))
    assert len(mnist_zeros.draw(small).axes) == 5  # three panels, two scales
    assert verdicts(mnist_zeros.claims(small))[0] is Verdict.UNTESTED
    assert verdicts(mnist_zeros.claims(large))[0] is Verdict.HOLDS


def test_purity_is_the_share_of_equal_neighbours(rng):
    points = np.repeat(10.0 * np.arange(4)[:, None], 15, axis=0) + rng.uniform(size=(60, 2))
    labels = np.repeat(np.arange(4), 15)
    assert mnist_all.purity(points, labels) == 1.0
    assert mnist_all.purity(points, np.zeros(60)) == 1.0
    assert mnist_all.purity(points, rng.permutation(labels)) < 0.5


def test_all_digits_are_drawn_and_judged(rng):
    arrays = {
        "embedding": rng.standard_normal((200, 2)), "digit": np.arange(200) % 10, "purity": np.array([0.5, 0.4]),
        "inertia": np.array(10.0), "bound": np.array(9.0),
    }  # fmt: skip
    full = arrays | certificate("digits", n=70_000, gap=1e-3, grade="verified")
    assert len(mnist_all.draw(full).axes) == 10
    assert verdicts(mnist_all.claims(full)) == [Verdict.BEYOND] * 3
    assert "10.00%" in mnist_all.claims(full)[1].number
    assert verdicts(mnist_all.claims(full | {"bound": np.array(11.0)}))[1] is Verdict.OURS


def test_embeddings_at_full_size_never_form_the_matrix(monkeypatch, rng):
    X = rng.standard_normal((50, 3))
    with pytest.warns(ConvergenceWarning):
        solution = solve(KMeansSDP(Gram.from_data(X), 6), "soft", max_iter=20)
    monkeypatch.setattr(SoftPoint, "rows", None)
    assert solution.embedding().shape == (50, 2)
