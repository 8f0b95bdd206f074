"""Style and colours: undone outside, told apart by the colour-blind, darkening evenly."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba

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
