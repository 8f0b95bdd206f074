"""Panels are read back: what is drawn must be the arrays, in the right order and the right colours."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from drawn import drawn_matrix, drawn_points, overview_of
from sknomad import plot

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
        "plot.embedding([[0, 0], [1, 1]]).figure.savefig(__import__('os').devnull, format='png');"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules, 'pyplot'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
