"""The study of geodesics: distances on the exact ring, noise, peers, claims."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from made_up import verdicts
from sknomad import assignment_matrix, datasets
from sknomad.metrics import bullseye_score, graph_geodesics
from sknomad.reproduce import Verdict
from sknomad.reproduce import peers as _peers
from sknomad.reproduce.coordinates import in_few_dimensions
from sknomad.reproduce.experiments import geodesics
from sknomad.ring import ring_optimum

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'sknomad[plot]'")


def test_geodesics_of_the_exact_ring_are_those_of_the_ring():
    n, N = 60, 6
    X = datasets.ring(n)[0]
    truth = graph_geodesics(X, N)
    found = geodesics.nomad_geodesics(ring_optimum(n, n / N).Q)
    # Ties on the exact ring are everywhere; at sizes that hold whole shells the sets are unique.
    odd = [100 * s / n for s in (3, 9, 15, 31)]
    assert bullseye_score(truth, found, odd) == pytest.approx(1.0)
    assert bullseye_score(truth, truth, geodesics.PERCENTILES) == pytest.approx(1.0)


def test_geodesics_between_blocks_are_infinite_and_within_a_hard_block_zero():
    found = geodesics.nomad_geodesics(assignment_matrix([0, 0, 0, 1, 1]))
    assert np.isinf(found[:3, 3:]).all()
    assert np.abs(found[:3, :3]).max() < 1e-300


def test_noise_fills_five_times_the_dimensions_and_keeps_the_data(rng):
    X = rng.standard_normal((12, 2))
    assert pdist(geodesics.with_noise(X, 0.0, rng)) == pytest.approx(pdist(X))
    many = rng.standard_normal((200, 30))
    noisy = geodesics.with_noise(many, 0.1, rng)
    assert noisy.shape == (200, 180)
    extra = np.median(pdist(noisy) ** 2 - pdist(many) ** 2)
    assert extra == pytest.approx(2 * 0.1**2 * 150, rel=0.1)  # of 5 d coordinates


def test_fewer_dimensions_keep_distances(rng):
    X = rng.standard_normal((7, 300)) + 5
    Y = in_few_dimensions(X)
    assert Y.shape == (7, 7)
    assert pdist(Y) == pytest.approx(pdist(X))
    assert np.abs(Y.mean(axis=0)).max() < 1e-6  # the root of rounding in the direction of ones


# The last two compile for many seconds.
COMPILED = [pytest.param(name, marks=pytest.mark.slow) for name in _peers.OPTIONAL]


@pytest.mark.parametrize("name", ["Isomap", "LLE", "modified LLE", "LTSA", "spectral", "t-SNE", *COMPILED])
def test_peers_are_silent_and_repeatable_even_on_graphs_in_parts(name, capfd):
    if not _peers.available([name]):
        pytest.skip(f"{name} is not installed: pip install 'sknomad[peers]'")
    X = datasets.two_rings(40)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (_peers.plane(name, X, 5, seed=1) for _ in range(2))
    assert first.shape == (40, 2)
    assert np.isfinite(first).all()
    np.testing.assert_allclose(first, second)
    assert capfd.readouterr() == ("", "")


def test_peers_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setitem(_peers.OPTIONAL, "UMAP", "a_package_that_is_not_there")
    assert _peers.available(["Isomap", "UMAP", "LLE"]) == ["Isomap", "LLE"]


def test_silence_gives_the_logger_back():
    import logging

    with pytest.raises(ZeroDivisionError), _peers._silence():
        raise ZeroDivisionError
    assert logging.root.manager.disable == logging.NOTSET


def made_up_scores(two_half_rings):
    """Scores in which NOMAD has 0.9 everywhere and embeddings 0.8, or `two_half_rings` there."""
    embeddings = [*geodesics.OF_THE_PAPER, *map(geodesics.with_five, geodesics.OF_THE_PAPER)]
    methods = [geodesics.NOMAD, geodesics.SQUARED, geodesics.DATA_LENGTHS, *embeddings, geodesics.NO_EMBEDDING]
    data = ["one ring", "one half-ring", "teapots", "teapots, N = 5", "two rings", "two half-rings"]
    scores = np.full((6, 5, len(methods), 2, len(geodesics.PERCENTILES)), 0.8)
    scores[5, :, 3] = two_half_rings
    scores[:, :, :3] = scores[:, :, -1:] = 0.9
    scores[:, 0, :, 1] = np.nan  # one draw without noise
    return {
        "scores": scores, "percentiles": geodesics.PERCENTILES, "N": np.full(6, 10), "n": np.array(200),
        "kind": np.array([kind for kind, _ in geodesics.NOISES]), "truth_parts": np.ones(6, dtype=int),
        "noise": np.array([noise for _, noise in geodesics.NOISES]),
        "methods": np.array(methods), "data": np.array(data), "left_out": np.array(["UMAP"]),
        "parts": np.ones((6, 5, 2), dtype=int),
    }  # fmt: skip


def test_claims_on_geodesics_say_who_is_ahead_where():
    good = geodesics.claims(made_up_scores(0.8))
    assert set(verdicts(good)) == {Verdict.HOLDS, Verdict.BEYOND}
    rival = geodesics.claims(made_up_scores(0.95))[5]
    assert rival.verdict is Verdict.PAPER
    assert "noise 0.1: 0.900 against 0.950 (Isomap)" in rival.number
    assert "Isomap is 0.050 ahead at noise 0" in rival.why
    small = geodesics.claims(made_up_scores(0.95) | {"n": np.array(100)})[5]
    assert small.verdict is Verdict.UNTESTED


def test_a_graph_that_falls_short_says_what_the_lengths_of_the_data_would_give():
    arrays = made_up_scores(0.8)
    teapots = list(arrays["data"]).index("teapots, N = 5")
    arrays["scores"][teapots, :, 0] = 0.7
    claim = geodesics.claims(arrays)[teapots]
    assert claim.verdict is Verdict.PAPER
    assert "0.100 ahead" in claim.why
    assert "along the same edges the score is 0.900" in claim.why


def test_geodesics_are_drawn_from_arrays():
    axes = geodesics.draw(made_up_scores(0.8)).axes
    assert len(axes) == 30
    assert len(axes[0].lines) == 8  # those of the paper, Isomap with five neighbours, ours, and the data
