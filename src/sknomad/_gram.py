"""`Gram`: the matrix of inner products, kept in the cheapest form that determines it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from ._arrays import UNIT_ROUNDOFF, Array, device, gamma, is_sparse, like
from ._validation import DEFINITE_TOLERANCE, check_distances, check_square, check_table

# Outside this range squares of the numbers, or squares of those, leave float64.
SMALLEST_SIZE, LARGEST_SIZE = 1e-70, 1e70


@dataclass(frozen=True)
class Frame:
    """The steps that turn given rows into those that `Gram` holds; new points must take the same ones."""

    first: int = 0  # exponent of the power of two that given numbers are divided by
    origin: Array = None  # the first row, subtracted next; None where rows are not centred (kernels, sparse data)
    second: int = 0  # exponent of the power of two that differences are divided by
    mean: Array = None  # of those, subtracted last

    def place(self, rows: Array) -> Array:
        """Rows in the units of the Gram matrix and, for dense data, about the mean of the points it was made of."""
        rows = _divided(rows, self.first)
        return rows if self.origin is None else _divided(rows - self.origin, self.second) - self.mean


class Gram:
    """The centred Gram matrix ``D = P X X' P`` of `n` points, ``P = I - 11'/n``.

    Make one with `from_data`, `from_kernel` or `from_distances`. From data, ``D`` is never formed unless asked
    for: products go through ``X``. All values are in the units of the input. Only where its squares would leave
    float64 (numbers above 1e70, or all below 1e-70) the input is divided by a power of two, a warning says so,
    and `unit` is the factor that brings values back.

    Attributes
    ----------
    n : int
        Number of points.
    trace, norm : float
        Trace and Frobenius norm of ``D``.
    unit : float
        Values are in multiples of this; 1 except for extreme scales.
    forming_error : float
        Bound on the spectral norm of the rounding error in `formed`.

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram.from_data([[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]])
    >>> gram.trace
    8.0
    >>> bool(np.allclose(gram.dense().sum(axis=0), 0))
    True
    """

    def __init__(
        self,
        *,
        factor: Array = None,
        kernel: Array = None,
        unit: float = 1.0,
        spread: float = 0.0,
        frame: Frame | None = None,
    ):
        self._factor, self._kernel, self.unit = factor, kernel, unit
        self.frame = frame or Frame()
        self._spread = spread  # norm of the data before the mean was subtracted
        self._copies: dict[Any, Array] = {}
        self.n = int((factor if factor is not None else kernel).shape[0])
        self.trace, self.norm, self.forming_error = self._measure()

    @classmethod
    def from_data(cls, X: Any) -> Gram:
        """Inner products of the rows of `X` (array, data frame or sparse matrix), about their mean."""
        X = check_table(X)
        if is_sparse(X):
            X, exponent = _tame(X, "X")
            return cls(factor=X, unit=_power_of_two(2 * exponent), frame=Frame(exponent))
        X, first = _within_range(X)
        # Differences to one row first: a large common mean then costs no digits, and equal points become exactly zero.
        origin = X[0].copy()
        X = X - origin
        spread = float(la.norm(X))
        X, second = _within_range(X)
        if first + second:
            _warn_of_scale("X", first + second)
        spread = math.ldexp(spread, -second) if second else spread
        frame = Frame(first, origin, second, X.mean(axis=0))
        return cls(factor=X - frame.mean, unit=_power_of_two(2 * (first + second)), spread=spread, frame=frame)

    @classmethod
    def from_kernel(cls, D: Any, *, allow_indefinite: bool = False) -> Gram:
        """A symmetric positive semidefinite kernel matrix, centred on the fly.

        With `allow_indefinite` any symmetric matrix is taken: the problem and its certificate stay meaningful
        (adding ``c I`` moves every value by exactly ``c K``), only the picture of points in space is lost.
        """
        D, exponent = _tame(check_square(D, "kernel"), "kernel")
        gram = cls(kernel=D, unit=_power_of_two(exponent), frame=Frame(exponent))
        if not allow_indefinite:
            _check_definite(gram)
        return gram

    @classmethod
    def from_distances(cls, distances: Any) -> Gram:
        """Inner products that belong to a symmetric matrix of distances: ``-d^2/2``, centred.

        Distances need not be Euclidean; an indefinite result is allowed.
        """
        distances = check_square(distances, "distances")
        check_distances(distances)
        distances, exponent = _tame(distances, "distances")
        return cls(kernel=-(distances**2) / 2, unit=_power_of_two(2 * exponent), frame=Frame(exponent))

    def __repr__(self) -> str:
        return f"Gram(n={self.n}, trace={self.trace:.6g}, {'factored' if self.is_factored else 'dense'})"

    @property
    def is_factored(self) -> bool:
        """Whether ``D`` is known as ``X X'`` with a dense centred ``X``."""
        return self._factor is not None and not is_sparse(self._factor)

    @property
    def factor(self) -> Array:
        """The centred ``X`` with ``D = X X'``; None for kernels and sparse data."""
        return self._factor if self.is_factored else None

    @property
    def kernel(self) -> Array:
        """The kernel matrix as given, up to `unit` and not centred; None for data."""
        return self._kernel

    @property
    def sparse(self) -> Array:
        """The sparse, uncentred ``X``, or None."""
        return self._factor if is_sparse(self._factor) else None

    def contents(self) -> list[Array]:
        """The arrays that determine ``D``."""
        if self.sparse is not None:
            return [self.sparse.data, self.sparse.indices, self.sparse.indptr]
        return [self._kernel if self._factor is None else self._factor]

    def __matmul__(self, V: Array) -> Array:
        """``D V`` for a NumPy vector or matrix ``V``."""
        if self.is_factored:
            return self._factor @ (self._factor.T @ V)
        V = V - V.mean(axis=0)
        DV = self._kernel @ V if self._factor is None else self._factor @ (self._factor.T @ V)
        return DV - DV.mean(axis=0)

    def formed(self) -> Array:
        """A new n x n NumPy matrix that equals ``D`` on the complement of the ones vector.

        Enough for bounds and eigenvalues there, and free of the rounding that centring a kernel would add.
        """
        if self._factor is None:
            return self._kernel.copy()
        if is_sparse(self._factor):
            return np.asarray((self._factor @ self._factor.T).toarray())
        return self._factor @ self._factor.T

    def factor_like(self, model: Array) -> Array:
        """The centred ``X`` in the library, on the device and in the precision of `model`; None if there is none."""
        return self._kept("factor", lambda: self.factor, model) if self.is_factored else None

    def formed_like(self, model: Array) -> Array:
        """`formed` of a kernel or of sparse data, in the library, on the device and in the precision of `model`."""
        return self._kept("formed", self.formed, model)

    def _kept(self, name: str, make: Callable[[], Array], model: Array) -> Array:
        """One converted copy per name, library, device and precision: conversions are not repeated at every look."""
        key = (name, type(model).__module__, str(device(model)), str(model.dtype))
        if key not in self._copies:
            self._copies[key] = like(make(), model)
        return self._copies[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_copies": {}}

    def dense(self) -> Array:
        """``D`` itself, n x n: rows and columns sum to zero."""
        D = self.formed()
        if not self.is_factored:
            means = D.mean(axis=0)
            D = D - means - means[:, None] + means.mean()
        return (D + D.T) / 2

    def diagonal(self) -> Array:
        """Squared distances of the points from their mean."""
        return np.sum(self._factor**2, axis=1) if self.is_factored else np.diagonal(self.dense())

    def inner(self, Q: Array) -> float:
        """``<D, Q>`` for a dense symmetric NumPy ``Q``."""
        if self.is_factored:
            return float(np.sum((Q @ self._factor) * self._factor))
        return float(np.sum(self.dense() * Q))

    def _measure(self) -> tuple[float, float, float]:
        if self.is_factored:
            X = self._factor
            trace = float(np.sum(X * X))
            small = X.T @ X if X.shape[1] < self.n else X @ X.T
            # The last term is the rounding of the centring itself, so that bounds hold for the data as given.
            return trace, float(la.norm(small)), gamma(X.shape[1] + 9) * trace
        D = self.formed()
        row_sums = np.abs(D).sum(axis=0)
        centred = D - D.mean(axis=0)
        centred -= centred.mean(axis=1)[:, None]
        depth = 9 if self._factor is None else self._factor.shape[1] + 9
        size = float(np.abs(D).trace()) if self._factor is not None else float(row_sums.max())
        return float(centred.trace()), float(la.norm(centred)), gamma(depth) * size


def centring_error(gram: Gram) -> float:
    """Bound on how far centring in float64 can have moved any value ``<D, Q>``.

    Two subtractions with one rounding each leave an error ``|E|_F <= u (|X - x_1|_F + |X - mean|_F)``, and
    ``0 <= Q - J <= I`` turns that into at most ``2 |X|_F |E|_F + |E|_F^2``. Kernels and sparse data are not centred
    before use.
    """
    if not gram.is_factored:
        return 0.0
    norm = math.sqrt(gram.trace)
    return 2.5 * UNIT_ROUNDOFF * norm * (gram._spread + norm)


def _power_of_two(exponent: int) -> float:
    """``2**exponent``, or infinity (or zero) where float64 has no such number."""
    return math.ldexp(1.0, exponent) if exponent < 1024 else math.inf


def _tame(A: Array, name: str) -> tuple[Array, int]:
    """`A` divided by the power of two returned, with a warning where that is not 1."""
    A, exponent = _within_range(A)
    if exponent:
        _warn_of_scale(name, exponent)
    return A, exponent


def _within_range(A: Array) -> tuple[Array, int]:
    """`A` divided by ``2**exponent`` and the exponent, 0 unless squares would over- or underflow."""
    size = float(abs(A).max())
    if size == 0 or SMALLEST_SIZE <= size <= LARGEST_SIZE:
        return A, 0
    exponent = math.frexp(size)[1]
    return _divided(A, exponent), exponent


def _divided(A: Array, exponent: int) -> Array:
    """``A / 2**exponent``."""
    if exponent == 0:
        return A
    if is_sparse(A):
        return sp.csr_matrix((np.ldexp(A.data, -exponent), A.indices, A.indptr), shape=A.shape)
    return np.ldexp(A, -exponent)


def _warn_of_scale(name: str, exponent: int) -> None:
    warnings.warn(
        f"{name} has a size whose square leaves float64: it was divided by 2**{exponent}, and bounds are for the "
        f"divided {name}. Rescale {name} to choose the units yourself.",
        UserWarning,
        stacklevel=4,
    )


def _check_definite(gram: Gram) -> None:
    """Refuse a kernel with clearly negative curvature; one Cholesky factorisation settles the common case."""
    D = gram.dense()
    rounding = 8 * gram.n * UNIT_ROUNDOFF * float(np.abs(gram.formed()).max())
    allowed = DEFINITE_TOLERANCE * gram.norm + max(rounding, np.finfo(float).tiny)
    if la.lapack.dpotrf(D + allowed * np.eye(gram.n), lower=True)[1] == 0:
        return
    smallest = float(la.eigvalsh(D, subset_by_index=[0, 0])[0])
    if smallest < -allowed:
        raise ValueError(
            f"kernel must be positive semidefinite after centring: its smallest eigenvalue is {smallest:.1e}, "
            f"allowed {-allowed:.1e}. Pass distances instead, or Gram.from_kernel(D, allow_indefinite=True)."
        )
