"""Points on manifolds that are known: those of the paper, and three more."""

from math import isqrt, pi
from sys import float_info

import numpy as np
from sklearn.datasets import make_moons, make_swiss_roll
from sklearn.utils import check_random_state

from .._numerics.validation import check_integer, check_real
from .curves import Points, circle, even_angles, even_spiral_parameter, knot, rotation, spiral
from .sampler import Labelled, Labels, Parametrised, RandomState, sampler

# Directions of the paper's six centres, in its order: blobs lie 10 and thin lines 5 steps out.
_CENTRES = np.array([(-1, -1), (-1, 0), (0, -1), (1, 1), (1, 0), (0, 1)], dtype=np.float64)


@sampler
def ring(n_samples: int = 100, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the unit circle at even steps; the parameter is the angle in ``[0, 2 pi)``.

    Examples
    --------
    >>> X, angle = ring(4)
    >>> X.round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
    """
    angle = even_angles(check_integer(n_samples, "n_samples", 2))
    return _add_noise(circle(angle), noise, random_state), angle


@sampler
def two_rings(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample two concentric circles, of radius 1 (label 0) and 0.5 (label 1).

    Examples
    --------
    >>> X, labels = two_rings(5)
    >>> np.hypot(*X.T).round(12).tolist(), labels.tolist()
    ([1.0, 1.0, 1.0, 0.5, 0.5], [0, 0, 0, 1, 1])
    """
    sizes = _split(check_integer(n_samples, "n_samples", 2), 2)
    circles = [radius * circle(even_angles(size)) for radius, size in zip((1.0, 0.5), sizes, strict=True)]
    return _add_noise(np.vstack(circles), noise, random_state), _labels(sizes)


@sampler
def moons(n_samples: int = 200, *, noise: float = 0.05, random_state: RandomState = None) -> Labelled:
    """Sample two interleaving half circles, scikit-learn's, not shuffled.

    Examples
    --------
    >>> X, labels = moons(6, noise=0.0)
    >>> X.round(12).tolist()[:3], labels.tolist()
    ([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [0, 0, 0, 1, 1, 1])
    """
    sizes = _split(check_integer(n_samples, "n_samples", 2), 2)
    X, labels = make_moons(sizes, shuffle=False)
    return _add_noise(X, noise, random_state), labels.astype(np.int64)


@sampler
def swiss_roll(n_samples: int = 100, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the planar roll ``(t cos t, t sin t)``, from ``t = pi`` to ``4 pi`` and even in arc length.

    The parameter is ``t``.

    Examples
    --------
    >>> X, t = swiss_roll(3)
    >>> (t / pi).round(3).tolist()
    [1.0, 2.909, 4.0]
    """
    t = even_spiral_parameter(check_integer(n_samples, "n_samples", 2), pi, 4 * pi)
    return _add_noise(spiral(t), noise, random_state), t


@sampler
def swiss_roll_3d(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample scikit-learn's rolled sheet in three dimensions, at random; the parameter is the angle rolled.

    Examples
    --------
    >>> X, t = swiss_roll_3d(10, random_state=0)
    >>> bool(np.allclose(np.hypot(X[:, 0], X[:, 2]), t))
    True
    """
    rng = generator_of(random_state)
    X, t = make_swiss_roll(check_integer(n_samples, "n_samples", 2), random_state=rng)
    return _add_noise(X, noise, rng), t


@sampler
def double_swiss_roll(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample the planar roll of `swiss_roll` (label 0), and its rotation by pi (label 1), wound into it.

    Examples
    --------
    >>> X, labels = double_swiss_roll(6)
    >>> bool(np.allclose(X[labels == 1], -X[labels == 0])), labels.tolist()
    (True, [0, 0, 0, 1, 1, 1])
    """
    return _arms(_split(check_integer(n_samples, "n_samples", 2), 2), pi, 4 * pi, noise, random_state)


@sampler
def trefoil(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the trefoil knot ``(sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t)``, ``t`` even on ``[0, 2 pi)``.

    Examples
    --------
    >>> trefoil(4)[0].round(12).tolist()[0]
    [0.0, -1.0, -0.0]
    """
    t = even_angles(check_integer(n_samples, "n_samples", 2))
    return _add_noise(knot(t), noise, random_state), t


@sampler
def trefoil_pair(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample two interlocked trefoil knots, never closer than 0.9.

    The first is that of `trefoil`; the second is the same, turned by 60 degrees about the third axis, then by 120 about
    the first, and moved by 4.4 along it. Each strand of one passes through the other: their linking number is 1.

    Examples
    --------
    >>> X, labels = trefoil_pair(4)
    >>> X.round(3).tolist()[0], labels.tolist()
    ([0.0, -1.0, -0.0], [0, 0, 1, 1])
    """
    sizes = _split(check_integer(n_samples, "n_samples", 2), 2)
    first, second = (knot(even_angles(size)) for size in sizes)
    about_third, about_first = rotation(pi / 3, (0, 1)), rotation(2 * pi / 3, (1, 2))
    second = second @ about_third @ about_first + np.array([4.4, 0.0, 0.0])
    return _add_noise(np.vstack([first, second]), noise, random_state), _labels(sizes)


@sampler
def square_grid(n_samples: int = 256, *, noise: float = 0.5, random_state: RandomState = None) -> Parametrised:
    """Sample a square grid of unit spacing, hidden among coordinates of noise.

    The grid fills the first two of ten coordinates, the noise the other eight. The parameter is the grid, in
    two columns. ``n_samples`` must be the square of an integer.

    Examples
    --------
    >>> X, position = square_grid(4, random_state=0)
    >>> X.shape, position.tolist()
    ((4, 10), [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    """
    side = isqrt(check_integer(n_samples, "n_samples", 4))
    if side * side != n_samples:
        raise ValueError(
            f"n_samples must be the square of an integer, got {n_samples}. "
            f"Use {side**2} or {(side + 1) ** 2}, the nearest."
        )
    position = np.indices((side, side)).reshape(2, -1).T.astype(np.float64)
    hidden = _add_noise(np.zeros((n_samples, 8)), noise, random_state)
    return np.hstack([position, hidden]), position


@sampler
def blobs(n_samples: int = 200, *, noise: float = 1.0, random_state: RandomState = None) -> Labelled:
    """Sample six Gaussian clouds around the paper's centres.

    Examples
    --------
    >>> X, labels = blobs(6, noise=0.0)
    >>> X.astype(int).tolist()
    [[-10, -10], [-10, 0], [0, -10], [10, 10], [10, 0], [0, 10]]
    """
    labels = _labels(_split(check_integer(n_samples, "n_samples", 6), 6))
    return _add_noise(10 * _CENTRES[labels], noise, random_state), labels


@sampler
def thin_lines(n_samples: int = 200, *, noise: float = 0.1, random_state: RandomState = None) -> Labelled:
    """Sample six segments of length 3, at angles even on ``[0, pi]``.

    Each starts at a centre as in `blobs`, but 5 out instead of 10. Points are even along it; the noise is
    only across it.

    Examples
    --------
    >>> X, labels = thin_lines(12, noise=0.0)
    >>> X[labels == 0].tolist()
    [[-5.0, -5.0], [-2.0, -5.0]]
    """
    sizes = _split(check_integer(n_samples, "n_samples", 6), 6)
    labels = _labels(sizes)
    along = np.concatenate([np.linspace(0.0, 3.0, size) for size in sizes])[:, None]
    across = _add_noise(np.zeros_like(along), noise, random_state)
    angle = np.linspace(0.0, pi, 6)[labels]
    return 5 * _CENTRES[labels] + along * circle(angle) + across * circle(angle + pi / 2), labels


@sampler
def linked_rings(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample two chained unit circles in three dimensions: each passes through the centre of the other.

    They form the Hopf link: no plane separates them, nor any motion that keeps them apart.

    Examples
    --------
    >>> X, labels = linked_rings(8)
    >>> X.round(12)[[0, 6]].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    sizes = _split(check_integer(n_samples, "n_samples", 2), 2)
    flat, upright = (circle(even_angles(size)) for size in sizes)
    first = np.column_stack([flat, np.zeros(sizes[0])])
    second = np.column_stack([upright[:, 0] + 1.0, np.zeros(sizes[1]), upright[:, 1]])
    return _add_noise(np.vstack([first, second]), noise, random_state), _labels(sizes)


@sampler
def three_spirals(n_samples: int = 300, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample three spiral arms, a third of a turn apart, each evenly in arc length.

    Examples
    --------
    >>> X, labels = three_spirals(3)
    >>> (X / pi).round(3).tolist()
    [[-1.0, 0.0], [0.5, -0.866], [0.5, 0.866]]
    """
    return _arms(_split(check_integer(n_samples, "n_samples", 3), 3), pi, 3 * pi, noise, random_state)


def _arms(sizes: tuple[int, ...], start: float, stop: float, noise: float, random_state: RandomState) -> Labelled:
    """Sample copies of one spiral, turned by equal fractions of a whole turn."""
    arms = []
    for index, size in enumerate(sizes):
        turn = 2 * pi * index / len(sizes)
        rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        arms.append(spiral(even_spiral_parameter(size, start, stop)) @ rotation)
    return _add_noise(np.vstack(arms), noise, random_state), _labels(sizes)


def _split(n_samples: int, parts: int) -> tuple[int, ...]:
    """Sizes of the parts, as equal as can be, larger ones first."""
    size, left_over = divmod(n_samples, parts)
    return tuple(size + (index < left_over) for index in range(parts))


def _labels(sizes: tuple[int, ...]) -> Labels:
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def _add_noise(X: Points, noise: float, random_state: RandomState) -> Points:
    scale = check_real(noise, "noise", 0.0, float_info.max, "a finite number >= 0")
    rng = generator_of(random_state)
    return X + rng.normal(scale=scale, size=X.shape) if scale else X


def generator_of(random_state: RandomState) -> np.random.RandomState:
    """The generator that draws for `random_state`, of scikit-learn's kind."""
    # scikit-learn knows no Generator; a RandomState around its bits advances it as its own draws would.
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)
