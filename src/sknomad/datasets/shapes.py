"""Points on manifolds that are known: those of the paper, and three more."""

from math import isqrt, pi
from sys import float_info

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons, make_swiss_roll
from sklearn.utils import check_random_state

from .._numerics.validation import check_integer, check_real

Points = NDArray[np.float64]
Labels = NDArray[np.int64]
Parametrised = tuple[Points, Points]
Labelled = tuple[Points, Labels]
RandomState = int | np.random.RandomState | np.random.Generator | None

# Directions of the paper's six centres, in its order: blobs lie 10 and thin lines 5 steps out.
_CENTRES = np.array([(-1, -1), (-1, 0), (0, -1), (1, 1), (1, 0), (0, 1)], dtype=np.float64)


def ring(n_samples: int = 100, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the unit circle at even steps; the parameter is the angle in ``[0, 2 pi)``.

    Examples
    --------
    >>> X, angle = ring(4)
    >>> X.round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
    """
    angle = _even_angles(check_integer(n_samples, "n_samples", 2))
    return _add_noise(_circle(angle), noise, random_state), angle


def two_rings(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample two concentric circles, of radius 1 (label 0) and 0.5 (label 1).

    Examples
    --------
    >>> X, labels = two_rings(5)
    >>> np.hypot(*X.T).round(12).tolist(), labels.tolist()
    ([1.0, 1.0, 1.0, 0.5, 0.5], [0, 0, 0, 1, 1])
    """
    sizes = _split(check_integer(n_samples, "n_samples", 2), 2)
    circles = [radius * _circle(_even_angles(size)) for radius, size in zip((1.0, 0.5), sizes, strict=True)]
    return _add_noise(np.vstack(circles), noise, random_state), _labels(sizes)


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


def swiss_roll(n_samples: int = 100, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the planar roll ``(t cos t, t sin t)``, from ``t = pi`` to ``4 pi`` and even in arc length.

    The parameter is ``t``.

    Examples
    --------
    >>> X, t = swiss_roll(3)
    >>> (t / pi).round(3).tolist()
    [1.0, 2.909, 4.0]
    """
    t = _even_spiral_parameter(check_integer(n_samples, "n_samples", 2), pi, 4 * pi)
    return _add_noise(_spiral(t), noise, random_state), t


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


def double_swiss_roll(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Labelled:
    """Sample the planar roll of `swiss_roll` (label 0), and its rotation by pi (label 1), wound into it.

    Examples
    --------
    >>> X, labels = double_swiss_roll(6)
    >>> bool(np.allclose(X[labels == 1], -X[labels == 0])), labels.tolist()
    (True, [0, 0, 0, 1, 1, 1])
    """
    return _arms(_split(check_integer(n_samples, "n_samples", 2), 2), pi, 4 * pi, noise, random_state)


def trefoil(n_samples: int = 200, *, noise: float = 0.0, random_state: RandomState = None) -> Parametrised:
    """Sample the trefoil knot ``(sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t)``, ``t`` even on ``[0, 2 pi)``.

    Examples
    --------
    >>> trefoil(4)[0].round(12).tolist()[0]
    [0.0, -1.0, -0.0]
    """
    t = _even_angles(check_integer(n_samples, "n_samples", 2))
    return _add_noise(_knot(t), noise, random_state), t


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
    first, second = (_knot(_even_angles(size)) for size in sizes)
    about_third, about_first = _rotation(pi / 3, (0, 1)), _rotation(2 * pi / 3, (1, 2))
    second = second @ about_third @ about_first + np.array([4.4, 0.0, 0.0])
    return _add_noise(np.vstack([first, second]), noise, random_state), _labels(sizes)


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
    return 5 * _CENTRES[labels] + along * _circle(angle) + across * _circle(angle + pi / 2), labels


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
    flat, upright = (_circle(_even_angles(size)) for size in sizes)
    first = np.column_stack([flat, np.zeros(sizes[0])])
    second = np.column_stack([upright[:, 0] + 1.0, np.zeros(sizes[1]), upright[:, 1]])
    return _add_noise(np.vstack([first, second]), noise, random_state), _labels(sizes)


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
        arms.append(_spiral(_even_spiral_parameter(size, start, stop)) @ rotation)
    return _add_noise(np.vstack(arms), noise, random_state), _labels(sizes)


def _even_angles(size: int) -> Points:
    return 2 * pi * np.arange(size) / size


def _circle(angle: Points) -> Points:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _knot(t: Points) -> Points:
    return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)


def _rotation(angle: float, plane: tuple[int, int]) -> Points:
    """The matrix that turns rows in space by `angle` from the first axis of `plane` to the second."""
    matrix = np.eye(3)
    matrix[np.ix_(plane, plane)] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return matrix


def _spiral(t: Points) -> Points:
    return t[:, None] * _circle(t)


def _even_spiral_parameter(size: int, start: float, stop: float) -> Points:
    """Invert the arc length: ``t`` from ``start >= 0`` to ``stop``, both included, at equal steps of it."""
    s = np.linspace(_spiral_length(start), _spiral_length(stop), size)
    # The length s(t) is convex and at least t^2 / 2, so Newton from here comes down on the root and never
    # passes it. Five steps reach rounding; the rest are spare.
    t = np.sqrt(2 * s)
    for _ in range(8):
        t = t - (_spiral_length(t) - s) / np.sqrt(1 + t * t)
    return t


def _spiral_length(t: Points | float) -> Points:
    """Arc length of ``(t cos t, t sin t)`` from 0."""
    return (t * np.sqrt(1 + np.square(t)) + np.arcsinh(t)) / 2


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
