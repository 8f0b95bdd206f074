"""Sample sets against formulas written out again, quadrature, and what the names promise."""

import inspect
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.datasets import make_moons, make_swiss_roll

from sknomad import datasets
from sknomad.datasets.curves import even_spiral_parameter

CURVES = {"ring": 2, "swiss_roll": 2, "swiss_roll_3d": 3, "trefoil": 3}
LABELLED = {
    "two_rings": (2, 2),
    "moons": (2, 2),
    "double_swiss_roll": (2, 2),
    "blobs": (2, 6),
    "thin_lines": (2, 6),
    "linked_rings": (3, 2),
    "three_spirals": (2, 3),
    "trefoil_pair": (3, 2),
}
EVERY = [*CURVES, *LABELLED, "square_grid"]
PAPER_SIZES = {
    "two_rings": 200,
    "moons": 200,
    "double_swiss_roll": 200,
    "swiss_roll_3d": 200,
    "trefoil": 200,
    "blobs": 200,
    "thin_lines": 200,
    "square_grid": 256,
}
NOISY_BY_DEFAULT = {"moons": 0.05, "square_grid": 0.5, "blobs": 1.0, "thin_lines": 0.1}


def sample(name, n_samples=None, **options):
    function = getattr(datasets, name)
    return function(**options) if n_samples is None else function(n_samples, **options)


def turned(X, angle):
    return X @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def spiral_steps(t):
    """Arc lengths between neighbours on ``(t cos t, t sin t)``, by quadrature of its speed."""
    return np.array([quad(lambda u: np.hypot(1, u), a, b, epsabs=1e-13)[0] for a, b in pairwise(t)])


def linking_number(first, second):
    """Gauss's double integral over two closed polygons: chords as tangents, taken at their midpoints."""
    tangents = [np.roll(curve, -1, axis=0) - curve for curve in (first, second)]
    middles = [curve + tangent / 2 for curve, tangent in zip((first, second), tangents, strict=True)]
    apart = middles[0][:, None] - middles[1][None]
    cross = np.cross(tangents[0][:, None], tangents[1][None])
    return float(((apart * cross).sum(axis=2) / np.linalg.norm(apart, axis=2) ** 3).sum() / (4 * np.pi))


@pytest.mark.parametrize(("name", "dimension"), CURVES.items())
def test_curve_comes_with_its_parameter(name, dimension):
    X, parameter = sample(name, 31, random_state=0)
    assert X.shape == (31, dimension)
    assert parameter.shape == (31,)
    assert X.dtype == parameter.dtype == np.float64


@pytest.mark.parametrize(("name", "shape"), LABELLED.items())
@pytest.mark.parametrize("n_samples", [12, 13, 47])
def test_labels_come_in_order_and_the_first_take_what_is_left_over(name, shape, n_samples):
    dimension, parts = shape
    X, labels = sample(name, n_samples, random_state=0)
    assert X.shape == (n_samples, dimension)
    assert X.dtype == np.float64
    assert labels.dtype == np.int64
    expected = [len(part) for part in np.array_split(np.arange(n_samples), parts)]
    assert np.bincount(labels).tolist() == expected
    assert (np.diff(labels) >= 0).all()


@pytest.mark.parametrize(("name", "size"), PAPER_SIZES.items())
def test_default_size_is_the_papers(name, size):
    assert len(sample(name, random_state=0)[0]) == size


@pytest.mark.parametrize("name", EVERY)
def test_options_are_keyword_only_and_noise_is_off_unless_the_paper_has_it(name):
    parameters = inspect.signature(getattr(datasets, name)).parameters
    assert list(parameters) == ["n_samples", "noise", "random_state"]
    assert parameters["noise"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["noise"].default == NOISY_BY_DEFAULT.get(name, 0.0)


@pytest.mark.parametrize("name", EVERY)
def test_noise_follows_the_seed(name):
    first, again, other = (sample(name, 36, noise=0.1, random_state=seed)[0] for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_taken_and_advanced(name, make):
    source = make(3)
    first, second = (sample(name, 36, noise=0.1, random_state=source)[0] for _ in range(2))
    np.testing.assert_array_equal(first, sample(name, 36, noise=0.1, random_state=make(3))[0])
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize("name", ["ring", "two_rings", "double_swiss_roll", "trefoil", "linked_rings", "moons"])
def test_noise_has_the_standard_deviation_asked_for(name):
    clean = sample(name, 4000, noise=0.0)[0]
    noisy = sample(name, 4000, noise=0.3, random_state=0)[0]
    np.testing.assert_allclose((noisy - clean).std(axis=0), 0.3, rtol=0.06)


@pytest.mark.parametrize("n_samples", [2, 5, 64])
def test_ring_is_the_regular_polygon(n_samples):
    X, angle = datasets.ring(n_samples)
    corners = np.exp(2j * np.pi * np.arange(n_samples) / n_samples)
    np.testing.assert_allclose(X[:, 0] + 1j * X[:, 1], corners, atol=1e-15)
    np.testing.assert_allclose(np.exp(1j * angle), corners, atol=1e-15)


@pytest.mark.parametrize("n_samples", [20, 21])
def test_two_rings_have_radii_one_and_a_half(n_samples):
    X, labels = datasets.two_rings(n_samples)
    np.testing.assert_allclose(np.hypot(*X.T), np.where(labels == 0, 1.0, 0.5), rtol=1e-15)
    if n_samples % 2 == 0:
        np.testing.assert_allclose(X[labels == 1], X[labels == 0] / 2, atol=1e-16)


def test_moons_are_those_of_scikit_learn():
    X, labels = datasets.moons(50, noise=0.05, random_state=4)
    expected, expected_labels = make_moons(50, shuffle=False, noise=0.05, random_state=4)
    np.testing.assert_allclose(X, expected, atol=1e-15)
    np.testing.assert_array_equal(labels, expected_labels)


@pytest.mark.parametrize("n_samples", [2, 3, 101])
def test_swiss_roll_is_even_in_arc_length(n_samples):
    X, t = datasets.swiss_roll(n_samples)
    np.testing.assert_allclose(t[[0, -1]], [np.pi, 4 * np.pi], rtol=1e-13)
    np.testing.assert_allclose(X, np.stack([t * np.cos(t), t * np.sin(t)], axis=1), rtol=1e-14)
    steps = spiral_steps(t)
    np.testing.assert_allclose(steps, steps.mean(), rtol=1e-9)


def test_inverse_of_the_arc_length_is_good_to_rounding():
    t = even_spiral_parameter(1000, 0.0, 50.0)
    s = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    np.testing.assert_allclose(s, np.linspace(0, s[-1], 1000), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(t[[0, -1]], [0.0, 50.0], rtol=1e-13)


@pytest.mark.parametrize(("name", "parts", "stop"), [("double_swiss_roll", 2, 4), ("three_spirals", 3, 3)])
def test_spiral_arms_are_turns_of_one(name, parts, stop):
    X, labels = sample(name, 40 * parts)
    arms = [X[labels == k] for k in range(parts)]
    for k in range(parts):
        np.testing.assert_allclose(arms[k], turned(arms[0], 2 * np.pi * k / parts), atol=1e-13)
    t = np.hypot(*arms[0].T)
    np.testing.assert_allclose(t[[0, -1]], [np.pi, stop * np.pi])
    np.testing.assert_allclose(spiral_steps(t), spiral_steps(t).mean(), rtol=1e-9)
    np.testing.assert_allclose(arms[0], np.stack([t * np.cos(t), t * np.sin(t)], axis=1), atol=1e-12)


@pytest.mark.parametrize("name", ["double_swiss_roll", "three_spirals", "two_rings", "linked_rings"])
def test_neighbours_on_a_manifold_are_nearer_than_other_manifolds(name):
    X, labels = sample(name)
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    across = distance[labels[:, None] != labels[None]].min()
    along = np.linalg.norm(np.diff(X, axis=0), axis=1)[np.diff(labels) == 0].max()
    assert across > 2 * along


def test_swiss_roll_3d_is_that_of_scikit_learn():
    X, t = datasets.swiss_roll_3d(40, random_state=5)
    expected, expected_t = make_swiss_roll(40, random_state=5)
    np.testing.assert_array_equal(X, expected)
    np.testing.assert_array_equal(t, expected_t)


def test_trefoil_has_its_radius_and_threefold_symmetry():
    X, t = datasets.trefoil(90)
    np.testing.assert_allclose(np.hypot(X[:, 0], X[:, 1]) ** 2, 5 - 4 * np.cos(3 * t), atol=1e-12)
    np.testing.assert_allclose(X[:, 2], -np.sin(3 * t), atol=1e-15)
    np.testing.assert_allclose(np.roll(X, -30, axis=0)[:, :2], turned(X[:, :2], -2 * np.pi / 3), atol=1e-12)
    np.testing.assert_allclose(np.diff(t), 2 * np.pi / 90)


def test_square_grid_hides_the_grid_in_its_first_two_columns():
    X, position = datasets.square_grid(random_state=0)
    assert X.shape == (256, 10)
    np.testing.assert_array_equal(X[:, :2], position)
    assert {tuple(row) for row in position.astype(int)} == {(i, j) for i in range(16) for j in range(16)}
    np.testing.assert_allclose(X[:, 2:].std(), 0.5, rtol=0.05)
    assert np.abs(X[:, 2:].mean(axis=0)).max() < 0.15


def test_blobs_surround_the_papers_centres():
    X, labels = datasets.blobs(6000, random_state=0)
    centres = np.array([X[labels == k].mean(axis=0) for k in range(6)])
    expected = [(-10, -10), (-10, 0), (0, -10), (10, 10), (10, 0), (0, 10)]
    np.testing.assert_allclose(centres, expected, atol=0.15)
    np.testing.assert_allclose((X - centres[labels]).std(axis=0), 1.0, rtol=0.03)


def test_thin_lines_are_three_long_and_thin():
    X, labels = datasets.thin_lines(6000, random_state=0)
    starts = 5 * np.array([(-1, -1), (-1, 0), (0, -1), (1, 1), (1, 0), (0, 1)])
    for k, angle in enumerate(np.linspace(0, np.pi, 6)):
        along, across = turned(X[labels == k] - starts[k], -angle).T
        np.testing.assert_allclose(along, np.linspace(0, 3, 1000), atol=1e-12)
        assert across.std() == pytest.approx(0.1, rel=0.1)


def test_linked_rings_are_linked_once():
    X, labels = datasets.linked_rings(400)
    first, second = X[labels == 0], X[labels == 1]
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(second - [1, 0, 0], axis=1), 1.0)
    assert abs(linking_number(first, second)) == pytest.approx(1.0, abs=1e-3)
    assert linking_number(first, second + np.array([3, 0, 0])) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("n_samples", [1, 0, -3])
def test_too_few_points_are_refused(name, n_samples):
    with pytest.raises(ValueError, match=rf"n_samples must be an integer >= \d, got {n_samples}"):
        sample(name, n_samples)


@pytest.mark.parametrize("n_samples", [10.0, "10", None, True])
def test_sizes_that_are_no_integers_are_refused(n_samples):
    with pytest.raises(TypeError, match="n_samples must be an integer >= 2, got"):
        datasets.ring(n_samples)


@pytest.mark.parametrize("name", ["blobs", "thin_lines"])
def test_six_parts_need_six_points(name):
    with pytest.raises(ValueError, match="n_samples must be an integer >= 6, got 5"):
        sample(name, 5)


def test_square_grid_names_the_nearest_squares():
    with pytest.raises(ValueError, match=r"square of an integer, got 200\. Use 196 or 225"):
        datasets.square_grid(200)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("noise", [-0.1, np.inf, np.nan])
def test_noise_must_be_finite_and_not_negative(name, noise):
    with pytest.raises(ValueError, match="noise must be a finite number >= 0, got"):
        sample(name, 36, noise=noise)


def test_numpy_integers_are_sizes():
    assert datasets.square_grid(np.int32(9), random_state=0)[0].shape == (9, 10)


def test_trefoil_pair_is_two_knots_interlocked_and_apart():
    X, labels = datasets.trefoil_pair(400)
    first, second = X[labels == 0], X[labels == 1]
    knot, _ = datasets.trefoil(200)
    assert np.allclose(first, knot)
    centred = second - second.mean(axis=0)
    # The same shape: equal distances between all pairs.
    assert np.allclose(np.linalg.norm(centred, axis=1), np.linalg.norm(knot - knot.mean(axis=0), axis=1))
    assert np.allclose(centred @ centred.T, (knot - knot.mean(axis=0)) @ (knot - knot.mean(axis=0)).T)
    assert np.linalg.norm(first[:, None] - second[None], axis=2).min() > 0.9
    assert abs(linking_number(first, second)) == pytest.approx(1, abs=1e-2)
