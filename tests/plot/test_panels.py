"""Figures are read back: what is drawn must be the arrays, in the right order and the right colours."""

import itertools
import subprocess
import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

from sknomad import plot

# Machado, Oliveira and Fernandes: full deuteranopia, protanopia, tritanopia, acting on linear RGB.
COLOUR_BLINDNESS = {
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(colours, seen_through=((1, 0, 0), (0, 1, 0), (0, 0, 1))):
    """CIELAB of RGB colours, as somebody sees them."""
    rgb = np.array([to_rgb(colour) for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.array(seen_through).T, 0, 1)
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    xyz = linear @ (to_xyz / to_xyz.sum(axis=1, keepdims=True)).T
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def circulant(n):
    """A doubly stochastic local kernel on n points of a circle."""
    row = np.maximum(np.cos(2 * np.pi * np.arange(n) / n) - 0.5, 0)
    return np.array([np.roll(row, k) for k in range(n)]) / row.sum()


def two_rings_solved(n=20, seed=0):
    """What a solver would return for two rings whose points come shuffled."""
    circle = np.stack([np.cos(2 * np.pi * np.arange(n) / n), np.sin(2 * np.pi * np.arange(n) / n)], axis=1)
    shuffle = np.random.default_rng(seed).permutation(2 * n)
    Q = np.kron(np.eye(2), circulant(n))
    return SimpleNamespace(
        X=np.vstack([circle, circle / 2])[shuffle] + 5.0,
        Q=Q[np.ix_(shuffle, shuffle)],
        labels=np.repeat([0, 1], n)[shuffle],
        embedding=np.vstack([circle, circle])[shuffle] / np.sqrt(n),
        trace={
            "iteration": np.arange(1, 7),
            "seconds": np.array([0.01, 0.1, 0.5, 1.0, 1.5, 2.0]),
            "lower": np.array([-np.inf, 10.0, 80.0, 90.0, 95.0, 99.0]),
            "upper": np.array([np.inf, np.inf, 900.0, 102.0, 101.0, 100.0]),
        },
    )


@pytest.fixture
def solved():
    return two_rings_solved()


def overview_of(solved, text="99 <= optimum <= 100", trace=None):
    return plot.overview(solved.X, solved.Q, solved.labels, solved.embedding, text, trace)


def titled(figure, start):
    """The panels whose title starts so."""
    return [ax for ax in figure.axes if ax.get_title(loc="left").startswith(start)]


def drawn_points(ax):
    (points,) = ax.collections
    return np.asarray(points.get_offsets()), points.get_facecolors()


def drawn_matrix(ax):
    (image,) = ax.images
    return np.asarray(image.get_array())


def drawn_texts(figure):
    """Every text that is on the page, with its box in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = list(figure.texts)
    for ax in [*figure.axes, *(child for parent in figure.axes for child in parent.child_axes)]:
        if not ax.axison:
            continue
        texts += [ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
        for axis, view in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            low, high = sorted(view)
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in texts if text.get_text()]


# Style and colours


def test_style_holds_inside_and_is_undone_outside():
    before = dict(matplotlib.rcParams)
    with plot.style():
        assert matplotlib.rcParams["axes.titlelocation"] == "left"
        assert matplotlib.rcParams["axes.spines.right"] is False
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("blindness", COLOUR_BLINDNESS)
def test_palette_is_told_apart_by_the_colour_blind(blindness):
    seen = lab([*plot.PALETTE, plot.MUTED], COLOUR_BLINDNESS[blindness])
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 10


@pytest.mark.parametrize("stops", [plot.SEQUENTIAL, plot.DIVERGING[::-1][6:], plot.DIVERGING[6:]])
def test_matrix_scales_darken_evenly_from_white(stops):
    lightness = lab(stops)[:, 0]
    assert lightness[0] == pytest.approx(100, abs=0.1)
    steps = -np.diff(lightness)
    assert (steps > 10).all()
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.05)


def test_label_takes_its_palette_colour_whatever_the_others_are():
    np.testing.assert_allclose(plot.point_colours([2, 0, 2]), [to_rgba(plot.PALETTE[k]) for k in (2, 0, 2)])
    np.testing.assert_allclose(plot.point_colours([2]), [to_rgba(plot.PALETTE[2])])
    np.testing.assert_allclose(plot.point_colours([len(plot.PALETTE) + 1]), [to_rgba(plot.PALETTE[1])])
    np.testing.assert_allclose(plot.point_colours([-1, -7]), [to_rgba(plot.MUTED)] * 2)


def test_parameter_shades_each_label_from_light_to_dark():
    labels = np.array([0, 0, 0, 1, 1, 1])
    rgba = plot.point_colours(labels, [0.0, 5.0, 10.0, 700.0, 750.0, 800.0])
    lightness = lab(rgba[:, :3])[:, 0].reshape(2, 3)
    assert (np.diff(lightness, axis=1) < -5).all()
    np.testing.assert_allclose(rgba[[1, 4]], [to_rgba(plot.PALETTE[0]), to_rgba(plot.PALETTE[1])])
    np.testing.assert_allclose(plot.point_colours([0, 0], [3.0, 3.0]), [to_rgba(plot.PALETTE[0])] * 2)


def test_cyclic_scale_closes_and_the_other_does_not():
    closed, opened = (plot.point_colours(None, [0.0, 0.5, 1.0], cyclic=cyclic) for cyclic in (True, False))
    np.testing.assert_allclose(closed[0], closed[2])
    assert np.abs(closed[0] - closed[1]).max() > 0.3
    assert np.abs(opened[0] - opened[2]).max() > 0.3


# Panels


def test_affinity_sorts_rows_by_label_and_marks_them(solved):
    ax = plot.affinity(solved.Q, solved.labels)
    order = np.argsort(solved.labels, kind="stable")
    np.testing.assert_array_equal(drawn_matrix(ax), solved.Q[np.ix_(order, order)])
    strips = [child for child in ax.child_axes if not child.axison]
    for strip, shape in zip(strips, [(40, 1, 4), (1, 40, 4)], strict=True):
        pixels = drawn_matrix(strip)
        assert pixels.shape == shape
        np.testing.assert_allclose(pixels.reshape(40, 4), plot.point_colours(np.sort(solved.labels)))
    assert ax.images[0].get_clim() == (0.0, solved.Q.max())


def test_affinity_keeps_the_order_of_the_points_or_the_one_given(solved):
    ax = plot.affinity(solved.Q)
    np.testing.assert_array_equal(drawn_matrix(ax), solved.Q)
    assert all(child.axison for child in ax.child_axes)  # a colour bar, no strips
    order = np.arange(40)[::-1]
    ax = plot.affinity(solved.Q, solved.labels, order=order)
    np.testing.assert_array_equal(drawn_matrix(ax), solved.Q[::-1, ::-1])
    np.testing.assert_allclose(drawn_matrix(ax.child_axes[0])[:, 0], plot.point_colours(solved.labels[::-1]))


def test_embedding_draws_the_points_in_their_colours(solved):
    points, colours = drawn_points(plot.embedding(solved.embedding, solved.labels))
    np.testing.assert_array_equal(points, solved.embedding)
    np.testing.assert_allclose(colours, plot.point_colours(solved.labels))
    assert len(np.unique(colours, axis=0)) == 2


def test_embedding_colours_by_parameter(solved):
    angle = np.arctan2(*solved.embedding.T)
    _, colours = drawn_points(plot.embedding(solved.embedding, parameter=angle, cyclic=True))
    np.testing.assert_allclose(colours, plot.point_colours(None, angle, cyclic=True))
    _, colours = drawn_points(plot.embedding(solved.embedding))
    assert len(np.unique(colours, axis=0)) == 1


def test_embedding_has_equal_scales():
    ax = plot.embedding([[0.0, 0.0], [10.0, 1.0]])
    FigureCanvasAgg(ax.figure).draw()
    (left, bottom), (right, top) = ax.transData.transform([[0.0, 0.0], [1.0, 1.0]])
    assert right - left == pytest.approx(top - bottom)


def test_data_in_the_plane_are_drawn_as_they_are_and_others_by_principal_components(solved):
    np.testing.assert_array_equal(drawn_points(plot.scatter_data(solved.X, solved.labels))[0], solved.X)
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((7, 2)))[0]
    flat = rng.standard_normal((30, 2)) * [3, 1]
    drawn = drawn_points(plot.scatter_data(flat @ axes.T + 5.0))[0]
    distances = [np.linalg.norm(points[:, None] - points[None], axis=2) for points in (flat, drawn)]
    np.testing.assert_allclose(distances[1], distances[0], atol=1e-12)
    assert drawn[:, 0].var() > drawn[:, 1].var()
    assert (drawn[np.abs(drawn).argmax(axis=0), [0, 1]] > 0).all()


@pytest.mark.parametrize("draw", ["affinity", "embedding", "scatter_data", "convergence"])
def test_given_axes_are_drawn_on_and_returned(draw, solved):
    ax = Figure().add_subplot()
    argument = {"affinity": solved.Q, "convergence": solved.trace}.get(draw, solved.X)
    assert getattr(plot, draw)(argument, ax=ax) is ax
    assert ax.has_data()
    other = getattr(plot, draw)(argument)
    assert isinstance(other, Axes)
    assert other is not ax


# Bounds


def test_convergence_leaves_out_what_is_not_known(solved):
    ax = plot.convergence(solved.trace)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    seconds, lower, upper = (solved.trace[name] for name in ("seconds", "lower", "upper"))
    np.testing.assert_array_equal(lines["lower"], np.stack([seconds, lower], axis=1)[1:])
    np.testing.assert_array_equal(lines["upper"], np.stack([seconds, upper], axis=1)[2:])
    (gap,) = ax.collections
    corners = gap.get_paths()[0].vertices
    assert corners[:, 0].min() == 0.5  # where both are known first
    assert corners[:, 1].min() == 80.0
    assert corners[:, 1].max() == 900.0
    assert (1.0, 80.0) in set(map(tuple, corners))  # a bound stands until the next
    assert ax.get_title(loc="right") == "gap 1.0e-02"


def test_convergence_frames_the_end_not_the_wild_beginning(solved):
    bottom, top = plot.convergence(solved.trace).get_ylim()
    assert bottom < 99 < 100 < top
    assert top < 900


def test_bounds_are_written_out_however_close():
    ax = plot.convergence({"iteration": [1, 2], "lower": [26230.0, 26230.001], "upper": [26230.003, 26230.002]})
    FigureCanvasAgg(ax.figure).draw()
    assert ax.yaxis.get_offset_text().get_text() == ""
    assert all(tick.get_text().startswith("262") for tick in ax.get_yticklabels())


def test_convergence_runs_against_iterations_without_a_clock(solved):
    trace = {name: solved.trace[name] for name in ("iteration", "lower", "upper")}
    ax = plot.convergence(trace)
    assert ax.get_xlabel() == "iteration"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [3, 4, 5, 6])
    assert plot.convergence(solved.trace).get_xlabel() == "seconds"


def test_time_is_logarithmic_only_over_decades(solved):
    assert plot.convergence(solved.trace).get_xscale() == "log"
    assert plot.convergence({**solved.trace, "seconds": np.arange(6.0)}).get_xscale() == "linear"
    assert plot.convergence({**solved.trace, "seconds": np.arange(1.0, 7.0)}).get_xscale() == "linear"


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_convergence_of_nothing_known_is_an_empty_panel(rows, solved):
    ax = plot.convergence({name: column[:rows] for name, column in solved.trace.items()})
    assert ax.get_title(loc="right") == ""
    assert len(ax.lines[0].get_xdata()) == 0


def test_bounds_that_meet_at_zero_have_no_gap():
    ax = plot.convergence({"iteration": [1, 2], "lower": [0.0, 0.0], "upper": [0.0, 0.0]})
    assert ax.get_title(loc="right") == "gap 0.0e+00"


# The overview


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


# Errors, and what is imported when


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.affinity(np.ones((3, 2))), r"Q must be a square matrix, got shape \(3, 2\)"),
        (lambda: plot.affinity(np.eye(3), [0, 1]), r"inconsistent numbers of samples: \[3, 2\]"),
        (lambda: plot.embedding(np.ones((5, 3))), r"points must have shape \(n, 2\), got \(5, 3\)"),
        (lambda: plot.embedding(np.ones((5, 2)), [0, 1]), r"inconsistent numbers of samples: \[5, 2\]"),
        (lambda: plot.convergence({"seconds": [1.0], "lower": [1.0]}), r"trace must have columns.*Add \['upper'\]"),
        (lambda: plot.convergence({"lower": [], "upper": []}), r"Add \['iteration'\]"),
        (lambda: plot.overview(np.eye(3), np.eye(3), [0, 0], np.eye(3)[:, :2], ""), r"samples: \[3, 3, 2, 3\]"),
    ],
)
def test_bad_input_is_refused_at_the_door(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_without_matplotlib_every_function_says_what_to_install(monkeypatch, solved):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls = [
        plot.style,
        lambda: plot.point_colours([0]),
        lambda: plot.affinity(solved.Q),
        lambda: plot.embedding(solved.X),
        lambda: plot.scatter_data(solved.X),
        lambda: plot.convergence(solved.trace),
        lambda: overview_of(solved),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=r"^plotting needs matplotlib: pip install 'sknomad\[plot\]'\.$"):
            call()


def test_matplotlib_is_imported_late_and_pyplot_never():
    program = (
        "import sys; from sknomad import plot; assert 'matplotlib' not in sys.modules, 'early';"
        "plot.embedding([[0, 0], [1, 1]]).figure.savefig('/dev/null', format='png');"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules, 'pyplot'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
