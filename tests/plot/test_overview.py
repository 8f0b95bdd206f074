"""The overview is read back: its panels, their order, and no text over another."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from drawn import circulant, drawn_matrix, drawn_points, drawn_texts, overview_of, titled
from sknomad import plot


@pytest.mark.parametrize(("with_trace", "panels"), [(False, 5), (True, 6)])
def test_overview_has_a_panel_for_everything(with_trace, panels, solved):
    figure = overview_of(solved, trace=solved.trace if with_trace else None)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == panels
    assert len(titled(figure, "Bounds")) == with_trace
    assert len(titled(figure, "Manifold")) == 2
    assert "$K = 9.109$" in titled(figure, "Solution")[0].get_title(loc="left")


def test_overview_names_what_was_found_and_what_is_proved(solved):
    headline, certificate = (text.get_text() for text in overview_of(solved, "word " * 50).texts)
    assert headline == "2 manifolds in 40 points"
    assert certificate.split() == ["word"] * 50
    assert "\n" in certificate


def test_overview_sorts_shuffled_rings_into_circulant_blocks(solved):
    figure = overview_of(solved)
    Q = drawn_matrix(titled(figure, "Solution")[0])
    np.testing.assert_array_equal(Q[:20, 20:], 0)
    for block in (Q[:20, :20], Q[20:, 20:]):
        np.testing.assert_allclose(block, circulant(20))
    D = drawn_matrix(titled(figure, "Gram")[0])
    np.testing.assert_allclose(D[0, :20], np.cos(2 * np.pi * np.arange(20) / 20), atol=1e-12)
    assert titled(figure, "Gram")[0].images[0].get_clim() == pytest.approx((-1.0, 1.0))


def test_overview_sorts_an_open_curve_from_end_to_end():
    s = np.random.default_rng(0).permutation(30) / 29
    horseshoe = np.stack([np.cos(np.pi * s), 0.6 * np.cos(2 * np.pi * s)], axis=1)
    Q = np.exp(-50 * (s[:, None] - s[None]) ** 2)
    figure = plot.overview(horseshoe, Q, np.zeros(30), horseshoe, "text")
    drawn = drawn_matrix(titled(figure, "Solution")[0])
    steps = np.arange(30) / 29
    np.testing.assert_allclose(drawn, np.exp(-50 * (steps[:, None] - steps[None]) ** 2), atol=1e-12)


def test_overview_keeps_the_colour_of_a_point_through_its_panels(solved):
    figure = overview_of(solved)
    _, in_data = drawn_points(titled(figure, "Data")[0])
    assert len(np.unique(in_data.round(6), axis=0)) > 10  # shaded, not two flat colours
    for label, ax in enumerate(titled(figure, "Manifold")):
        mine = solved.labels == label
        points, colours = drawn_points(ax)
        np.testing.assert_array_equal(points, solved.embedding[mine])
        np.testing.assert_array_equal(colours, in_data[mine])
        assert to_rgba(ax._left_title.get_color()) == to_rgba(plot.PALETTE[label])


def test_overview_draws_the_six_largest_of_many_manifolds():
    labels = np.repeat(np.arange(8), [5, 1, 5, 5, 2, 5, 5, 5])
    points = np.random.default_rng(0).standard_normal((len(labels), 2))
    figure = plot.overview(points, np.eye(len(labels)), labels, points, "text")
    assert [ax.get_title(loc="left")[9] for ax in titled(figure, "Manifold")] == list("023567")
    assert figure.texts[0].get_text() == "8 manifolds in 33 points, the 6 largest unrolled"


def test_one_manifold_and_no_trace_fill_one_row():
    points = np.random.default_rng(0).standard_normal((9, 2))
    figure = plot.overview(points, np.eye(9), np.zeros(9), points, "text")
    assert len(figure.axes) == 4
    assert len({ax.get_subplotspec().get_topmost_subplotspec().rowspan.start for ax in figure.axes}) == 1
    assert figure.get_figheight() < figure.get_figwidth() / 2
    assert figure.texts[0].get_text() == "1 manifold in 9 points"


def test_rounding_around_a_cluster_is_not_drawn_as_a_shape(solved):
    noise = 1e-9 * np.random.default_rng(0).standard_normal((40, 2))
    first = solved.labels == 0
    points = np.where(first[:, None], noise, solved.embedding)
    kept = points.copy()
    panels = titled(plot.overview(solved.X, solved.Q, solved.labels, points, "text"), "Manifold")
    np.testing.assert_array_equal(drawn_points(panels[0])[0], 0.0)
    assert len(np.unique(drawn_points(panels[0])[1], axis=0)) == 1
    np.testing.assert_array_equal(drawn_points(panels[1])[0], solved.embedding[~first])
    np.testing.assert_array_equal(points, kept)  # the caller's array is left alone


def test_points_in_no_manifold_are_grey_and_have_no_panel(solved):
    figure = plot.overview(solved.X, solved.Q, np.full(40, -1), solved.embedding, "text")
    assert titled(figure, "Manifold") == []
    assert np.ptp(drawn_points(titled(figure, "Data")[0])[1][:, :3], axis=1).max() < 1e-6


@pytest.mark.parametrize("manifolds", [1, 2, 3, 5])
@pytest.mark.parametrize("with_trace", [False, True])
def test_no_text_overlaps_or_leaves_the_page(manifolds, with_trace, solved):
    rng = np.random.default_rng(0)
    X, points, labels = rng.standard_normal((60, 3)), rng.standard_normal((60, 2)), np.arange(60) % manifolds
    trace = {**solved.trace, "lower": 26230.0 + 0.001 * np.arange(6), "upper": np.full(6, 26230.1)}
    figure = plot.overview(1e3 * X, np.eye(60), labels, points, "proof " * 35, trace if with_trace else None)
    figure.set_dpi(80)  # all sizes scale with it
    texts = drawn_texts(figure)
    assert len(texts) > 8
    for (one, box), (other, other_box) in itertools.combinations(texts, 2):
        assert not box.padded(-1).overlaps(other_box.padded(-1)), f"{one!r} lies on {other!r}"
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in texts:
        assert 0 <= box.x0 < box.x1 <= width, text
        assert 0 <= box.y0 < box.y1 <= height, text


def test_titles_lie_level_and_clear_of_the_strips(solved):
    figure = overview_of(solved)
    boxes = dict(drawn_texts(figure))
    top = [box for text, box in boxes.items() if text.startswith(("Data", "Gram", "Solution"))]
    strips = [child for ax in figure.axes for child in ax.child_axes if not child.axison]
    assert len(top) == 3
    assert len(strips) == 4
    for box in top:
        assert not any(box.overlaps(strip.get_window_extent()) for strip in strips)
    assert np.ptp([box.y1 for box in top]) < 0.03 * figure.dpi


def test_keywords_of_the_first_release_still_work(solved):
    with pytest.warns(DeprecationWarning, match=r"overview\(X=\.\.\., Q=\.\.\.\) is now"):
        old = plot.overview(X=solved.X, Q=solved.Q, labels=solved.labels, embedding=solved.embedding)
    new = overview_of(solved, text="")
    assert [ax.get_title(loc="left") for ax in old.axes] == [ax.get_title(loc="left") for ax in new.axes]
