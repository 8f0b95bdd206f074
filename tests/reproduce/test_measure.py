"""What the experiments measure, and how their pictures are placed."""

import numpy as np
import pytest

from sknomad.reproduce import figure_parts as _figure
from sknomad.reproduce import figure_style as _look
from sknomad.reproduce.measure import circulance_error, explained, nearest, purity, strongest, winding_number
from sknomad.ring import ring_optimum

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def test_measures_on_cases_known_by_hand(rng):
    n = 30
    Q = ring_optimum(n, 5).Q
    assert circulance_error(Q) < 1e-12
    noise = rng.normal(size=(n, n))
    assert 0.1 < circulance_error(noise) <= 1
    angle = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert winding_number(circle) == 1
    assert winding_number(np.column_stack([np.cos(2 * angle), np.sin(2 * angle)]) + 5) == 2
    assert set(nearest(circle, 2)[0]) == {1, n - 1}
    assert set(strongest(Q, 2)[4]) == {3, 5}
    assert purity(nearest(circle, 2), np.arange(n) // 10) == pytest.approx(1 - 6 / (2 * n))
    assert explained(nearest(circle, 2), circle[:, 0]) > 0.99
    assert explained(nearest(circle, 2), rng.normal(size=n)) < 0.5


def test_thumbnails_do_not_overlap(rng):
    with _look.look():
        _, axes = _figure.figure(1, width="column")
        points = rng.normal(size=(300, 2))
        _figure.scatter(axes[0, 0], points)
        side = np.ptp(axes[0, 0].get_xlim())
        shown = _figure.thumbnails(axes[0, 0], points, np.zeros((300, 10, 8), np.uint8), height=0.1)
    assert 10 < len(shown) == len(set(shown.tolist()))
    apart = np.abs(points[shown][:, None] - points[shown])
    np.fill_diagonal(apart[:, :, 0], np.inf)
    assert np.all((apart[:, :, 0] >= 0.08 * side) | (apart[:, :, 1] >= 0.1 * side))
    # None is left out that would have fitted.
    for index in set(range(300)) - set(shown.tolist()):
        apart = np.abs(points[shown] - points[index])
        assert np.any((apart[:, 0] < 1.05 * 0.08 * side) & (apart[:, 1] < 1.05 * 0.1 * side))


def test_draw_leaves_the_settings_of_matplotlib_alone(experiments):
    import matplotlib

    before = dict(matplotlib.rcParams)
    _look.draw_figure(experiments.first, {"x": np.arange(3.0)})
    assert dict(matplotlib.rcParams) == before
