"""Proximal steps of the program by Newton's method: how both bounds get their last digits.

From a point ``Q0`` and a multiplier ``N0`` a proximal step goes to the ``Q = J + W`` that maximises

    <D, Q> - |N|^2 / (2 rho) - hold |Q - Q0|^2 rho / 2,    N = max(N0 - rho Q, 0),

over the spectraplex, and to that ``N``: the step of an augmented Lagrangian, held back by its last term. With
``B = N0 / rho`` its ``W`` is the projection of

    A = (D / rho + hold Q0 + max(B, Q)) / (1 + hold),

a fixed point that steps of ADMM creep towards, and Newton's reach in a few. Let ``F`` be how far ``A`` is from it,
``P`` the derivative of the projection, known from the eigenvectors of ``A``, and ``E`` the mask of entries with
``Q > B``, over ``1 + hold``. Then ``dA = E P dA - F``: beyond ``-F`` the step has entries on the mask alone, and
conjugate gradients find them, as that system is definite. Without `hold` it is singular where ``Q`` is not unique,
never because ``N`` is not, which is the rule here: far more entries of ``Q`` are zero than a matrix of its rank can
choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .._certificate.iterate import NegativePart
from .._numerics.arrays import Array, device, double, namespace
from .._numerics.fixed_vector import FixedVector
from .._numerics.projections import ky_fan_sum, project_simplex
from .._numerics.rough import rough_products
from .._points.forms import SpectralPoint
from .._points.point import Point
from ._admm_state import GramOperator
from ._spectrum import Spectrum, spectrum_of

# Newton steps end where the distance from the fixed point is this share of the way there.
SHARE_OF_WAY = 0.3
# Or, for the sake of the bound, where what is left to gain is this share of what the proximal step gains.
SHARE_OF_GAIN = 0.1
MOST_STEPS = 20
# Conjugate gradients reduce the residual by this factor, which single precision is good for.
REDUCTION, MOST_PRODUCTS = 0.2, 200
# Keeps the system definite where `Q` is not unique.
REGULARISATION = 1e-5
# Steps that lower the value by more than its rounding are cut by this factor, down to the shortest that is tried.
CUT, SHORTEST = 0.25, 1e-3
ROUNDING = 1e-11


@dataclass(frozen=True)
class Place:
    """A matrix ``A``, its projection, and what its eigenvectors tell."""

    A: Array  # (n, n)
    spectrum: Spectrum  # of A on the complement of u
    point: SpectralPoint  # Q = J + W
    R: Array  # (n, n), Q - B: its negative part is -N / rho
    value: float  # what a proximal step maximises, over rho and up to a constant
    rho: float  # penalty of that step


class ProximalStep:
    """The fixed point that a proximal step is, in float64."""

    def __init__(self, gram: GramOperator, total: float, start: Point, N: NegativePart, rho: float, hold: float = 0.0):
        self.total, self.start, self.rho, self.hold = total, start, rho, hold
        self.B = double(N.formed()) / rho
        self.fixed = gram.fixed.like(self.B)
        self.constant = double(gram.rows(slice(0, gram.n))) / rho + self.B
        if hold > 0:
            self.constant += hold * self._start()

    def places(self, before: Place | None = None) -> Iterator[Place]:
        """Yield places nearer and nearer to the fixed point, the last one near enough.

        `before` is the place of another step that this one starts from: its eigenvectors are known already.
        """
        place = self._look(self._image(self._start() - self.B)) if before is None else self._seen_from(before)
        for _ in range(MOST_STEPS):
            # No array is named here that could be freed before the next decomposition, where most memory is needed.
            following = self._follow(place, self._direction(place))
            if following is None:
                return
            place = following
            yield place
            if self._is_near(place):
                return

    def _direction(self, place: Place) -> Array:
        return _newton_direction(place, self._residual(place), 1 / (1 + self.hold), self.fixed)

    def multiplier(self, place: Place) -> NegativePart:
        """``N`` at a place."""
        return NegativePart(place.R, self.rho)

    def _start(self) -> Array:
        """``Q0``, formed when it is needed: one n x n array less to keep."""
        return double(self.start.rows(0, self.start.n))

    def _image(self, R: Array) -> Array:
        """``(D / rho + hold Q0 + max(B, Q)) / (1 + hold)``."""
        return (self.constant + namespace(R).clip(R, min=0.0)) / (1 + self.hold)

    def _residual(self, place: Place) -> Array:
        """How far ``A`` is from the fixed point."""
        return place.A - self._image(place.R)

    def _look(self, A: Array, near: Spectrum | None = None) -> Place:
        xp = namespace(A)
        spectrum = spectrum_of(A, self.total, self.fixed, near)
        weights = project_simplex(spectrum.values, self.total)
        weights = weights[int(xp.sum(xp.astype(weights <= 0, xp.int64))) :]
        point = SpectralPoint(spectrum.vectors[:, -weights.shape[0] :], weights, self.fixed)
        return self._place(A, spectrum, point)

    def _seen_from(self, before: Place) -> Place:
        """A place of another step, where this one has the fixed point if ``D + N`` and ``Q`` stay as they are.

        ``A - Q`` is ``D + N`` over the penalty: so it shrinks as that grows, which changes no eigenvector.
        """
        share, known = before.rho / self.rho, before.spectrum
        weights = namespace(before.A).zeros_like(known.values)
        weights[-before.point.l.shape[0] :] = before.point.l
        spectrum = Spectrum(share * known.values + (1 - share) * weights, known.vectors, share * known.rest)
        Q = before.point.rows(0, self.start.n)
        return self._place(share * before.A + (1 - share) * Q, spectrum, before.point)

    def _place(self, A: Array, spectrum: Spectrum, point: SpectralPoint) -> Place:
        Q = point.rows(0, A.shape[0])
        R = Q - self.B
        positive = namespace(R).clip(R, min=0.0)
        value = _inner(self.constant, Q) + (_square(positive) - (1 + self.hold) * _square(Q)) / 2
        return Place(A, spectrum, point, R, value, self.rho)

    def _follow(self, place: Place, direction: Array) -> Place | None:
        """The place at the end of the longest step that does not lower the value; None if there is none."""
        length = 1.0
        while length >= SHORTEST:
            following = self._look(place.A + length * direction, place.spectrum)
            if following.value >= place.value - ROUNDING * abs(place.value):
                return following
            length *= CUT
        return None

    def _is_near(self, place: Place) -> bool:
        F = self._residual(place)
        moved = _square(namespace(F).clip(-place.R, min=0.0) - self.B)
        if self.hold == 0:
            return _left_to_gain(place, F, self.total) <= SHARE_OF_GAIN * moved
        moved += self.hold**2 * _square(place.R + self.B - self._start())
        return ((1 + self.hold) / SHARE_OF_WAY) ** 2 * _square(F) <= moved


def _left_to_gain(place: Place, F: Array, total: float) -> float:
    """About how far the bound of this ``N``, over ``rho``, is above that of the proximal step.

    It is how far ``<D + N, W>`` is below the largest value of that product, here within the span of ``W``.
    """
    xp = namespace(F)
    U, weights = place.point.U, place.point.l
    inside = U.T @ (F @ U)
    gained = float(xp.sum(xp.linalg.diagonal(inside) * weights))
    return gained + ky_fan_sum(xp.linalg.eigvalsh(-(inside + inside.T) / 2), min(total, inside.shape[0]))


class _Derivative:
    """Derivative of the projection on the spectraplex, a linear map of symmetric matrices, in single precision.

    In the basis of eigenvectors it multiplies entries: by 1 where both vectors count for ``W``, by
    ``w_i / (a_i - a_j)`` where one does, by 0 where none does. The trace of ``W`` stays what it is. Where only the
    leading vectors are known, the mean of the other eigenvalues stands for each of these.
    """

    def __init__(self, place: Place, fixed: FixedVector):
        xp = namespace(place.A)
        values, weights = place.spectrum.values, place.point.l
        n, count, rank = place.A.shape[0], values.shape[0], weights.shape[0]
        self.rank, self.below, self.fixed = rank, count - rank, fixed
        kept, others = values[self.below :], values[: self.below]
        both = xp.full((rank, rank), 0.5, dtype=values.dtype, device=device(values))  # counted twice, below
        factors = xp.concat([_turning(weights, kept, others[:, None]), both], axis=0)
        rest = _turning(weights, kept, place.spectrum.rest) if count < n - 1 else xp.zeros_like(weights)
        self.factors, self.rest = _single(factors - rest), _single(rest)
        self.identity = xp.eye(count, rank, k=-self.below, dtype=xp.float32, device=device(values))
        self.vectors = _single(place.spectrum.vectors)
        self.U = self.vectors[:, self.below :]

    def __call__(self, X: Array) -> Array:
        xp = namespace(X)
        image = self.fixed.centre(X @ self.U)
        coordinates = self.vectors.T @ image
        mean = xp.sum(coordinates * self.identity) / (2 * self.rank)
        inside = coordinates * self.factors - mean * self.identity
        half = (self.vectors @ inside + image * self.rest) @ self.U.T
        return half + half.T


def _turning(weights: Array, kept: Array, other: Array | float) -> Array:
    """``w_i / (a_i - a_j)`` for other eigenvalues; gaps are at least the weight, which rounding may deny."""
    return weights / namespace(weights).maximum(kept - other, weights)


def _newton_direction(place: Place, F: Array, slope: float, fixed: FixedVector) -> Array:
    """About the solution of ``dA = E P dA - F``, where entries of ``E`` are 0 or `slope`."""
    xp = namespace(F)
    derivative = _Derivative(place, fixed)
    mask = slope * xp.astype(place.R > 0, xp.float32)
    scale = _square(F) ** 0.5  # single precision has no room for the square of a tiny residual
    if scale == 0:
        return F

    def system(X: Array) -> Array:
        return (1 + REGULARISATION) * X - mask * derivative(X)

    with rough_products(F):
        X = _conjugate_gradients(system, -mask * derivative(_single(F / scale)))
    return double(X) * scale - F


def _conjugate_gradients(system: Callable[[Array], Array], right: Array) -> Array:
    """About the solution of a definite system of matrices."""
    X, residual, direction = namespace(right).zeros_like(right), right, right
    square = first = _square(right)
    for _ in range(MOST_PRODUCTS):
        if square <= REDUCTION**2 * first:
            break
        image = system(direction)
        length = square / _inner(direction, image)
        X = X + length * direction
        residual = residual - length * image
        square, before = _square(residual), square
        direction = residual + (square / before) * direction
    return X


def _single(A: Array) -> Array:
    return namespace(A).astype(A, namespace(A).float32)


def _square(A: Array) -> float:
    return _inner(A, A)


def _inner(A: Array, B: Array) -> float:
    xp = namespace(A)
    return float(xp.sum(double(xp.vecdot(A, B))))
