"""The sums of rows, kept on the nonnegative side of ADMM too.

``Q u = u`` holds for the points of every step, but not for their nonnegative copies ``R = max(T, 0)``. With few points
per patch, above all in noise, a row of ``R`` exceeds its sum by what many tiny negative entries of ``Q`` amount to, and
that shrinks slowly. To project on the nonnegative matrices with these sums instead is to add ``y u' + u y'`` to ``T``:
the next projection on the spectraplex does not see that, and ``N = -rho min(T, 0)`` is the multiplier as before.
"""

from __future__ import annotations

from .._numerics.arrays import Array, namespace
from .._numerics.fixed_vector import FixedVector

# Sums are this close to what they should be, as a share of all; after so many steps of Newton's method at the latest.
KEPT, MOST_NEWTON_STEPS = 1e-5, 20
# Steps of conjugate gradients for one of Newton's, at most, and what they leave of the residual.
MOST_GRADIENTS, LEFT = 20, 1e-2
# Entries of ``Q`` are at most one: what changes them by more than this is no correction.
LARGEST_CHANGE = 100.0
# How often a step of Newton's that overshoots is halved.
MOST_HALVINGS = 8


def keep_row_sums(T: Array, fixed: FixedVector) -> float:
    """Add ``y u' + u y'`` to `T`, in place, so that ``max(T, 0) u = u``; returns how much it still lacks.

    Newton's method on the piecewise linear equation for ``y``, for as long as it comes nearer.
    """
    u = fixed.like(T).vector(T)
    lacking = _lacking(T, u)
    for _ in range(MOST_NEWTON_STEPS):
        if _length(lacking) <= KEPT:
            break
        after = _add_what_helps(T, _newton_step(T, u, lacking), u, _length(lacking))
        if after is None:
            break
        lacking = after
    return _length(lacking)


def _add_what_helps(T: Array, y: Array, u: Array, before: float) -> Array | None:
    """Add the largest share of a Newton step that leaves less lacking than `before`; None, and nothing, if none does.

    Entries that turn positive on the way are not foreseen: a whole step may overshoot, a small one cannot. Rows of
    almost no weight ask for changes without end, which are not made.
    """
    xp = namespace(T)
    if not float(xp.max(xp.abs(y))) * float(xp.max(u)) <= LARGEST_CHANGE:
        return None
    _add(T, y, u)
    for _ in range(MOST_HALVINGS):
        lacking = _lacking(T, u)
        if _length(lacking) < before:
            return lacking
        y = y / 2
        _add(T, -y, u)
    _add(T, -y, u)
    return None


def _lacking(T: Array, u: Array) -> Array:
    """``u - max(T, 0) u``."""
    return u - namespace(T).clip(T, min=0.0) @ u


def _add(T: Array, y: Array, u: Array) -> None:
    update = y[:, None] * u[None, :]
    T += update
    T += update.T


def _newton_step(T: Array, u: Array, lacking: Array) -> Array:
    """The ``y`` that adds what is lacking where entries that are positive stay so, by conjugate gradients."""
    xp = namespace(T)
    is_positive = xp.astype(T > 0, T.dtype)
    diagonal = is_positive @ (u * u)
    # A row without any positive entry cannot be raised by those it has.
    diagonal = xp.where(diagonal > 0, diagonal, 1.0)
    y, rest = xp.zeros_like(u), lacking
    scaled = rest / diagonal
    direction, size = scaled, float(rest @ scaled)
    for _ in range(MOST_GRADIENTS):
        image = diagonal * direction + u * (is_positive @ (u * direction))
        curvature = float(direction @ image)
        if not curvature > 0:  # squares of weights may vanish
            break
        along = size / curvature
        if not along * float(xp.max(xp.abs(direction))) * float(xp.max(u)) <= LARGEST_CHANGE:
            break
        y, rest = y + along * direction, rest - along * image
        if size <= 0 or _length(rest) <= LEFT * _length(lacking):
            break
        scaled = rest / diagonal
        before, size = size, float(rest @ scaled)
        direction = scaled + (size / before) * direction
    return y


def _length(x: Array) -> float:
    return float(namespace(x).linalg.vector_norm(x))
